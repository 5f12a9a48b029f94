public import Clocks
public import Nostr

/// A moment on both clocks. Waits are measured on the monotonic clock; wall times are only recorded and shown.
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

/// Identifies one event on its way to one relay. It has at most one attempt in flight.
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

/// What the shell of a ``PublishQueue`` must do, in order.
public enum PublishAction: Sendable, Hashable {
  /// Send the event, and report the outcome with `settled`.
  case send(SendingKey, SendingManner)
  /// The publication has changed: write the change to the ledger, then notify the callers that follow the publication.
  case record(EventID)
  /// Notify the callers that follow the publication; the ledger does not need this change.
  case tell(EventID)
  /// Call `timerFired` at this instant, instead of the instant that was set before.
  case setTimer(Instant)
  /// No `timerFired` is needed.
  case cancelTimer
}
