// Whether events can be sent to relays, as one word. The states are those that clients gate their sending by; `idle` is
// Roost's own, because a relay may be dialled only when there is something to send. They are in the order in which they
// help: the best relay decides.
//
//     no-relays     no relay is enabled             an event goes nowhere until one is added
//     offline       none can be reached             events wait in the queue
//     read-only     what is reached takes no events
//     reconnecting  one that takes events is being dialled
//     idle          one that takes events is dialled when there is something to send
//     online        one that takes events is connected
//
// A relay that fails is dialled for ever, so "being dialled" would be true of each. It counts as reconnecting for its
// first attempts, and as offline after them, also during each further attempt: otherwise the word would flicker.

/// Whether events can be sent to relays now.
public enum SendingState: String, Codable, Sendable, Hashable, CaseIterable, Comparable {
  /// No relay is enabled.
  case noRelays = "no-relays"
  /// No enabled relay can be reached.
  case offline
  /// Relays can be reached, and none of them is used for events.
  case readOnly = "read-only"
  /// A relay for events is being dialled, and has not failed often.
  case reconnecting
  /// A relay for events is dialled as soon as there is one to send.
  case idle
  /// A relay for events is connected.
  case online

  /// After so many failed attempts in a row a relay counts as offline.
  public static let failureMaximum: UInt64 = 3

  /// The state that the planner's relays add up to.
  public init(of relays: [PlanRelayList.Relay]) {
    self = relays.compactMap(Self.state).max() ?? .noRelays
  }

  /// Orders by how near sending is.
  public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

  /// What one relay says; nil for a relay that is not enabled: it is used for nothing, or no worker dials it.
  private static func state(of relay: PlanRelayList.Relay) -> Self? {
    guard relay.reads || relay.writes, relay.connector != nil else { return nil }
    guard let state = relay.state else { return .offline }
    let hasFailed = (state.failuresInRow ?? 0) >= failureMaximum
    switch state.state {
    case .open: return relay.writes ? .online : .readOnly
    // This Roost's own relay is not dialled, and says why.
    case .idle where state.reason != nil: return nil
    case .idle: return relay.writes ? .idle : .readOnly
    case .connecting, .waiting, .closing:
      return hasFailed ? .offline : relay.writes ? .reconnecting : .readOnly
    // Quarantined, and any word of a later version.
    default: return .offline
    }
  }
}
