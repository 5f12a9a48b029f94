internal import Contracts
internal import Frames
internal import Wording

// The sections of the page: four figures, the workers, the relays that are not open, and how to connect.

extension StatusPage {
  /// A number with separators: `12,345`.
  static func number(_ value: some BinaryInteger) -> String {
    let digits = Array("\(value)")
    var result = ""
    for (index, digit) in digits.enumerated() {
      let rest = digits.count - index
      if index > 0, rest % 3 == 0, digits[index - 1] != "-" { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// A card with one figure: the number, its unit, and a line below.
  private static func figure(_ title: String, _ value: String, _ unit: String, _ below: String) -> Markup {
    """
    <section class="card"><h2>\(title)</h2><p class="number">\(value) <small>\(unit)</small></p><p class="soft">\(below)\
    </p></section>

    """
  }

  /// A card without a figure, with the reason.
  private static func noFigure(_ title: String, _ why: String) -> Markup {
    "<section class=\"card\"><h2>\(title)</h2><p class=\"number soft\">–</p><p class=\"soft\">\(why)</p></section>\n"
  }

  static func events(_ store: Told<StoreStatus>) -> Markup {
    switch store {
    case .absent: return noFigure("Events", "no event store is running")
    case .silent: return noFigure("Events", "the event store does not answer")
    case .told(let status):
      let size = Amount.bytes(UInt64(clamping: status.usedBytes))
      let limit = status.limitBytes.map { " of \(Amount.bytes(UInt64(clamping: $0)))" } ?? " on disk"
      return figure("Events", number(status.events), "stored", size + limit)
    }
  }

  static func clients(_ status: LocalRelayStatus) -> Markup {
    let subscriptions = Amount.count(status.subscriptions, "subscription")
    let given = "\(number(status.delivered)) events sent, \(number(status.taken)) taken"
    return figure("Clients", number(status.connections), "connected", "\(subscriptions), \(given)")
  }

  static func relayFigure(_ snapshot: RoostSnapshot) -> Markup {
    guard !snapshot.connectors.isEmpty else { return noFigure("Relays", "no relay connector is running") }
    guard snapshot.connectors.contains(where: { $0.relays.value != nil }) else {
      return noFigure("Relays", "the relay connector does not answer")
    }
    let relays = snapshot.relays
    let open = relays.count { $0.state == .open }
    let others: [(RelayStateWord, String)] = [
      (.waiting, "waiting"), (.idle, "not needed now"), (.quarantined, "left alone"),
    ]
    let parts = others.compactMap { state, words in
      let count = relays.count { $0.state == state }
      return count > 0 ? "\(count) \(words)" : nil
    }
    let none = relays.isEmpty ? "none is known yet" : "each as it should be"
    return figure(
      "Relays", number(open), "open of \(relays.count)", parts.isEmpty ? none : parts.joined(separator: ", "))
  }

  static func queue(_ plan: Told<PlanStatus>) -> Markup {
    switch plan {
    case .absent: return noFigure("Publish queue", "no outbox planner is running")
    case .silent: return noFigure("Publish queue", "the outbox planner does not answer")
    case .told(let status):
      func count(_ state: Publication.State) -> Int { status.publications[state.rawValue] ?? 0 }
      let below = "\(number(count(.confirmed))) confirmed, \(number(count(.failed))) failed"
      return figure("Publish queue", number(count(.optimistic) + count(.partial)), "on their way", below)
    }
  }

  static func workers(_ supervisor: Told<SupervisorStatus>) -> Markup {
    guard let status = supervisor.value, !status.workers.isEmpty else { return "" }
    let items: [Markup] = status.workers.map { worker in
      """
      <li class="row">\(dot(StatusLevel(workerState: worker.state)))<span class="name">\(worker.name)</span>\
      <span>\(worker.state.rawValue)</span><span class="soft note">\(note(worker))</span>\
      <span class="soft right">\(worker.residentBytes.map { Amount.bytes($0) } ?? "")</span></li>

      """
    }
    return "<section class=\"card\" id=\"workers\"><h2>Workers</h2><ul>\n\(items)</ul></section>\n"
  }

  /// The most urgent facts about a worker.
  private static func note(_ worker: WorkerStatus) -> String {
    var parts: [String] = []
    if let busy = worker.busyMilliseconds, busy >= Verdict.quietMilliseconds {
      parts.append("no progress for \(Amount.duration(milliseconds: busy))")
    }
    if let next = worker.nextAttemptMilliseconds {
      parts.append("next try in \(Amount.duration(milliseconds: next))")
    }
    let isGood = StatusLevel(workerState: worker.state) == .good
    if let text = isGood ? worker.text : worker.lastExit { parts.append(text) }
    return parts.joined(separator: "; ")
  }

  /// Relays that should be open and are not, with the reason.
  static func relays(_ snapshot: RoostSnapshot) -> Markup {
    let troubled = snapshot.relays.filter { StatusLevel(relayState: $0.state) >= .pending }
    guard !troubled.isEmpty else { return "" }
    let items: [Markup] = troubled.prefix(listMaximum).map { relay in
      """
      <li class="row relay">\(dot(.pending))<span class="name">\(relay.relay)</span>\
      <span class="soft note">\(relay.reason ?? relay.state.rawValue)</span></li>

      """
    }
    let others = troubled.count - items.count
    let rest = others > 0 ? more(others, "roost relay list") : ""
    return "<section class=\"card\" id=\"away\"><h2>Relays that are not open</h2><ul>\n\(items)\(rest)</ul></section>\n"
  }

  /// Remarks on what relays have said or done, with advice; those that wait for the user are shown there.
  static func remarks(_ snapshot: RoostSnapshot) -> Markup {
    let remarks = snapshot.relays.flatMap { relay in
      (relay.remarks ?? []).filter { !Waiting.isWall($0, now: snapshot.at) }.map { (relay.relay, $0) }
    }.sorted { $0.1.at > $1.1.at }
    guard !remarks.isEmpty else { return "" }
    let items: [Markup] = remarks.prefix(listMaximum).map { relay, remark in
      let advice = RelayRemarkText.advice(remark).map { "; \($0)" } ?? ""
      return """
        <li class="row relay">\(dot(.pending))<span class="name">\(relay)</span>\
        <span class="soft note">\(RelayRemarkText.words(remark) + advice)</span></li>

        """
    }
    let others = remarks.count - items.count
    let rest = others > 0 ? more(others, "roost relay list") : ""
    return "<section class=\"card\" id=\"remarks\"><h2>What relays say</h2><ul>\n\(items)\(rest)</ul></section>\n"
  }

  /// The last line of a list that is cut: how many more there are, and the command that shows all.
  static func more(_ count: Int, _ command: String) -> Markup {
    "<li class=\"soft\">and \(number(count)) more: \(self.command(command))</li>\n"
  }

  static func connecting(_ status: LocalRelayStatus) -> Markup {
    let addresses: [Markup] = status.addresses.map { "<code>\($0)</code> " }
    let everywhere: [Markup] = (status.everywhere ?? []).map { "<p>It listens at \($0).</p>\n" }
    let outsiders: [Markup] = OutsiderText.sentences(status).map { "<p>\($0)</p>\n" }
    return """
      <section class="card" id="connect"><h2>Connect a client</h2>
      <p>Add this relay in any Nostr client: \(addresses)</p>
      \(everywhere)\
      \(outsiders)\
      <p class="soft">A web page may do nothing until its origin was allowed, once. It shows up here when it tries.</p>
      </section>

      """
  }
}
