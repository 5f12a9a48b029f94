internal import Contracts

// Metrics of the mirror, over all accounts: figures name no person.

extension Metrics {
  static func addMirror(_ status: MirrorStatus, to text: inout MetricText) {
    let classes = MirrorClass.allCases.map { kind in
      MetricText.Member(labels: [("class", kind.rawValue)], value: status.entries.filter { $0.kind == kind })
    }
    text.add("roost_mirror_events", .gauge, "Events that are here, by class.", of: classes) { entries in
      entries.reduce(0) { $0 + $1.events }
    }
    text.add("roost_mirror_relays", .gauge, "Relays that are asked, by class.", of: classes) { entries in
      entries.reduce(0) { $0 + $1.relays.count }
    }
    text.add("roost_mirror_complete_relays", .gauge, "Relays that have sent everything, by class.", of: classes) {
      entries in entries.reduce(0) { $0 + $1.completeCount }
    }
    let bounds = status.bounds.filter { $0.bytes != nil }
    func labels(_ bound: MirrorStatus.Bound) -> [(String, String)] {
      [("class", bound.kind.rawValue)] + (bound.name.map { [("name", $0)] } ?? [])
    }
    text.add(
      "roost_mirror_bytes", .gauge, "Bytes of events that are here, by class with a bound.",
      bounds.map { MetricText.Sample(labels($0), Int($0.bytes ?? 0)) })
    text.add(
      "roost_mirror_bytes_maximum", .gauge, "Bytes that a class may have.",
      bounds.map { MetricText.Sample(labels($0), Int($0.byteMaximum)) })
    text.add(
      "roost_mirror_full_since_seconds", .gauge,
      "Seconds since 1970 from which on a full class is fetched; 0: from the beginning.",
      bounds.map { MetricText.Sample(labels($0), Int($0.since ?? 0)) })
    let most = status.copies.map(\.copies.count).max() ?? 0
    text.add(
      "roost_mirror_copies", .gauge, "Events of accounts by their number of living copies.",
      (0..<most).map { count in
        MetricText.Sample(
          [("copies", "\(count)")],
          status.copies.reduce(0) { $0 + ($1.copies.indices.contains(count) ? $1.copies[count] : 0) })
      })
    text.add("roost_mirror_peers", .gauge, "Other Roosts of the same owner.", status.peers.count)
    text.add(
      "roost_mirror_peers_same", .gauge, "Other Roosts that were the same at the last comparison.",
      status.peers.count { $0.reason == nil && $0.sameAt != nil })
    func sum(_ body: (CopyStatus) -> Int) -> Int { status.copies.reduce(0) { $0 + body($1) } }
    text.add("roost_mirror_repaired", .gauge, "Copies that relays have taken within a week.", sum(\.repaired))
    text.add(
      "roost_mirror_lacking", .gauge, "Copies that are to be sent to relays.",
      sum { $0.relays.reduce(0) { $0 + $1.open } })
    text.add(
      "roost_mirror_given_up", .gauge, "Copies that relays refuse, or that are left.",
      sum { $0.relays.reduce(0) { $0 + $1.refused + $1.left } })
  }
}
