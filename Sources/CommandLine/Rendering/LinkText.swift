public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import Wording

// Links and messages as a person reads them. Notes, texts, addresses and names are a stranger's, and reach a terminal
// only through `VisibleText`.

/// What `roost links` and `roost messages` print.
public enum LinkText {
  /// A mark for what was not read yet.
  public static let unreadMark = "•"
  /// The most lines of one text.
  static let lineMaximum = 60
  private static let idDigits = 8
  private static let reactionMaximum = 6

  // MARK: Conversations

  /// A table of conversations, in their order.
  ///
  /// - Parameters:
  ///   - rows: the conversations.
  ///   - entries: what they have: `POSTS`, `MESSAGES`.
  ///   - empty: what is said when there is no conversation.
  ///   - names: names of people.
  ///   - style: how it looks.
  public static func table(
    _ rows: [LinkConversationRow], entries: String, empty: String, names: LinkNames, _ style: Style
  ) -> [String] {
    guard !rows.isEmpty else { return style.prose(empty) }
    var table = TextTable([
      TextTable.Column(title: "", columnsMaximum: 1), TextTable.Column(title: "WHO", columnsMaximum: whoColumns),
      TextTable.Column(title: entries, alignment: .right), TextTable.Column(title: "LAST"),
      TextTable.Column(title: "NAMED BY"),
    ])
    for row in rows {
      table.append([
        TextTable.Cell(row.unread > 0 ? unreadMark : "", .good),
        TextTable.Cell(who(row, names), row.unread > 0 ? .strong : .plain), TextTable.Cell("\(row.posts)"),
        TextTable.Cell(CalendarTime.text(row.lastAt), .dim), TextTable.Cell(reference(row, names), .dim),
      ])
    }
    return table.lines(style)
  }

  private static let whoColumns = 44

  /// `Bob`, `tea: Ann, Bob`, `yourself`
  static func who(_ row: LinkConversationRow, _ names: LinkNames) -> String {
    let people = row.members.isEmpty ? "yourself" : row.contact.map { LinkNames.name($0) } ?? names.text(row.members)
    guard let name = row.name, !name.isEmpty else { return people }
    return "\(LinkNames.name(name)): \(people)"
  }

  /// What is typed for a conversation whose name is not enough.
  private static func reference(_ row: LinkConversationRow, _ names: LinkNames) -> String {
    guard row.isSession != true, row.members.count == 1, let member = row.members.first else { return row.id }
    if row.contact != nil || names.isContact(member) { return "" }
    return PublicKey(member)?.npub ?? row.id
  }

  // MARK: Posts, replies, messages

  /// A post, a reply or a message: one line, or a heading with lines below it.
  ///
  /// - Parameters:
  ///   - row: the row.
  ///   - isBlock: whether lines follow the heading, as on a terminal.
  ///   - names: names of people.
  ///   - style: colours, and the width of the terminal.
  public static func lines(_ row: LinkRow, isBlock: Bool, names: LinkNames, _ style: Style) -> [String] {
    var heading = [
      style.paint(CalendarTime.text(row.at), .dim), row.isOwn ? "you" : names.text(row.author),
      style.paint(word(row), .strong),
    ]
    if row.isUnread { heading.append(style.paint(unreadMark, .good)) }
    if let stage = row.stage.flatMap({ Self.stage($0, style) }) { heading.append(stage) }
    if row.isLegacy == true { heading.append(style.paint("kind 4, relays see who writes to whom", .warning)) }
    heading.append(style.paint(VisibleText.make(row.id.prefix(idDigits)), .dim))
    let below = [
      problem(row), row.about.flatMap { about(row, $0) }, replies(row, style), reactions(row, names),
    ].compactMap(\.self)
    guard isBlock else {
      let url = row.url.map { VisibleText.make($0) }
      let text = row.text.map { text in
        let cut = text.prefix(EventText.contentMaximum)
        return VisibleText.make(cut) + (cut.endIndex < text.endIndex ? "…" : "")
      }
      return [(heading + [url, text].compactMap(\.self) + below).filter { !$0.isEmpty }.joined(separator: "  ")]
    }
    let columns = min(style.columns, EventText.columnMaximum) - 2
    var lines = [heading.joined(separator: "  ")]
    // An address is never cut or broken: it is clicked and copied.
    if let url = row.url { lines.append("  " + VisibleText.make(url)) }
    let text = row.text.map { WrappedText.lines($0, columns: columns, lineMaximum: lineMaximum) } ?? []
    return lines + text.map { "  " + $0 } + below.map { "  " + $0 }
  }

  private static func word(_ row: LinkRow) -> String {
    switch row.sort {
    case .post: row.label.map { DisplayWidth.cut(VisibleText.make($0), to: 12) } ?? "Link"
    case .reply, .message, .file: row.sort.rawValue
    }
  }

  private static func stage(_ stage: SendingStage, _ style: Style) -> String? {
    switch stage {
    case .sent: nil
    case .kept, .queued: style.paint("not sent yet", .warning)
    case .failed: style.paint("not sent", .bad)
    case .partly: style.paint("not sent to all", .bad)
    }
  }

  private static func problem(_ row: LinkRow) -> String? {
    guard let problem = row.problem, row.stage != .sent else { return nil }
    return DisplayWidth.cut(VisibleText.make(problem), to: problemColumns)
  }

  private static let problemColumns = 240

  private static func about(_ row: LinkRow, _ id: String) -> String? {
    row.sort == .message || row.sort == .file ? "answers \(VisibleText.make(id.prefix(idDigits)))" : nil
  }

  private static func replies(_ row: LinkRow, _ style: Style) -> String? {
    guard row.sort == .post, let count = row.replies, count > 0 else { return nil }
    let mark = (row.unreadReplies ?? 0) > 0 ? " " + style.paint(unreadMark, .good) : ""
    return Amount.count(count, "reply", "replies") + mark
  }

  private static func reactions(_ row: LinkRow, _ names: LinkNames) -> String? {
    guard let reactions = row.reactions, !reactions.isEmpty else { return nil }
    let shown = reactions.prefix(reactionMaximum).map {
      "\(DisplayWidth.cut(VisibleText.make($0.emoji), to: 12)) \(names.text($0.author))"
    }
    let more = reactions.count > reactionMaximum ? ["\(reactions.count - reactionMaximum) more"] : []
    return (shown + more).joined(separator: ", ")
  }

  // MARK: Contacts

  /// A table of contacts, by name.
  public static func contacts(_ contacts: [LinkContact], _ style: Style) -> [String] {
    guard !contacts.isEmpty else { return ["No contacts yet. 'roost links contacts add NPUB NAME' adds one."] }
    var table = TextTable([
      TextTable.Column(title: "NAME"), TextTable.Column(title: "NPUB", columnsMaximum: 64),
      TextTable.Column(title: "SESSIONS"), TextTable.Column(title: "RELAYS AGREED TO"),
    ])
    for contact in contacts {
      table.append([
        TextTable.Cell(contact.name, .strong), TextTable.Cell(PublicKey(contact.publicKey)?.npub ?? contact.publicKey),
        TextTable.Cell(contact.sessions == true ? "yes" : ""),
        TextTable.Cell(contact.relays.joined(separator: ", "), .dim),
      ])
    }
    return table.lines(style)
  }

  /// What a contact is called.
  public static func name(_ contact: LinkContact) -> String { LinkNames.name(contact.name) }

  /// A contact after a change.
  public static func contact(_ contact: LinkContact) -> String {
    let key = PublicKey(contact.publicKey)?.npub ?? VisibleText.make(contact.publicKey)
    let relays = contact.relays.map { VisibleText.make($0) }.joined(separator: ", ")
    let agreed = contact.relays.isEmpty ? "" : "; you agree to send to \(relays)"
    let sessions = contact.sessions == true ? "; links are written in sessions" : ""
    return "\(LinkNames.name(contact.name)) is \(key)\(agreed)\(sessions)."
  }

  /// The question before an account agrees to relays that are not in a contact's own list, in whole sentences.
  public static func agreement(_ contact: LinkContact, relays: [String]) -> String {
    let named = relays.map { VisibleText.make($0) }.joined(separator: ", ")
    let those = relays.count == 1 ? "that relay" : "each of these relays"
    return "While \(LinkNames.name(contact.name)) names no relays for gift wraps, what you send goes to \(named). "
      + "The operator of \(those) learns that messages for this key arrive, and when; not from whom, and not what they "
      + "say."
  }

  // MARK: Relays

  /// Whether something can be sent, and the relays by their addresses.
  ///
  /// - Parameters:
  ///   - sending: the state; nil: the planner has not said it.
  ///   - list: the relays.
  ///   - style: how it looks.
  public static func relays(_ sending: SendingState?, _ list: PlanRelayList, _ style: Style) -> [String] {
    let (tone, words) = Self.words(sending)
    let sentence = style.paint(words.0, tone) + words.1
    guard !list.relays.isEmpty else { return [sentence] }
    var table = TextTable([
      TextTable.Column(title: "RELAY", columnsMaximum: 48), TextTable.Column(title: "STATE"),
      TextTable.Column(title: "USE"), TextTable.Column(title: "LAST PROBLEM"),
    ])
    for relay in sorted(list) {
      let state = RelayText.word(relay)
      table.append([
        TextTable.Cell(relay.relay), TextTable.Cell(state.rawValue, RelayText.tone(state)), RelayText.use(relay),
        TextTable.Cell(relay.state?.reason ?? ""),
      ])
    }
    return [sentence, ""] + table.lines(style)
  }

  /// The relays by their addresses.
  public static func sorted(_ list: PlanRelayList) -> [PlanRelayList.Relay] {
    list.relays.sorted { $0.relay < $1.relay }
  }

  private static func words(_ sending: SendingState?) -> (Tone, (String, String)) {
    switch sending {
    case .online: (.good, ("Online", ": a relay that takes events is connected."))
    case .idle: (.good, ("Idle", ": relays are dialled when there is something to send."))
    case .reconnecting: (.warning, ("Reconnecting", ": what you send meanwhile is kept and sent later."))
    case .readOnly: (.warning, ("Read-only", ": no relay in reach takes events; what you send is kept and sent later."))
    case .offline: (.bad, ("Offline", ": no relay can be reached; what you send is kept and sent later."))
    case .noRelays: (.bad, ("No relays", ": 'roost relay add URL' adds one."))
    case nil: (.warning, ("Unknown", ": no outbox-planner has said whether something can be sent."))
    }
  }
}
