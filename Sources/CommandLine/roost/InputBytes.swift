internal import Frames
internal import Glibc
internal import JSON
internal import Rendering

/// The arguments of a call: as typed, from a file, or from standard input.
enum InputBytes {
  /// The maximum that any connection can carry.
  static let byteCountMaximum = FrameReader.lengthCeiling

  /// Reads `argument`; nil is an empty JSON object, or no bytes for a raw call.
  ///
  /// - Parameter rest: a command that takes events from standard input. A file that holds events in another form is
  ///   then refused, with the command line that converts it.
  static func read(_ argument: String?, isRaw: Bool, rest: String? = nil) throws(Refusal) -> [UInt8] {
    guard let argument else { return isRaw ? [] : Array("{}".utf8) }
    let isStandardInput = argument == "-"
    guard isStandardInput || argument.hasPrefix("@") else { return Array(argument.utf8) }
    let path = isStandardInput ? "standard input" : String(argument.dropFirst())
    let bytes = try isStandardInput ? readAll(STDIN_FILENO, path) : readFile(path)
    guard !isRaw else { return bytes }
    if let rest { try InputForm.check(bytes, name: path, isFile: !isStandardInput, rest: rest) }
    do throws(JSONFault) { _ = try JSONText(bytes) } catch {
      throw Refusal(.badRequest, "\(path) is not JSON: \(error)", outcome: .notStarted)
    }
    return bytes
  }

  /// A text as typed, or standard input for `-`, without the newline that ends a typed text.
  static func text(_ argument: String) throws(Refusal) -> String {
    guard argument == "-" else { return argument }
    guard let read = String(validating: try read("-", isRaw: true), as: UTF8.self) else {
      throw Refusal(.badRequest, "standard input is not UTF-8", outcome: .notStarted)
    }
    return read.hasSuffix("\n") ? String(read.dropLast()) : read
  }

  private static func readFile(_ path: String) throws(Refusal) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    return try readAll(descriptor, path)
  }

  private static func readAll(_ descriptor: Int32, _ path: String) throws(Refusal) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0 {
        if errno == EINTR { continue }
        throw failure(path)
      }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= byteCountMaximum else {
        throw Refusal(
          .badRequest, "\(path) has more than \(byteCountMaximum >> 20) MiB, the most a message holds",
          outcome: .notStarted)
      }
    }
  }

  private static func failure(_ path: String) -> Refusal {
    Refusal(.badRequest, "cannot read \(path): \(String(cString: strerror(errno)))", outcome: .notStarted)
  }
}
