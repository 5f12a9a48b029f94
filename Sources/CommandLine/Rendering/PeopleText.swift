public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import Wording

// People in lines and tables. What a profile says is a stranger's text: tables make it harmless, and so do the lines.

/// What `roost find` prints, and `roost profile` of several people.
public enum PeopleText {
  private static let nameColumns = 24

  /// What is known of a claimed name (NIP-05): the end of a remark in brackets.
  static func claim(_ verdict: ClaimVerdict?) -> String {
    switch verdict {
    case .verified: "verified"
    case .another: "claimed; it is another's"
    case .unknown: "claimed; its server does not know it"
    case .unreachable: "claimed; its server was not reached"
    case nil: "claimed"
    }
  }

  /// A person on one line: the shown name, the key, the claimed name and what is known of it. Where a terminal has too
  /// little room, what follows the key goes below.
  ///
  /// - Parameters:
  ///   - profile: the profile.
  ///   - style: how it looks.
  public static func lines(_ profile: KnownProfile, _ style: Style) -> [String] {
    // The key is what is copied, so it is never cut.
    let key = PublicKey(profile.pubkey)?.npub ?? VisibleText.make(profile.pubkey)
    var remarks: [String] = []
    switch profile.state {
    case .known: break
    case .absent: remarks.append("no profile")
    case .unreadable: remarks.append("not a profile: \(VisibleText.make(profile.fault ?? ""))")
    }
    if let nip05 = profile.nip05 { remarks.append("\(VisibleText.make(nip05)) (\(claim(profile.claim)))") }
    if profile.bot == true { remarks.append("a program") }
    if let fault = profile.fault, profile.state == .known { remarks.append(VisibleText.make(fault)) }
    let columns = min(nameColumns, max(nameColumnsMinimum, style.columns - key.count - 2))
    let name = DisplayWidth.cut(VisibleText.make(profile.shownName), to: columns)
    let blanks = String(repeating: " ", count: max(0, columns - DisplayWidth.of(name)) + 2)
    let line = style.paint(name, profile.state == .known ? .strong : .dim) + blanks + key
    guard !remarks.isEmpty else { return [line] }
    let remark = DisplayWidth.cut(remarks.joined(separator: ", "), to: remarkColumns)
    guard columns + 2 + key.count + 2 + DisplayWidth.of(remark) <= style.columns else {
      return [line] + DisplayWidth.wrap(remark, to: style.columns - 4).map { "    " + style.paint($0, .dim) }
    }
    return [line + "  " + style.paint(remark, .dim)]
  }

  private static let nameColumnsMinimum = 12
  /// The most columns of what follows the key: an address has up to 4,096 bytes.
  private static let remarkColumns = 100

  /// A table of people who match, the most likely first.
  ///
  /// - Parameters:
  ///   - people: the people.
  ///   - text: the letters.
  ///   - style: how it looks.
  public static func table(_ people: [FoundPerson], of text: String, _ style: Style) -> [String] {
    guard !people.isEmpty else {
      return style.prose(
        "No person is known here whose name has '\(VisibleText.make(text))'. Of people whom you do not follow, and who "
          + "were not shown lately, a whole word of the name is needed.")
    }
    var table = TextTable([
      TextTable.Column(title: "NAME", columnsMaximum: nameColumns),
      TextTable.Column(title: "MATCH", columnsMaximum: 40),
      TextTable.Column(title: "NIP05 (CLAIMED)", columnsMaximum: 32, isSpareable: true),
      TextTable.Column(title: "NPUB"),
    ])
    for person in people {
      table.append([
        TextTable.Cell(person.petname ?? person.shownName, person.isFollowed ? .strong : .plain),
        TextTable.Cell(match(person)), TextTable.Cell(person.nip05 ?? "", .dim),
        TextTable.Cell(PublicKey(person.pubkey)?.npub ?? person.pubkey),
      ])
    }
    return table.lines(style)
  }

  /// `followed, name begins so`
  private static func match(_ person: FoundPerson) -> String {
    let field =
      switch person.field {
      case .petname: "petname"
      case .displayName: "display name"
      case .name: "name"
      case .nip05: "nip05"
      case .key: "key"
      case .profile: "elsewhere in the profile"
      }
    let way =
      switch person.way {
      case .exact: "the same"
      case .beginning: "its beginning"
      case .word: "a word of it"
      case .inside: "a part of it"
      }
    let text = person.field == .profile ? field : "\(field): \(way)"
    return person.isFollowed ? "followed, \(text)" : text
  }

  /// What is said when relays could not be asked for some people; nil: they were.
  public static func notAsked(_ asked: ProfilesAsked) -> String? {
    guard let failed = asked.failed, failed > 0 else { return nil }
    return "Relays were not asked for \(Amount.count(failed, "person", "people")): \(asked.reason ?? "")"
  }
}
