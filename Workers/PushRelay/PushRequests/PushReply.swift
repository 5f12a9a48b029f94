internal import Cryptography
internal import Frames
public import PushDelivery
public import PushRules

// Bodies of answers that are no refusals. All are JSON objects of one line, keys in order.
//
// Two of them are pinned by clients in the field: the answer to DELETE is decoded as a dictionary of texts, so a number
// in it breaks them; and `expires_at` is whole seconds.

/// What became of a wake, as coarsely as a sender needs it.
public enum WakeState: String, Hashable, Sendable, CaseIterable {
  /// It waits.
  case queued
  /// A platform has taken it; whether the phone has heard it is known to nobody.
  case sent
  /// It was worth nothing any more before a platform took it.
  case expired
  /// No platform takes it.
  case failed
  /// There is no such wake, or it is none of the asker's business which.
  case unknown
}

/// What `GET /info` tells a client.
public struct PushRelayInfo: Hashable, Sendable, Encodable {
  /// The limits that a client meets.
  public struct Limits: Hashable, Sendable, Encodable {
    /// Wakes of one sender in a minute.
    public var senderPerMinute: Int
    /// Wakes of one sender in an hour.
    public var senderPerHour: Int
    /// Wakes to one recipient in an hour.
    public var recipientPerHour: Int

    /// Limits.
    public init(senderPerMinute: Int, senderPerHour: Int, recipientPerHour: Int) {
      self.senderPerMinute = senderPerMinute
      self.senderPerHour = senderPerHour
      self.recipientPerHour = recipientPerHour
    }

    private enum CodingKeys: String, CodingKey {
      case senderPerMinute = "sender_per_minute"
      case senderPerHour = "sender_per_hour"
      case recipientPerHour = "recipient_per_hour"
    }
  }

  /// What the program is called and which version it is.
  public var software: String
  /// The names that version 2 of the signature may sign.
  public var audiences: [String]
  /// What becomes of version 1.
  public var firstVersion: SignatureRules.FirstVersion
  /// How far a timestamp may be off.
  public var windowSeconds: Int64
  /// The platforms that are switched on.
  public var platforms: [PushPlatform]
  /// Who is told whether a recipient is registered.
  public var disclosure: DisclosurePolicy
  /// How long a registration lasts.
  public var registrationSeconds: Int64
  /// How long a wake is worth something.
  public var wakeSeconds: Int64
  /// The public key (P-256, uncompressed, base64url) that Web Push subscriptions are made with (RFC 8292).
  public var webPushKey: String?
  /// The address that a Nostr key signs for (NIP-98), up to `/register`; nil: none may register.
  public var nostrURL: String?
  /// The limits.
  public var limits: Limits
  /// The relay's clock, Unix seconds.
  public var serverTime: Int64

  /// What a relay says of itself.
  public init(
    software: String, rules: SignatureRules, platforms: [PushPlatform], disclosure: DisclosurePolicy,
    registrationSeconds: Int64, wakeSeconds: Int64, webPushKey: String? = nil, limits: Limits, serverTime: Int64
  ) {
    self.software = software
    audiences = rules.audiences
    firstVersion = rules.firstVersion
    windowSeconds = rules.windowSeconds
    self.platforms = platforms
    self.disclosure = disclosure
    self.registrationSeconds = registrationSeconds
    self.wakeSeconds = wakeSeconds
    self.webPushKey = webPushKey
    self.limits = limits
    self.serverTime = serverTime
  }

  private enum CodingKeys: String, CodingKey {
    case software, audiences, platforms, disclosure, limits
    case firstVersion = "signature_v1"
    case windowSeconds = "window_seconds"
    case registrationSeconds = "registration_seconds"
    case wakeSeconds = "wake_seconds"
    case webPushKey = "webpush_key"
    case nostrURL = "nostr_url"
    case serverTime = "server_time"
  }
}

/// The bodies, as bytes.
public enum PushReply {
  /// `POST /register`: `{"expires_at":1735689600,"relay_id":"…","status":"registered"}`.
  ///
  /// - Parameters:
  ///   - relayID: 32 hexadecimal digits.
  ///   - expiresAt: Unix seconds.
  public static func registered(relayID: String, expiresAt: Int64) -> [UInt8] {
    object(["status": .string("registered"), "relay_id": .string(relayID), "expires_at": .integer(expiresAt)])
  }

  /// The same for a token that was another's: it counts for little until the challenge that came by push is sent back.
  public static func challenged(relayID: String, expiresAt: Int64) -> [UInt8] {
    object([
      "status": .string("registered"), "relay_id": .string(relayID), "expires_at": .integer(expiresAt),
      "verification": .string("challenge_sent"),
    ])
  }

  /// `DELETE /register` and `POST /unregister`: `{"status":"unregistered"}`, and nothing that is no text, ever.
  public static let unregistered: [UInt8] = JSONPayload.encode(["status": "unregistered"])

  /// `POST /wake`: `{"status":"queued","wake_id":"…"}`.
  ///
  /// - Parameter wakeID: 16 bytes, random also where there is no wake.
  public static func queued(wakeID: [UInt8]) -> [UInt8] {
    // Written by hand: it is the answer that is given most, and every one of them has the same length.
    Array(#"{"status":"queued","wake_id":""#.utf8) + Hexadecimal.encode(wakeID) + Array(#""}"#.utf8)
  }

  /// `GET /wake/{id}`: `{"status":"sent"}`.
  public static func state(_ state: WakeState) -> [UInt8] { JSONPayload.encode(["status": state.rawValue]) }

  /// `GET /contacts`, and `PUT /contacts` with what is kept now: `{"allow":[…],"block":[…],"policy":"open"}`.
  public static func contacts(_ book: ContactRules) -> [UInt8] {
    func names(_ owners: [PushOwner]) -> JSONValue { .array(owners.map { .string($0.name) }) }
    return object([
      "allow": names(book.allowed), "block": names(book.blocked),
      "policy": book.policy.map { .string($0.rawValue) } ?? .null,
    ])
  }

  /// `GET /rules`, and `PUT /rules` with what is kept now.
  public static func rules(_ rules: WakeRules) -> [UInt8] { JSONPayload.encode(rules.json) }

  /// `GET /info`.
  public static func info(_ info: PushRelayInfo) -> [UInt8] { JSONPayload.encode(info) }

  /// `GET /health`: `{"status":"ok"}`.
  public static let health: [UInt8] = JSONPayload.encode(["status": "ok"])

  /// `GET /ready`: `{"platforms":{"android":"ok","ios":"off"},"status":"ok"}`.
  ///
  /// - Parameters:
  ///   - isReady: whether wakes are taken.
  ///   - platforms: one word for each platform: `ok`, `off`, or what is wrong.
  public static func ready(isReady: Bool, platforms: [PushPlatform: String]) -> [UInt8] {
    let words = Dictionary(uniqueKeysWithValues: platforms.map { ($0.key.rawValue, JSONValue.string($0.value)) })
    return object(["status": .string(isReady ? "ok" : "unavailable"), "platforms": .object(words)])
  }

  private static func object(_ members: [String: JSONValue]) -> [UInt8] { JSONPayload.encode(members) }
}
