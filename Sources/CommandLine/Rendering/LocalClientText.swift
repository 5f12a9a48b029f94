public import Contracts
internal import Frames
internal import Wording

/// The local relay's clients as `roost client` shows them: the connections, and the web pages that may connect.
public enum LocalClientText {
  /// A table of the connections, the pages that wait for permission, and those that have it.
  ///
  /// - Parameters:
  ///   - list: the answer of the local relay.
  ///   - now: seconds since 1970.
  ///   - style: whether colours are used.
  public static func list(_ list: LocalRelayClients, now: Int64, _ style: Style) -> [String] {
    var lines = ["No client is connected."]
    if !list.clients.isEmpty {
      let others = list.others > 0 ? ", \(Amount.count(list.others, "earlier one")) not shown" : ""
      lines = table(list.clients, now, style) + ["", Amount.count(list.clients.count, "client") + others]
    }
    let waiting = Set(list.clients.filter { !$0.isAdmitted }.compactMap(\.origin)).sorted()
    if !waiting.isEmpty {
      lines += ["", style.paint("Web pages that wait to be let in:", .warning)]
      lines += waiting.map { "  roost client allow \(argument($0))" }
    }
    return lines + [""] + allowed(list.allowed, style)
  }

  /// The origins that are allowed.
  public static func allowed(_ origins: [String], _ style: Style) -> [String] {
    guard !origins.isEmpty else {
      return style.prose(
        "No web page is allowed. Programs on this machine need no leave; 'roost client allow' lets pages in.")
    }
    return [style.paint("Allowed web pages:", .strong)] + origins.map { "  " + VisibleText.make($0) }
  }

  private static func table(_ clients: [LocalRelayClient], _ now: Int64, _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "ADDRESS"), .init(title: "MAY"), .init(title: "SINCE", alignment: .right),
      .init(title: "KEYS", alignment: .right, isSpareable: true), .init(title: "SUBSCRIPTIONS", alignment: .right),
      .init(title: "TAKEN", alignment: .right), .init(title: "SENT", alignment: .right), .init(title: "CLIENT"),
    ])
    for client in clients {
      let since = client.since.map { Amount.duration(milliseconds: UInt64(clamping: max(0, now - $0)) * 1_000) }
      table.append([
        .init(client.address), client.isAdmitted ? .init("enter", .good) : .init("wait", .warning),
        since.map { .init($0) } ?? .init("-", .dim), number(client.authenticated.count), number(client.subscriptions),
        number(client.taken), number(client.delivered), .init(name(client)),
      ])
    }
    return table.lines(style)
  }

  /// A page is named by its origin, a program by its name; a program may have no name.
  private static func name(_ client: LocalRelayClient) -> String {
    if let origin = client.origin { return "page \(shortened(origin))" }
    guard let agent = client.agent, !agent.isEmpty else { return "a program that does not say its name" }
    return shortened(agent)
  }

  /// The longest name, in characters: the names of browsers are long.
  private static let nameCharacterMaximum = 80

  private static func shortened(_ text: String) -> String {
    text.count > nameCharacterMaximum ? text.prefix(nameCharacterMaximum) + "…" : text
  }

  private static func number(_ count: some BinaryInteger) -> TextTable.Cell {
    .init("\(count)", count == 0 ? .dim : .plain)
  }

  /// An origin as a shell takes it: when foreign text is copied, it must be one word and no more.
  private static func argument(_ origin: String) -> String {
    ShellWord.make(VisibleText.make(shortened(origin)))
  }
}
