/// What a relay brought of one author, over times for which it sent all it has (it *drained*).
///
/// `known` counts the author's events of that time that **other** relays brought, and `had` those of them that this
/// relay brought too. What only this relay brought says how much the author posts, and nothing of what the relay lacks:
/// a relay that is the only one asked would look perfect.
public struct DeliveryReport: Sendable, Hashable {
  /// The relay.
  public var relay: Int32
  /// The author.
  public var author: Int32
  /// The end of the time, in minutes; evidence fades from here.
  public var minute: Int64
  /// Events of ``known`` that the relay had.
  public var had: Int
  /// Events that other relays brought.
  public var known: Int

  /// A report; numbers that contradict each other are cut to fit.
  public init(relay: Int32, author: Int32, minute: Int64, had: Int, known: Int) {
    self.relay = relay
    self.author = author
    self.minute = minute
    self.known = max(0, known)
    self.had = min(max(0, had), self.known)
  }
}

/// Whether a relay could be reached and answered. A refusal or a time-out is a failure to reach: it says nothing of
/// what the relay holds.
public struct ReachReport: Sendable, Hashable {
  /// The relay.
  public var relay: Int32
  /// When, in minutes.
  public var minute: Int64
  /// Whether it answered.
  public var answered: Bool
  /// The time until its first answer, in milliseconds, if it was measured.
  public var latencyMilliseconds: Int?

  /// A report.
  public init(relay: Int32, minute: Int64, answered: Bool, latencyMilliseconds: Int? = nil) {
    self.relay = relay
    self.minute = minute
    self.answered = answered
    self.latencyMilliseconds = latencyMilliseconds
  }
}

/// How much an author posted.
public struct PostingReport: Sendable, Hashable {
  /// The author.
  public var author: Int32
  /// The end of the time, in minutes.
  public var minute: Int64
  /// Events that any relay brought.
  public var events: Int
  /// The time that was looked at, in minutes, times the share of the author's events that those relays should have.
  public var observedMinutes: Double

  /// A report.
  public init(author: Int32, minute: Int64, events: Int, observedMinutes: Double) {
    self.author = author
    self.minute = minute
    self.events = max(0, events)
    self.observedMinutes = max(0, observedMinutes)
  }
}
