internal import Contracts
internal import Frames
internal import Wording

// The page's section on what is one's own: a line for each class over all accounts, and one for living copies. It names
// no account. Without a mirror there is no section.

extension StatusPage {
  static func mirror(_ mirror: Told<MirrorStatus>) -> Markup {
    var rows: [Markup] = []
    switch mirror {
    case .absent: return ""
    case .silent: rows = [row(.bad, "mirror", "unknown", "the mirror does not answer")]
    case .told(let status):
      guard !status.entries.isEmpty else { return "" }
      for kind in MirrorClass.allCases {
        let bounds = status.bounds.filter { $0.kind == kind }
        rows += line(kind, status.entries.filter { $0.kind == kind }, bounds)
      }
      rows += copies(status.copies) + peers(status.peers)
    }
    return "<section class=\"card\" id=\"yours\"><h2>Yours</h2><ul>\n\(rows)</ul></section>\n"
  }

  private static func line(
    _ kind: MirrorClass, _ entries: [MirrorStatus.Entry], _ bounds: [MirrorStatus.Bound]
  ) -> [Markup] {
    guard !entries.isEmpty else { return [] }
    let what =
      switch kind {
      case .own: "written"
      case .named: "names you"
      case .wraps: "gift wraps"
      case .follows: "by those you follow"
      case .keep: "kept by filters"
      }
    let isFetching = entries.contains(where: \.isFetching)
    let complete = entries.reduce(0) { $0 + $1.completeCount }
    let relays = Amount.count(entries.reduce(0) { $0 + $1.relays.count }, "relay")
    let notes =
      (kind == .follows ? [] : ["complete at \(complete) of \(relays)"]) + (isFetching ? ["being fetched"] : [])
      + bounds.compactMap(fullness)
    let level: StatusLevel = kind == .follows || complete > 0 ? .good : .pending
    return [row(level, what, number(entries.reduce(0) { $0 + $1.events }), notes.joined(separator: ", "))]
  }

  private static func peers(_ peers: [PeerStatus]) -> [Markup] {
    guard !peers.isEmpty else { return [] }
    let same = peers.count { $0.reason == nil && $0.sameAt != nil }
    let state = "\(same) of \(peers.count) the same"
    return [row(same == peers.count ? .good : .pending, "other Roosts", state, "")]
  }

  /// `full: 1.0 GiB of 1.0 GiB, what is older than 2024-03-01 is not fetched`
  private static func fullness(_ bound: MirrorStatus.Bound) -> String? {
    guard let since = bound.since, let bytes = bound.bytes else { return nil }
    let amount = "\(Amount.bytes(UInt64(max(0, bytes)))) of \(Amount.bytes(UInt64(max(0, bound.byteMaximum))))"
    return "full: \(amount), what is older than \(CalendarTime.text(since)) is not fetched"
  }

  private static func copies(_ accounts: [CopyStatus]) -> [Markup] {
    guard accounts.contains(where: { $0.endedAt != nil }) else {
      return accounts.isEmpty ? [] : [row(.pending, "copies", "unknown", "no relay was compared yet")]
    }
    let few = accounts.reduce(0) { $0 + $1.copies.prefix($1.wanted).reduce(0, +) }
    let wanted = accounts.map(\.wanted).max() ?? 0
    let state = few == 0 ? "\(wanted) or more of each" : "fewer than \(wanted) of \(number(few))"
    let repaired = number(accounts.reduce(0) { $0 + $1.repaired })
    return [row(few == 0 ? .good : .pending, "copies", state, "\(repaired) sent again within a week")]
  }
}
