internal import Glibc

/// Standard input, output and error: three descriptors that all code expects to be open.
public enum StandardDescriptors {
  /// Opens `/dev/null` in place of each one that is closed.
  ///
  /// If a program is started with one closed (`>&-`), the next file that it opens takes that number, and the program's
  /// output would go into it: a socket, a lock, a database. Call this before anything is opened.
  public static func ensureOpen() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, since those below are open.
      _ = open("/dev/null", O_RDWR)
    }
  }
}
