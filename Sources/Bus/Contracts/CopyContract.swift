internal import Frames

/// `plan.copy`: sends stored events of one's own accounts to one relay that lacks them, or any stored events to another
/// Roost of the same owner. What is published at the relay
/// goes first; nothing of it is kept by the planner. Answered with ``CopyOutcomes`` when the relay has answered for
/// each event, or its time is over (``secondsMaximum``).
///
/// Refused: `full` when too many copies are under way, `own-relay`, `unavailable`. A caller that gives up cancels it.
public struct PlanCopy: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"relay":"wss://relay.example","ids":["9f2c…, 64 hexadecimal digits"],"account":"…"}"#

  /// The relay.
  public var relay: String
  /// The events' ids, 64 hexadecimal digits each, in the order in which they are sent; at most ``idMaximum``.
  public var ids: [String]
  /// The account that authenticates, 64 hexadecimal digits; absent: each event's author. Only another Roost of the same
  /// owner (`peers` of the mirror) is sent what others wrote, and it needs this.
  public var account: String?

  /// The most events of one call.
  public static let idMaximum = 128
  /// The most events of all calls.
  public static let eventMaximum = 1_024
  /// After so many seconds an event that the relay has not taken is given up.
  public static let secondsMaximum: Int64 = 600

  /// Events to send.
  public init(relay: String, ids: [String], account: String? = nil) {
    (self.relay, self.ids, self.account) = (relay, ids, account)
  }

  /// No id, or too many.
  public var objection: String? {
    (1...Self.idMaximum).contains(ids.count) ? nil : "'ids' has \(ids.count) ids; 1 to \(Self.idMaximum) are possible"
  }
}

/// The answer of `plan.copy`.
public struct CopyOutcomes: Codable, Sendable, Hashable, Payload {
  /// One event.
  public struct Outcome: Codable, Sendable, Hashable {
    /// How it ended.
    public enum State: String, Codable, Sendable, Hashable, CaseIterable {
      /// The relay has it.
      case held
      /// The relay will never take it.
      case refused
      /// The store does not have it any longer: it was deleted, or a newer version has replaced it.
      case gone
      /// It was not sent, or the relay has not taken it; another attempt may succeed.
      case failed
    }
    /// The event's id.
    public var id: String
    /// How it ended.
    public var state: State
    /// The relay's words, or why it was not sent; at most ``messageByteMaximum`` bytes.
    public var message: String?

    /// The longest message, so that all outcomes of a call fit into the smallest frame.
    public static let messageByteMaximum = 256

    /// An outcome.
    public init(id: String, state: State, message: String? = nil) {
      (self.id, self.state) = (id, state)
      self.message = message.map { String(decoding: $0.utf8.prefix(Self.messageByteMaximum), as: UTF8.self) }
    }
  }
  /// One for each id, in their order.
  public var outcomes: [Outcome]

  /// Outcomes.
  public init(outcomes: [Outcome]) { self.outcomes = outcomes }
}
