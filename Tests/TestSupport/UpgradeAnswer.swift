// SHA-1 once more, and not the product's: if that were wrong, a relay that used it would be wrong in the same way, and
// all tests green. Every connection of a test compares the two.

/// A server's answer to an upgrade request (RFC 6455, 4.2.2).
enum UpgradeAnswer {
  /// The head of a 101, with its empty line.
  ///
  /// - Parameters:
  ///   - request: the client's head, from which the key is taken.
  ///   - accept: what to say instead of the right answer to that key.
  ///   - fields: further lines, each with its CRLF.
  static func switching(to request: String, accept: String?, fields: String) -> String {
    let prefix = "sec-websocket-key:"
    let line = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) } ?? ""
    let key = String(line.dropFirst(prefix.count).drop { $0 == " " })
    let right = base64(sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: \(accept ?? right)\r\n\(fields)\r\n"
  }

  static func sha1(_ message: [UInt8]) -> [UInt8] {
    var (h0, h1, h2, h3, h4): (UInt32, UInt32, UInt32, UInt32, UInt32) =
      (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    padded += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
    func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
    for block in stride(from: 0, to: padded.count, by: 64) {
      var words = (0..<16).map { index in
        padded[(block + 4 * index)..<(block + 4 * index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
      }
      for index in 16..<80 {
        words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1))
      }
      var (a, b, c, d, e) = (h0, h1, h2, h3, h4)
      for (index, word) in words.enumerated() {
        let mixed: UInt32 =
          switch index / 20 {
          case 0: (b & c | ~b & d) &+ 0x5A82_7999
          case 1: (b ^ c ^ d) &+ 0x6ED9_EBA1
          case 2: (b & c | b & d | c & d) &+ 0x8F1B_BCDC
          default: (b ^ c ^ d) &+ 0xCA62_C1D6
          }
        (a, b, c, d, e) = (rotated(a, 5) &+ mixed &+ e &+ word, a, rotated(b, 30), c, d)
      }
      (h0, h1, h2, h3, h4) = (h0 &+ a, h1 &+ b, h2 &+ c, h3 &+ d, h4 &+ e)
    }
    return [h0, h1, h2, h3, h4].flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
  }

  static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0..<4 { text.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : "=") }
    }
    return text
  }
}
