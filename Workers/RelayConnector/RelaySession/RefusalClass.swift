public import Nostr

// What a refusal is about. NIP-01 and NIP-42 have a word for it, which relays forget, invent or misuse; then the rest
// of the text decides, by one table. The texts are those that relays were seen to send when they refuse; a greeting
// that only names a bound ("Max subscriptions: 50") is no refusal.

/// What a relay's CLOSED, NOTICE or OK says no to.
public enum RefusalClass: String, Sendable, Hashable, CaseIterable {
  /// An account must authenticate first (NIP-42).
  case authentication
  /// What the account may do is not enough, or this relay is not for it.
  case restricted
  /// The relay wants nothing of this client.
  case blocked
  /// Too many subscriptions are open.
  case subscriptions
  /// Requests come too fast.
  case rate
  /// The message is too large.
  case size
  /// The relay answers no requests, or none of this kind.
  case unsupported
  /// The filter or event is wrong, says the relay.
  case invalid
  /// The relay ignores the author.
  case mute
  /// Something failed at the relay.
  case failure
  /// No reason, or an unknown one.
  case unknown

  /// Texts that occur in refusals, in lower case; the first that occurs decides.
  private static let texts: [(part: String, kind: RefusalClass)] = [
    ("too many concurrent", .subscriptions), ("too many subscription", .subscriptions),
    ("too many open sub", .subscriptions), ("too many open req", .subscriptions), ("too many reqs", .subscriptions),
    ("maximum concurrent subscription", .subscriptions), ("number of subscriptions must", .subscriptions),
    ("subscription limit reached", .subscriptions), ("subscription limit exceeded", .subscriptions),
    ("rate limited", .rate), ("rate-limited", .rate), ("ratelimited", .rate), ("rate limit exceeded", .rate),
    ("too fast", .rate), ("slow down", .rate), ("too many requests", .rate), ("too many messages", .rate),
    ("throttled", .rate),
    ("limit too", .invalid), ("id too long", .invalid),
    ("too large", .size), ("too big", .size), ("message too long", .size), ("message size exceeds", .size),
    ("auth-required", .authentication), ("authentication required", .authentication),
    ("please authenticate", .authentication), ("need to auth", .authentication), ("must auth", .authentication),
    ("does not accept req", .unsupported), ("doesn't accept req", .unsupported),
    ("not accept subscriptions", .unsupported),
    ("queries not allowed", .unsupported), ("queries are not allowed", .unsupported), ("write-only", .unsupported),
    ("search filter is required", .unsupported), ("only search", .unsupported), ("not supported", .unsupported),
    ("unsupported", .unsupported),
    ("payment required", .restricted), ("pay to", .restricted), ("whitelist", .restricted), ("allowlist", .restricted),
    ("members only", .restricted), ("not a member", .restricted), ("not authorized", .restricted),
    ("permission", .restricted), ("restricted", .restricted), ("not allowed", .restricted),
    ("banned", .blocked), ("blocked", .blocked),
    ("invalid", .invalid), ("malformed", .invalid), ("bad req", .invalid), ("bad filter", .invalid),
  ]

  /// What the reason is about.
  public init(_ reason: RelayReason) {
    let text = reason.text.lowercased()
    let told = Self.texts.first { text.contains($0.part) }?.kind
    switch reason.word {
    case "auth-required": self = .authentication
    case "restricted": self = .restricted
    case "mute": self = .mute
    case "unsupported": self = .unsupported
    case "pow": self = .invalid
    // These two words are used for bounds too: `rate-limited: too many subscriptions`, `blocked: too many …`.
    case "rate-limited": self = told == .subscriptions ? .subscriptions : .rate
    case "blocked": self = told == .subscriptions || told == .rate || told == .size ? told ?? .blocked : .blocked
    case "invalid": self = told == .size || told == .subscriptions ? told ?? .invalid : .invalid
    case "error": self = told == .size || told == .subscriptions || told == .rate ? told ?? .failure : .failure
    default: self = told ?? .unknown
    }
  }

  /// Whether the relay refuses because of its own bounds, and would answer the same question at another time.
  public var isAboutRelay: Bool {
    switch self {
    case .subscriptions, .rate, .failure, .blocked, .authentication, .restricted: true
    case .size, .unsupported, .invalid, .mute, .unknown: false
    }
  }
}
