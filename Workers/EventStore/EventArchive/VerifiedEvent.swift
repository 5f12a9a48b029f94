public import Cryptography
internal import JSON
public import Nostr

/// A verified event, with everything that storing it needs: this work is done once, on any thread, before the one
/// writer gets the event.
public struct VerifiedEvent: Sendable {
  /// The event as it is stored and passed on: compact JSON.
  public let json: [UInt8]
  /// What filters look at.
  public let indexed: IndexedEvent
  /// When it expires (NIP-40), seconds since 1970.
  public let expiration: Int64?
  /// The number of the relay it came from; nil for an event that no relay sent.
  public var relay: Int64?
  /// When it came, seconds since 1970.
  public var receivedAt: Int64
  /// Whether it asks all relays to forget its author (NIP-62).
  public let isVanishRequest: Bool
  /// When it is removed, if room is needed.
  public var rank: RetentionRank
  /// The relay that sent it, if its signature was not checked because that relay is only sampled; else nil.
  public private(set) var uncheckedRelay: Int64?
  /// Whether its signature was checked. Its id was checked in any case.
  public var isSignatureChecked: Bool { uncheckedRelay == nil }

  /// Verifies an event.
  ///
  /// - Parameters:
  ///   - bytes: the text the event was read from.
  ///   - scanned: the event.
  ///   - verifier: the verifier of this thread.
  ///   - key: the author's key, if it was computed before.
  ///   - relay: the number of the relay it came from.
  ///   - receivedAt: when it came, seconds since 1970.
  ///   - rank: when it is removed, if room is needed.
  /// - Throws: why it is not valid.
  public init(
    _ bytes: UnsafeRawBufferPointer, _ scanned: ScannedEvent, verifier: EventVerifier, key: ParsedPublicKey? = nil,
    relay: Int64? = nil, receivedAt: Int64, rank: RetentionRank = .ordinary
  ) throws(EventFault) {
    if let fault = verifier.fault(of: scanned, in: bytes, key: key) { throw fault }
    self.init(trusted: bytes, scanned, relay: relay, receivedAt: receivedAt, rank: rank)
  }

  /// Takes an event whose id is right, without a check of its signature, because the relay is only sampled.
  ///
  /// - Throws: why it is not valid, apart from its signature.
  public init(
    unchecked bytes: UnsafeRawBufferPointer, _ scanned: ScannedEvent, verifier: EventVerifier, relay: Int64,
    receivedAt: Int64
  ) throws(EventFault) {
    guard scanned.signature(in: bytes) != nil else {
      throw .badField("sig", "128 lower-case hexadecimal digits")
    }
    let id = verifier.identify(scanned, in: bytes)
    guard id == scanned.id else { throw .wrongID(id) }
    self.init(trusted: bytes, scanned, relay: relay, receivedAt: receivedAt)
    uncheckedRelay = relay
  }

  /// Takes an event that was verified before, such as one from an archive of this Roost.
  public init(
    trusted bytes: UnsafeRawBufferPointer, _ scanned: ScannedEvent, relay: Int64? = nil, receivedAt: Int64,
    rank: RetentionRank = .ordinary
  ) {
    if scanned.isCompact {
      json = Array(bytes[scanned.range])
    } else {
      var compact: [UInt8] = []
      scanned.appendCompactForm(of: bytes, to: &compact)
      json = compact
    }
    indexed = IndexedEvent(scanned, in: bytes)
    expiration = scanned.expiration(in: bytes)
    isVanishRequest = scanned.kind == EventKind.vanish && scanned.asksEveryRelay(in: bytes)
    self.relay = relay
    self.receivedAt = receivedAt
    self.rank = rank
  }
}

extension ScannedEvent {
  /// Whether the event has a tag `["relay","ALL_RELAYS"]`. The store is not a relay with a URL, so no other value names
  /// it.
  func asksEveryRelay(in bytes: UnsafeRawBufferPointer) -> Bool {
    var reader = TagReader(self, in: bytes)
    while reader.nextTag() {
      guard let name = reader.nextString(), name.equals("relay", in: bytes), let value = reader.nextString() else {
        continue
      }
      if value.equals("ALL_RELAYS", in: bytes) { return true }
    }
    return false
  }
}

/// What is written: events, and news about stored events.
public enum ArchiveEntry: Sendable {
  /// An event to be stored.
  case event(VerifiedEvent)
  /// A stored event came again.
  case seen(seq: Int64, relay: Int64?, receivedAt: Int64, rank: RetentionRank)
  /// Something that is not an event.
  case note(ArchiveNote)

  /// The relay it came from, if any.
  public var relay: Int64? {
    switch self {
    case .event(let event): event.relay
    case .seen(_, let relay, _, _): relay
    case .note: nil
    }
  }
}

/// The result of a transaction.
public struct ArchiveCommit: Sendable {
  /// The outcome of each entry.
  public let outcomes: [StoreOutcome]
  /// Ids of events that were stored and no longer are.
  public let gone: [EventID]
  /// Whether an author has vanished: then it is not known of any earlier id whether its event is still stored.
  public let hasVanishing: Bool
  /// New sightings of events that were stored before.
  public let newSightings: Set<SeenPlace>
  /// The last seq.
  public let lastSeq: Int64

  /// The result of a transaction.
  public init(
    outcomes: [StoreOutcome], gone: [EventID] = [], hasVanishing: Bool = false, newSightings: Set<SeenPlace> = [],
    lastSeq: Int64
  ) {
    self.outcomes = outcomes
    self.gone = gone
    self.hasVanishing = hasVanishing
    self.newSightings = newSightings
    self.lastSeq = lastSeq
  }
}

/// What happened to an event that was to be stored.
public enum StoreOutcome: Hashable, Sendable {
  /// It is stored, with this seq.
  case stored(seq: Int64)
  /// It was already stored.
  case duplicate(seq: Int64)
  /// It was stored, but damaged: this copy has replaced it.
  case mended(seq: Int64)
  /// A newer event is at its address (NIP-01: of one second, the lower id stays).
  case superseded
  /// Its author deleted it (NIP-09).
  case deleted
  /// Its author asked that everything up to then be forgotten (NIP-62).
  case vanished
  /// It had expired (NIP-40).
  case expired
  /// It was a note, and was written.
  case noted
}
