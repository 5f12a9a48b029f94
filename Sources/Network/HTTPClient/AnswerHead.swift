internal import WebSocket

/// The head of an answer, line by line: what is kept of it, and what ends the transfer.
///
/// An interim head (status 1xx) is replaced by the next; fields behind a chunked body are bounded with the others, and
/// not kept.
struct AnswerHead {
  /// What an answer may not be.
  enum Flaw: Error, Equatable {
    /// All its lines have more bytes than ``byteCountMaximum``.
    case headTooLong
    /// Its body has, or announces, more bytes than so many.
    case bodyTooLong(Int)
    /// It points there.
    case redirected(status: Int, location: String)
    /// It is encoded in a way that nobody asked for.
    case encoded(String)
  }

  /// The status; 0 before its line has come.
  private(set) var status = 0
  /// The fields that came so far.
  private(set) var fields: [HTTPField] = []
  private var byteCount = 0
  private var isComplete = false

  /// Most bytes of all lines.
  static let byteCountMaximum = 32 << 10

  /// Takes one line, with its end.
  ///
  /// - Parameter bodyByteCountMaximum: most bytes of a body, announced as it is sent.
  mutating func received(_ line: UnsafeRawBufferPointer, bodyByteCountMaximum: Int) throws(Flaw) {
    byteCount += line.count
    guard byteCount <= Self.byteCountMaximum else { throw .headTooLong }
    let text = String(decoding: line, as: UTF8.self).trimmed
    if text.hasPrefix("HTTP/"), status < 200 {
      status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      fields = []
    } else if text.isEmpty {
      try headEnded(bodyByteCountMaximum)
    } else if !isComplete, let colon = text.firstIndex(of: ":") {
      fields.append(HTTPField(String(text[..<colon]).trimmed, String(text[colon...].dropFirst()).trimmed))
    }
  }

  private mutating func headEnded(_ bodyByteCountMaximum: Int) throws(Flaw) {
    guard status >= 200, !isComplete else { return }
    isComplete = true
    if (300..<400).contains(status), let location = value(of: "location") {
      throw .redirected(status: status, location: location)
    }
    for field in fields {
      let value = field.value.lowercased()
      switch field.name.lowercased() {
      case "content-encoding" where !["", "identity", "gzip", "x-gzip"].contains(value): throw .encoded(field.value)
      case "transfer-encoding" where !["", "identity", "chunked"].contains(value): throw .encoded(field.value)
      case "content-length":
        if let count = UInt64(value), count > UInt64(bodyByteCountMaximum) { throw .bodyTooLong(bodyByteCountMaximum) }
      default: break
      }
    }
  }

  private func value(of name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
}

extension String {
  /// Without blanks, tabs and line ends around it.
  fileprivate var trimmed: String {
    let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    guard let first = unicodeScalars.firstIndex(where: { !isSpace($0) }),
      let last = unicodeScalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(unicodeScalars[first...last])
  }
}
