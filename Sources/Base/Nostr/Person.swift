public import Cryptography

/// What an author has published about themselves, assembled from the events at hand: the newest of each kind.
public struct Person: Sendable, Hashable {
  /// The author.
  public let pubkey: PublicKey
  /// The profile (kind 0); nil if there is no readable one.
  public private(set) var profile: Profile?
  /// The time of the newest event of kind 0.
  public private(set) var profileCreatedAt: Int64?
  /// Why the newest event of kind 0 is not a profile.
  public private(set) var profileFault: KindFault?
  /// The author's relay list (kind 10002, NIP-65).
  public private(set) var relays: RelayList?
  /// The relays that receive the author's private messages (kind 10050, NIP-17).
  public private(set) var messageRelays: RelaySet?
  /// The author's follow list (kind 3, NIP-02).
  public private(set) var follows: FollowList?
  /// The newest short text.
  public private(set) var lastNote: Event?

  /// The filters that find the events for ``init(_:_:)``.
  public static func filters(of pubkey: PublicKey) -> [Filter] {
    [EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.directMessageRelays, EventKind.textNote]
      .map { Filter(authors: [pubkey], kinds: [$0], limit: 1) }
  }

  /// Assembles what `events` say about `pubkey`. Events of other authors or kinds are skipped; the caller verifies
  /// signatures.
  public init(_ pubkey: PublicKey, _ events: [Event]) {
    self.pubkey = pubkey
    var newest: [UInt16: Event] = [:]
    for event in events where event.pubkey == pubkey {
      // Of events in the same second, the one with the lowest id counts (NIP-01).
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
    // `try?`: these throw only for another kind, and each event has the right one.
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
