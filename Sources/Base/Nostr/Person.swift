public import Cryptography

/// What somebody has published of themselves, put together from the events one has: of each kind the newest.
public struct Person: Sendable, Hashable {
  /// Who.
  public let pubkey: PublicKey
  /// The profile (kind 0); nil when there is none, or none that can be read.
  public private(set) var profile: Profile?
  /// When the newest event of kind 0 was made.
  public private(set) var profileCreatedAt: Int64?
  /// Why the newest event of kind 0 is no profile.
  public private(set) var profileFault: KindFault?
  /// Where they write and read (kind 10002, NIP-65).
  public private(set) var relays: RelayList?
  /// Where they receive private messages (kind 10050, NIP-17).
  public private(set) var messageRelays: RelaySet?
  /// Whom they follow (kind 3, NIP-02).
  public private(set) var follows: FollowList?
  /// The newest short text.
  public private(set) var lastNote: Event?

  /// The filters that find what ``init(_:_:)`` looks at.
  public static func filters(of pubkey: PublicKey) -> [Filter] {
    [EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.directMessageRelays, EventKind.textNote]
      .map { Filter(authors: [pubkey], kinds: [$0], limit: 1) }
  }

  /// Puts together what `events` say of `pubkey`. Events of others and of other kinds are passed over; signatures are
  /// for the caller.
  public init(_ pubkey: PublicKey, _ events: [Event]) {
    self.pubkey = pubkey
    var newest: [UInt16: Event] = [:]
    for event in events where event.pubkey == pubkey {
      // Of one second the lowest id stays (NIP-01).
      if let other = newest[event.kind] {
        if other.createdAt > event.createdAt { continue }
        if other.createdAt == event.createdAt, other.id < event.id { continue }
      }
      newest[event.kind] = event
    }
    if let event = newest[EventKind.metadata] {
      profileCreatedAt = event.createdAt
      do throws(KindFault) { profile = try Profile(event) } catch { profileFault = error }
    }
    // Each is of its kind, which is all that these ask for.
    relays = newest[EventKind.relayList].flatMap { try? RelayList($0) }
    messageRelays = newest[EventKind.directMessageRelays].flatMap { try? RelaySet($0) }
    follows = newest[EventKind.follows].flatMap { try? FollowList($0) }
    lastNote = newest[EventKind.textNote]
  }

  /// Whether nothing is known.
  public var isUnknown: Bool {
    profileCreatedAt == nil && relays == nil && messageRelays == nil && follows == nil && lastNote == nil
  }
}
