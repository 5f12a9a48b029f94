public import Contracts

/// What relays have sent for a wish so far, over all relays that were asked for it: one that is only visited leaves the
/// wish's progress when its visit ends, and stays here.
public struct WishTally: Sendable {
  private struct Row {
    var told: ObserveProgress.Relay
    /// Events of earlier visits.
    var earlier: UInt64 = 0
  }
  private var rows: [String: Row] = [:]

  /// No relay was asked yet.
  public init() {}

  /// The present progress. Several REQs at one relay are one row here; the one that is least far decides.
  public mutating func note(_ progress: ObserveProgress) {
    var present: [String: ObserveProgress.Relay] = [:]
    for relay in progress.relays {
      guard var row = present[relay.relay] else {
        present[relay.relay] = relay
        continue
      }
      row.events += relay.events
      if Self.rank(relay.state) < Self.rank(row.state) { (row.state, row.reason) = (relay.state, relay.reason) }
      present[relay.relay] = row
    }
    for (url, relay) in present {
      var row = rows[url] ?? Row(told: relay)
      // Another visit counts from 0 again.
      if relay.events < row.told.events { row.earlier += row.told.events }
      row.told = relay
      rows[url] = row
    }
    for (url, var row) in rows where present[url] == nil {
      row.earlier += row.told.events
      row.told.events = 0
      rows[url] = row
    }
  }

  private static func rank(_ state: RequestReport.State) -> Int {
    switch state {
    case .waiting: 0
    case .asked: 1
    case .refused: 2
    case .stored: 3
    }
  }

  /// The relays, in the order of their URLs.
  public var relays: [ObserveProgress.Relay] {
    rows.sorted { $0.key < $1.key }.map { _, row in
      var relay = row.told
      relay.events += row.earlier
      return relay
    }
  }
}
