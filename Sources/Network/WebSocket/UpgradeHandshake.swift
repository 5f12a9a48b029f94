// The client's side of the HTTP/1.1 upgrade (RFC 6455, 4.1), as a machine: the output is the request, the input the
// response's bytes, in pieces of any size.
//
// It is strict where leniency would cost: one status, one accept key, no extension except the one that is offered, no
// subprotocol; lines end in CRLF, the head is bounded. A redirect is not followed: a relay's address is its identity,
// and a server may not replace it. Bytes after the head belong to the WebSocket (a relay's AUTH challenge often comes
// with the 101): the machine does not touch them, and returns how many bytes it has used.
//
// Compression is offered (permessage-deflate, see DeflateAgreement). A server whose answer to that is not a proper
// acceptance is refused here, before it can send a frame that this client cannot read.

/// One field of an HTTP head.
public struct HTTPField: Sendable, Hashable {
  /// The field's name, in any case.
  public let name: String
  /// Its value, without line breaks.
  public let value: String

  /// A field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Why a server's answer does not begin a WebSocket. Texts are the server's own, cut and printable.
public enum UpgradeRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The input is not an HTTP/1.1 response.
  case notHTTP(String)
  /// A status other than 101, with its reason phrase, and after how many seconds to try again, if the server said so.
  case status(Int, reason: String, retryAfterSeconds: UInt32?)
  /// A 3xx, and its target.
  case redirect(Int, location: String)
  /// `Upgrade: websocket` or `Connection: upgrade` is missing; the field's name.
  case missing(String)
  /// `Sec-WebSocket-Accept` is not the answer to our key.
  case wrongAccept
  /// An extension or subprotocol that was not offered.
  case notOffered(String)
  /// A head of more than ``UpgradeHandshake/headByteCountMaximum`` bytes.
  case headTooLong
  /// A line of the head that is not a field.
  case badField(String)

  /// The reason, as the end of a sentence.
  public var description: String {
    switch self {
    case .notHTTP(let line): "the server does not speak HTTP/1.1 (it said \"\(line)\")"
    case .status(let code, let reason, let seconds):
      "the server answered \(code)\(reason.isEmpty ? "" : " (\(reason))")"
        + (seconds.map { "; it wants to be left alone for \($0) s" } ?? "")
    case .redirect(let code, let location):
      "the server answered \(code) and points to \"\(location)\"; relays are not followed: configure that address"
    case .missing(let name): "the server's 101 has no proper \(name) field"
    case .wrongAccept: "the server's Sec-WebSocket-Accept does not answer our key; a cache or another protocol answered"
    case .notOffered(let value): "the server uses \"\(value)\", which was not offered"
    case .headTooLong: "the server's answer has more than \(UpgradeHandshake.headByteCountMaximum) bytes of fields"
    case .badField(let line): "the server's answer holds a line that is no field: \"\(line)\""
    }
  }
}

/// The upgrade of one connection. Awaiting the response → upgraded, or refused for good.
public struct UpgradeHandshake: Sendable {
  /// The longest response head that is read.
  public static let headByteCountMaximum = 16 << 10

  /// The request, which must be sent whole.
  public let request: [UInt8]
  /// The compression that the server has accepted, once upgraded.
  private(set) var compression: DeflateAgreement?
  private let offersCompression: Bool
  private let expectedAccept: String
  private var head: [UInt8] = []

  /// A handshake for an endpoint.
  ///
  /// `nonce` is 16 random bytes for this connection only. `fields` are further ones, such as `User-Agent`; they and the
  /// target must contain no white space that would end a line. `offersCompression` lets the server compress what it
  /// sends.
  public init(
    _ endpoint: WebSocketEndpoint, fields: [HTTPField], nonce: [UInt8], offersCompression: Bool = true
  ) throws(WebSocketFault) {
    precondition(nonce.count == 16, "RFC 6455 wants a nonce of 16 bytes")
    self.offersCompression = offersCompression
    let key = AcceptKey.base64(nonce)
    expectedAccept = AcceptKey.answer(to: key)
    let isTarget =
      endpoint.requestTarget.hasPrefix("/") && endpoint.requestTarget.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    let isHost = endpoint.hostField.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    var own = [
      HTTPField("Host", endpoint.hostField), HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
      HTTPField("Sec-WebSocket-Key", key), HTTPField("Sec-WebSocket-Version", "13"),
    ]
    if offersCompression { own.append(HTTPField("Sec-WebSocket-Extensions", DeflateAgreement.offer)) }
    for field in fields where !Self.isToken(field.name) || !field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
      throw WebSocketFault(
        .badRequest, endpoint: "\(endpoint)", detail: "the field \(printable(field.name)) cannot be sent")
    }
    guard isTarget, isHost else {
      throw WebSocketFault(
        .badRequest, endpoint: printable("\(endpoint)"), detail: "such an address cannot be asked for")
    }
    let lines = ["GET \(endpoint.requestTarget) HTTP/1.1"] + (own + fields).map { "\($0.name): \($0.value)" }
    request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// Takes bytes of the response.
  ///
  /// - Returns: how many of them belonged to the head, and whether the connection is now a WebSocket. Until it is, all
  ///   bytes are used.
  /// - Throws: if it can never become one. The machine must not be used again.
  public mutating func receive(
    _ bytes: UnsafeRawBufferPointer
  ) throws(UpgradeRefusal) -> (usedByteCount: Int, isUpgraded: Bool) {
    for (index, byte) in bytes.enumerated() {
      head.append(byte)
      // The greeting of another protocol is refused at once: that protocol may never send an empty line.
      if head.count <= Self.version.count, byte != Self.version[head.count - 1] {
        throw .notHTTP(printable(String(decoding: head + bytes[(index + 1)...].prefix(60), as: UTF8.self)))
      }
      if byte == 0x0A, head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
        try check(UpgradeResponse(head: head))
        head = []
        return (index + 1, true)
      }
      if head.count >= Self.headByteCountMaximum { throw .headTooLong }
    }
    return (bytes.count, false)
  }

  private static let version = Array("HTTP/1.1 ".utf8)

  private mutating func check(_ response: UpgradeResponse) throws(UpgradeRefusal) {
    if (300..<400).contains(response.status) {
      throw .redirect(response.status, location: printable(response.values(of: "location").first ?? ""))
    }
    guard response.status == 101 else {
      throw .status(
        response.status, reason: printable(response.reason),
        retryAfterSeconds: response.values(of: "retry-after").first.flatMap { UInt32($0) })
    }
    guard response.tokens(of: "upgrade").contains("websocket") else { throw .missing("Upgrade") }
    guard response.tokens(of: "connection").contains("upgrade") else { throw .missing("Connection") }
    guard response.values(of: "sec-websocket-accept") == [expectedAccept] else { throw .wrongAccept }
    let protocols = response.values(of: "sec-websocket-protocol").filter { !$0.isEmpty }
    if let value = protocols.first { throw .notOffered(printable(value)) }
    let extensions = response.values(of: "sec-websocket-extensions").filter { !$0.isEmpty }.joined(separator: ", ")
    if extensions.isEmpty { return }
    compression = offersCompression ? DeflateAgreement(answer: extensions) : nil
    if compression == nil { throw .notOffered(printable(extensions)) }
  }

  static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(HTTPText.isTokenByte) }
}

/// A text of the other side in a form that can be shown: at most 120 characters, nothing that moves a terminal's
/// cursor.
func printable(_ text: String) -> String {
  let shown = text.unicodeScalars.prefix(121)
  var result = String.UnicodeScalarView()
  for scalar in shown.prefix(120) {
    result.append(
      scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format ? "·" : scalar)
  }
  return String(result) + (shown.count > 120 ? "…" : "")
}
