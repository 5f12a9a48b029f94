import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A real push relay under a real roostd, with fakes of the platforms, and phones and senders that sign.
final class PushRig {
  let roost: RunningRoost
  let fakes: PushFakes
  let port: UInt16
  let client: BusPeer

  /// Keys of `[worker.push-relay]` for these fakes, files in `directory`.
  static func layout(
    _ fakes: PushFakes, port: UInt16, directory: String, _ keys: [String: String] = [:]
  ) throws -> Layout {
    let (apple, google) = (directory + "/apple.p8", directory + "/google.json")
    for (path, bytes) in [(apple, Array(fakes.apns.key.utf8)), (google, fakes.serviceAccount)] {
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(String(decoding: bytes, as: UTF8.self), to: file)
      Descriptors.close(file)
    }
    var worker = Layout.Worker(name: "push-relay")
    worker.keys = [
      "role": "\"push-relay\"", "program": "\"\(SpawnedProcess.builtProgram("push-relay"))\"", "sandbox": "\"try\"",
      "listen": "[\"127.0.0.1:\(port)\"]", "apns-key-file": "\"\(apple)\"",
      "apns-key-id": "\"\(fakes.apns.keyIdentifier)\"", "apns-team-id": "\"\(fakes.apns.team)\"",
      "apns-topic": "\"\(fakes.apns.topic)\"", "apns-url": "\"https://localhost:\(fakes.port(.apns))\"",
      "fcm-account-file": "\"\(google)\"", "fcm-url": "\"https://localhost:\(fakes.port(.fcm))\"",
      "web-push-neighbours": "true", "web-push-contact": "\"mailto:op@example.org\"",
      "ca-file": "\"\(fakes.authorityFile)\"",
      // Worth something for a day: nothing that is sent as this depends on who is quick.
      "wake.lasting.time-to-live": "\"24h\"",
    ]
    worker.keys.merge(keys) { _, new in new }
    return Layout(workers: [worker])
  }

  static func run(_ keys: [String: String] = [:], _ body: (PushRig) throws -> Void) throws {
    let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
    try withRoost(try layout(fakes, port: port, directory: directory.path, keys)) { roost in
      try body(try PushRig(roost, fakes, port))
    }
  }

  init(_ roost: RunningRoost, _ fakes: PushFakes, _ port: UInt16) throws {
    self.roost = roost
    self.fakes = fakes
    self.port = port
    client = try roost.client()
  }

  // MARK: Requests

  struct Answer {
    var status: Int
    var head: String
    var text: String
    var json: JSONValue

    subscript(name: String) -> String { if case .string(let text) = json[name] { text } else { "" } }
  }

  /// Sends a request and reads its answer. `body` nil: none.
  func send(
    _ method: String, _ path: String, _ body: [UInt8]? = nil, fields: [String] = [], prefix: String = "/v1"
  ) throws -> Answer {
    let client = try PlainClient(port: port)
    var lines = ["\(method) \(prefix)\(path) HTTP/1.1", "Host: push.example", "Connection: close"] + fields
    if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
    try client.send(Array((lines + ["", ""]).joined(separator: "\r\n").utf8) + (body ?? []))
    let answer = try client.answer()
    let end = try #require(answer.firstRange(of: "\r\n\r\n"), "\(answer)")
    let text = String(answer[end.upperBound...])
    let words = answer.split(separator: " ", maxSplits: 2)
    return Answer(
      status: Int(words[1]) ?? 0, head: String(answer[..<end.lowerBound]), text: text,
      json: (try? JSONPayload.decode(JSONValue.self, from: Array(text.utf8))) ?? .null)
  }

  /// The three fields that sign a request.
  static func signature(
    _ key: Ed25519SecretKey, _ method: String, _ path: String, _ body: [UInt8], at time: Int64 = WallClock.seconds
  ) -> [String] {
    let message = "\(method):\(path):\(time):\(SHA256.hash(body))"
    return [
      "X-Pubky-Signature: \(Hexadecimal.text(of: key.sign(Array(message.utf8))))", "X-Pubky-Timestamp: \(time)",
      "X-Pubky-Pubkey: \(ZBase32.text(of: key.publicKey.octets))",
    ]
  }

  func signed(
    _ key: Ed25519SecretKey, _ method: String, _ path: String, _ body: String = "", at time: Int64 = WallClock.seconds
  ) throws -> Answer {
    let bytes = Array(body.utf8)
    return try send(
      method, path, body.isEmpty ? nil : bytes, fields: Self.signature(key, method, path, bytes, at: time))
  }

  // MARK: Phones and senders

  @discardableResult
  func register(
    _ key: Ed25519SecretKey, _ platform: String, _ token: String, device: String = "phone",
    capabilities: String = #"["wake","payment_received"]"#, more: String = ""
  ) throws -> Answer {
    let value = token.hasPrefix("{") ? token : "\"\(token)\""
    let answer = try signed(
      key, "POST", "/register",
      #"{"platform":"\#(platform)","token":\#(value),"capabilities":\#(capabilities),"#
        + #""device_id":"\#(device)"\#(more)}"#)
    return answer
  }

  static func body(
    to recipient: Ed25519SecretKey, by sender: Ed25519SecretKey, type: String = "noise_connect",
    nonce: [UInt8] = RandomBytes.make(16), payload: [UInt8]? = nil
  ) -> String {
    let more = payload.map { #","payload":"\#(Base64.encode($0))""# } ?? ""
    return #"{"recipient_pubkey":"\#(ZBase32.text(of: recipient.publicKey.octets))","wake_type":"\#(type)","#
      + #""sender_pubkey":"\#(ZBase32.text(of: sender.publicKey.octets))","#
      + #""nonce":"\#(Hexadecimal.text(of: nonce))"\#(more)}"#
  }

  @discardableResult
  func wake(
    _ recipient: Ed25519SecretKey, by sender: Ed25519SecretKey, type: String = "noise_connect",
    payload: [UInt8]? = nil
  ) throws -> Answer {
    try signed(sender, "POST", "/wake", Self.body(to: recipient, by: sender, type: type, payload: payload))
  }

  /// 64 hexadecimal digits that no other test has.
  static func appleToken() -> String { Hexadecimal.text(of: RandomBytes.make(32)) }

  static func googleToken() -> String { "fcm:" + Hexadecimal.text(of: RandomBytes.make(70)) }

  /// Waits until a fake has had so many requests.
  @discardableResult
  func await(_ count: Int, at service: PushFakes.Service, within seconds: Double = 30) throws -> [JSONValue] {
    var requests: [JSONValue] = []
    try awaitSoon("\(count) requests at \(service.rawValue)", within: seconds) {
      requests = try fakes.requests(to: service)
      return requests.count >= count
    }
    return requests
  }

  func status() throws -> PushStatus {
    try JSONPayload.decode(PushStatus.self, from: try client.call("push.status").terminal.payload)
  }
}
