/// Where an event waits before it is verified. Each lane is served in order, and none waits for another to be empty.
public enum Lane: Int, CaseIterable, Sendable, Hashable {
  /// Own events: a caller waits for the answer.
  case local
  /// What relays send as it happens.
  case live
  /// Imports and backfills.
  case bulk

  /// Of ``EventGate/checkMaximum`` events verified at a time, how many places are the lane's own while it has events.
  var share: Int {
    switch self {
    case .local: 12
    case .live: 12
    case .bulk: 8
    }
  }
}
