public import Cryptography
internal import JSON
public import Nostr

/// An event that was verified, and all that storing it needs: what is done once, on any thread, before the one writer
/// sees it.
public struct VerifiedEvent: Sendable {
  /// The event as it is kept and passed on: compact JSON.
  public let json: [UInt8]
  /// What filters look at.
  public let indexed: IndexedEvent
  /// When it ends (NIP-40), seconds since 1970.
  public let expiration: Int64?
  /// The relay it came from, as numbered by the archive; nil for one of our own making.
  public var relay: Int64?
  /// When it came, seconds since 1970.
  public var receivedAt: Int64
  /// Whether it asks every relay to forget its author (NIP-62).
  public let isVanishRequest: Bool
  /// When it goes, if room is needed.
  public var rank: RetentionRank
  /// The relay whose copy was taken without a look at its signature, being one of a sample; nil when it was looked at.
  public private(set) var uncheckedRelay: Int64?
  /// Whether its signature was looked at. Its id is right in any case.
  public var isSignatureChecked: Bool { uncheckedRelay == nil }

  /// Verifies an event.
  ///
  /// - Parameters:
  ///   - bytes: the text the event was read from.
  ///   - scanned: the event.
  ///   - verifier: this thread's.
  ///   - key: the author's key, where it was computed before.
  ///   - relay: the relay it came from, as numbered by the archive.
  ///   - receivedAt: when it came, seconds since 1970.
  ///   - rank: when it goes, if room is needed.
  /// - Throws: why it is not valid.
  public init(
    _ bytes: UnsafeRawBufferPointer, _ scanned: ScannedEvent, verifier: EventVerifier, key: ParsedPublicKey? = nil,
    relay: Int64? = nil, receivedAt: Int64, rank: RetentionRank = .ordinary
  ) throws(EventFault) {
    if let fault = verifier.fault(of: scanned, in: bytes, key: key) { throw fault }
    self.init(trusted: bytes, scanned, relay: relay, receivedAt: receivedAt, rank: rank)
  }

  /// Takes an event whose id is right, and leaves its signature to whoever checks samples.
  ///
  /// - Throws: why it is not valid, as far as was looked.
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

  /// Takes an event that was verified before: one that comes out of an archive of ours.
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
  /// Whether a tag `["relay","ALL_RELAYS"]` is there. The store is nobody's relay, so no other value means it.
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

/// What is written: events, and what is learnt about events that are there.
public enum ArchiveEntry: Sendable {
  /// An event to be stored.
  case event(VerifiedEvent)
  /// An event that is stored came again.
  case seen(seq: Int64, relay: Int64?, receivedAt: Int64, rank: RetentionRank)
  /// Something that is no event.
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

/// What a transaction has come to.
public struct ArchiveCommit: Sendable {
  /// What became of each entry.
  public let outcomes: [StoreOutcome]
  /// Ids that were stored and are not any more.
  public let gone: [EventID]
  /// Whether an author has vanished: of any id that was met before it is not known whether it is still there.
  public let hasVanishing: Bool
  /// Where events that were stored before were seen for the first time.
  public let newSightings: Set<SeenPlace>
  /// The last seq.
  public let lastSeq: Int64

  /// What a transaction has come to.
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

/// What became of an event that was to be stored.
public enum StoreOutcome: Hashable, Sendable {
  /// It is stored; its place in the order of commits.
  case stored(seq: Int64)
  /// It was there already.
  case duplicate(seq: Int64)
  /// It was there, and damaged: this copy is in its place now.
  case mended(seq: Int64)
  /// A newer one is in its place (NIP-01: of one second, the lower id stays).
  case superseded
  /// Its author has deleted it (NIP-09).
  case deleted
  /// Its author has asked for everything of then to be forgotten (NIP-62).
  case vanished
  /// Its time was over (NIP-40).
  case expired
  /// It was a note, and is written down.
  case noted
}
