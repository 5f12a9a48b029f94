import Clocks
import TestSupport
import Testing

@testable import WebSocket

@Suite struct UpgradeHandshakeTests {
  // The nonce and the answer of RFC 6455, 1.3.
  private let nonce = Array("the sample nonce".utf8)
  private let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
  private let endpoint = WebSocketEndpoint(
    host: "server.example.com", port: 80, isSecure: false, requestTarget: "/chat")

  private var good: String {
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: \(accept)\r\n\r\n"
  }

  @Test("SHA-1 and base64 give the answers of their standards")
  func accepts() {
    func hex(_ text: String) -> String {
      AcceptKey.sha1(Array(text.utf8)).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(
      hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    #expect(hex(String(repeating: "a", count: 1_000_000)) == "34aa973cd4c4daa4f61eeb2bdbad27316534016f")
    #expect(AcceptKey.answer(to: "dGhlIHNhbXBsZSBub25jZQ==") == accept)
    #expect(
      ["", "f", "fo", "foo", "foob"].map { AcceptKey.base64(Array($0.utf8)) } == [
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==",
      ])
  }

  @Test("The request asks for what RFC 6455 wants")
  func request() throws {
    let handshake = try UpgradeHandshake(endpoint, fields: [HTTPField("User-Agent", "Roost")], nonce: nonce)
    let lines = String(decoding: handshake.request, as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.first == "GET /chat HTTP/1.1" && lines.suffix(2) == ["", ""])
    for line in [
      "Host: server.example.com", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "User-Agent: Roost",
      "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover",
    ] { #expect(lines.contains(Substring(line))) }
    let plain = try UpgradeHandshake(endpoint, fields: [], nonce: nonce, offersCompression: false)
    #expect(!String(decoding: plain.request, as: UTF8.self).lowercased().contains("sec-websocket-extensions"))
    var other = endpoint
    other.host = "::1"
    other.port = 7777
    #expect(other.hostField == "[::1]:7777")
  }

  @Test("The response is read in pieces of any size, and bytes behind it are left alone")
  func pieces() throws {
    let bytes = Array((good + "frames").utf8)
    for size in [1, 2, 3, 7, 64, bytes.count] {
      var handshake = try UpgradeHandshake(endpoint, fields: [], nonce: nonce)
      var used = 0
      var isUpgraded = false
      for start in stride(from: 0, to: bytes.count, by: size) where !isUpgraded {
        let piece = Array(bytes[start..<min(start + size, bytes.count)])
        let progress = try piece.withUnsafeBytes { try handshake.receive($0) }
        used += progress.usedByteCount
        isUpgraded = progress.isUpgraded
      }
      #expect(isUpgraded && used == bytes.count - 6)
    }
  }

  @Test("Each wrong answer has its own name")
  func refusals() {
    func refusal(_ response: String) -> UpgradeRefusal? {
      do {
        var handshake = try UpgradeHandshake(endpoint, fields: [], nonce: nonce)
        _ = try Array(response.utf8).withUnsafeBytes { try handshake.receive($0) }
        return nil
      } catch {
        return error as? UpgradeRefusal
      }
    }
    func replaced(_ old: String, _ new: String) -> UpgradeRefusal? {
      refusal(good.split(separator: old, omittingEmptySubsequences: false).joined(separator: new))
    }
    #expect(refusal(good) == nil)
    #expect(refusal("HTTP/1.1 200 OK\r\n\r\n") == .status(200, reason: "OK", retryAfterSeconds: nil))
    #expect(
      refusal("HTTP/1.1 503\r\nRetry-After: 7\r\n\r\n") == .status(503, reason: "", retryAfterSeconds: 7))
    #expect(
      refusal("HTTP/1.1 301 Moved\r\nlocation: wss://x/\u{1b}[2J\r\n\r\n") == .redirect(301, location: "wss://x/·[2J"))
    #expect(replaced("Upgrade: websocket", "Upgrade: h2c") == .missing("Upgrade"))
    #expect(replaced("Connection: Upgrade", "Connection: close") == .missing("Connection"))
    #expect(replaced("s3p", "S3p") == .wrongAccept)
    #expect(replaced("Sec-WebSocket-Accept", "X-Accept") == .wrongAccept)
    #expect(replaced("Connection:", "Sec-WebSocket-Accept: \(accept)\r\nConnection:") == .wrongAccept)
    #expect(replaced("Connection:", "Sec-WebSocket-Extensions: permessage-deflate\r\nConnection:") == nil)
    #expect(
      replaced("Connection:", "Sec-WebSocket-Extensions: permessage-deflate; unknown\r\nConnection:")
        == .notOffered("permessage-deflate; unknown"))
    #expect(
      replaced(
        "Connection:", "Sec-WebSocket-Extensions: permessage-deflate\r\nsec-websocket-extensions: x\r\nConnection:")
        == .notOffered("permessage-deflate, x"))
    #expect(replaced("Connection:", "Sec-WebSocket-Protocol: x\r\nConnection:") == .notOffered("x"))
    #expect(replaced("Connection:", " folded\r\nConnection:") == .badField(" folded"))
    #expect(replaced("Connection:", "A b: c\r\nConnection:") == .badField("A b: c"))
    #expect(refusal("HTTP/1.1 abc\r\n\r\n") == .notHTTP("HTTP/1.1 abc"))
    #expect(refusal("SSH-2.0-OpenSSH_9.2\r\n") == .notHTTP("SSH-2.0-OpenSSH_9.2··"))
    #expect(refusal("HTTP/1.0 101 x\r\n\r\n") != nil)
    #expect(refusal("HTTP/1.1 101 x\r\n" + String(repeating: "a: b\r\n", count: 9_999)) == .headTooLong)
  }

  @Test("A field or target that would break the request apart is refused")
  func injection() {
    for field in [HTTPField("X", "a\r\nb: c"), HTTPField("X y", "a"), HTTPField("", "a")] {
      #expect(throws: WebSocketFault.self) { try UpgradeHandshake(endpoint, fields: [field], nonce: nonce) }
    }
    for target in ["", "x", "/a b", "/a\r\nb"] {
      var other = endpoint
      other.requestTarget = target
      #expect(throws: WebSocketFault.self) { try UpgradeHandshake(other, fields: [], nonce: nonce) }
    }
  }

  @Test("Random answers never do harm", arguments: seeds(2))
  func fuzz(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<3_000 {
      var bytes = Array(good.utf8)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        bytes[Int.random(in: 9..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      var handshake = try UpgradeHandshake(endpoint, fields: [], nonce: nonce)
      _ = try? bytes.withUnsafeBytes { try handshake.receive($0) }
    }
  }
}
