internal import Frames
public import Nostr
internal import Wording

// An event as a person reads it: time, author, kind, and the beginning of its content. All text in an event is foreign,
// and reaches a terminal only through `VisibleText`.

/// What `roost observe` prints.
public enum EventText {
  /// The longest part of a content that is shown on one line, in characters.
  static let contentMaximum = 200
  /// The widest line of a content, in columns: longer lines are hard to read.
  static let columnMaximum = 100
  /// The longest name, in columns.
  static let nameColumns = 24
  /// The maximum number of content lines below the heading.
  static let lineMaximum = 4

  /// One line: time, author, kind, and the beginning of the content.
  public static func line(_ event: Event, name: String?, _ style: Style) -> String {
    let (text, whole) = (summary(event), content(event))
    let cut = whole.prefix(contentMaximum)
    let words = [text, VisibleText.make(cut) + (cut.endIndex < whole.endIndex ? "…" : "")].filter { !$0.isEmpty }
    return ([heading(event, name, style)] + words).joined(separator: "  ")
  }

  /// A heading, and below it some lines of the content.
  public static func block(_ event: Event, name: String?, _ style: Style) -> [String] {
    let text = summary(event)
    let columns = min(style.columns, columnMaximum) - 2
    let lines = WrappedText.lines(content(event), columns: columns, lineMaximum: lineMaximum)
    return [heading(event, name, style) + (text.isEmpty ? "" : "  " + text)] + lines.map { "  " + $0 }
  }

  /// The line after the stored events.
  public static func storedEnd(_ style: Style) -> String {
    style.paint("-- that was stored; what comes now is new", .dim)
  }

  private static func heading(_ event: Event, _ name: String?, _ style: Style) -> String {
    style.paint(CalendarTime.text(event.createdAt), .dim) + "  " + author(event.pubkey.npub, name, style) + "  "
      + style.paint(KindText.word(event.kind), .strong)
  }

  /// The name, which anyone can choose, and both ends of the key, which no one else can have.
  static func author(_ npub: String, _ name: String?, _ style: Style) -> String {
    let key = "\(npub.prefix(11))…\(npub.suffix(4))"
    guard let name else { return key }
    return DisplayWidth.cut(VisibleText.make(name), to: nameColumns) + " " + style.paint(key, .dim)
  }

  /// What an event is about, if its content does not say that in words; else empty.
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

  /// The content, if it is for people.
  static func content(_ event: Event) -> String {
    switch event.kind {
    case EventKind.metadata:
      // `try?`: content that is not a profile is shown unchanged.
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
