internal import Addresses
public import Contracts
internal import Cryptography
internal import Frames
public import Nostr
internal import Wording

// One person on one screen of 80 columns. What is claimed and not proven is shown as a claim; what is not known is left
// out.

/// What is stored of one person.
public struct PersonView: Sendable {
  /// What the person has published.
  public var person: Person
  /// How many authors of the stored follow lists follow the person.
  public var followerCount: Int
  /// The signer's account of this person, if there is one.
  public var account: String?
  /// What the server of the claimed name says; nil: it was not asked.
  public var claim: NameClaim?

  /// What is stored of one person.
  public init(_ person: Person, followerCount: Int, account: String? = nil, claim: NameClaim? = nil) {
    self.person = person
    self.followerCount = followerCount
    self.account = account
    self.claim = claim
  }
}

/// What `roost profile` prints.
public enum ProfileText {
  /// The width, in columns.
  static let columns = 80
  private static let labelColumns = 11
  private static let aboutLineMaximum = 16
  private static let noteLineMaximum = 4
  private static let relayMaximum = 12

  /// The lines.
  ///
  /// - Parameters:
  ///   - view: what is known.
  ///   - now: seconds since 1970.
  ///   - style: whether colours are used.
  public static func lines(_ view: PersonView, now: Int64, _ style: Style) -> [String] {
    let person = view.person
    var lines: [String] = []
    if let name = person.profile?.bestName {
      lines.append(style.paint(DisplayWidth.cut(VisibleText.make(name), to: columns), .strong))
    }
    lines += [person.pubkey.npub, style.paint("\(person.pubkey)", .dim)]
    var rows = Rows(style: style)
    if let account = view.account { rows.add("account", account) }
    if person.isUnknown {
      let text = view.followerCount > 0 ? "" : "It may be unknown to this store only. "
      rows.lines.append("Nothing of this person is stored. \(text)'roost import' brings events in.")
    }
    if let profile = person.profile { add(profile, view.claim, &rows) }
    if let fault = person.profileFault { rows.add("profile", "cannot be read: \(fault)") }
    if let relays = person.relays {
      rows.add("writes to", relays: relays.writeRelays)
      rows.add("reads at", relays: relays.readRelays)
    }
    if let relays = person.messageRelays { rows.add("messages", relays: relays.relays) }
    if let text = follows(view) { rows.add("follows", text) }
    if let note = person.lastNote {
      rows.add("last note", time(note.createdAt, now))
      rows.add("", note.content, lineMaximum: noteLineMaximum)
    }
    if let time = person.profileCreatedAt { rows.add("updated", Self.time(time, now)) }
    return lines + (rows.lines.isEmpty ? [] : [""]) + rows.lines
  }

  private static func add(_ profile: Profile, _ claim: NameClaim?, _ rows: inout Rows) {
    if let name = profile.name, name != profile.bestName { rows.add("name", name) }
    if let about = profile.about { rows.add("about", about, lineMaximum: aboutLineMaximum) }
    if let nip05 = profile.nip05 {
      rows.add("nip05", nip05, behind: " (\(PeopleText.claim(claim?.verdict)))")
      if let reason = claim?.reason { rows.add("", reason) }
      if let other = claim?.otherPubkey.flatMap({ PublicKey($0) }) { rows.add("", "it leads to \(other.npub)") }
    }
    if let address = profile.lightningAddress { rows.add("lightning", address) }
    if let page = profile.website { rows.add("website", page) }
    if let picture = profile.picture { rows.add("picture", picture) }
    if let banner = profile.banner { rows.add("banner", banner) }
    if profile.isBot { rows.add("bot", "yes: a program writes here") }
  }

  private static func follows(_ view: PersonView) -> String? {
    let followers = view.followerCount == 0 ? nil : "followed by \(view.followerCount) of those stored here"
    let follows = view.person.follows.map { Amount.count($0.follows.count, "person", "people") }
    let parts = [follows, followers].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// `2025-11-21 12:30:05, 3h 20m ago`
  private static func time(_ seconds: Int64, _ now: Int64) -> String {
    let text = CalendarTime.text(seconds)
    if seconds > now { return text + ", in the future" }
    if seconds == now { return text + ", just now" }
    guard now - seconds < 100 * 365 * 86_400 else { return text }
    return text + ", \(Amount.duration(milliseconds: UInt64(now - seconds) * 1_000)) ago"
  }

  /// Labels, and the text after them.
  private struct Rows {
    let style: Style
    var lines: [String] = []

    mutating func add(_ label: String, _ text: String, behind: String = "", lineMaximum: Int = 3) {
      let width = columns - labelColumns - DisplayWidth.of(behind)
      var texts = WrappedText.lines(text, columns: width, lineMaximum: lineMaximum)
      guard !texts.isEmpty else { return }
      texts[texts.count - 1] += behind
      for (index, text) in texts.enumerated() {
        let head = index == 0 ? label : ""
        let blanks = String(repeating: " ", count: labelColumns - head.count)
        lines.append(text.isEmpty ? "" : style.paint(head, .strong) + blanks + text)
      }
    }

    mutating func add(_ label: String, relays: [RelayURL]) {
      guard !relays.isEmpty else { return add(label, "no relay") }
      let shown = relays.count > relayMaximum ? relays.prefix(relayMaximum - 1) : relays[...]
      var label = label
      for relay in shown {
        add(label.isEmpty ? "" : label, relay.text)
        label = ""
      }
      if shown.count < relays.count { add("", "and \(relays.count - shown.count) more") }
    }
  }
}

/// The same, with `--json`.
public struct PersonJSON: Encodable {
  private let pubkey: String
  private let npub: String
  private let account: String?
  private let name: String?
  private let displayName: String?
  private let about: String?
  private let picture: String?
  private let banner: String?
  private let website: String?
  private let nip05: String?
  private let claim: ClaimVerdict?
  private let lud16: String?
  private let isBot: Bool?
  private let profileCreatedAt: Int64?
  private let profileFault: String?
  private let writeRelays: [RelayURL]?
  private let readRelays: [RelayURL]?
  private let messageRelays: [RelayURL]?
  private let followCount: Int?
  private let followerCount: Int
  private let lastNoteID: String?
  private let lastNoteAt: Int64?

  /// What is known of a person; unknown members are left out.
  public init(_ view: PersonView) {
    let (person, profile) = (view.person, view.person.profile)
    pubkey = "\(person.pubkey)"
    npub = person.pubkey.npub
    account = view.account
    name = profile?.name
    displayName = profile?.displayName
    about = profile?.about
    picture = profile?.picture
    banner = profile?.banner
    website = profile?.website
    nip05 = profile?.nip05
    claim = view.claim?.verdict
    lud16 = profile?.lightningAddress
    isBot = profile?.isBot
    profileCreatedAt = person.profileCreatedAt
    profileFault = person.profileFault.map { "\($0)" }
    writeRelays = person.relays?.writeRelays
    readRelays = person.relays?.readRelays
    messageRelays = person.messageRelays?.relays
    followCount = person.follows?.follows.count
    followerCount = view.followerCount
    lastNoteID = person.lastNote.map { "\($0.id)" }
    lastNoteAt = person.lastNote?.createdAt
  }
}
