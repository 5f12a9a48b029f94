internal import WebSocket

/// The head of an answer, line by line: what is kept of it, and what ends the transfer.
///
/// A final head replaces an interim one (status 1xx). Fields after a chunked body count for the bound and are not kept.
struct AnswerHead {
  /// Why an answer is refused.
  enum Flaw: Error, Equatable {
    /// All its lines have more bytes than ``byteCountMaximum``.
    case headTooLong
    /// Its body has, or announces, more than this many bytes.
    case bodyTooLong(Int)
    /// It redirects to this place.
    case redirected(status: Int, location: String)
    /// It has an encoding that was not requested.
    case encoded(String)
  }

  /// The status; 0 before its line has arrived.
  private(set) var status = 0
  /// The fields that have arrived so far.
  private(set) var fields: [HTTPField] = []
  private var byteCount = 0
  private var isComplete = false

  /// The maximum of bytes in all lines.
  static let byteCountMaximum = 32 << 10

  /// Takes one line, with its end.
  ///
  /// - Parameter bodyByteCountMaximum: the maximum of bytes in a body, as announced, before it is inflated.
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
  /// The text without blanks, tabs and line ends around it.
  fileprivate var trimmed: String {
    let isSpace: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
    guard let first = unicodeScalars.firstIndex(where: { !isSpace($0) }),
      let last = unicodeScalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(unicodeScalars[first...last])
  }
}
