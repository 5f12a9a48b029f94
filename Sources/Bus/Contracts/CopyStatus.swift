internal import Frames

/// How many living copies the events of one account have, by the last comparison with each relay.
public struct CopyStatus: Codable, Sendable, Hashable {
  /// A relay that is to have them.
  public struct Relay: Codable, Sendable, Hashable, Payload {
    /// Its URL.
    public var relay: String
    /// When it was last compared, seconds since 1970; absent: never.
    public var comparedAt: Int64?
    /// Events that it lacks and is to be sent.
    public var open: Int
    /// Events that it took when they were sent again.
    public var taken: Int
    /// Events that it has refused for good.
    public var refused: Int
    /// Events that it lacks and is not sent; `reason` says why.
    public var left: Int
    /// Why it could not be compared, or why it is sent nothing more.
    public var reason: String?

    /// A relay.
    public init(
      relay: String, comparedAt: Int64? = nil, open: Int = 0, taken: Int = 0, refused: Int = 0, left: Int = 0,
      reason: String? = nil
    ) {
      (self.relay, self.comparedAt, self.reason) = (relay, comparedAt, reason)
      (self.open, self.taken, self.refused, self.left) = (open, taken, refused, left)
    }
  }

  /// The account's name.
  public var account: String
  /// Events that are to have copies: what the account wrote, except what must not be spread.
  public var events: Int
  /// How many of them have 0, 1, 2, … copies; empty until a relay was compared.
  public var copies: [Int]
  /// How many copies are wanted.
  public var wanted: Int
  /// The relays that are to have them, in the order of their URLs.
  public var relays: [Relay]
  /// Copies that relays have taken within a week.
  public var repaired: Int
  /// Whether relays are being compared now.
  public var isRunning: Bool
  /// When the last round ended, seconds since 1970; absent: there was none.
  public var endedAt: Int64?
  /// When the next round begins, seconds since 1970; absent: none does by itself.
  public var nextAt: Int64?

  /// A status.
  public init(account: String, events: Int, copies: [Int], wanted: Int, relays: [Relay], repaired: Int) {
    (self.account, self.events, self.copies, self.wanted) = (account, events, copies, wanted)
    (self.relays, self.repaired, self.isRunning) = (relays, repaired, false)
  }
}

/// `mirror.scrub`: compares relays with what accounts wrote, now, and sends what they lack. A part for each relay, when
/// its turn is over; answered with the number of copies that relays have taken.
///
/// Refused: `no-such-account`, `full` while such a round runs, `unavailable` while the relays are not known.
public struct MirrorScrub: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"account":"alice","relay":"wss://relay.example"}"#

  /// Only this account, by its name.
  public var account: String?
  /// Only this relay, also when the account does not write to it; also what was left there for reasons of the relay.
  public var relay: String?

  /// A request.
  public init(account: String? = nil, relay: String? = nil) { (self.account, self.relay) = (account, relay) }
}

/// `mirror.copies`: which relays have an event, by the last comparison. Refused as `no-such-event` when it is no event
/// of an account that is to have copies.
public struct MirrorCopies: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"id":"9f2c…, 64 hexadecimal digits"}"#

  /// The event's id, 64 hexadecimal digits.
  public var id: String

  /// A request.
  public init(id: String) { self.id = id }
}

/// The answer of `mirror.copies`.
public struct EventCopies: Codable, Sendable, Hashable, Payload {
  /// One relay.
  public struct Relay: Codable, Sendable, Hashable {
    /// What is known of the event there.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
      /// The relay has it.
      case held
      /// It lacks it, and is to be sent it.
      case lacking
      /// It has refused it for good.
      case refused
      /// It lacks it, and is not sent it.
      case left
      /// The relay has not been compared since the event was written.
      case unknown
    }
    /// Its URL.
    public var relay: String
    /// What is known.
    public var state: State
    /// When it was compared, or took or refused the event, seconds since 1970.
    public var at: Int64?
    /// Why it is not there.
    public var reason: String?

    /// A relay.
    public init(relay: String, state: State, at: Int64? = nil, reason: String? = nil) {
      (self.relay, self.state, self.at, self.reason) = (relay, state, at, reason)
    }
  }
  /// The event's id.
  public var id: String
  /// The name of its author's account.
  public var account: String
  /// Why it is sent nowhere by itself; absent: it is.
  public var exception: String?
  /// The relays, in the order of their URLs.
  public var relays: [Relay]

  /// Copies.
  public init(id: String, account: String, exception: String? = nil, relays: [Relay]) {
    (self.id, self.account, self.exception, self.relays) = (id, account, exception, relays)
  }
}
