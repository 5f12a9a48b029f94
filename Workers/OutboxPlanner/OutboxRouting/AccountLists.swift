internal import Addresses
public import Cryptography
public import Nostr

/// Orders two versions of a replaceable event: the newer one counts; of two from the same second, the lower id
/// (NIP-01).
struct ListVersion: Hashable, Sendable {
  let createdAt: Int64
  let id: EventID

  init(_ event: Event) {
    createdAt = event.createdAt
    id = event.id
  }

  func isNewer(than other: ListVersion?) -> Bool {
    guard let other else { return true }
    return createdAt == other.createdAt ? id < other.id : createdAt > other.createdAt
  }
}

/// One of our own accounts, and what it has published about its relays.
public struct PlanAccount: Hashable, Sendable {
  /// Its name at the signer.
  public let name: String
  /// Its key.
  public let key: PublicKey
  /// Where it writes and reads (kind 10002); nil when no such list is known.
  public internal(set) var relayList: RelayList?
  /// Where it receives private messages (kind 10050); nil when no such list is known.
  public internal(set) var messageList: RelaySet?
  /// Relays it never wants to be connected to (kind 10006).
  public internal(set) var blockedList: RelaySet?

  /// Whom it follows (kind 3): names of others are not looked up.
  var follows: Set<PublicKey> = []
  var versions: [UInt16: ListVersion] = [:]
  /// All relays that it blocks: the public entries of its list, and the private ones.
  var blocked: Set<RelayURL> = []
  /// The private entries, which only the signer can open. Those of the old version count until the new ones are open.
  private var privatelyBlocked: Set<RelayURL> = []
  /// The relays of its own kind 10002. They are used even if its kind 10006 blocks them.
  var listed: Set<RelayURL> = []

  /// An account of which no list is known yet.
  public init(name: String, key: PublicKey) {
    self.name = name
    self.key = key
  }

  /// The kinds that `learn(_:)` takes.
  static let kinds: Set<UInt16> = [
    EventKind.relayList, EventKind.directMessageRelays, EventKind.blockedRelays, EventKind.follows,
  ]

  /// Takes over one of the account's lists if it is newer than the known one.
  ///
  /// - Returns: whether it was newer.
  mutating func learn(_ event: Event) -> Bool {
    let version = ListVersion(event)
    guard event.pubkey == key, version.isNewer(than: versions[event.kind]) else { return false }
    // `try?`: the switch matches the kind, and a wrong kind is the only error of these initialisers.
    switch event.kind {
    case EventKind.relayList:
      relayList = try? RelayList(event)
      listed = Set(relayList?.entries.map(\.relay) ?? [])
    case EventKind.follows: follows = Set((try? FollowList(event))?.follows.map(\.pubkey) ?? [])
    case EventKind.directMessageRelays: messageList = try? RelaySet(event)
    case EventKind.blockedRelays:
      blockedList = try? RelaySet(event)
      if event.content.isEmpty { privatelyBlocked = [] }
      blocked = privatelyBlocked.union(blockedList?.relays ?? [])
    default: return false
    }
    versions[event.kind] = version
    return true
  }

  /// The signer has opened the private entries of a version of its list of blocked relays.
  ///
  /// - Returns: whether other relays are blocked than before.
  mutating func learnBlocked(_ relays: [RelayURL], of list: EventID) -> Bool {
    guard versions[EventKind.blockedRelays]?.id == list, privatelyBlocked != Set(relays) else { return false }
    privatelyBlocked = Set(relays)
    blocked = privatelyBlocked.union(blockedList?.relays ?? [])
    return true
  }

  /// The same account and lists under another name.
  func renamed(_ name: String) -> PlanAccount {
    guard name != self.name else { return self }
    var account = PlanAccount(name: name, key: key)
    (account.relayList, account.messageList, account.blockedList) = (relayList, messageList, blockedList)
    (account.versions, account.blocked, account.listed) = (versions, blocked, listed)
    (account.privatelyBlocked, account.follows) = (privatelyBlocked, follows)
    return account
  }
}
