public import Addresses
public import Contracts
public import Cryptography
public import Nostr

/// What the mirror knows of one of our accounts.
public struct MirrorAccount: Hashable, Sendable {
  /// Its name at the signer.
  public let name: String
  /// Its key.
  public let key: PublicKey
  /// Whom it follows (kind 3), in the order of the list.
  public var follows: [PublicKey] = []
  /// Whether its list of relays for direct messages (kind 10050) was looked for, and is known if there is one. Before
  /// that gift wraps are asked for nowhere: a relay that is not on the list would learn that one expects messages.
  public var isInboxKnown = false
  /// Where else its events may be.
  public var places = MirrorPlaces()
  /// Whether it is left: everything of it is kept, and nothing is fetched.
  public var isLeft = false
  /// Whether only its public key is here: it is fetched like any other, and nothing is sent for it. Anyone's may be, so
  /// the relays that its lists name are foreign.
  public var isReadOnly = false

  /// An account whose lists are not known.
  public init(name: String, key: PublicKey) { (self.name, self.key) = (name, key) }
}

/// What the mirror keeps.
public struct MirrorWishes: Hashable, Sendable {
  /// A filter of the configuration.
  public struct Keep: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// What it matches.
    public var filter: Filter
    /// The relays that are asked; empty: as the planner chooses.
    public var relays: [RelayURL]
    /// Bytes that it may have; 0: no bound.
    public var byteMaximum: Int64

    /// A filter.
    public init(name: String, filter: Filter, relays: [RelayURL] = [], byteMaximum: Int64 = 0) {
      (self.name, self.filter, self.relays, self.byteMaximum) = (name, filter, relays, byteMaximum)
    }
  }
  /// For how many seconds back what followed people write is kept; 0: not at all.
  public var followsSeconds: Int64
  /// Relays that are asked for what is public, beside those of the accounts' lists.
  public var archives: [RelayURL]
  /// Bytes that classes may have, over all accounts; absent or 0: no bound.
  public var byteMaximums: [MirrorClass: Int64] = [:]
  /// What else is kept.
  public var keeps: [Keep] = []

  /// What is kept.
  public init(followsSeconds: Int64, archives: [RelayURL]) {
    (self.followsSeconds, self.archives) = (followsSeconds, archives)
  }
}

/// Something that is fetched whole, and compared again later.
public struct MirrorInterest: Hashable, Sendable {
  /// The account; nil for the class `keep`.
  public let account: PublicKey?
  /// The account's name, or the name in the configuration.
  public let name: String
  /// What it is.
  public let kind: MirrorClass
  /// The number of the part, for what does not fit one request.
  public let part: Int
  /// The filters, without times.
  public let filters: [Filter]
  /// For how many seconds back it is wanted; nil: from the beginning.
  public let seconds: Int64?
  /// Relays to ask beside those that the planner chooses. For gift wraps only where the account has ever received them.
  public let relays: [RelayURL]
  /// Whether no other relays are asked.
  public var isExclusive = false
  /// If no other relays are asked: those that are asked for what is new.
  public var liveRelays: [RelayURL] = []
  /// Relays to ask that only strangers name.
  public var foreign: [ForeignRelayURL] = []

  /// People in one part of what followed people write.
  static let partCount = 500

  /// What others write that names a person. Gift wraps are not among it: they are asked for at inboxes only.
  static let namingKinds: [UInt16] = [
    1, 4, 6, 7, 8, 16, 20, 21, 22, 42, 1_111, 1_311, 1_984, 9_735, 9_802, 30_023,
  ]
  /// What a feed shows, and what it is shown with.
  static let followedKinds: [UInt16] = [
    0, 1, 3, 6, 16, 20, 21, 22, 1_111, 9_802, 10_002, 10_050, 30_023,
  ]

  /// Everything that is kept of some accounts: one's own first, strangers' last.
  public static func all(of accounts: [MirrorAccount], _ wishes: MirrorWishes) -> [MirrorInterest] {
    let tag = person
    var interests: [MirrorInterest] = []
    for kind in MirrorClass.allCases {
      for account in accounts {
        func add(
          _ filter: Filter, part: Int = 0, seconds: Int64? = nil, _ relays: [RelayURL], isExclusive: Bool = false,
          live: [RelayURL] = [], foreign: [ForeignRelayURL] = []
        ) {
          interests.append(
            MirrorInterest(
              account: account.key, name: account.name, kind: kind, part: part, filters: [filter.canonical],
              seconds: seconds, relays: relays, isExclusive: isExclusive, liveRelays: live,
              foreign: foreign))
        }
        let places = account.places
        let listed = account.isReadOnly ? [] : places.forPublic.filter { !wishes.archives.contains($0) }
        let relays = wishes.archives + listed
        let foreign = account.isReadOnly ? places.allForeign : places.foreign
        let me = [tag: [TagValue(account.key.description)]]
        switch kind {
        case .own: add(Filter(authors: [account.key]), relays, foreign: foreign)
        case .named: add(Filter(kinds: namingKinds, tags: me), relays, foreign: foreign)
        // Without its key they cannot be opened, and asking for them tells a relay that they are expected.
        case .wraps where account.isInboxKnown && !account.isReadOnly:
          // Never anywhere else: asking tells where one's inbox is.
          let inboxes = places.forWraps
          add(
            Filter(kinds: [EventKind.giftWrap], tags: me), inboxes, isExclusive: !inboxes.isEmpty,
            live: places.forNewWraps)
        case .follows where wishes.followsSeconds > 0:
          let people = account.follows.sorted()
          for (part, start) in stride(from: 0, to: people.count, by: partCount).enumerated() {
            let some = Array(people[start..<min(start + partCount, people.count)])
            add(Filter(authors: some, kinds: followedKinds), part: part, seconds: wishes.followsSeconds, [])
          }
        case .wraps, .follows, .keep: break
        }
      }
    }
    for keep in wishes.keeps {
      interests.append(
        MirrorInterest(
          account: nil, name: keep.name, kind: .keep, part: 0, filters: [keep.filter.canonical], seconds: nil,
          relays: keep.relays, isExclusive: !keep.relays.isEmpty, liveRelays: keep.relays))
    }
    return interests
  }

  /// The tag that names people.
  static let person: TagLetter = {
    guard let letter = TagLetter(UInt8(ascii: "p")) else { preconditionFailure("p is a letter") }
    return letter
  }()

  /// Its name, which stays the same when its filters change.
  public var key: String { "\(account?.description ?? name) \(kind.rawValue) \(part)" }

  /// What its bound is of.
  public var kept: KeptClass { kind == .keep ? KeptClass(keep: name, filters[0]) : KeptClass(kind) }

  /// From which second on it is fetched; nil: from the beginning.
  ///
  /// - Parameters:
  ///   - floor: from when on the events of its class fit their bound; nil: all do.
  ///   - wall: seconds since 1970.
  public func fetchedSince(_ floor: Int64?, at wall: Int64) -> Int64? {
    // On the hour, so that the same is asked by the same filter for a while.
    let since = seconds.map { max(0, (wall - $0) / 3_600 * 3_600) }
    guard let floor, floor > since ?? 0 else { return since }
    return floor
  }

  /// The filters of one fetch; as ``fetchedSince(_:at:)``.
  public func fetched(since floor: Int64? = nil, at wall: Int64) -> [Filter] {
    let since = fetchedSince(floor, at: wall)
    return filters.map { $0.since(since) }
  }
}
