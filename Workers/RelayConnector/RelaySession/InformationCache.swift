public import Addresses
public import Clocks
public import Nostr

// The information documents of relays (NIP-11), and when they are fetched.
//
// A document is fetched at a relay's first connection, and nothing waits for it: until it is there the assumed bounds
// are in force (`RelayPolicy`). A relay of the groups keeps its connection for weeks, so its document counts for six
// hours. Others come and go within minutes, and several times: theirs counts while they are used, and ten minutes
// longer. A fetch that failed is not repeated; the next connection fetches again.

/// The information documents of relays, with bounds on their number, their size and the fetches at a time.
public struct InformationCache: Sendable {
  /// One relay's document.
  public struct Document: Sendable, Hashable {
    /// The document.
    public var information: RelayInformation
    /// The parts that were dropped, and why.
    public var complaints: [RelayInformation.Complaint]
    /// When it was fetched, seconds since 1970.
    public var fetchedAt: Int64
    /// Its size in bytes, as received.
    public var byteCount: Int

    /// A document.
    public init(
      _ information: RelayInformation, complaints: [RelayInformation.Complaint], fetchedAt: Int64, byteCount: Int
    ) {
      self.information = information
      self.complaints = complaints
      self.fetchedAt = fetchedAt
      self.byteCount = byteCount
    }
  }

  /// How long a document counts, in milliseconds.
  public static let ageMaximumMilliseconds: UInt64 = 6 * 3_600_000
  /// How long it counts after the relay's connection was given up.
  public static let graceMilliseconds: UInt64 = 600_000
  /// How long a person who asks for a document gets an earlier one.
  public static let shownMilliseconds: UInt64 = 3_600_000
  /// The most documents; beyond it the oldest is dropped.
  public static let documentMaximum = 256
  /// The most bytes of all documents, as received; beyond it the oldest are dropped.
  public static let byteCountMaximum = 512 << 10
  /// Fetches that nothing waits for, at a time. The others wait for their turn.
  public static let fetchMaximum = 4
  /// The most relays that wait for their fetch; the fetches of more are left out until their next connection.
  public static let waitingMaximum = 256

  private struct Kept {
    let document: Document
    let fetchedAt: Instant
    /// When the connection was given up; nil while the relay is used.
    var leftAt: Instant?
  }

  private var documents: [RelayURL: Kept] = [:]
  /// In the order in which they were fetched.
  private var order: [RelayURL] = []
  private var byteCount = 0
  private var waiting: [RelayURL] = []
  private var fetching: Set<RelayURL> = []
  /// Relays that are connected.
  private var used: Set<RelayURL> = []

  /// An empty cache.
  public init() {}

  /// The number of documents.
  public var count: Int { documents.count }

  /// A relay's document; nil when the cache has none that still counts, or is not older than `age` milliseconds.
  public func document(
    of relay: RelayURL, age: UInt64 = InformationCache.ageMaximumMilliseconds, at now: Instant
  ) -> Document? {
    guard let kept = documents[relay], now.milliseconds(since: kept.fetchedAt) < age else { return nil }
    if let leftAt = kept.leftAt, now.milliseconds(since: leftAt) >= Self.graceMilliseconds { return nil }
    return kept.document
  }

  /// Keeps a document in place of an older one.
  public mutating func fetched(_ document: Document, of relay: RelayURL, at now: Instant) {
    drop(relay)
    documents[relay] = Kept(document: document, fetchedAt: now, leftAt: used.contains(relay) ? nil : now)
    order.append(relay)
    byteCount += document.byteCount
    while order.count > 1, order.count > Self.documentMaximum || byteCount > Self.byteCountMaximum {
      drop(order[0])
    }
  }

  private mutating func drop(_ relay: RelayURL) {
    guard let kept = documents.removeValue(forKey: relay) else { return }
    order.removeAll { $0 == relay }
    byteCount -= kept.document.byteCount
  }

  // MARK: Connections

  /// A relay is connected.
  ///
  /// - Returns: its document, if there is one that counts; otherwise the relay is fetched when ``nextFetch()`` says so.
  public mutating func connected(_ relay: RelayURL, at now: Instant) -> Document? {
    let known = document(of: relay, at: now)
    used.insert(relay)
    if known != nil { documents[relay]?.leftAt = nil }
    if known == nil, !fetching.contains(relay), !waiting.contains(relay), waiting.count < Self.waitingMaximum {
      waiting.append(relay)
    }
    return known
  }

  /// A relay's connection was given up.
  public mutating func left(_ relay: RelayURL, at now: Instant) {
    waiting.removeAll { $0 == relay }
    used.remove(relay)
    documents[relay]?.leftAt = now
  }

  /// The relay whose document is to be fetched now; nil when none waits, or as many as may be are under way. Ends with
  /// ``fetchEnded(_:)``.
  public mutating func nextFetch() -> RelayURL? {
    guard fetching.count < Self.fetchMaximum, !waiting.isEmpty else { return nil }
    let relay = waiting.removeFirst()
    fetching.insert(relay)
    return relay
  }

  /// The fetch of a relay's document has ended, with a document or without.
  public mutating func fetchEnded(_ relay: RelayURL) { fetching.remove(relay) }
}
