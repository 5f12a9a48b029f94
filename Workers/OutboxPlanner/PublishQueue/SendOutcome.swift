public import Contracts
public import Frames
internal import Nostr

// Every end that an attempt can have, in classes by what follows from it. Relays and connectors speak in words; here
// they are read, once. What a relay says that is in no list is tried again a few times, then given up. `error:` is the
// word of NIP-01 for what is no fault of the event's: whoever took it for a refusal would lose an event at each relay
// whose disk was full for a minute. But some say it of events that they will never take, so it has an end as well.

/// What became of one attempt to send an event to a relay.
public enum SendOutcome: Sendable, Hashable {
  /// The relay has it, now or already.
  case taken(String)
  /// It will never take it: tried no more.
  case refused(String)
  /// It says that it has failed (`error:`), as relays do whose disk is full or whose database is away: for hours.
  case failing(String)
  /// It gives no reason that is known: a few more times.
  case rejected(String)
  /// It wants to know who sends it, and what could be done about that was done: a few more times, slowly.
  case unauthorized(String)
  /// Who would show himself is locked, or the signer is away: slowly, as long as there is time.
  case locked(String)
  /// All of this goes too fast for the relay.
  case limited(String)
  /// There is no way to the relay at present; it is not dialled before so many milliseconds have passed.
  case unreachable(String, afterMilliseconds: UInt64?)
  /// Nobody knows whether the relay has it.
  case unsettled(String)
  /// It did not leave this machine, for reasons that pass: soon again, and not counted.
  case absent(String)

  /// The words about it.
  public var words: String {
    switch self {
    case .taken(let words), .refused(let words), .failing(let words), .rejected(let words), .unauthorized(let words),
      .locked(let words), .limited(let words), .unreachable(let words, _), .unsettled(let words), .absent(let words):
      words
    }
  }
}

extension SendOutcome {
  /// What a relay's OK means (NIP-01, NIP-42). A duplicate is taken, also where the relay says `false` to it, as some
  /// do.
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

  /// Words of a relay that do not change by asking again.
  static let finalWords: Set<String> = [
    "restricted", "blocked", "invalid", "pow", "mute", "deleted", "replaced", "unsupported",
  ]

  /// What it means that a connector, or the hub in its place, has refused.
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
    case .noSuchRelay, .ownRelay, .denied, .badRequest, .badPayload, "not-supported", "not-protected",
      "private-address", "blocked":
      self = .refused(words)
    // Among them what lay in a connector's hand at each of several deaths: perhaps it was to blame, perhaps not.
    default: self = .rejected(words)
    }
  }
}
