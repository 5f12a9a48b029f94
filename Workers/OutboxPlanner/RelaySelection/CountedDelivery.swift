/// What relays brought of one author in a stretch of time, counted by a store from where each event was seen.
public struct CountedDelivery: Sendable, Hashable {
  /// What one relay brought.
  public struct Relay: Sendable, Hashable {
    /// The relay.
    public var relay: Int32
    /// The share of the stretch for which it has sent all it had, 0 to 1.
    public var drained: Double
    /// Events of these times that other relays brought.
    public var known: Int
    /// Those of them that this relay brought too.
    public var had: Int

    /// What one relay brought.
    public init(relay: Int32, drained: Double, known: Int, had: Int) {
      (self.relay, self.drained, self.known, self.had) = (relay, min(max(0, drained), 1), known, had)
    }
  }

  /// The author.
  public var author: Int32
  /// The end of the stretch, in minutes.
  public var minute: Int64
  /// Its length, in minutes.
  public var minutes: Int64
  /// The author's events that any relay brought.
  public var events: Int
  /// The relays that have sent all they had for some of it.
  public var relays: [Relay]

  /// A count.
  public init(author: Int32, minute: Int64, minutes: Int64, events: Int, relays: [Relay]) {
    (self.author, self.minute, self.minutes) = (author, minute, minutes)
    (self.events, self.relays) = (events, relays)
  }
}

extension DeliveryBeliefs {
  /// Puts what a store has counted in place of what was known of deliveries and postings. What was learned of reach
  /// stays.
  public mutating func teach(_ counts: [CountedDelivery], at now: Int64) {
    forgetDeliveries()
    for count in counts {
      for relay in count.relays {
        learn(
          DeliveryReport(
            relay: relay.relay, author: count.author, minute: count.minute, had: relay.had, known: relay.known))
      }
    }
    let overall = overallMean(at: now)
    var means: [Int32: Double] = [:]
    for count in counts {
      // The chance that none of the relays asked brought an event.
      var missing = 1.0
      for relay in count.relays {
        let mean = means[relay.relay] ?? self.mean(of: relay.relay, overall: overall, at: now)
        means[relay.relay] = mean
        let shape = shape(relay.relay, count.author, mean: mean, at: now)
        missing *= 1 - relay.drained * shape.0 / (shape.0 + shape.1)
      }
      learn(
        PostingReport(
          author: count.author, minute: count.minute, events: count.events,
          observedMinutes: Double(count.minutes) * (1 - missing)))
    }
  }
}
