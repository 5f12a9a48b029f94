internal import Bus
internal import EventLoop
internal import Frames
internal import Glibc

/// The file of `roost import --errors`: each line that is not a valid event, with the reason, as a line of JSON.
///
/// A write that fails is remembered and reported at the end: it does not stop the import.
@EventLoopActor
final class InvalidLineFile {
  private let path: String
  private let file: Int32
  private(set) var failure: Refusal?

  /// Makes the file. An existing file is left alone: it may be the very file that is being imported.
  init(_ path: String) throws(Refusal) {
    self.path = path
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      let why = errno == EEXIST ? "it is there already; name another file" : String(cString: strerror(errno))
      throw Refusal(.failed, "cannot write \(path): \(why)", outcome: .notStarted)
    }
  }

  deinit { close(file) }

  /// Adds a line.
  func append(_ line: ImportSummary.Line) {
    guard failure == nil else { return }
    var rest = JSONPayload.encode(line)[...]
    rest.append(0x0A)
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        failure = Refusal(
          .failed, "cannot write \(path): \(String(cString: strerror(errno))); it is not complete", outcome: .done)
        return
      }
      rest = rest.dropFirst(count)
    }
  }
}
