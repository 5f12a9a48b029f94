import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension PushVector {
  /// The clock of nearly all of them.
  static let clock: Int64 = 1_760_000_000
  /// The nonce of all wakes among them.
  private static let nonce = "00112233445566778899aabbccddeeff"

  /// The status of each word.
  static let statuses = [
    "ok": 200, "invalid_request": 400, "invalid_token": 400, "invalid_payload": 400, "invalid_ticket": 400,
    "invalid_signature": 401, "expired_timestamp": 401, "not_found": 404, "method_not_allowed": 405,
    "payload_too_large": 413,
  ]

  var bytes: [UInt8] { Base64.decode(body) ?? [] }

  /// What is sent, byte for byte.
  var request: [UInt8] {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: push.example", "Connection: close"]
    lines += fields.map { "\($0[0]): \($0[1])" }
    if !bytes.isEmpty || method != "GET" { lines.append("Content-Length: \(bytes.count)") }
    return Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + bytes
  }

  /// Those whose clock is another one are asked at the time that stands as far from the relay's clock.
  ///
  /// Where the request must come before a moment, it has half a minute for it.
  func twin(relayClock: Int64) throws -> PushVector {
    guard now != Self.clock else { return self }
    let distance = Self.clock - now
    let slack: Int64 = expect == "ok" ? (distance < 0 ? 30 : 0) : (distance > 0 ? 30 : 0)
    var twin = self
    try twin.sign(at: relayClock + distance + slack)
    return twin
  }

  /// The same with another nonce: one sender can use a nonce for one request only.
  func withNonce(_ nonce: String) throws -> PushVector {
    var twin = self
    twin.body = Base64.encode(
      Array(String(decoding: bytes, as: UTF8.self).replacing(Self.nonce, with: nonce).utf8))
    try twin.sign(at: now)
    return twin
  }

  private mutating func sign(at time: Int64) throws {
    let key = Ed25519SecretKey(seed: try #require(Octets32(seed)))
    var message = "\(method):\(target.dropFirst("/v1".count)):\(time):\(SHA256.hash(bytes))"
    if let audience = fields.first(where: { $0[0] == "X-Pubky-Audience" }) {
      message = "pubky-push/2:\(audience[1]):\(message)"
    }
    fields = fields.map { field in
      switch field[0] {
      case "X-Pubky-Timestamp": [field[0], "\(time)"]
      case "X-Pubky-Signature": [field[0], Hexadecimal.text(of: key.sign(Array(message.utf8)))]
      default: field
      }
    }
  }
}

extension PushRig {
  /// Sends bytes as they are, and reads what is answered until the other side closes.
  func raw(_ bytes: [UInt8]) throws -> Answer {
    let client = try PlainClient(port: port)
    try client.send(bytes)
    return try Self.answer(try client.answer())
  }

  /// Reads an answer.
  static func answer(_ text: String) throws -> Answer {
    let end = try #require(text.firstRange(of: "\r\n\r\n"), "no answer: \(text)")
    let body = String(text[end.upperBound...])
    let words = text.split(separator: " ", maxSplits: 2)
    return Answer(
      status: words.count > 1 ? Int(words[1]) ?? 0 : 0, head: String(text[..<end.lowerBound]), text: body,
      json: (try? JSONPayload.decode(JSONValue.self, from: Array(body.utf8))) ?? .null)
  }
}
