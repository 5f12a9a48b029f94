public import Addresses
public import Cryptography

/// A relay list: where an author writes, and where the author reads events meant for them (kind 10002, NIP-65).
///
/// A stranger's list is hostile input: tags without a valid relay are left out and counted, and the number of relays is
/// limited. The planner decides how many of an author's relays are used, and which may be dialled at all.
public struct RelayList: Hashable, Sendable {
  /// One relay of the list.
  public struct Entry: Hashable, Sendable {
    /// The relay.
    public let relay: RelayURL
    /// Whether the author reads mentions there.
    public var reads: Bool
    /// Whether the author writes there.
    public var writes: Bool

    /// An entry; without a marker it is both.
    public init(_ relay: RelayURL, reads: Bool = true, writes: Bool = true) {
      precondition(reads || writes, "a relay that is neither read nor written has no place in the list")
      self.relay = relay
      self.reads = reads
      self.writes = writes
    }
  }

  /// The owner of the list.
  public let author: PublicKey
  /// When it was published: of two lists only the newer one counts.
  public let createdAt: Int64
  /// The relays, each once, in the order of the list, up to ``countMaximum``. A relay that occurs twice, once for
  /// reading and once for writing, is both.
  public let entries: [Entry]
  /// Tags `r` that were left out: not a relay's address, an unknown marker, or too many.
  public let droppedCount: Int

  /// The most relays read from one list. NIP-65 recommends two to four of each sort; lists of a hundred exist.
  public static let countMaximum = 50

  /// The relays that have the author's events, in the order of the list.
  public var writeRelays: [RelayURL] { entries.filter(\.writes).map(\.relay) }
  /// The relays that should receive events that mention the author, in the order of the list.
  public var readRelays: [RelayURL] { entries.filter(\.reads).map(\.relay) }

  /// Reads a list. A list without relays is valid. The caller verifies the signature.
  public init(_ event: Event) throws(KindFault) { try self.init(event.unsigned) }

  /// Reads a list that may be unsigned.
  public init(_ event: UnsignedEvent) throws(KindFault) {
    try KindFault.expect(EventKind.relayList, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    var entries: [Entry] = []
    var places: [RelayURL: Int] = [:]
    var droppedCount = 0
    for tag in event.tags.named("r") {
      guard let entry = Self.entry(tag) else {
        droppedCount += 1
        continue
      }
      if let place = places[entry.relay] {
        entries[place].reads = entries[place].reads || entry.reads
        entries[place].writes = entries[place].writes || entry.writes
      } else if entries.count < Self.countMaximum {
        places[entry.relay] = entries.count
        entries.append(entry)
      } else {
        droppedCount += 1
      }
    }
    self.entries = entries
    self.droppedCount = droppedCount
  }

  /// The entry of a tag `r`; nil for an invalid relay address, and for an unknown marker.
  private static func entry(_ tag: [String]) -> Entry? {
    guard tag.count > 1, let relay = RelayURL(reading: tag[1]) else { return nil }
    switch tag.count > 2 ? tag[2] : "" {
    case "": return Entry(relay)
    case "read": return Entry(relay, writes: false)
    case "write": return Entry(relay, reads: false)
    default: return nil
    }
  }

  /// The unsigned event that publishes `entries`.
  public static func template(_ entries: [Entry], by author: PublicKey, createdAt: Int64) -> UnsignedEvent {
    let tags = entries.map { entry -> [String] in
      let marker = entry.reads && entry.writes ? [] : [entry.reads ? "read" : "write"]
      return ["r", entry.relay.text] + marker
    }
    return UnsignedEvent(pubkey: author, createdAt: createdAt, kind: EventKind.relayList, tags: tags)
  }
}
