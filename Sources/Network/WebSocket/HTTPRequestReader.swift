// The server's side of HTTP/1.1, as much as a WebSocket needs: one request without a body, in pieces of any size.
//
// It is strict, because a proxy in front of a server may read a head differently from the server, and what one of them
// takes for a second request the other takes for a body. So lines end in CRLF and nothing else, a name touches its
// colon, no line is folded, there is one Host, and everything that announces a body is refused: no answer here depends
// on one. That is RFC 9112 without the leniency that it permits, with one exception: an empty line before the request
// is skipped (2.2).
//
// The machine takes byte for byte, so that a head is read in the same way whatever pieces it comes in. It is bounded in
// bytes and fields. Input that is not HTTP is refused by its first bytes: a client that speaks TLS or another protocol
// may never send a line end. Bytes after the head are not touched; they belong to the WebSocket.

/// Reads the head of one request. Reading → done, or refused for good.
public struct HTTPRequestReader: Sendable {
  /// The maximum of bytes in a head, including its empty line.
  public static let headByteCountMaximum = 16 << 10
  /// The maximum number of fields.
  public static let fieldCountMaximum = 100
  /// The maximum of bytes in a target.
  public static let targetByteCountMaximum = 8 << 10
  /// The maximum of bytes in a method; registered methods have at most 16.
  static let methodByteCountMaximum = 32

  private var line: [UInt8] = []
  private var byteCount = 0
  private var hasReturn = false
  private var hasSkipped = false
  private var request: RequestLine?
  private var fields: [HTTPField] = []

  private struct RequestLine {
    var method: String
    var target: String
    var path: String
    var query: String?
    var authority: String?
    var minorVersion: Int
  }

  /// A reader that has read nothing.
  public init() {}

  /// Whether no byte has arrived yet.
  public var isEmpty: Bool { byteCount == 0 }

  /// Takes bytes of the request.
  ///
  /// - Returns: how many of them belonged to the head, and the head once it is complete. Until then, all bytes are
  ///   used.
  /// - Throws: if the input can never become a valid head. The reader must not be used again.
  public mutating func receive(
    _ bytes: UnsafeRawBufferPointer
  ) throws(HTTPRequestRefusal) -> (usedByteCount: Int, head: HTTPRequestHead?) {
    for index in bytes.indices {
      byteCount += 1
      if byteCount > Self.headByteCountMaximum { throw .headTooLong }
      if let head = try take(bytes[index]) { return (index + 1, head) }
    }
    return (bytes.count, nil)
  }

  private mutating func take(_ byte: UInt8) throws(HTTPRequestRefusal) -> HTTPRequestHead? {
    if hasReturn {
      guard byte == 0x0A else { throw .bareLineBreak }
      hasReturn = false
      defer { line.removeAll(keepingCapacity: true) }
      return try endLine()
    }
    switch byte {
    case 0x0D: hasReturn = true
    case 0x0A: throw .bareLineBreak
    default:
      if request == nil { try look(byte) }
      guard byte >= 0x20 || byte == 0x09, byte != 0x7F else { throw .badField(shown(line)) }
      line.append(byte)
    }
    return nil
  }

  /// Checks the first line while it arrives: it may never end.
  private func look(_ byte: UInt8) throws(HTTPRequestRefusal) {
    if line.isEmpty, byte == 0x16 { throw .encrypted }
    guard let space = line.firstIndex(of: 0x20) else {
      let isEnd = byte == 0x20 && !line.isEmpty
      guard isEnd || HTTPText.isTokenByte(byte), line.count < Self.methodByteCountMaximum else { throw .notHTTP }
      return
    }
    // The version after it has nine bytes, including its space.
    if line.count - space > Self.targetByteCountMaximum + 9 { throw .targetTooLong }
  }

  private mutating func endLine() throws(HTTPRequestRefusal) -> HTTPRequestHead? {
    guard let request else {
      if line.isEmpty, !hasSkipped {
        hasSkipped = true
      } else {
        self.request = try Self.requestLine(line)
      }
      return nil
    }
    if line.isEmpty { return try finish(request) }
    if fields.count == Self.fieldCountMaximum { throw .tooManyFields }
    // A folded line begins with a space, which no token contains.
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      line[..<colon].allSatisfy(HTTPText.isTokenByte)
    else { throw .badField(shown(line)) }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    fields.append(HTTPField(name, HTTPText.trimmed(line[(colon + 1)...])))
    return nil
  }

  // MARK: The first line

  private static func requestLine(_ line: [UInt8]) throws(HTTPRequestRefusal) -> RequestLine {
    let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty else { throw .badRequestLine(shown(line)) }
    let version = Array(parts[2])
    guard version.count == 8, version.starts(with: Array("HTTP/".utf8)), HTTPText.isDigit(version[5]),
      version[6] == UInt8(ascii: "."), HTTPText.isDigit(version[7])
    else { throw .badRequestLine(shown(line)) }
    guard version[5] == UInt8(ascii: "1") else {
      throw .unknownVersion(String(decoding: version, as: UTF8.self))
    }
    guard parts[1].count <= targetByteCountMaximum else { throw .targetTooLong }
    var request = RequestLine(
      method: String(decoding: parts[0], as: UTF8.self), target: String(decoding: parts[1], as: UTF8.self), path: "",
      minorVersion: version[7] == UInt8(ascii: "0") ? 0 : 1)
    try takeApart(Array(parts[1]), into: &request)
    return request
  }

  /// The forms of a target (RFC 9112, 3.2). CONNECT has a form of its own, which this kind of server does not answer.
  private static func takeApart(_ target: [UInt8], into request: inout RequestLine) throws(HTTPRequestRefusal) {
    let refusal = HTTPRequestRefusal.badTarget(shown(target))
    guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else { throw refusal }
    if request.method == "OPTIONS", request.target == "*" {
      request.path = "*"
      return
    }
    var rest = target[...]
    if rest.first != UInt8(ascii: "/") {
      let lower = request.target.lowercased()
      guard let scheme = ["http://", "https://", "ws://", "wss://"].first(where: { lower.hasPrefix($0) }) else {
        throw refusal
      }
      rest = rest.dropFirst(scheme.utf8.count)
      let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
      let text = String(decoding: authority, as: UTF8.self)
      guard !authority.isEmpty, HTTPText.isHost(text) else { throw refusal }
      request.authority = text
      rest = rest[authority.endIndex...]
    }
    let path = rest.prefix { $0 != UInt8(ascii: "?") }
    guard let decoded = HTTPText.percentDecoded(path) else { throw refusal }
    request.path = decoded.isEmpty ? "/" : decoded
    if path.endIndex < rest.endIndex {
      request.query = String(decoding: rest[(path.endIndex + 1)...], as: UTF8.self)
    }
  }

  // MARK: The whole head

  private func finish(_ request: RequestLine) throws(HTTPRequestRefusal) -> HTTPRequestHead {
    let hosts = values(of: "host")
    let isCountRight = request.minorVersion == 0 ? hosts.count <= 1 : hosts.count == 1
    guard isCountRight, hosts.allSatisfy(HTTPText.isHost) else {
      throw .badHost(printable(hosts.joined(separator: ", ")))
    }
    try refuseBody(request)
    return HTTPRequestHead(
      method: request.method, target: request.target, path: request.path, query: request.query,
      minorVersion: request.minorVersion, host: request.authority ?? hosts.first ?? "", fields: fields)
  }

  private func refuseBody(_ request: RequestLine) throws(HTTPRequestRefusal) {
    let lengths = values(of: "content-length")
    let codings = values(of: "transfer-encoding")
    if !codings.isEmpty {
      let all = printable(codings.joined(separator: ", "))
      // Two lengths, or one that a server of HTTP/1.0 would not see, can hide a second request from a proxy
      // (smuggling).
      guard lengths.isEmpty, request.minorVersion > 0 else { throw .badLength(all) }
      throw all.lowercased() == "chunked" ? .bodyOfUnknownLength : .unknownCoding(all)
    }
    guard let length = lengths.first else { return }
    guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(HTTPText.isDigit) else {
      throw .badLength(printable(lengths.joined(separator: ", ")))
    }
    if length.utf8.contains(where: { $0 != UInt8(ascii: "0") }) { throw .body }
  }

  private func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

/// The client's bytes in a form that can be shown.
private func shown(_ bytes: [UInt8]) -> String { printable(String(decoding: bytes, as: UTF8.self)) }
