internal import Glibc

/// Standard input, output and error: the three descriptors that everything takes to be there.
public enum StandardDescriptors {
  /// Opens `/dev/null` in the place of each that is closed.
  ///
  /// Whoever starts a program with one closed (`>&-`) would else have the next file that it opens written to as its
  /// output: a socket, a lock, a database. To be called before anything is opened.
  public static func ensureOpen() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest number that is free is this one, since those below are open.
      _ = open("/dev/null", O_RDWR)
    }
  }
}
