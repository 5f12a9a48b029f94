public import Contracts
internal import Frames
public import Nostr
internal import Wording

// What `roost setup` says.

/// How much a relay has of one class of an account.
public struct SetupFigure: Encodable, Sendable, Hashable {
  /// How the relay has said it.
  public enum Source: String, Encodable, Sendable, Hashable {
    /// By COUNT (NIP-45).
    case count
    /// By a comparison with what is here (NIP-77).
    case comparison
    /// By sending events.
    case sent
  }
  /// The relay.
  public let relay: String
  /// What it was asked for.
  public let kind: MirrorClass
  /// Events that it has; nil: it has not said.
  public var count: Int?
  /// Whether the relay says that the count is not exact.
  public var isApproximate = false
  /// Whether it may have more.
  public var isAtLeast = false
  /// How it said so.
  public var source: Source?
  /// How many of them are here already, if that is known.
  public var here: Int?
  /// Bytes of an event, on an average of a few that it sent; nil: it sent none.
  public var averageBytes: Int64?
  /// Why it has not said.
  public var reason: String?

  /// Nothing is known.
  public init(relay: String, kind: MirrorClass) { (self.relay, self.kind) = (relay, kind) }

  /// Bytes of all events, estimated from a few.
  public var bytes: Int64? {
    guard let count, let averageBytes else { return count == 0 ? 0 : nil }
    return Int64(count) * averageBytes
  }
}

/// The words of `roost setup`.
public enum SetupText {
  /// The question for the way to an account.
  public static let ways = """
    Whose account?
      1  one to read along with: an npub, or a name like bob@example.com
      2  your own, whose secret key you have
      3  a new one
    1, 2 or 3:
    """ + " "

  /// An account that is here already.
  public static func present(_ account: SignerAccount, _ style: Style) -> [String] {
    [
      "\(VisibleText.make(account.name)) is here already, and is taken as it is.",
      style.paint("  \(VisibleText.make(account.npub))", .dim),
    ]
  }

  /// What was found of an account at the relays that were asked.
  public static func lists(_ person: Person, _ asked: [ObserveProgress.Relay], _ style: Style) -> [String] {
    var parts: [String] = []
    if let name = person.profile?.bestName { parts.append("the profile of \(VisibleText.make(name))") }
    if let count = person.follows?.follows.count {
      parts.append("a list of \(Amount.count(count, "person", "people")) followed")
    }
    if let count = person.relays?.entries.count { parts.append("a list of \(Amount.count(count, "relay"))") }
    if let count = person.messageRelays?.relays.count { parts.append("\(Amount.count(count, "relay")) for messages") }
    let answered = asked.count { $0.state == .stored }
    var lines: [String] = []
    if !asked.isEmpty, answered == 0 {
      let reason = asked.lazy.compactMap { FetchText.reason($0) }.first.map { " (\($0))" } ?? ""
      let none = "None of \(Amount.count(asked.count, "relay")) could be asked\(reason)"
      lines += style.prose("\(none): is this machine offline?")
    }
    if parts.isEmpty {
      lines += style.prose(
        answered > 0
          ? "Nothing was found at the \(Amount.count(answered, "relay")) that answered: the account may be new, or unknown there."
          : "Nothing is known of it yet; it is looked for again by itself.")
    } else {
      lines += style.prose("Here: " + parts.joined(separator: ", ") + ".")
    }
    return lines
  }

  // MARK: How much

  /// One relay's answer, as a line.
  public static func line(_ figure: SetupFigure) -> String {
    "\(VisibleText.make(figure.relay)), \(MirrorText.words(figure.kind)): \(amount(figure))"
  }

  /// The answers so far, for a terminal.
  public static func live(_ figures: [SetupFigure], of count: Int, columns: Int) -> [LiveLine] {
    let shown = figures.suffix(LiveBlock.lineMaximum - 1).map { LiveLine(line($0)) }
    return shown + [LiveLine("\(figures.count) of \(count) answers", .dim)]
  }

  /// All answers, and what they come to.
  public static func table(_ figures: [SetupFigure], _ style: Style) -> [String] {
    let told = Dictionary(grouping: figures, by: \.relay).filter { $0.value.contains { $0.count != nil } }
    let silent = figures.filter { told[$0.relay] == nil }
    return (told.isEmpty ? [] : amounts(figures.filter { told[$0.relay] != nil }, style)) + unknown(silent, style)
      + style.prose(total(figures))
  }

  private static func amounts(_ figures: [SetupFigure], _ style: Style) -> [String] {
    var table = TextTable([
      .init(title: "RELAY", columnsMaximum: 34), .init(title: "WHAT"), .init(title: "EVENTS", alignment: .right),
      .init(title: "BYTES", alignment: .right), .init(title: "NOTE"),
    ])
    for figure in figures {
      table.append([
        .init(figure.relay), .init(MirrorText.words(figure.kind)), .init(events(figure)),
        .init(figure.bytes.map { "\(figure.isAtLeast ? "" : "~")\(Amount.bytes(UInt64(max(0, $0))))" } ?? "-"),
        .init(note(figure), figure.count == nil ? .warning : .dim),
      ])
    }
    return table.lines(style)
  }

  /// A line for each relay that has told nothing.
  private static func unknown(_ figures: [SetupFigure], _ style: Style) -> [String] {
    guard !figures.isEmpty else { return [] }
    var table = TextTable([.init(title: "UNKNOWN", columnsMaximum: 34), .init(title: "WHY")])
    var last: String?
    for figure in figures where figure.relay != last {
      last = figure.relay
      table.append([.init(figure.relay), .init(reason(figure), .warning)])
    }
    return table.lines(style)
  }

  /// Why a relay has not said how much it has, without its own name.
  private static func reason(_ figure: SetupFigure) -> String {
    guard let reason = figure.reason else { return "it did not answer in time" }
    let name = figure.relay
    let host = name.split(separator: "/").dropFirst().first.map(String.init) ?? name
    let parts = reason.replacing(name, with: "it").split(separator: ": ").filter { !$0.contains(host) }
    let words = parts.joined(separator: ": ")
    return words.hasPrefix("it ") ? String(words.dropFirst(3)) : words
  }

  private static func events(_ figure: SetupFigure) -> String {
    guard let count = figure.count else { return "unknown" }
    return figure.isApproximate ? "~\(count)" : figure.isAtLeast ? "\(count)+" : "\(count)"
  }

  private static func note(_ figure: SetupFigure) -> String {
    var words: [String] = []
    if let here = figure.here, here > 0 { words.append("\(here) of them here") }
    if figure.isAtLeast { words.append("it counts neither by NIP-45 nor by NIP-77") }
    if figure.count == nil { words.append(reason(figure)) }
    return words.joined(separator: "; ")
  }

  private static func amount(_ figure: SetupFigure) -> String {
    guard let count = figure.count else { return "unknown: \(VisibleText.make(reason(figure)))" }
    let bytes = figure.bytes.map { ", about \(Amount.bytes(UInt64(max(0, $0))))" } ?? ""
    let prefix = figure.isApproximate ? "about " : figure.isAtLeast ? "at least " : ""
    return prefix + Amount.count(count, "event") + bytes
  }

  /// Relays have much in common: so the sum is the most, and the largest of each class the least.
  private static func total(_ figures: [SetupFigure]) -> String {
    let known = figures.filter { $0.count != nil }
    guard !known.isEmpty else {
      return "No relay says how much it has. It is fetched all the same, and 'roost mirror status' shows how far it is."
    }
    func sum(_ some: [SetupFigure]) -> (events: Int, bytes: Int64) {
      (some.reduce(0) { $0 + ($1.count ?? 0) }, some.reduce(0) { $0 + ($1.bytes ?? 0) })
    }
    let largest = Dictionary(grouping: known, by: \.kind).values.compactMap { some in
      some.max { ($0.count ?? 0) < ($1.count ?? 0) }
    }
    let (least, most) = (sum(largest), sum(known))
    let isOpen = known.count < figures.count || known.contains(where: \.isAtLeast)
    func words(_ amount: (events: Int, bytes: Int64)) -> String {
      let bytes = amount.bytes > 0 ? " (about \(Amount.bytes(UInt64(amount.bytes))))" : ""
      return Amount.count(amount.events, "event") + bytes
    }
    let text =
      least.events == most.events
      ? words(least) : "\(words(least)) to \(words(most)), since relays have many of the same"
    return "In all: \(text)" + (isOpen ? ", and what other relays do not say." : ".")
  }

  // MARK: After the question

  /// An account that stays left.
  public static func staysLeft(_ account: SignerAccount) -> [String] {
    let name = VisibleText.make(account.name)
    return [
      "Nothing is fetched. \(name) is here, and put aside: 'roost setup' asks again, 'roost account forget \(name)' removes it."
    ]
  }

  /// A new account's name, before it is made.
  public static func making(_ name: String) -> [String] { ["The account \(VisibleText.make(name)) is new."] }

  /// An account for which the mirror works from now on.
  public static func begun(_ account: SignerAccount, _ style: Style) -> [String] {
    let name = VisibleText.make(account.name)
    var lines = [account.isReadOnly == true ? "Reading along with \(name)." : "\(name) is the account here."]
    if account.awaitsPassphrase {
      lines.append(style.paint("It is locked; to sign, 'roost key unlock \(name)' opens it.", .warning))
    }
    return lines
  }

  /// The progress, for a terminal.
  public static func progress(_ entries: [MirrorStatus.Entry]) -> [LiveLine] {
    guard !entries.isEmpty else { return [LiveLine("The mirror begins.", .dim)] }
    return entries.prefix(LiveBlock.lineMaximum - 1).map {
      LiveLine(progressLine($0), $0.isFetching ? .plain : $0.end == nil ? .dim : .good)
    } + [LiveLine("Ctrl-C ends only this view.", .dim)]
  }

  /// One class.
  public static func progressLine(_ entry: MirrorStatus.Entry) -> String {
    let words = MirrorText.words(entry.kind)
    let state = entry.isFetching ? ", being fetched" : entry.end == nil ? ", waits" : ""
    return "\(words): \(Amount.count(entry.events, "event")), \(MirrorText.complete(entry))\(state)"
  }

  /// The end of the progress.
  public static func complete(_ entries: [MirrorStatus.Entry], _ style: Style) -> [String] {
    let lacking = entries.filter { $0.kind != .follows && $0.completeCount < $0.relays.count }
    return entries.map { progressLine($0) }
      + (lacking.isEmpty
        ? []
        : style.prose(
          "Not everything came from every relay; it is tried again by itself. 'roost mirror status' says why."))
  }

  /// After Ctrl-C.
  public static let continues = ["It continues without you: 'roost mirror status' shows how far it is."]

  // MARK: Clients

  /// Where clients connect, how three do it, and what to type next.
  ///
  /// - Parameters:
  ///   - addresses: those of the local relay; empty: it does not run.
  ///   - account: the account.
  ///   - style: whether colours are used.
  public static func end(_ addresses: [String], _ account: SignerAccount, _ style: Style) -> [String] {
    var lines: [String] = [""]
    if let address = addresses.first {
      lines += [
        style.paint("The relay for your clients: \(VisibleText.make(address))", .strong),
        "  nak        nak req -k 1 -l 5 \(VisibleText.make(address))",
        "  Gossip     Relays > Add Relay: the address, with Read and Write on",
        "  noStrudel  roost client allow https://nostrudel.ninja",
        "             then in its settings of the cache: Nostr Relay Tray > Enable",
        "Web pages are refused until 'roost client allow' lets them in.",
        "",
      ]
    }
    lines.append("Next:")
    if account.isReadOnly != true { lines.append("  roost follow NPUB        follow a person") }
    lines += [
      "  roost feed               read those whom \(VisibleText.make(account.name)) follows",
      "  roost mirror status      what is here, and which relays have sent everything",
    ]
    return lines
  }
}
