public import Cryptography

/// A wake that was accepted: it reaches the recipient's devices before it expires, or is counted as expired.
public struct Wake: Hashable, Sendable {
  /// Its row in the ledger, which orders the queue; 0 before it has one.
  public var number: Int64 = 0
  /// 16 bytes, as ``makeID(unixMilliseconds:)`` makes them; as text 32 hexadecimal digits. It names the wake to its
  /// sender, and makes the `apns-id`.
  public var id: [UInt8]
  /// Who is woken.
  public var recipient: PushOwner
  /// Who asked for it; nil: this machine, for an event that came.
  public var sender: PushOwner?
  /// What for, as `noise_connect`: 1 to 64 characters of `a-z0-9_`.
  public var type: String
  /// What the sender wants brought, encrypted by him; at most ``payloadByteCountMaximum``.
  public var payload: [UInt8]?
  /// What the sender called the wake, 16 bytes.
  public var nonce: [UInt8]
  /// What kind of Nostr event it is for; nil for a wake that somebody asked for.
  public var topic: WakeTopic?
  /// The event's id: told to devices that have a key to seal for, and to nobody else.
  public var event: Octets32?
  /// Whether the recipient has allowed the sender, or is the sender, or it is this machine that wakes.
  public var isOfContact: Bool
  /// Unix milliseconds of its acceptance.
  public var acceptedAt: Int64
  /// Unix milliseconds from which it is worth nothing.
  public var expiresAt: Int64

  /// The type of wakes for events of Nostr.
  public static let nostr = "nostr"
  /// Most bytes of a payload. What a platform takes is less, and is measured with the rest of the message.
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

  /// Whether a device wants wakes of this type: it names the type, or names no type at all, or names `wake`, which
  /// stands for `noise_connect` and `channel_update`, and for events of Nostr, of which its owner's rules say more.
  /// Words that are no types are ignored.
  public func isWanted(by capabilities: [String]) -> Bool {
    if capabilities.isEmpty || capabilities.contains(type) { return true }
    return capabilities.contains("wake") && (topic != nil || Self.general.contains(type))
  }

  /// A new id: a UUID of version 7 (RFC 9562), which is the time and then 74 random bits. Whoever gets it knows the
  /// time; and what is accepted one after the other stands together in the ledger's tables, where random ids cost the
  /// disk a page each.
  public static func makeID(unixMilliseconds: Int64) -> [UInt8] {
    var id = RandomBytes.make(16)
    for index in 0..<6 { id[index] = UInt8(truncatingIfNeeded: unixMilliseconds >> (40 - 8 * index)) }
    id[6] = 0x70 | id[6] & 0x0F
    id[8] = 0x80 | id[8] & 0x3F
    return id
  }

  /// What is brought for the sender, as SHA-256; nil when that is nothing.
  public var contents: Octets32? { payload.flatMap { $0.isEmpty ? nil : SHA256.hash($0) } }

  /// Whether nothing is lost when a wake of the same kind with these contents is brought in place of this one. The push
  /// names who sent that one: of a contact's wake it would be lost whose it was, if a stranger's stood for it.
  ///
  /// - Parameters:
  ///   - contents: what the other one brings.
  ///   - isOfContact: whether the other one is a contact's.
  public func joins(_ contents: Octets32?, isOfContact: Bool) -> Bool {
    (isOfContact || !self.isOfContact) && (self.contents.map { $0 == contents } ?? true)
  }

  /// What a sealed message has as its payload: the sender's; of a wake for an event
  /// `{"class":"mention","event":"<64 hexadecimal digits>"}`.
  public var sealedPayload: [UInt8] {
    guard let topic else { return payload ?? [] }
    let event = event.map { #","event":"\#($0)""# } ?? ""
    return Array(#"{"class":"\#(topic.rawValue)"\#(event)}"#.utf8)
  }

  /// What `wake` stands for in a device's capabilities.
  public static let general: Set<String> = ["noise_connect", "channel_update"]
}
