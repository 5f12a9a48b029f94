public import Addresses
public import Cryptography

/// Where somebody writes, and where they read what is meant for them (kind 10002, NIP-65).
///
/// A stranger's list is hostile input: tags that are no relay's are left out and counted, and the rest is bounded. How
/// many relays of an author are used, and which may be dialled at all, is the planner's to say.
public struct RelayList: Hashable, Sendable {
  /// One relay of the list.
  public struct Entry: Hashable, Sendable {
    /// The relay.
    public let relay: RelayURL
    /// Whether the author reads mentions there.
    public var reads: Bool
    /// Whether the author writes there.
    public var writes: Bool

    /// An entry; without a word about either it is both.
    public init(_ relay: RelayURL, reads: Bool = true, writes: Bool = true) {
      precondition(reads || writes, "a relay that is neither read nor written has no place in the list")
      self.relay = relay
      self.reads = reads
      self.writes = writes
    }
  }

  /// Whose list it is.
  public let author: PublicKey
  /// When it was published: of two lists the newer one counts, whole.
  public let createdAt: Int64
  /// The relays, each once, in the order of the list, up to ``countMaximum``. A relay that stands twice, once to read
  /// and once to write, is both.
  public let entries: [Entry]
  /// Tags `r` that were left out: no relay's address, an unknown marker, or too many.
  public let droppedCount: Int

  /// Most relays taken of one list. NIP-65 asks for two to four of each sort; lists of a hundred exist.
  public static let countMaximum = 50

  /// The relays to fetch the author's events from, in the order of the list.
  public var writeRelays: [RelayURL] { entries.filter(\.writes).map(\.relay) }
  /// The relays to send to what mentions the author, in the order of the list.
  public var readRelays: [RelayURL] { entries.filter(\.reads).map(\.relay) }

  /// Reads a list. A list without a relay is a list. Signatures are for the caller.
  public init(_ event: Event) throws(KindFault) { try self.init(event.unsigned) }

  /// Reads a list that may not be signed yet.
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

  /// The entry of a tag `r`; nil for a page's address, and for a marker that says neither.
  private static func entry(_ tag: [String]) -> Entry? {
    guard tag.count > 1, let relay = RelayURL(reading: tag[1]) else { return nil }
    switch tag.count > 2 ? tag[2] : "" {
    case "": return Entry(relay)
    case "read": return Entry(relay, writes: false)
    case "write": return Entry(relay, reads: false)
    default: return nil
    }
  }

  /// The event that publishes `entries`, to be signed.
  public static func template(_ entries: [Entry], by author: PublicKey, createdAt: Int64) -> UnsignedEvent {
    let tags = entries.map { entry -> [String] in
      let marker = entry.reads && entry.writes ? [] : [entry.reads ? "read" : "write"]
      return ["r", entry.relay.text] + marker
    }
    return UnsignedEvent(pubkey: author, createdAt: createdAt, kind: EventKind.relayList, tags: tags)
  }
}
