internal import Cryptography
internal import Frames
public import PushDelivery
public import PushRules

// Bodies of successful answers. All are JSON objects of one line, with their keys in order.
//
// Clients in the field fix two of them: they decode the answer to DELETE as a dictionary of texts, so a number in it
// breaks them; and `expires_at` is whole seconds.

/// What became of a wake, in as much detail as a sender needs.
public enum WakeState: String, Hashable, Sendable, CaseIterable {
  /// It waits.
  case queued
  /// A platform has accepted it; the relay cannot know whether the phone received it.
  case sent
  /// It expired before a platform accepted it.
  case expired
  /// No platform accepts it.
  case failed
  /// There is no such wake, or the sender of the request may not know of it.
  case unknown
}

/// The answer to `GET /info`.
public struct PushRelayInfo: Hashable, Sendable, Encodable {
  /// The limits for clients.
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

  /// The name and version of the program.
  public var software: String
  /// The names that version 2 of the signature may contain.
  public var audiences: [String]
  /// Whether signatures of version 1 are accepted.
  public var firstVersion: SignatureRules.FirstVersion
  /// How far a timestamp may be from the relay's clock.
  public var windowSeconds: Int64
  /// The platforms that are switched on.
  public var platforms: [PushPlatform]
  /// Which senders learn whether a recipient is registered.
  public var disclosure: DisclosurePolicy
  /// How long a registration lasts.
  public var registrationSeconds: Int64
  /// How long the relay tries to deliver a wake.
  public var wakeSeconds: Int64
  /// The public key (P-256, uncompressed, base64url) for Web Push subscriptions (RFC 8292).
  public var webPushKey: String?
  /// The address that a Nostr key signs (NIP-98), up to `/register`; nil: no Nostr key may register.
  public var nostrURL: String?
  /// The limits.
  public var limits: Limits
  /// The relay's clock, Unix seconds.
  public var serverTime: Int64

  /// Information about a relay.
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

  /// The same for a token that another key had: the claim has little effect until the challenge from the push is sent
  /// back.
  public static func challenged(relayID: String, expiresAt: Int64) -> [UInt8] {
    object([
      "status": .string("registered"), "relay_id": .string(relayID), "expires_at": .integer(expiresAt),
      "verification": .string("challenge_sent"),
    ])
  }

  /// `DELETE /register` and `POST /unregister`: `{"status":"unregistered"}`. It must never have a member that is not a
  /// text.
  public static let unregistered: [UInt8] = JSONPayload.encode(["status": "unregistered"])

  /// `POST /wake`: `{"status":"queued","wake_id":"…"}`.
  ///
  /// - Parameter wakeID: 16 bytes, random also if there is no wake.
  public static func queued(wakeID: [UInt8]) -> [UInt8] {
    // Written by hand: it is the most frequent answer, and all of them have the same length.
    Array(#"{"status":"queued","wake_id":""#.utf8) + Hexadecimal.encode(wakeID) + Array(#""}"#.utf8)
  }

  /// `GET /wake/{id}`: `{"status":"sent"}`.
  public static func state(_ state: WakeState) -> [UInt8] { JSONPayload.encode(["status": state.rawValue]) }

  /// `GET /contacts`, and `PUT /contacts` with the lists that are now stored:
  /// `{"allow":[…],"block":[…],"policy":"open"}`.
  public static func contacts(_ book: ContactRules) -> [UInt8] {
    func names(_ owners: [PushOwner]) -> JSONValue { .array(owners.map { .string($0.name) }) }
    return object([
      "allow": names(book.allowed), "block": names(book.blocked),
      "policy": book.policy.map { .string($0.rawValue) } ?? .null,
    ])
  }

  /// `GET /rules`, and `PUT /rules` with the rules that are now stored.
  public static func rules(_ rules: WakeRules) -> [UInt8] { JSONPayload.encode(rules.json) }

  /// `GET /info`.
  public static func info(_ info: PushRelayInfo) -> [UInt8] { JSONPayload.encode(info) }

  /// `GET /health`: `{"status":"ok"}`.
  public static let health: [UInt8] = JSONPayload.encode(["status": "ok"])

  /// `GET /ready`: `{"platforms":{"android":"ok","ios":"off"},"status":"ok"}`.
  ///
  /// - Parameters:
  ///   - isReady: whether the relay accepts wakes.
  ///   - platforms: one word for each platform: `ok`, `off`, or what is wrong.
  public static func ready(isReady: Bool, platforms: [PushPlatform: String]) -> [UInt8] {
    let words = Dictionary(uniqueKeysWithValues: platforms.map { ($0.key.rawValue, JSONValue.string($0.value)) })
    return object(["status": .string(isReady ? "ok" : "unavailable"), "platforms": .object(words)])
  }

  private static func object(_ members: [String: JSONValue]) -> [UInt8] { JSONPayload.encode(members) }
}
