public import Contracts
public import Cryptography
internal import Frames
internal import JSON
public import Nostr
internal import Wording

// A profile is kept as the bytes in which it is sent, so that a look-up of a known person copies bytes and encodes
// nothing. What changes without a newer event (when relays were asked, what a name's server said) is put in front.

/// What is known of one person's profile.
public struct StoredProfile: Sendable, Hashable {
  /// When its event was made, seconds since 1970; nil: there is no profile.
  public let createdAt: Int64?
  /// The event's id: of two in one second the lower one counts.
  public let id: EventID?
  /// The names, for `people.find`.
  public let names: FoldedNames
  /// The claimed internet identifier, as a name of NIP-05 is written.
  public let claimedName: String?
  /// The other members of ``KnownProfile``, without the opening brace.
  private let members: [UInt8]

  /// The profile of an event of kind 0, which the store has verified.
  public init(_ event: Event) {
    createdAt = event.createdAt
    id = event.id
    let shown: KnownProfile
    do throws(KindFault) {
      let profile = try Profile(event)
      shown = Self.known(event, profile)
      names = FoldedNames(profile)
      claimedName = profile.nip05.flatMap { InternetIdentifier($0) }?.description
    } catch {
      var profile = KnownProfile(
        pubkey: event.pubkey.description, state: .unreadable, shownName: ShownName.make(nil, event.pubkey))
      (profile.createdAt, profile.fault) = (event.createdAt, "\(error)")
      shown = profile
      (names, claimedName) = (FoldedNames(), nil)
    }
    members = Self.members(shown)
  }

  /// A person without a profile.
  public init(absent key: PublicKey) {
    (createdAt, id, names, claimedName) = (nil, nil, FoldedNames(), nil)
    // As an encoder writes it. Of ten thousand people asked for at a new Roost all are absent at first.
    members = Array("\"shownName\":\"\(ShownName.make(nil, key))\",\"state\":\"absent\"}".utf8)
  }

  private init(_ other: StoredProfile, _ members: [UInt8]) {
    (createdAt, id, names, claimedName) = (other.createdAt, other.id, other.names, other.claimedName)
    self.members = members
  }

  /// The same without long texts, for a frame that has no room for them; `fault` says so.
  public func withoutTexts(of key: PublicKey) -> StoredProfile {
    var profile = value(of: key)
    (profile.about, profile.picture, profile.banner, profile.website) = (nil, nil, nil, nil)
    (profile.nip05, profile.lud16) = (nil, nil)
    profile.fault = "its texts are longer than a frame of the bus carries; they are left out"
    return StoredProfile(self, Self.members(profile))
  }

  private static func known(_ event: Event, _ profile: Profile) -> KnownProfile {
    var known = KnownProfile(
      pubkey: event.pubkey.description, state: .known, shownName: ShownName.make(profile.bestName, event.pubkey))
    known.createdAt = event.createdAt
    (known.name, known.displayName, known.about) = (profile.name, profile.displayName, profile.about)
    (known.picture, known.banner, known.website) = (profile.picture, profile.banner, profile.website)
    (known.nip05, known.lud16) = (profile.nip05, profile.lightningAddress)
    known.bot = profile.isBot ? true : nil
    return known
  }

  /// Written field by field: to encode any type and to find the key in the result took two thirds of the time of all
  /// that is done with a new profile, and a new Roost gets thousands of them at once.
  private static func members(_ profile: KnownProfile) -> [UInt8] {
    var json = Array("\"shownName\":".utf8)
    JSONString.append(profile.shownName, to: &json)
    func add(_ name: String, _ text: String?) {
      guard let text else { return }
      json.append(contentsOf: ",\"\(name)\":".utf8)
      JSONString.append(text, to: &json)
    }
    add("state", profile.state.rawValue)
    add("name", profile.name)
    add("displayName", profile.displayName)
    add("about", profile.about)
    add("picture", profile.picture)
    add("banner", profile.banner)
    add("website", profile.website)
    add("nip05", profile.nip05)
    add("lud16", profile.lud16)
    add("fault", profile.fault)
    if let createdAt = profile.createdAt { json.append(contentsOf: ",\"createdAt\":\(createdAt)".utf8) }
    if let bot = profile.bot { json.append(contentsOf: ",\"bot\":\(bot)".utf8) }
    json.append(UInt8(ascii: "}"))
    // A copy of exactly this length: what has grown has room for twice as much.
    return json.withUnsafeBytes { Array($0) }
  }

  private static func head(_ key: String) -> [UInt8] { Array("{\"pubkey\":\"\(key)\"".utf8) }

  /// Whether there is an event.
  public var isPresent: Bool { createdAt != nil }

  /// Whether this one counts, and not the other (NIP-01).
  public func isNewer(than other: StoredProfile) -> Bool {
    guard let createdAt, let id else { return false }
    guard let before = other.createdAt, let otherID = other.id else { return true }
    return createdAt > before || createdAt == before && id < otherID
  }

  /// A number of what a caller would be sent: another one after each change of it, as good as always.
  ///
  /// - Parameter claim: what the name's server said.
  public func version(claim: ClaimVerdict?) -> Int {
    var hasher = Hasher()
    hasher.combine(id)
    hasher.combine(claim)
    return hasher.finalize()
  }

  /// Bytes of memory that it takes, and those of its entry.
  public var cost: Int { members.count + names.utf8.count + (claimedName?.utf8.count ?? 0) + Self.entryCost }

  /// The places in tables, the heads of the arrays, and what the allocator rounds up: as measured.
  private static let entryCost = 320

  /// Appends it as a `KnownProfile` in JSON.
  ///
  /// - Parameters:
  ///   - key: the person's key.
  ///   - askedAt: when relays were asked, seconds since 1970.
  ///   - claim: what the name's server said.
  ///   - page: where it is appended.
  public func append(_ key: PublicKey, askedAt: Int64?, claim: ClaimVerdict?, to page: inout [UInt8]) {
    page.append(contentsOf: Self.head(key.description))
    if let askedAt { page.append(contentsOf: ",\"askedAt\":\(askedAt)".utf8) }
    if let claim { page.append(contentsOf: ",\"claim\":\"\(claim.rawValue)\"".utf8) }
    page.append(UInt8(ascii: ","))
    page.append(contentsOf: members)
  }

  /// The profile as a value.
  public func value(of key: PublicKey) -> KnownProfile {
    do throws(Refusal) {
      return try JSONPayload.decode(KnownProfile.self, from: Self.head(key.description) + [UInt8(ascii: ",")] + members)
    } catch {
      preconditionFailure("a profile's own JSON can be read: \(error.message)")
    }
  }
}

/// The name that is shown for a person, ready for one line of a terminal.
public enum ShownName {
  /// A name, or the shortened key without one.
  ///
  /// - Parameters:
  ///   - name: a stranger's text.
  ///   - key: the person's key.
  public static func make(_ name: String?, _ key: PublicKey) -> String {
    guard let name, !name.isEmpty else {
      let npub = key.npub
      return "\(npub.prefix(10))…\(npub.suffix(6))"
    }
    let visible = VisibleText.make(name)
    guard visible.count > KnownProfile.shownNameMaximum else { return visible }
    return String(visible.prefix(KnownProfile.shownNameMaximum - 1)) + "…"
  }
}
