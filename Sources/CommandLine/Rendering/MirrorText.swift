public import Contracts
internal import Frames
internal import Wording

/// What the mirror keeps, as `roost mirror status` shows it.
public enum MirrorText {
  /// A line for each class of each account, and one for each of its relays that has not sent everything.
  public static func status(_ status: MirrorStatus, now: Int64, _ style: Style) -> [String] {
    guard !status.entries.isEmpty else {
      return ["Nothing is kept: there is no account yet. 'roost key generate NAME' makes one."]
    }
    var table = TextTable([
      .init(title: "ACCOUNT"), .init(title: "WHAT"), .init(title: "EVENTS", alignment: .right),
      .init(title: "COMPLETE", columnsMaximum: 40), .init(title: "NEXT"),
    ])
    for entry in status.entries {
      table.append([
        .init(entry.account), .init(words(entry.kind)), .init("\(entry.events)"),
        .init(complete(entry), tone(entry)), .init(next(entry, now: now)),
      ])
    }
    let lacking = status.entries.flatMap { entry in
      entry.relays.filter { $0.since != 0 }.map { "\(entry.account), \(words(entry.kind)): \(lack($0))" }
    }
    return table.lines(style) + (lacking.isEmpty ? [] : ["", "Not everything came from:"] + lacking.map { "  \($0)" })
  }

  private static func words(_ kind: MirrorClass) -> String {
    switch kind {
    case .own: "written"
    case .named: "names you"
    case .wraps: "gift wraps"
    case .follows: "follows"
    }
  }

  /// `at 5 of 6 relays`
  private static func complete(_ entry: MirrorStatus.Entry) -> String {
    if entry.kind == .follows { return entry.end == .complete ? "at those that answer" : "not yet" }
    if entry.relays.isEmpty { return "no relay was asked yet" }
    return "at \(entry.completeCount) of \(Amount.count(entry.relays.count, "relay"))"
  }

  private static func tone(_ entry: MirrorStatus.Entry) -> Tone {
    entry.kind == .follows ? .plain : entry.completeCount > 0 ? .good : .warning
  }

  private static func next(_ entry: MirrorStatus.Entry, now: Int64) -> String {
    if entry.isFetching { return "being fetched" }
    guard let at = entry.nextAt else { return "-" }
    return at <= now ? "now" : "in \(Amount.duration(milliseconds: UInt64(at - now) * 1_000))"
  }

  private static func lack(_ relay: MirrorStatus.Relay) -> String {
    let since = relay.since.map { ", complete since \(CalendarTime.text($0))" } ?? ""
    let reason = relay.reason.map { ": \($0)" } ?? ""
    return VisibleText.make("\(relay.relay)\(since)\(reason)")
  }
}
