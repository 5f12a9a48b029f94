/// The head of an HTTP response, split into its parts.
struct UpgradeResponse {
  let status: Int
  let reason: String
  /// Names in lower case, in the order in which they came.
  private let fields: [(name: String, value: String)]

  /// Reads a head that ends in an empty line.
  init(head: [UInt8]) throws(UpgradeRefusal) {
    var lines = Self.lines(of: head)[...]
    let statusLine = lines.popFirst().map { String(decoding: $0, as: UTF8.self) } ?? ""
    let parts = statusLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0] == "HTTP/1.1", parts[1].utf8.count == 3, let status = Int(parts[1]), status >= 100
    else { throw .notHTTP(printable(statusLine)) }
    self.status = status
    reason = parts.count == 3 ? String(parts[2]) : ""
    var fields: [(name: String, value: String)] = []
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .badField(Self.text(line)) }
      // No space before the colon and no folded lines (RFC 9112, 5): a name that is a token has neither.
      let name = String(decoding: line[..<colon], as: UTF8.self)
      guard UpgradeHandshake.isToken(name) else { throw .badField(Self.text(line)) }
      fields.append((name.lowercased(), HTTPText.trimmed(line[(colon + 1)...])))
    }
    self.fields = fields
  }

  /// The values of a field, one for each time it occurs.
  func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// The comma-separated words of a field, in lower case.
  func tokens(of name: String) -> [String] {
    values(of: name).flatMap { value in
      value.split(separator: ",").map { HTTPText.trimmed(ArraySlice($0.utf8)).lowercased() }
    }
  }

  /// The lines before the empty one, without their CRLF. A bare LF stays in its line and makes it invalid as a field.
  private static func lines(of head: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for index in head.indices.dropFirst() where head[index] == 0x0A && head[index - 1] == 0x0D {
      if index - 1 > start { lines.append(head[start..<(index - 1)]) }
      start = index + 1
    }
    return lines
  }

  private static func text(_ line: ArraySlice<UInt8>) -> String { printable(String(decoding: line, as: UTF8.self)) }
}
