public import Clocks
public import Nostr

/// A point on both clocks: waits are measured on the monotonic one, and only what is written down and told is on the
/// other.
public struct Moment: Sendable, Hashable {
  /// The monotonic clock.
  public var instant: Instant
  /// The wall clock, seconds since 1970.
  public var time: Int64

  /// A reading of both clocks.
  public init(instant: Instant, time: Int64) {
    self.instant = instant
    self.time = time
  }
}

/// Names one event on its way to one relay; there is never a second attempt beside it.
public struct SendingKey: Sendable, Hashable {
  /// The event.
  public let id: EventID
  /// The relay's canonical URL.
  public let relay: String

  /// An event's way to a relay.
  public init(id: EventID, relay: String) {
    self.id = id
    self.relay = relay
  }
}

/// What the shell of a ``PublishQueue`` is to do, in order.
public enum PublishAction: Sendable, Hashable {
  /// Send the event, and report `settled` when the end is known.
  case send(SendingKey, SendingManner)
  /// The publication has changed as far as the ledger keeps it: write it down, then tell whoever follows it.
  case record(EventID)
  /// It has changed for whoever follows it only.
  case tell(EventID)
  /// Call `timerFired` at this instant, and no longer at an earlier one.
  case setTimer(Instant)
  /// No `timerFired` is needed.
  case cancelTimer
}
