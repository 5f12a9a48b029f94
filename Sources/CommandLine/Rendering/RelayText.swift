public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import Wording

/// Relays as `roost relay` shows them: their sources, their use, their state.
public enum RelayText {
  /// A table of the relays.
  public static func list(_ list: PlanRelayList, _ style: Style) -> [String] {
    guard !list.relays.isEmpty else { return ["No relays are known. 'roost relay add URL' adds one."] }
    var table = TextTable([
      .init(title: "RELAY", columnsMaximum: 48), .init(title: "STATE"), .init(title: "USE"),
      .init(title: "LATENCY", alignment: .right, isSpareable: true),
      .init(title: "EVENTS", alignment: .right, isSpareable: true), .init(title: "FROM"),
    ])
    for relay in list.relays {
      let state = word(relay)
      table.append([
        .init(relay.relay), .init(state.rawValue, tone(state)), use(relay),
        optional(relay.state?.latencyMilliseconds.map { Amount.duration(milliseconds: $0) }),
        optional(relay.state.flatMap { $0.events > 0 ? "\($0.events)" : nil }), .init(note(relay)),
      ])
    }
    let open = list.relays.count { word($0) == "open" }
    let remarks = RelayRemarkText.lines(list.relays.compactMap(\.state), style)
    return table.lines(style) + ["", "\(Amount.count(list.relays.count, "relay")), \(open) connected"]
      + (remarks.isEmpty ? [] : [""] + remarks)
  }

  /// All that is known of one relay, a line each: what is known here, then what it says about itself.
  public static func info(
    _ relay: PlanRelayList.Relay, _ words: RelayWords, now: Int64, _ style: Style
  ) -> [String] {
    lines(relay, known(relay) + RelayInformationText.rows(words, now: now), style)
  }

  private static func known(_ relay: PlanRelayList.Relay) -> [(String, String)] {
    var rows: [(String, String)] = []
    rows.append(("from", relay.sources.isEmpty ? "nothing that is known here" : relay.sources.joined(separator: ", ")))
    if relay.reads || relay.writes { rows.append(("use", useWords(relay))) }
    let nobody = relay.sources.isEmpty ? "no worker" : "no worker: no relay-connector is configured for it"
    rows.append(("dialled by", relay.connector ?? nobody))
    guard let state = relay.state else { return rows }
    if let reason = state.reason { rows.append(("why", reason)) }
    if let since = state.openSince { rows.append(("open since", CalendarTime.text(since))) }
    return rows + figures(state)
  }

  private static func figures(_ state: RelayStates.Relay) -> [(String, String)] {
    var rows: [(String, String)] = []
    func add(_ name: String, _ parts: [String?]) {
      let text = parts.compactMap(\.self).joined(separator: ", ")
      if !text.isEmpty { rows.append((name, text)) }
    }
    func span(_ milliseconds: UInt64) -> String { Amount.duration(milliseconds: milliseconds) }
    add(
      "connections",
      [
        "\(state.connections)", Amount.count(Int(clamping: state.failures), "failed attempt"),
        state.failuresInRow.map { "the last \($0) in a row" },
      ])
    if let share = state.openShare, let dialled = state.dialledMilliseconds {
      add("connected", ["\(Int((share * 100).rounded())) % of the \(span(dialled)) since it was first dialled"])
    }
    add(
      "latency",
      [
        state.connectMilliseconds.map { "\(span($0)) to connect" },
        state.storedMilliseconds.map { "\(span($0)) from a request to its end" },
        state.latencyMilliseconds.map { "\(span($0)) for the last answer" },
      ])
    if let maximum = state.subscriptionMaximum {
      add(
        "open", ["\(state.subscriptionCount ?? 0) of \(Amount.count(maximum, "subscription"))", waiting(state)])
    }
    add("received", [Amount.count(state.events, "event"), Amount.bytes(state.bytes)])
    let drains = (state.drains ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    add(
      "stored events",
      [state.pages.map { Amount.count($0, "page") }] + drains.map { "\($0.key) \(Amount.count($0.value, "time"))" })
    add("rejected", [state.invalidEvents.map { "\(Amount.count($0, "event")) not signed by their author, or damaged" }])
    add("published", ["\(state.accepted) taken", "\(state.refusals) refused"])
    let refusals = (state.refusalsByClass ?? [:]).sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    add("refused for", refusals.map { "\($0.key) (\($0.value))" })
    for remark in state.remarks ?? [] { add("remark", [RelayRemarkText.words(remark)]) }
    let keys = state.authenticated.map { PublicKeyText.short($0) }
    switch state.authenticate {
    case .throwAway:
      add("shown as", keys.isEmpty ? ["no key yet; a throw-away key when it asks"] : keys + ["a throw-away key"])
    case .never: add("shown as", ["no key: AUTH is never answered"])
    case .account, nil: add("shown as", keys)
    }
    return rows
  }

  private static func waiting(_ state: RelayStates.Relay) -> String? {
    state.queuedCount.flatMap { $0 > 0 ? "\(Amount.count($0, "request")) waiting" : nil }
  }

  private static func lines(
    _ relay: PlanRelayList.Relay, _ rows: [(String, String)], _ style: Style
  ) -> [String] {
    let state = word(relay)
    let heading = style.paint(VisibleText.make(relay.relay), .strong) + "  " + style.paint(state.rawValue, tone(state))
    let width = rows.map(\.0.count).max() ?? 0
    return [heading]
      + rows.map { name, text in
        let blanks = String(repeating: " ", count: width - name.count + 2)
        return text.isEmpty ? "" : "  " + style.paint(name, .dim) + blanks + VisibleText.make(text)
      }
  }

  // MARK: Parts

  static func word(_ relay: PlanRelayList.Relay) -> RelayStateWord {
    relay.state?.state ?? (relay.connector == nil ? "not dialled" : "idle")
  }

  static func tone(_ state: RelayStateWord) -> Tone {
    switch state {
    case .open: .good
    case .connecting, .closing: .warning
    case .idle: .dim
    default: .bad  // waiting after a failure, and any word of a later version.
    }
  }

  static func use(_ relay: PlanRelayList.Relay) -> TextTable.Cell {
    relay.reads || relay.writes ? .init(useWords(relay)) : .init("-", .dim)
  }

  private static func useWords(_ relay: PlanRelayList.Relay) -> String {
    [relay.reads ? "read" : nil, relay.writes ? "write" : nil].compactMap { $0 }.joined(separator: " ")
  }

  private static func note(_ relay: PlanRelayList.Relay) -> String {
    let sources = relay.sources.joined(separator: ", ")
    guard word(relay) != .open, let reason = relay.state?.reason else { return sources }
    return "\(sources); \(reason)"
  }

  private static func optional(_ text: String?) -> TextTable.Cell { text.map { .init($0) } ?? .init("-", .dim) }
}

/// A route as `roost plan` shows it: for whom, where, why.
public enum RouteText {
  /// The relays, those left out, and why no relay was found.
  ///
  /// - Parameters:
  ///   - route: the answer of the planner.
  ///   - names: names of keys, 64 hexadecimal digits each.
  ///   - style: whether colours are used.
  public static func lines(_ route: Route, names: [String: String], _ style: Style) -> [String] {
    var lines: [String] = []
    if !route.stops.isEmpty { lines += table(route.stops, names, style) }
    if let cover = route.cover { lines += coverLines(cover, names, style) }
    if let problem = route.problem { lines += style.prose("Nowhere: \(VisibleText.make(problem)).") }
    if !route.skipped.isEmpty {
      if !lines.isEmpty { lines.append("") }
      lines.append(style.paint("Left out:", .warning))
      lines += route.skipped.map { stop in
        "  " + VisibleText.make(stop.relay) + "  "
          + style.paint(VisibleText.make(stop.why.joined(separator: ", ")), .dim)
      }
    }
    return lines
  }

  /// A few names, or how many people there are.
  private static func people(_ keys: [String], _ count: Int?, _ names: [String: String]) -> String {
    let count = count ?? keys.count
    return count <= namedMaximum
      ? keys.map { names[$0] ?? PublicKeyText.short($0) }.joined(separator: ", ") : "\(count) people"
  }

  private static let namedMaximum = 3

  private static func coverLines(_ cover: Route.Cover, _ names: [String: String], _ style: Style) -> [String] {
    let total = cover.counts.reduce(0, +)
    guard total > 1 || cover.unlistedCount + cover.missingCount > 0 else { return [] }
    let parts = cover.counts.enumerated().reversed().compactMap { number, count -> String? in
      guard count > 0 else { return nil }
      let place =
        number == 0 ? "none of their own relays" : number == 1 ? "one" : number >= 4 ? "four or more" : "\(number)"
      return "\(count) at \(place)"
    }
    func listed(_ count: Int, _ keys: [String]) -> String {
      let shown = keys.prefix(namedMaximum).map { names[$0] ?? PublicKeyText.short($0) }
      return shown.joined(separator: ", ") + (count > shown.count ? " and \(count - shown.count) more" : "")
    }
    var lines = [""] + style.prose("Of \(Amount.count(total, "person", "people")): \(parts.joined(separator: ", ")).")
    if cover.unlistedCount > 0 {
      lines += style.prose(
        "Without a list that is known, asked for at your own relays and the five largest: "
          + "\(listed(cover.unlistedCount, cover.unlisted)).")
    }
    if cover.missingCount > 0 {
      lines += style.prose(
        "At none of the relays that they name now, since each is left out, or waits for its visit: "
          + "\(listed(cover.missingCount, cover.missing)).")
    }
    return lines
  }

  private static func table(_ stops: [Route.Stop], _ names: [String: String], _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "RELAY", columnsMaximum: 48), .init(title: "STATE"), .init(title: "FOR"),
      .init(title: "BY", isSpareable: true), .init(title: "WHY"),
    ])
    for stop in stops {
      let state = stop.state ?? (stop.connector == nil ? "not dialled" : "idle")
      let why = stop.why.joined(separator: ", ") + (stop.reason.map { "; \($0)" } ?? "")
      table.append([
        .init(stop.relay), .init(state.rawValue, RelayText.tone(state)),
        stop.people.isEmpty ? .init("all", .dim) : .init(people(stop.people, stop.peopleCount, names)),
        .init(stop.connector ?? "-", .dim), .init(why),
      ])
    }
    return table.lines(style)
  }
}

/// A key in the form for a table.
enum PublicKeyText {
  /// `npub1abcdef…wxyz`, or the text itself if it is not a key.
  static func short(_ digits: String) -> String {
    guard let npub = PublicKey(digits)?.npub else { return digits }
    return "\(npub.prefix(11))…\(npub.suffix(4))"
  }
}
