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

  /// An account whose lists are not known.
  public init(name: String, key: PublicKey) { (self.name, self.key) = (name, key) }
}

/// What the mirror keeps.
public struct MirrorWishes: Hashable, Sendable {
  /// For how many seconds back what followed people write is kept; 0: not at all.
  public var followsSeconds: Int64
  /// Relays that are asked for what is public, beside those of the accounts' lists.
  public var archives: [RelayURL]

  /// What is kept.
  public init(followsSeconds: Int64, archives: [RelayURL]) {
    (self.followsSeconds, self.archives) = (followsSeconds, archives)
  }
}

/// Something that is fetched whole, and compared again later.
public struct MirrorInterest: Hashable, Sendable {
  /// The account.
  public let account: PublicKey
  /// The account's name.
  public let name: String
  /// What it is.
  public let kind: MirrorClass
  /// The number of the part, for what does not fit one request.
  public let part: Int
  /// The filters, without times.
  public let filters: [Filter]
  /// For how many seconds back it is wanted; nil: from the beginning.
  public let seconds: Int64?
  /// Relays to ask beside those that the planner chooses. Never any for gift wraps: asking tells where one's inbox is.
  public let relays: [RelayURL]

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
    guard let tag = TagLetter(UInt8(ascii: "p")) else { preconditionFailure("p is a letter") }
    var interests: [MirrorInterest] = []
    for kind in MirrorClass.allCases {
      for account in accounts {
        func add(_ filter: Filter, part: Int = 0, seconds: Int64? = nil, _ relays: [RelayURL]) {
          interests.append(
            MirrorInterest(
              account: account.key, name: account.name, kind: kind, part: part, filters: [filter.canonical],
              seconds: seconds, relays: relays))
        }
        let me = [tag: [TagValue(account.key.description)]]
        switch kind {
        case .own: add(Filter(authors: [account.key]), wishes.archives)
        case .named: add(Filter(kinds: namingKinds, tags: me), wishes.archives)
        case .wraps where account.isInboxKnown: add(Filter(kinds: [EventKind.giftWrap], tags: me), [])
        case .follows where wishes.followsSeconds > 0:
          let people = account.follows.sorted()
          for (part, start) in stride(from: 0, to: people.count, by: partCount).enumerated() {
            let some = Array(people[start..<min(start + partCount, people.count)])
            add(Filter(authors: some, kinds: followedKinds), part: part, seconds: wishes.followsSeconds, [])
          }
        case .wraps, .follows: break
        }
      }
    }
    return interests
  }

  /// Its name, which stays the same when its filters change.
  public var key: String { "\(account) \(kind.rawValue) \(part)" }

  /// The filters of one fetch. `wall` is in seconds since 1970.
  public func fetched(at wall: Int64) -> [Filter] {
    guard let seconds else { return filters }
    return filters.map { filter in
      var filter = filter
      // On the hour, so that the same is asked by the same filter for a while.
      filter.since = max(0, (wall - seconds) / 3_600 * 3_600)
      return filter
    }
  }
}
