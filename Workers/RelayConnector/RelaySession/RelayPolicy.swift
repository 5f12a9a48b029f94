public import Nostr

// What one relay allows. Three sources, in the order in which they win:
//
//     learned    what the relay refused on this machine: only lowers
//     said       its information document (NIP-11)
//     assumed    the defaults of the outbox plan, where the document says nothing, or something absurd
//
// The session obeys the result before it sends. A relay that says nothing loses nothing: the assumed bounds are those
// that most relays allow, and a refusal teaches the rest. Bounds of events are never assumed: an event is held back
// only for a bound that the relay itself has published or enforced.

/// The bounds of one relay that are in force.
public struct RelayPolicy: Hashable, Sendable {
  /// Where a bound comes from.
  public enum Source: String, Sendable, Hashable {
    /// Nothing is known; the default.
    case assumed
    /// The relay's document (NIP-11).
    case said
    /// A refusal of the relay.
    case learned
  }

  /// One bound.
  public struct Bound: Hashable, Sendable {
    /// The value in force.
    public let value: Int
    /// Where it comes from.
    public let source: Source
  }

  /// A member of the document that is not obeyed because no relay can mean it.
  public struct Absurdity: Hashable, Sendable, CustomStringConvertible {
    /// The member's name in NIP-11: `max_subscriptions`.
    public let member: String
    /// What the document says.
    public let value: Int
    /// What is assumed instead; nil for no bound.
    public let assumed: Int?

    /// `limitation.max_limit is -5, which is not believed; 5000 is assumed`.
    public var description: String {
      "limitation.\(member) is \(value), which is not believed; "
        + (assumed.map { "\($0) is assumed" } ?? "no bound is assumed")
    }
  }

  /// The assumed bounds: subscriptions, bytes of a message, events for a filter.
  public static let assumedSubscriptionMaximum = 20
  /// Bytes of a message to a relay that has not said how many it takes.
  public static let assumedMessageByteCountMaximum = 131_072
  /// The `limit` of a filter that a relay obeys, if it has not said so.
  public static let assumedLimitMaximum = 5_000
  /// Events for a filter without a limit, if the relay has not said so.
  public static let assumedLimitDefault = 100
  /// Learning never goes below these bytes of a message.
  public static let messageByteCountFloor = 16 << 10
  /// More subscriptions than this are not opened at one relay, whatever it says.
  public static let subscriptionCeiling = 100
  /// Most REQs a second to one relay: the least milliseconds between two.
  public static let spacingMilliseconds: UInt64 = 50
  /// The longest spacing that is learned.
  public static let spacingCeilingMilliseconds: UInt64 = 2_000

  private var limitation = RelayInformation.Limitation()
  private var learnedSubscriptions: Int?
  private var learnedMessageByteCount: Int?
  private var learnedSpacing: UInt64?
  /// The members of the document that are not believed, in the order of their names.
  public private(set) var absurdities: [Absurdity] = []

  /// Nothing is known of the relay.
  public init() {}

  // MARK: Said

  /// The relay's document was read; what was learned stays. Nil when it has none.
  public mutating func said(_ said: RelayInformation.Limitation?) {
    limitation = said ?? RelayInformation.Limitation()
    absurdities = []
    doubt("created_at_lower_limit", \.pastSecondsMaximum, from: 1)
    doubt("created_at_upper_limit", \.futureSecondsMaximum, from: 0)
    doubt("default_limit", \.limitDefault, from: 1, assumed: Self.assumedLimitDefault)
    doubt("max_content_length", \.contentLengthMaximum, from: 1)
    doubt("max_event_tags", \.tagMaximum, from: 1)
    doubt("max_limit", \.limitMaximum, from: 1, assumed: Self.assumedLimitMaximum)
    doubt("max_message_length", \.messageByteCountMaximum, from: 1_024, assumed: Self.assumedMessageByteCountMaximum)
    doubt("max_subid_length", \.subscriptionNameLengthMaximum, from: 1)
    doubt("max_subscriptions", \.subscriptionMaximum, from: 1, assumed: Self.assumedSubscriptionMaximum)
    doubt("min_pow_difficulty", \.proofOfWorkMinimum, from: 0, to: 128)
  }

  private mutating func doubt(
    _ member: String, _ path: WritableKeyPath<RelayInformation.Limitation, Int?>, from minimum: Int,
    to maximum: Int = .max, assumed: Int? = nil
  ) {
    guard let value = limitation[keyPath: path], value < minimum || value > maximum else { return }
    limitation[keyPath: path] = nil
    absurdities.append(Absurdity(member: member, value: value, assumed: assumed))
  }

  // MARK: Learned

  /// The relay has refused a subscription because there were too many: `open` others were open.
  public mutating func refusedSubscription(open: Int) {
    learnedSubscriptions = max(1, min(open, subscriptions.value - 1))
  }

  /// The relay has refused a message of so many bytes because it is too large. A small one says nothing about bytes:
  /// the relay may mean its number of filters, or of authors.
  public mutating func refusedMessage(byteCount: Int) {
    guard byteCount > Self.messageByteCountFloor else { return }
    learnedMessageByteCount = max(Self.messageByteCountFloor, min(byteCount, messageBytes.value) / 2)
  }

  /// What refusals have taught is forgotten: a caller wants the relay tried, or it was long ago.
  public mutating func forgetLearned() {
    (learnedSubscriptions, learnedMessageByteCount, learnedSpacing) = (nil, nil, nil)
  }

  /// The relay has said `rate-limited`: REQs are sent half as often as before.
  public mutating func refusedRate() {
    learnedSpacing = min(spacing * 2, Self.spacingCeilingMilliseconds)
  }

  /// The relay has not said `rate-limited` for a while: REQs are sent twice as often, up to the standard.
  public mutating func ratePassed() {
    guard let learned = learnedSpacing else { return }
    learnedSpacing = learned / 2 > Self.spacingMilliseconds ? learned / 2 : nil
  }

  // MARK: In force

  /// Subscriptions open at a time.
  public var subscriptions: Bound {
    bound(
      limitation.subscriptionMaximum.map { min($0, Self.subscriptionCeiling) }, Self.assumedSubscriptionMaximum,
      learnedSubscriptions)
  }

  /// Bytes of a message to the relay.
  public var messageBytes: Bound {
    bound(limitation.messageByteCountMaximum, Self.assumedMessageByteCountMaximum, learnedMessageByteCount)
  }

  /// The largest `limit` of a filter that the relay obeys.
  public var limit: Bound { bound(limitation.limitMaximum, Self.assumedLimitMaximum, nil) }

  /// Events for a filter without a limit.
  public var defaultLimit: Bound {
    let bound = bound(limitation.limitDefault, Self.assumedLimitDefault, nil)
    return bound.value <= limit.value ? bound : limit
  }

  /// The least milliseconds between two REQs.
  public var spacing: UInt64 { learnedSpacing ?? Self.spacingMilliseconds }

  /// Whether the spacing was learned from `rate-limited`.
  public var isSpacingLearned: Bool { learnedSpacing != nil }

  /// The longest name of a subscription that the relay takes, in bytes; nil when it has not said so.
  public var subscriptionNameLengthMaximum: Int? { limitation.subscriptionNameLengthMaximum }

  /// Whether an account authenticates before the first REQ (NIP-42).
  public var requiresAuthentication: Bool { limitation.requiresAuthentication ?? false }

  /// Whether the relay says that it takes events only from those who have paid, or from some. Its OK decides at one's
  /// own relays; of strangers' relays, others are preferred.
  public var mayRefuseWrites: Bool { limitation.requiresPayment ?? false || limitation.restrictsWrites ?? false }

  private func bound(_ said: Int?, _ assumed: Int, _ learned: Int?) -> Bound {
    let known = said ?? assumed
    if let learned, learned < known { return Bound(value: learned, source: .learned) }
    return Bound(value: known, source: said == nil ? .assumed : .said)
  }

  // MARK: Events

  /// Why the relay would refuse the event by its own published bounds, with both numbers; nil when it would not.
  ///
  /// - Parameters:
  ///   - event: what is compared with the bounds.
  ///   - time: seconds since 1970.
  public func objection(to event: EventMeasures, at time: Int64) -> String? {
    let bounds = limitation
    // `["EVENT",` and `]` are around it.
    let byteCount = event.byteCount + 10
    if let maximum = bounds.messageByteCountMaximum, byteCount > maximum {
      return "it is a message of \(byteCount) bytes, and the relay takes \(maximum)"
    }
    if let maximum = bounds.tagMaximum, event.tagCount > maximum {
      return "it has \(event.tagCount) tags, and the relay takes \(maximum)"
    }
    if let maximum = bounds.contentLengthMaximum, event.contentLength > maximum {
      return "its content has \(event.contentLength) characters, and the relay takes \(maximum)"
    }
    if let minimum = bounds.proofOfWorkMinimum, event.proofOfWork < minimum {
      return "it has \(event.proofOfWork) bits of proof of work, and the relay wants \(minimum)"
    }
    // A relay may publish any number up to 2^63-1: the difference is compared, which cannot overflow.
    if let maximum = bounds.pastSecondsMaximum, time - event.createdAt > maximum {
      return "it is \(time - event.createdAt) s old, and the relay takes \(maximum) s"
    }
    if let maximum = bounds.futureSecondsMaximum, event.createdAt - time > maximum {
      return "it is dated \(event.createdAt - time) s ahead, and the relay takes \(maximum) s"
    }
    return nil
  }
}

/// What of an event is compared with a relay's bounds.
public struct EventMeasures: Hashable, Sendable {
  /// Bytes of its JSON.
  public var byteCount: Int
  /// The number of its tags.
  public var tagCount: Int
  /// Unicode characters (scalars) of its content.
  public var contentLength: Int
  /// Leading zero bits of its id (NIP-13).
  public var proofOfWork: Int
  /// Seconds since 1970.
  public var createdAt: Int64

  /// The measures of an event.
  public init(byteCount: Int, tagCount: Int, contentLength: Int, proofOfWork: Int, createdAt: Int64) {
    self.byteCount = byteCount
    self.tagCount = tagCount
    self.contentLength = contentLength
    self.proofOfWork = proofOfWork
    self.createdAt = createdAt
  }
}
