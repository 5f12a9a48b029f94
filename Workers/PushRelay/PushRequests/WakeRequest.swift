internal import Cryptography
public import PushDelivery

/// The body of `POST /wake`: a sender wants to wake a recipient.
///
///     {"recipient_pubkey":"…","sender_pubkey":"…","wake_type":"noise_connect","nonce":"…","payload":"…"}
///
/// A key may wake itself: that reaches the other devices of its owner.
public struct WakeRequest: Hashable, Sendable {
  /// The key to wake.
  public let recipient: PushOwner
  /// The key that signed the request, never what the body says.
  public let sender: PushOwner
  /// The type: 1 to 64 characters of `a-z0-9_`. An unknown type is well-formed too.
  public let type: String
  /// The sender's name for the wake, 16 bytes.
  public let nonce: [UInt8]
  /// What the push carries, encrypted by the sender; at most `Wake.payloadByteCountMaximum` bytes.
  public let payload: [UInt8]?
  /// The recipient's permission, not verified yet.
  public let ticket: WakeTicket?

  /// Most characters of a type.
  public static let typeCharacterCountMaximum = 64
  /// Types of wakes that only the relay sends, so that no sender can imitate them.
  public static let reservedTypes: Set<String> = ["nostr", "registration_challenge"]
  /// Bytes of a nonce.
  public static let nonceByteCount = 16

  /// Reads a wake.
  ///
  /// - Parameters:
  ///   - body: what was signed.
  ///   - sender: the key that signed it.
  /// - Throws: `invalid_signature` if the body names another sender; `invalid_payload`, `invalid_ticket`,
  ///   `invalid_request` for the rest.
  public init(_ body: RequestBody, sender: PushOwner) throws(PushRefusal) {
    try Self.checkSender(body, sender)
    self.sender = sender
    guard let recipient = OwnerName.owner(try body.requiredText("recipient_pubkey", byteCountMaximum: 255)) else {
      throw .invalid("'recipient_pubkey' is no key: \(OwnerName.rule)")
    }
    self.recipient = recipient
    type = try Self.type(body)
    nonce = try Self.nonce(body)
    payload = try Self.payload(body)
    let ticket = try body.text("ticket", byteCountMaximum: WakeTicket.characterCountMaximum)
    self.ticket = try ticket.map { (text) throws(PushRefusal) in try WakeTicket(text) }
  }

  private static func checkSender(_ body: RequestBody, _ sender: PushOwner) throws(PushRefusal) {
    let text = try body.requiredText("sender_pubkey", byteCountMaximum: 255)
    guard OwnerName.owner(text) == sender else {
      throw PushRefusal(.invalidSignature, "'sender_pubkey' is not the key that signed the request")
    }
  }

  private static func type(_ body: RequestBody) throws(PushRefusal) -> String {
    let text = try body.requiredText("wake_type", byteCountMaximum: typeCharacterCountMaximum)
    guard Wake.isType(text) else {
      throw .invalid("'wake_type' is not 1 to \(typeCharacterCountMaximum) characters of a-z, 0-9 and '_'")
    }
    guard !reservedTypes.contains(text) else {
      throw .invalid("'wake_type' is '\(text)', which the relay alone sends: choose another word")
    }
    return text
  }

  private static func nonce(_ body: RequestBody) throws(PushRefusal) -> [UInt8] {
    let text = try body.requiredText("nonce", byteCountMaximum: 2 * nonceByteCount)
    guard text.utf8.count == 2 * nonceByteCount, let bytes = Hexadecimal.decode(text.lowercased().utf8) else {
      throw .invalid("'nonce' is not \(2 * nonceByteCount) hexadecimal digits: \(nonceByteCount) random bytes")
    }
    return bytes
  }

  private static func payload(_ body: RequestBody) throws(PushRefusal) -> [UInt8]? {
    guard let text = try body.text("payload", byteCountMaximum: RequestBody.byteCountMaximum) else { return nil }
    guard let bytes = Base64.decode(text) else {
      throw PushRefusal(.invalidPayload, "'payload' is not base64 (the standard alphabet, with padding)")
    }
    guard bytes.count <= Wake.payloadByteCountMaximum else {
      throw PushRefusal(
        .invalidPayload,
        "'payload' is \(bytes.count) bytes, and a push never carries more than \(Wake.payloadByteCountMaximum), mostly"
          + " some hundred less: send less, and fetch the rest after the wake")
    }
    return bytes
  }
}
