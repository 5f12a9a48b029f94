public import Addresses
public import Clocks
public import Nostr

/// The information documents of relays (NIP-11), as last fetched: kept for an hour, with bounds on their number and
/// size.
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
  public static let ageMaximumMilliseconds: UInt64 = 3_600_000
  /// The most documents; beyond it the oldest is dropped.
  public static let documentMaximum = 256
  /// The most bytes of all documents, as received; beyond it the oldest are dropped.
  public static let byteCountMaximum = 512 << 10

  private var documents: [RelayURL: (document: Document, fetchedAt: Instant)] = [:]
  /// In the order in which they were fetched.
  private var order: [RelayURL] = []
  private var byteCount = 0

  /// An empty cache.
  public init() {}

  /// The number of documents.
  public var count: Int { documents.count }

  /// A relay's document; nil when the cache has no document of it, or one older than an hour.
  public func document(of relay: RelayURL, at now: Instant) -> Document? {
    guard let kept = documents[relay], now.milliseconds(since: kept.fetchedAt) < Self.ageMaximumMilliseconds else {
      return nil
    }
    return kept.document
  }

  /// Keeps a document in place of an older one.
  public mutating func fetched(_ document: Document, of relay: RelayURL, at now: Instant) {
    drop(relay)
    documents[relay] = (document, now)
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
}
