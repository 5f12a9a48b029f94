public import Contracts
public import Frames
internal import Nostr

// All outcomes of an attempt, classified by what the queue does next. Relays and connectors give their reasons in
// words, and only this file interprets them. An event that a relay refuses for an unknown reason is retried a few
// times, then given up. `error:` (NIP-01) means a failure that is not the event's fault. If it counted as a refusal, an
// event would be lost at each relay whose disk was full for a minute. But some relays answer `error:` to events that
// they will never accept, so the number of these retries is limited too.

/// The outcome of one attempt to send an event to a relay.
public enum SendOutcome: Sendable, Hashable {
  /// The relay has the event: it accepted it now, or had it already.
  case taken(String)
  /// The relay will never accept the event: no retry.
  case refused(String)
  /// The relay reports a failure (`error:`), for example a full disk or a lost database: retried for hours.
  case failing(String)
  /// The relay refuses without a known reason: a few retries.
  case rejected(String)
  /// The relay requires authentication, and the connector has done what it could: a few slow retries.
  case unauthorized(String)
  /// The account that must authenticate is locked, or the signer is unavailable: slow retries until the event expires.
  case locked(String)
  /// Events arrive too fast for the relay.
  case limited(String)
  /// The relay cannot be reached at present; it is not dialled before so many milliseconds have passed.
  case unreachable(String, afterMilliseconds: UInt64?)
  /// It is unknown whether the relay has the event.
  case unsettled(String)
  /// The event did not leave this machine, for a temporary reason: retried soon, and not counted.
  case absent(String)

  /// The reason in words.
  public var words: String {
    switch self {
    case .taken(let words), .refused(let words), .failing(let words), .rejected(let words), .unauthorized(let words),
      .locked(let words), .limited(let words), .unreachable(let words, _), .unsettled(let words), .absent(let words):
      words
    }
  }
}

extension SendOutcome {
  /// Whether a relay has said, by a word of NIP-01, that it never takes the event. Refusals by connectors do not count.
  public var isLastWord: Bool {
    if case .refused(let words) = self { RelayReason(words).word.map(Self.finalWords.contains) ?? false } else { false }
  }

  /// The meaning of a relay's OK (NIP-01, NIP-42). A duplicate counts as accepted, even with `false`, which some relays
  /// send.
  public init(_ answer: RelayPublishResult) {
    let words = answer.message
    let prefix = RelayReason(words).word
    guard !answer.isAccepted, prefix != "duplicate" else {
      self = .taken(words)
      return
    }
    switch prefix {
    case "rate-limited": self = .limited(words)
    case "auth-required": self = .unauthorized(words)
    case "error": self = .failing(words)
    case let word? where Self.finalWords.contains(word): self = .refused(words)
    default: self = .rejected(words.isEmpty ? "refused without a word" : words)
    }
  }

  /// Reasons of a relay that a retry does not change.
  static let finalWords: Set<String> = [
    "restricted", "blocked", "invalid", "pow", "mute", "deleted", "replaced", "unsupported",
  ]

  /// The meaning of a refusal by a connector, or by the hub in its place.
  public init(_ refusal: Refusal) {
    let words = refusal.message
    switch refusal.code {
    case "relay-unreachable":
      self = .unreachable(words, afterMilliseconds: refusal.retryAfterMilliseconds.map(UInt64.init))
    case .locked, "not-signed": self = .locked(words)
    case "not-authenticated": self = .unauthorized(words)
    case "relay-disconnected", "timed-out", .expired, .workerDied, .cancelled, "disconnected":
      self = refusal.outcome == .notStarted ? .absent(words) : .unsettled(words)
    case .gone, .unavailable, .unknownMethod, .full, "closing": self = .absent(words)
    case .noSuchRelay, .ownRelay, .denied, .badRequest, .badPayload, "not-supported", "not-protected", "not-shown",
      "private-address", "blocked", "out-of-bounds":
      self = .refused(words)
    // Among them dead letters: an event in flight at each of several connector deaths may or may not be the cause.
    default: self = .rejected(words)
    }
  }
}
