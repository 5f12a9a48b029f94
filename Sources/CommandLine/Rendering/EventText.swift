internal import Frames
public import Nostr
internal import Wording

// An event as a person reads it: when, who, what, and the beginning of what it says. Everything in an event is a
// stranger's text; nothing of it reaches a terminal but by `VisibleText`.

/// What `roost observe` prints.
public enum EventText {
  /// Longest part of a content that stands on one line, in characters.
  static let contentMaximum = 200
  /// Widest line of what an event says, in columns: longer ones are hard to read.
  static let columnMaximum = 100
  /// Longest name, in columns.
  static let nameColumns = 24
  /// Most lines of a content that are shown below the heading.
  static let lineMaximum = 4

  /// One line: when, who, what kind, and the beginning of what it says.
  public static func line(_ event: Event, name: String?, _ style: Style) -> String {
    let (text, whole) = (summary(event), content(event))
    let cut = whole.prefix(contentMaximum)
    let words = [text, VisibleText.make(cut) + (cut.endIndex < whole.endIndex ? "…" : "")].filter { !$0.isEmpty }
    return ([heading(event, name, style)] + words).joined(separator: "  ")
  }

  /// A heading, and what it says below, some lines of it.
  public static func block(_ event: Event, name: String?, _ style: Style) -> [String] {
    let text = summary(event)
    let columns = min(style.columns, columnMaximum) - 2
    let lines = WrappedText.lines(content(event), columns: columns, lineMaximum: lineMaximum)
    return [heading(event, name, style) + (text.isEmpty ? "" : "  " + text)] + lines.map { "  " + $0 }
  }

  /// The line behind what was stored.
  public static func storedEnd(_ style: Style) -> String {
    style.paint("-- that was stored; what comes now is new", .dim)
  }

  private static func heading(_ event: Event, _ name: String?, _ style: Style) -> String {
    style.paint(CalendarTime.text(event.createdAt), .dim) + "  " + author(event.pubkey.npub, name, style) + "  "
      + style.paint(KindText.word(event.kind), .strong)
  }

  /// The name, which anybody can take, and the key's two ends, which nobody can.
  static func author(_ npub: String, _ name: String?, _ style: Style) -> String {
    let key = "\(npub.prefix(11))…\(npub.suffix(4))"
    guard let name else { return key }
    return DisplayWidth.cut(VisibleText.make(name), to: nameColumns) + " " + style.paint(key, .dim)
  }

  /// What an event is about that does not say it in words; empty for one that does.
  static func summary(_ event: Event) -> String {
    switch event.kind {
    case EventKind.follows: Amount.count(event.values(of: "p").count, "person", "people")
    case EventKind.relayList: Amount.count(event.values(of: "r").count, "relay")
    case EventKind.directMessageRelays: Amount.count(event.values(of: "relay").count, "relay")
    case EventKind.deletion: "of \(Amount.count(event.values(of: "e").count + event.values(of: "a").count, "event"))"
    case EventKind.repost, EventKind.genericRepost, EventKind.reaction: target(event)
    case EventKind.encryptedDirectMessage, EventKind.giftWrap, EventKind.ephemeralGiftWrap, EventKind.seal:
      "(encrypted)"
    default: ""
    }
  }

  private static func target(_ event: Event) -> String {
    guard let id = event.values(of: "e").last.flatMap({ EventID($0) }) else { return "" }
    return "of \(id.note.prefix(14))…"
  }

  /// What it says, where that is for people.
  static func content(_ event: Event) -> String {
    switch event.kind {
    case EventKind.metadata:
      // What is no profile is shown as it is.
      if let profile = try? Profile(event) {
        return [profile.bestName, profile.about].compactMap(\.self).joined(separator: "\n")
      }
    case EventKind.reaction: return event.content == "+" || event.content.isEmpty ? "♥" : event.content
    case EventKind.follows, EventKind.relayList, EventKind.repost, EventKind.genericRepost,
      EventKind.encryptedDirectMessage, EventKind.giftWrap, EventKind.ephemeralGiftWrap, EventKind.seal:
      return ""
    default: break
    }
    return event.content
  }
}

/// Kinds by the words people use.
public enum KindText {
  private static let words: [UInt16: String] = [
    EventKind.metadata: "profile", EventKind.textNote: "note", EventKind.follows: "follows",
    EventKind.encryptedDirectMessage: "message", EventKind.deletion: "deletion", EventKind.repost: "repost",
    EventKind.reaction: "reaction", EventKind.seal: "seal", EventKind.genericRepost: "repost",
    EventKind.vanish: "vanish", EventKind.giftWrap: "gift wrap", EventKind.comment: "comment",
    EventKind.report: "report", EventKind.zapReceipt: "zap", EventKind.mutes: "mutes", EventKind.relayList: "relays",
    EventKind.directMessageRelays: "message relays", EventKind.ephemeralGiftWrap: "gift wrap",
    EventKind.article: "article",
  ]

  /// `note`, or `kind 30078` for one without a word.
  public static func word(_ kind: UInt16) -> String { words[kind] ?? "kind \(kind)" }
}
