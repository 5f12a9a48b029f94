internal import EventLoop
internal import Frames
internal import Glibc

/// The lines of a file, or of standard input (`-`), one after the other, numbered from 1. A byte order mark, with which
/// some editors begin UTF-8 text, is left out.
@EventLoopActor
final class LineSource {
  /// The name of the input, for messages.
  let name: String
  /// The number of the last line that was returned.
  private(set) var number = 0
  /// The bytes of the last line that was returned, before any cut.
  private(set) var lineByteCount = 0
  /// The bytes of the whole input; nil if that is not known.
  let byteCount: Int?
  /// The bytes read so far.
  private(set) var readByteCount = 0

  /// Whether the input is a pipe, which has no name to type.
  var isStandardInput: Bool { input != nil }

  private let file: Int32?
  private let input: StandardInput?
  private var bytes: [UInt8] = []
  private var position = 0
  private var isOver = false
  /// Bytes of the line at `position` that were left out.
  private var leftOutByteCount = 0

  private static let pieceByteCount = 256 << 10
  /// A longer line is cut to this length: no event is that long.
  static let lineByteCountMaximum = 2 << 20

  init(_ path: String) throws(Refusal) {
    guard path != "-" else {
      name = "standard input"
      (file, byteCount) = (nil, nil)
      input = StandardInput()
      return
    }
    name = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
      let reason = descriptor >= 0 ? "it is a directory" : String(cString: strerror(errno))
      throw Refusal(.badRequest, "cannot read \(path): \(reason)", outcome: .notStarted)
    }
    file = descriptor
    byteCount = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    input = nil
  }

  isolated deinit { if let file { close(file) } }

  /// The next line, without its line end; nil after the last.
  func next() async throws(Refusal) -> ArraySlice<UInt8>? {
    var searched = position
    while true {
      if let end = bytes[searched...].firstIndex(of: 0x0A) {
        defer { position = end + 1 }
        return line(upTo: end)
      }
      searched = bytes.count
      if isOver {
        guard position < bytes.count else { return nil }
        defer { position = bytes.count }
        return line(upTo: bytes.count)
      }
      let piece = try await read()
      isOver = piece.isEmpty
      readByteCount += piece.count
      // Only the beginning of a line that is too long is kept, which is enough to report it.
      if bytes.count - position > 2 * Self.lineByteCountMaximum {
        leftOutByteCount += bytes.count - position - Self.lineByteCountMaximum
        bytes.removeLast(bytes.count - position - Self.lineByteCountMaximum)
      }
      bytes.removeFirst(position)
      searched = max(0, min(searched - position, bytes.count))
      position = 0
      bytes += piece
    }
  }

  private func line(upTo end: Int) -> ArraySlice<UInt8> {
    number += 1
    lineByteCount = end - position + leftOutByteCount
    leftOutByteCount = 0
    let line = bytes[position..<end].prefix(Self.lineByteCountMaximum)
    return number == 1 && line.starts(with: Self.byteOrderMark) ? line.dropFirst(Self.byteOrderMark.count) : line
  }

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private func read() async throws(Refusal) -> [UInt8] {
    guard let file else { return try await input?.next() ?? [] }
    while true {
      var piece = [UInt8](repeating: 0, count: Self.pieceByteCount)
      let count = Glibc.read(file, &piece, piece.count)
      if count >= 0 { return Array(piece[..<count]) }
      guard errno == EINTR else {
        throw Refusal(.failed, "cannot read \(name): \(String(cString: strerror(errno)))", outcome: .unknown)
      }
    }
  }
}
