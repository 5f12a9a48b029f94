public import Contracts
public import Cryptography
internal import Frames
public import Nostr
internal import Wording

// A feed and an inbox as a person reads them. All text in them is foreign, and reaches a terminal only through
// `VisibleText`.

/// What `roost feed` and `roost inbox` print.
public enum FeedText {
  /// A name that was looked up; nil: the key has none.
  public typealias Name = (PublicKey) -> String?

  /// The event that a repost contains; nil if it contains none, or one that its author has not signed.
  public static func reposted(_ event: Event) -> Event? {
    guard event.kind == EventKind.repost || event.kind == EventKind.genericRepost, !event.content.isEmpty else {
      return nil
    }
    // `try?`: what is no event, or is forged, is not shown.
    guard let inner = try? Event(json: Array(event.content.utf8)), (try? inner.verify()) != nil else { return nil }
    return inner
  }

  /// An event in a feed: one line, or a heading with lines below it.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - isBlock: whether lines follow the heading, as on a terminal.
  ///   - name: names of people.
  ///   - style: colours, and the width of the terminal.
  public static func lines(_ event: Event, isBlock: Bool, name: Name, _ style: Style) -> [String] {
    guard let inner = reposted(event) else {
      let name = name(event.pubkey)
      return isBlock ? EventText.block(event, name: name, style) : [EventText.line(event, name: name, style)]
    }
    let heading =
      style.paint(CalendarTime.text(event.createdAt), .dim) + "  "
      + EventText.author(event.pubkey.npub, name(event.pubkey), style) + "  " + style.paint("repost", .strong) + "  of "
      + EventText.author(inner.pubkey.npub, name(inner.pubkey), style)
    return joined(heading, EventText.content(inner), isBlock, style)
  }

  /// An item of an inbox.
  ///
  /// - Parameters:
  ///   - item: the item.
  ///   - isBlock: as above.
  ///   - name: names of people.
  ///   - style: as above.
  public static func lines(_ item: InboxItem, isBlock: Bool, name: Name, _ style: Style) -> [String] {
    // `try?`: the store has verified it.
    let event = try? Event(json: item.event.bytes)
    let key = PublicKey(item.author)
    let author = EventText.author(key?.npub ?? item.author, key.flatMap(name), style)
    var words = style.paint(word(item), .strong)
    if let about = item.about, let id = EventID(about) { words += "  " + style.paint("\(id.note.prefix(14))…", .dim) }
    let heading = style.paint(CalendarTime.text(event?.createdAt ?? 0), .dim) + "  " + author + "  " + words
    let text =
      switch item.sort {
      case .reply, .mention, .quote: event.map { EventText.content($0) } ?? ""
      case .zap: item.text ?? ""
      case .reaction, .repost: ""
      }
    return joined(heading, text, isBlock, style)
  }

  /// What another person did, after the name.
  static func word(_ item: InboxItem) -> String {
    switch item.sort {
    case .reply: "answers you"
    case .mention: "mentions you"
    case .quote: "quotes you"
    case .repost: "reposts you"
    case .reaction:
      switch item.text ?? "+" {
      case "+": "likes"
      case "-": "dislikes"
      default: "reacts \(VisibleText.make(item.text ?? ""))"
      }
    case .zap: "zaps \(sats(item.amountMillisatoshis ?? 0))"
    }
  }

  private static func sats(_ millisatoshis: Int64) -> String {
    millisatoshis.isMultiple(of: 1_000)
      ? Amount.count(Int(millisatoshis / 1_000), "sat") : "\(millisatoshis) thousandths of a sat"
  }

  private static func joined(_ heading: String, _ text: String, _ isBlock: Bool, _ style: Style) -> [String] {
    guard isBlock else {
      let cut = text.prefix(EventText.contentMaximum)
      let words = VisibleText.make(cut) + (cut.endIndex < text.endIndex ? "…" : "")
      return [words.isEmpty ? heading : heading + "  " + words]
    }
    let columns = min(style.columns, EventText.columnMaximum) - 2
    return [heading] + WrappedText.lines(text, columns: columns, lineMaximum: EventText.lineMaximum).map { "  " + $0 }
  }

  /// What a reader of a feed or an inbox has to know of its lists, as sentences; none if all is well.
  public static func remarks(_ state: FeedState) -> [String] {
    var remarks: [String] = []
    if state.isListKnown == false {
      remarks.append("the list of people is not here yet; what they write follows when it has come")
    } else if state.people == 0 {
      let adding = state.privatePeople == nil ? "roost follow WHO" : "roost lists add people WHO --name NAME"
      remarks.append("the list is empty; '\(adding)' adds a person")
    }
    if let privatePeople = state.privatePeople {
      remarks += remark(privatePeople, "private people of the set", without: "they are left out")
    }
    return remarks + remark(state.privateMutes, "private mutes", without: "what they keep out is shown")
  }

  private static func remark(
    _ entries: FeedState.PrivateEntries, _ what: String, without consequence: String
  ) -> [String] {
    switch entries {
    case .none, .read: []
    case .locked:
      [
        "the \(what) cannot be read while the account is locked or its key is not here: \(consequence); 'roost key "
          + "unlock' or 'roost key import' ends that"
      ]
    case .foreign: ["the \(what) can be read by their owner only: \(consequence)"]
    case .unreadable: ["the \(what) cannot be decrypted: \(consequence)"]
    }
  }
}
