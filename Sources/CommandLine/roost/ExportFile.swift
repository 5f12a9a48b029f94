internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr

/// A file of events, one a line, that a later run can finish.
///
/// Events are in the order of the answer, so the last line says where to continue. A process that was killed leaves at
/// most half a line at the end, which is cut off.
@EventLoopActor
final class ExportFile {
  /// The number of events that the file had before.
  private(set) var lineCount = 0
  /// The last of them.
  private(set) var lastEvent: Event?

  private let path: String
  private let descriptor: Int32
  private var waiting: [UInt8] = []

  private static let pieceByteCount = 256 << 10

  /// Makes the file, or with `resumes` opens it at its end. Only its owner can read and write it.
  init(_ path: String, resumes: Bool) throws(Refusal) {
    self.path = path
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | (resumes ? 0 : O_EXCL)
    descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw Refusal(
          .badRequest, "\(path) is there already; --resume continues it, or choose another name",
          outcome: .notStarted)
      }
      throw Self.refusal("open", path, .notStarted)
    }
    if resumes { try takeStock() }
  }

  isolated deinit { close(descriptor) }

  /// Adds an event.
  func append(_ json: [UInt8]) throws(Refusal) {
    waiting += json
    waiting.append(0x0A)
    if waiting.count >= Self.pieceByteCount { try flush() }
  }

  /// Writes what waits, through to the disk.
  func finish() throws(Refusal) {
    try flush()
    // A pipe or a terminal cannot be synchronised.
    guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.refusal("write", path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    do throws(SystemFault) { try DirectoryEntries.synchronizeReadable(nameOf: path) } catch {
      throw Refusal(.failed, "\(path): \(error)", outcome: .unknown)
    }
  }

  private func flush() throws(Refusal) {
    var written = 0
    while written < waiting.count {
      let count = waiting[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        throw Self.refusal("write", path)
      }
    }
    waiting.removeAll(keepingCapacity: true)
  }

  /// Counts the lines, reads the last whole one, and cuts off what is after it.
  private func takeStock() throws(Refusal) {
    var (line, last, end): ([UInt8], [UInt8], Int) = ([], [], 0)
    var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
    var place = 0
    while true {
      let count = pread(descriptor, &piece, piece.count, place)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.refusal("read", path, .notStarted) }
      if count == 0 { break }
      var rest = piece[..<count]
      while let newline = rest.firstIndex(of: 0x0A) {
        last = line + rest[..<newline]
        line = []
        lineCount += 1
        end = place + newline + 1
        rest = rest[(newline + 1)...]
      }
      line += rest
      guard line.count <= LineSource.lineByteCountMaximum else { throw notOurs("a line of it is no event") }
      place += count
    }
    if lineCount > 0 {
      do throws(EventFault) { lastEvent = try Event(json: last) } catch { throw notOurs("its last line is \(error)") }
    } else if !line.isEmpty, line.first != UInt8(ascii: "{") {
      throw notOurs("it begins with something else than an event")
    }
    guard ftruncate(descriptor, end) == 0, lseek(descriptor, end, SEEK_SET) >= 0 else {
      throw Self.refusal("write", path)
    }
  }

  private func notOurs(_ reason: String) -> Refusal {
    Refusal(.badRequest, "\(path) cannot be finished: \(reason)", outcome: .notStarted)
  }

  /// A write that failed has no outcome to report: the length of the file shows how much was written.
  private static func refusal(_ verb: String, _ path: String, _ outcome: Outcome? = nil) -> Refusal {
    Refusal(.failed, "cannot \(verb) \(path): \(String(cString: strerror(errno)))", outcome: outcome)
  }
}
