public import Cryptography

/// An accepted wake: it reaches the recipient's devices before it expires, or is counted as expired.
public struct Wake: Hashable, Sendable {
  /// Its row in the ledger, which orders the queue; 0 before it has one.
  public var number: Int64 = 0
  /// 16 bytes from ``makeID(unixMilliseconds:)``; as text 32 hexadecimal digits. It identifies the wake to its sender,
  /// and the `apns-id` is derived from it.
  public var id: [UInt8]
  /// The recipient.
  public var recipient: PushOwner
  /// The sender; nil: this machine, for an event that arrived.
  public var sender: PushOwner?
  /// Its type, such as `noise_connect`: 1 to 64 characters of `a-z0-9_`.
  public var type: String
  /// The sender's payload, encrypted by the sender; at most ``payloadByteCountMaximum``.
  public var payload: [UInt8]?
  /// The sender's nonce for the wake, 16 bytes.
  public var nonce: [UInt8]
  /// The kind of Nostr event that it is for; nil for a wake that a sender requested.
  public var topic: WakeTopic?
  /// The event's id: sent only to devices that have a key to seal to.
  public var event: Octets32?
  /// Whether the recipient has allowed the sender, or is the sender, or this machine is the sender.
  public var isOfContact: Bool
  /// When it was accepted, in Unix milliseconds.
  public var acceptedAt: Int64
  /// When it expires, in Unix milliseconds.
  public var expiresAt: Int64

  /// The type of wakes for events of Nostr.
  public static let nostr = "nostr"
  /// The maximum size of a payload, in bytes. A platform accepts less; that is checked with the rest of the message.
  public static let payloadByteCountMaximum = 3_072

  /// A wake.
  public init(
    id: [UInt8], recipient: PushOwner, sender: PushOwner?, type: String, payload: [UInt8]?, nonce: [UInt8],
    acceptedAt: Int64, expiresAt: Int64
  ) {
    self.id = id
    self.recipient = recipient
    self.sender = sender
    self.type = type
    self.payload = payload
    self.nonce = nonce
    isOfContact = sender == nil || sender == recipient
    self.acceptedAt = acceptedAt
    self.expiresAt = expiresAt
  }

  /// Whether a device wants wakes of this type: it names the type, or names no type at all, or names `wake`. `wake`
  /// means `noise_connect` and `channel_update`, and events of Nostr, for which its owner's rules say more. Words that
  /// are not types are ignored.
  public func isWanted(by capabilities: [String]) -> Bool {
    if capabilities.isEmpty || capabilities.contains(type) { return true }
    return capabilities.contains("wake") && (topic != nil || Self.general.contains(type))
  }

  /// A new id: a UUID of version 7 (RFC 9562), which is the time and then 74 random bits. A receiver of the id learns
  /// the time; and wakes that are accepted one after the other are neighbours in the ledger's tables, where random ids
  /// would cost a disk page each.
  public static func makeID(unixMilliseconds: Int64) -> [UInt8] {
    var id = RandomBytes.make(16)
    for index in 0..<6 { id[index] = UInt8(truncatingIfNeeded: unixMilliseconds >> (40 - 8 * index)) }
    id[6] = 0x70 | id[6] & 0x0F
    id[8] = 0x80 | id[8] & 0x3F
    return id
  }

  /// The SHA-256 of the sender's payload; nil without one.
  public var contents: Octets32? { payload.flatMap { $0.isEmpty ? nil : SHA256.hash($0) } }

  /// Whether nothing is lost when a wake of the same type with these contents is sent instead of this one. The push
  /// names the sender of that wake. If a stranger's wake replaced a contact's, the contact's name would be lost.
  ///
  /// - Parameters:
  ///   - contents: the contents of the other wake.
  ///   - isOfContact: whether the other wake is a contact's.
  public func joins(_ contents: Octets32?, isOfContact: Bool) -> Bool {
    (isOfContact || !self.isOfContact) && (self.contents.map { $0 == contents } ?? true)
  }

  /// The payload of a sealed message: the sender's; for a wake for an event
  /// `{"class":"mention","event":"<64 hexadecimal digits>"}`.
  public var sealedPayload: [UInt8] {
    guard let topic else { return payload ?? [] }
    let event = event.map { #","event":"\#($0)""# } ?? ""
    return Array(#"{"class":"\#(topic.rawValue)"\#(event)}"#.utf8)
  }

  /// The types that `wake` means in a device's capabilities.
  public static let general: Set<String> = ["noise_connect", "channel_update"]
}
