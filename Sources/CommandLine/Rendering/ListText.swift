public import Contracts
internal import Cryptography
internal import Frames
public import Nostr
internal import Wording

/// Lists for people.
public enum ListText {
  /// Sets of relays (NIP-51).
  public static let relaySets: UInt16 = 30_002
  /// Bookmarks (NIP-51).
  public static let bookmarks: UInt16 = 10_003
  /// Pinned notes (NIP-51).
  public static let pins: UInt16 = 10_001

  private static let named: [(word: String, kind: UInt16)] = [
    ("profile", EventKind.metadata), ("follows", EventKind.follows), ("mutes", EventKind.mutes),
    ("relays", EventKind.relayList), ("message-relays", EventKind.directMessageRelays),
    ("blocked-relays", EventKind.blockedRelays), ("search-relays", EventKind.searchRelays), ("pins", pins),
    ("bookmarks", bookmarks), ("people", 30_000), ("relay-sets", relaySets),
  ]

  /// The words for lists.
  public static var words: [String] { named.map(\.word) }

  /// The kind of a list as it is typed; nil for another text.
  public static func kind(of text: String) -> UInt16? { named.first { $0.word == text }?.kind ?? UInt16(text) }

  /// `follows`, or `kind 30078` for one without a word.
  public static func word(_ kind: UInt16) -> String { named.first { $0.kind == kind }?.word ?? "kind \(kind)" }

  // MARK: All lists

  /// A list in an overview.
  public struct Row: Sendable, Encodable {
    /// Its kind.
    public let kind: UInt16
    /// Its name; empty for a list of which an account has one.
    public let identifier: String
    /// The number of its public entries.
    public let entries: Int
    /// Whether it has private entries.
    public let hasPrivate: Bool
    /// When it was made, seconds since 1970.
    public let createdAt: Int64
    /// The event.
    public let id: String
  }

  /// The lists among events, by kind and name.
  public static func rows(_ events: [Event]) -> [Row] {
    events.compactMap { event -> Row? in
      guard let entries = ListEntries(event) else { return nil }
      let isPlain = event.content.isEmpty || [EventKind.metadata, EventKind.follows].contains(event.kind)
      return Row(
        kind: event.kind, identifier: event.firstValue(of: "d") ?? "", entries: entries.count, hasPrivate: !isPlain,
        createdAt: event.createdAt, id: "\(event.id)")
    }.sorted { ($0.kind, $0.identifier) < ($1.kind, $1.identifier) }
  }

  /// A table of these lists.
  public static func overview(_ rows: [Row], of account: String, now: Int64, _ style: Style) -> [String] {
    guard !rows.isEmpty else {
      return ["No list of \(account) is stored here. 'roost follow WHO' begins one."]
    }
    var table = TextTable([
      TextTable.Column(title: "LIST"), TextTable.Column(title: "NAME", columnsMaximum: 32),
      TextTable.Column(title: "ENTRIES", alignment: .right), TextTable.Column(title: "PRIVATE"),
      TextTable.Column(title: "MADE", alignment: .right),
    ])
    for row in rows {
      table.append([
        TextTable.Cell(word(row.kind)), TextTable.Cell(row.identifier), TextTable.Cell("\(row.entries)"),
        TextTable.Cell(row.hasPrivate ? "some" : ""), TextTable.Cell(past(row.createdAt, now)),
      ])
    }
    return table.lines(style)
  }

  // MARK: One list

  /// A list with its entries.
  ///
  /// - Parameters:
  ///   - list: the list.
  ///   - names: names of people, by their keys in hexadecimal digits.
  ///   - now: seconds since 1970.
  ///   - style: whether colours are used.
  public static func lines(_ list: KnownList, names: [String: String], now: Int64, _ style: Style) -> [String] {
    let title = list.identifier.isEmpty ? word(list.kind) : "\(word(list.kind)) \(VisibleText.make(list.identifier))"
    guard list.id != nil, let createdAt = list.createdAt else {
      return ["\(list.account) has no list '\(title)' that is known here."]
    }
    let checked = list.checkedAt.map { ", proven \(past($0, now))" } ?? ""
    var lines = [style.paint("\(title) of \(list.account), made \(past(createdAt, now))\(checked)", .strong)]
    if let silent = list.silentRelays, !silent.isEmpty { lines.append(notAsked(silent, style)) }
    if list.kind == EventKind.metadata { lines.append(VisibleText.make(list.content)) }
    lines += list.tags.map { entry($0, names, style) }
    lines += (list.privateTags ?? []).map { entry($0, names, style) + style.paint("  private", .dim) }
    if let problem = list.privateProblem {
      lines.append(style.paint("The private entries cannot be read: \(VisibleText.make(problem))", .warning))
    }
    return lines
  }

  /// `p  npub1…  Alice`
  private static func entry(_ tag: [String], _ names: [String: String], _ style: Style) -> String {
    guard tag.count > 1 else { return VisibleText.make(tag.first ?? "") }
    var value = tag[1]
    var further = tag.dropFirst(2).filter { !$0.isEmpty }
    if tag[0] == "p", let name = names[tag[1]] { further.insert(DisplayWidth.cut(name, to: nameColumns), at: 0) }
    if tag[0] == "p", let key = PublicKey(tag[1]) { value = key.npub }
    let rest = further.isEmpty ? "" : "  " + further.joined(separator: "  ")
    return style.paint(VisibleText.make(tag[0]), .dim) + "  " + VisibleText.make(value + rest)
  }

  private static let nameColumns = 40

  // MARK: Versions

  /// How many digits of an id a table has.
  private static let idColumns = 16

  /// A table of versions.
  public static func history(_ versions: [ListVersionRow], now: Int64, _ style: Style) -> [String] {
    guard !versions.isEmpty else { return ["No version of this list is kept here."] }
    var table = TextTable([
      TextTable.Column(title: "ID", columnsMaximum: idColumns), TextTable.Column(title: "MADE", alignment: .right),
      TextTable.Column(title: "ENTRIES", alignment: .right), TextTable.Column(title: "WHERE"),
      TextTable.Column(title: ""),
    ])
    for version in versions {
      table.append([
        TextTable.Cell(String(version.id.prefix(idColumns)), .dim), TextTable.Cell(past(version.createdAt, now)),
        TextTable.Cell("\(version.entries)"), TextTable.Cell(version.isOurs ? "here" : "elsewhere"),
        TextTable.Cell(version.isWaiting ? "waits for the publish queue" : version.problem ?? ""),
      ])
    }
    return table.lines(style)
  }

  /// What differs between two versions.
  public static func lines(_ difference: ListsDifference, names: [String: String], _ style: Style) -> [String] {
    let lines =
      difference.removed.map { style.paint("- ", .bad) + entry($0, names, style) }
      + difference.added.map { style.paint("+ ", .good) + entry($0, names, style) }
    return lines.isEmpty ? ["Nothing differs in what can be read."] : lines
  }

  /// What became of a change.
  public static func lines(_ edited: EditedList, _ style: Style) -> [String] {
    let name = edited.identifier.isEmpty ? "" : " \(VisibleText.make(edited.identifier))"
    let what = "\(word(edited.kind))\(name) of \(edited.account)"
    var lines = [
      edited.isNew
        ? "\(what): \(Amount.count(edited.after, edited.kind == EventKind.metadata ? "field" : "entry", "entries"))"
          + (edited.before == edited.after ? "" : ", before \(edited.before)")
        : "\(what): it is so already, nothing was changed"
    ]
    if let silent = edited.silentRelays, !silent.isEmpty { lines.append(notAsked(silent, style)) }
    return lines
  }

  private static func notAsked(_ relays: [String], _ style: Style) -> String {
    let named = relays.prefix(3).map { VisibleText.make($0) }.joined(separator: ", ")
    let more = relays.count > 3 ? " and \(relays.count - 3) more" : ""
    return style.paint("Not asked, since they cannot be reached: \(named)\(more)", .warning)
  }

  /// `5s ago`; times are whole seconds.
  private static func past(_ from: Int64, _ now: Int64) -> String { from >= now ? "just now" : "\(age(from, now)) ago" }

  private static func age(_ from: Int64, _ to: Int64) -> String {
    let seconds = UInt64(clamping: max(0, to - from))
    return Amount.duration(milliseconds: seconds.multipliedReportingOverflow(by: 1_000).partialValue)
  }
}

/// What differs between two versions of a list, in what can be read of them.
public struct ListsDifference: Sendable, Encodable {
  /// Tags, or fields of a profile as `name` and JSON text, that only the newer version has.
  public let added: [[String]]
  /// Those that only the older one has.
  public let removed: [[String]]

  /// All of them.
  public var tags: [[String]] { added + removed }

  /// What differs; without an older version all is new.
  public init(from old: KnownList?, to new: KnownList) {
    let (before, now) = (old.map(Self.entries) ?? [], Self.entries(new))
    let (known, present) = (Set(before), Set(now))
    added = now.filter { !known.contains($0) }
    removed = before.filter { !present.contains($0) }
  }

  private static func entries(_ list: KnownList) -> [[String]] {
    if list.kind == EventKind.metadata {
      // `try?`: a profile that is no object has no fields.
      guard case .object(let fields)? = try? JSONPayload.decode(JSONValue.self, from: Array(list.content.utf8)) else {
        return []
      }
      return fields.map { [$0.key, String(decoding: JSONPayload.encode($0.value), as: UTF8.self)] }
        .sorted { $0[0] < $1[0] }
    }
    return list.tags + (list.privateTags ?? []).map { $0 + ["(private)"] }
  }
}
