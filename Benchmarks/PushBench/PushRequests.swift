import Cryptography
import Glibc

// Phones and senders. A phone's key follows from its number, so a later run wakes those that an earlier one registered;
// senders are made anew, one for each wake unless told otherwise, since a key may wake ten times a minute.

/// Requests as a phone or a sender signs them.
struct PushRequests {
  let load: Load
  private let wakeTypes = ["noise_connect", "payment_received", "payment_request"]
  private let recipients: [String]
  private let senders: [Ed25519SecretKey]
  private let payload: String

  init(_ load: Load) {
    self.load = load
    recipients =
      load.isRegistering || load.isForCrowd ? [] : (0..<load.recipientCount).map { Self.name(of: Self.phone($0)) }
    senders = load.isRegistering ? [] : (0..<load.senderCount).map { _ in Ed25519SecretKey.generate() }
    payload = Base64.encode([UInt8](repeating: 0x5A, count: 96))
  }

  /// The request of a number, signed now.
  func bytes(_ number: Int) -> [UInt8] {
    load.isRegistering ? registration(number) : wake(number)
  }

  /// Whom the wake of a number is for. One of `repeated` goes to whom the one before went to.
  func recipient(of number: Int) -> Int {
    let isRepeated = load.repeatedEvery > 0 && number % load.repeatedEvery == 1
    return (isRepeated ? number - 1 : number) % load.recipientCount
  }

  private func registration(_ number: Int) -> [UInt8] {
    let isGoogle = load.googleEvery > 0 && number % load.googleEvery == load.googleEvery - 1
    let mark = SHA256.hash(Array("token \(number)".utf8)).description
    let token = isGoogle ? "fcm:" + mark + mark : mark
    return Self.signed(
      Self.phone(number), "/register", number,
      #"{"platform":"\#(isGoogle ? "android" : "ios")","token":"\#(token)","device_id":"phone","#
        + #""capabilities":["wake","payment_received","payment_request"]}"#)
  }

  private func wake(_ number: Int) -> [UInt8] {
    let sender = senders.isEmpty ? Ed25519SecretKey.generate() : senders[number % senders.count]
    let recipient = load.isForCrowd ? Self.name(of: .generate()) : recipients[recipient(of: number)]
    // Each pass over the recipients is of another type: wakes of one type within two seconds would be one push.
    let type = wakeTypes[number / load.recipientCount % wakeTypes.count]
    return Self.signed(
      sender, "/wake", number,
      #"{"recipient_pubkey":"\#(recipient)","sender_pubkey":"\#(Self.name(of: sender))","#
        + #""wake_type":"\#(type)","nonce":"\#(Hexadecimal.text(of: RandomBytes.make(16)))","#
        + #""payload":"\#(payload)"}"#)
  }

  private static func phone(_ number: Int) -> Ed25519SecretKey {
    Ed25519SecretKey(seed: SHA256.hash(Array("phone \(number)".utf8)))
  }

  private static func name(of key: Ed25519SecretKey) -> String { ZBase32.text(of: key.publicKey.octets) }

  /// A phone or a sender has an address of its own, as a proxy tells it: one address may not ask for all.
  private static func address(_ number: Int) -> String {
    "10.\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)"
  }

  private static func signed(_ key: Ed25519SecretKey, _ path: String, _ number: Int, _ body: String) -> [UInt8] {
    let bytes = Array(body.utf8)
    let seconds = time(nil)
    let signature = key.sign(Array("POST:\(path):\(seconds):\(SHA256.hash(bytes))".utf8))
    let lines = [
      "POST /v1\(path) HTTP/1.1", "Host: push.example", "Content-Type: application/json",
      "Content-Length: \(bytes.count)", "X-Forwarded-For: \(address(number))", "X-Pubky-Pubkey: \(name(of: key))",
      "X-Pubky-Timestamp: \(seconds)",
      "X-Pubky-Signature: \(Hexadecimal.text(of: signature))", "", "",
    ]
    return Array(lines.joined(separator: "\r\n").utf8) + bytes
  }
}
