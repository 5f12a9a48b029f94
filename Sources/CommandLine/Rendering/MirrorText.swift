public import Contracts
internal import Frames
internal import Wording

/// What the mirror keeps, as `roost mirror status` shows it.
public enum MirrorText {
  /// A line for each class of each account, and one for each of its relays that has not sent everything.
  public static func status(_ status: MirrorStatus, now: Int64, _ style: Style) -> [String] {
    guard !status.entries.isEmpty else {
      return ["Nothing is kept: there is no account yet. \(AccountText.advice)."]
    }
    var table = TextTable([
      .init(title: "ACCOUNT"), .init(title: "WHAT"), .init(title: "EVENTS", alignment: .right),
      .init(title: "COMPLETE", columnsMaximum: 40), .init(title: "NEXT"),
    ])
    for entry in status.entries {
      table.append([
        .init(subject(entry)), .init(words(entry.kind)), .init("\(entry.events)"),
        .init(complete(entry), tone(entry)), .init(next(entry, now: now)),
      ])
    }
    let lacking = status.entries.flatMap { entry in
      entry.relays.filter { !entry.isComplete($0) }.map { "\(subject(entry)), \(words(entry.kind)): \(lack($0))" }
    }
    return table.lines(style) + bounds(status.bounds)
      + (lacking.isEmpty ? [] : ["", "Not everything came from:"] + lacking.map { "  \($0)" })
      + status.copies.flatMap { [""] + copies($0, now: now, style) }
      + (status.peers.isEmpty ? [] : [""] + peers(status.peers, now: now, style))
  }

  // MARK: Other Roosts

  private static func peers(_ peers: [PeerStatus], now: Int64, _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "ROOST"), .init(title: "THE SAME"), .init(title: "CAME", alignment: .right),
      .init(title: "WENT", alignment: .right), .init(title: "NEXT"), .init(title: "REASON", columnsMaximum: 60),
    ])
    for peer in peers {
      let next = peer.isRunning ? "being compared" : peer.nextAt.map { $0 <= now ? "now" : duration(from: now, to: $0) }
      table.append([
        .init(visible(peer.peer)), .init(peer.sameAt.map { CalendarTime.text($0) } ?? "not yet", same(peer)),
        .init("\(peer.fetched)"), .init("\(peer.sent)"), .init(next ?? "-"), .init(peer.reason ?? ""),
      ])
    }
    return table.lines(style)
  }

  private static func same(_ peer: PeerStatus) -> Tone { peer.reason == nil && peer.sameAt != nil ? .good : .warning }

  /// Another Roost whose turn is over.
  public static func turn(_ peer: PeerStatus) -> String {
    let counts = "\(Amount.count(peer.fetched, "event")) came, \(Amount.count(peer.sent, "event")) went"
    return "\(visible(peer.peer)): " + (peer.reason.map { "\(counts); not the same: \(visible($0))" } ?? counts)
  }

  /// How full the classes are that have a bound.
  static func bounds(_ bounds: [MirrorStatus.Bound]) -> [String] {
    let lines = bounds.compactMap { bound in
      bound.bytes.map { "  \(words(bound.kind))\(bound.name.map { " \($0)" } ?? ""): \(fullness(bound, $0))" }
    }
    return lines.isEmpty ? [] : ["", "Room:"] + lines
  }

  /// `full: 1.0 GiB of 1.0 GiB; what is older than 2024-03-01 is not fetched`
  private static func fullness(_ bound: MirrorStatus.Bound, _ bytes: Int64) -> String {
    let amount = "\(Amount.bytes(UInt64(max(0, bytes)))) of \(Amount.bytes(UInt64(max(0, bound.byteMaximum))))"
    guard let since = bound.since else { return amount }
    return "full: \(amount); what is older than \(CalendarTime.text(since)) is not fetched"
  }

  private static func subject(_ entry: MirrorStatus.Entry) -> String { entry.account ?? entry.name ?? "" }

  // MARK: Copies

  /// How many living copies an account's events have, and each relay of them.
  public static func copies(_ status: CopyStatus, now: Int64, _ style: Style) -> [String] {
    let next =
      status.isRunning
      ? "being compared" : status.nextAt.map { $0 <= now ? "soon" : "in \(duration(from: now, to: $0))" } ?? "never"
    guard let endedAt = status.endedAt else {
      let reasons = status.relays.compactMap { relay in relay.reason.map { "  \(relay.relay): \($0)" } }
      return ["Copies of what \(status.account) wrote: no relay was compared yet, next \(next)."] + reasons.map(visible)
    }
    let few = status.copies.prefix(status.wanted).reduce(0, +)
    let events = Amount.count(status.events, "event")
    let counts = status.copies.enumerated().reversed().filter { $0.element > 0 }.map {
      "\($0.element) with \($0.offset)"
    }
    let repaired = "\(Amount.count(status.repaired, "copy", "copies")) sent again within a week"
    let compared = max(0, status.copies.count - 1)
    let whole = few == 0 && status.events > 1 ? "all \(events)" : "\(status.events - few) of \(events)"
    let verb = status.events == 1 ? "has" : "have"
    var lines = [
      "Copies of what \(status.account) wrote: "
        + (compared == 0
          ? "no relay could be compared." : "\(whole) \(verb) \(status.wanted) or more living copies."),
      "  " + (counts + [repaired]).joined(separator: ", "),
      "  last round \(CalendarTime.text(endedAt)), next \(next)",
    ]
    if compared > 0, status.copies.count <= status.wanted {
      let relays = Amount.count(compared, "relay")
      lines.append("  only \(relays) could be compared; 'copy-relays' in [worker.mirror] names others")
    }
    var table = TextTable([
      .init(title: "RELAY"), .init(title: "COMPARED"), .init(title: "LACKS", alignment: .right),
      .init(title: "TAKEN", alignment: .right), .init(title: "REFUSED", alignment: .right),
      .init(title: "REASON", columnsMaximum: 60),
    ])
    for relay in status.relays { table.append(row(relay)) }
    return lines + table.lines(style)
  }

  private static func row(_ relay: CopyStatus.Relay) -> [TextTable.Cell] {
    let lacks = relay.open + relay.left
    return [
      .init(visible(relay.relay)), .init(relay.comparedAt.map { CalendarTime.text($0) } ?? "never"),
      .init("\(lacks)", lacks > 0 ? .warning : .plain), .init("\(relay.taken)"), .init("\(relay.refused)"),
      .init(relay.reason ?? ""),
    ]
  }

  /// A relay whose turn is over in a round.
  public static func turn(_ relay: CopyStatus.Relay) -> String {
    var parts: [String] = []
    if relay.comparedAt == nil || relay.reason != nil { parts.append(relay.reason.map(visible) ?? "not compared") }
    if relay.comparedAt != nil {
      let lacks = relay.open + relay.left
      parts.append(lacks > 0 ? "lacks \(lacks)" : relay.refused > 0 ? "has everything else" : "has everything")
    }
    if relay.refused > 0 { parts.insert("has refused \(relay.refused)", at: 0) }
    return "\(visible(relay.relay)): \(parts.joined(separator: "; "))"
  }

  /// Which relays have an event.
  public static func copies(of event: EventCopies) -> [String] {
    var lines = ["\(event.id) by \(event.account)"]
    if let exception = event.exception { lines.append("  is sent nowhere by itself: \(exception)") }
    for relay in event.relays {
      let at = relay.at.map { " (\(CalendarTime.text($0)))" } ?? ""
      let reason = relay.reason.map { ": \(visible($0))" } ?? ""
      lines.append("  \(visible(relay.relay))  \(word(relay.state))\(at)\(reason)")
    }
    if event.relays.isEmpty { lines.append("  no relay was compared yet: 'roost mirror scrub'") }
    return lines
  }

  private static func word(_ state: EventCopies.Relay.State) -> String {
    switch state {
    case .held: "has it"
    case .lacking: "lacks it, and is to be sent it"
    case .refused: "has refused it"
    case .left: "lacks it, and is not sent it"
    case .unknown: "not compared since"
    }
  }

  private static func visible(_ text: String) -> String { VisibleText.make(text) }

  private static func duration(from now: Int64, to time: Int64) -> String {
    Amount.duration(milliseconds: UInt64(max(0, time - now)) * 1_000)
  }

  static func words(_ kind: MirrorClass) -> String {
    switch kind {
    case .own: "written"
    case .named: "names you"
    case .wraps: "gift wraps"
    case .follows: "follows"
    case .keep: "kept"
    }
  }

  /// `at 5 of 6 relays`
  static func complete(_ entry: MirrorStatus.Entry) -> String {
    if entry.kind == .follows { return entry.end == .complete ? "at those that answer" : "not yet" }
    if entry.relays.isEmpty { return "no relay was asked yet" }
    let since = entry.since.map { ", since \(CalendarTime.text($0))" } ?? ""
    return "at \(entry.completeCount) of \(Amount.count(entry.relays.count, "relay"))\(since)"
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
