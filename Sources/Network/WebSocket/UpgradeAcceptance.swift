// The server's side of the upgrade (RFC 6455, 4.2): the input is a head, the output a 101, or a refusal with its
// status.
//
// No subprotocol is ever chosen; if a client offers some, the answer does not mention them, as the RFC says. Extensions
// other than permessage-deflate are ignored in the same way.

/// The acceptance of one upgrade.
struct UpgradeAcceptance {
  /// The 101, to be sent whole before the first frame.
  let response: [UInt8]
  /// The agreement on compressed messages.
  let compression: AcceptedDeflate?

  /// Accepts the upgrade that a head requests.
  ///
  /// - Parameters:
  ///   - fields: further fields of the 101.
  ///   - allowsCompression: whether an offer of permessage-deflate is accepted.
  init(
    _ head: HTTPRequestHead, fields: [HTTPField] = [], allowsCompression: Bool
  ) throws(HTTPRequestRefusal) {
    guard head.wantsWebSocket, head.minorVersion > 0 else { throw .noUpgrade }
    guard head.method == "GET" else { throw .wrongMethod(printable(head.method)) }
    guard head.tokens(of: "connection").contains("upgrade") else { throw .noUpgrade }
    let versions = head.values(of: "sec-websocket-version")
    guard versions == ["13"] else { throw .wrongWebSocketVersion(printable(versions.joined(separator: ", "))) }
    let keys = head.values(of: "sec-websocket-key")
    guard keys.count == 1, Self.isKey(keys[0]) else { throw .badKey }
    let offers = head.values(of: "sec-websocket-extensions").joined(separator: ",")
    compression = allowsCompression ? AcceptedDeflate(offers: offers) : nil
    var own = [
      HTTPField("Upgrade", "websocket"), HTTPField("Connection", "Upgrade"),
      HTTPField("Sec-WebSocket-Accept", AcceptKey.answer(to: keys[0])),
    ]
    if let compression { own.append(HTTPField("Sec-WebSocket-Extensions", compression.answer)) }
    let lines = (own + fields).map { "\(HTTPAnswer.plain($0.name)): \(HTTPAnswer.plain($0.value))\r\n" }
    response = Array(("HTTP/1.1 101 Switching Protocols\r\n" + lines.joined() + "\r\n").utf8)
  }

  /// 16 bytes in Base64 are 22 letters and two padding characters; four bits of the last letter are zero.
  private static func isKey(_ key: String) -> Bool {
    let bytes = Array(key.utf8)
    let isLetter: (UInt8) -> Bool = { HTTPText.isLetter($0) || HTTPText.isDigit($0) || $0 == 0x2B || $0 == 0x2F }
    return bytes.count == 24 && bytes[22] == 0x3D && bytes[23] == 0x3D && bytes[..<22].allSatisfy(isLetter)
      && "AQgw".utf8.contains(bytes[21])
  }
}
