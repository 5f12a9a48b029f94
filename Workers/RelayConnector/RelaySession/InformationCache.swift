public import Addresses
public import Clocks
public import Nostr

/// What relays say of themselves (NIP-11), as it was last fetched: kept for an hour, and only so much of it.
public struct InformationCache: Sendable {
  /// One relay's document.
  public struct Document: Sendable, Hashable {
    /// What it says.
    public var information: RelayInformation
    /// What of it was dropped.
    public var complaints: [RelayInformation.Complaint]
    /// When it was fetched, seconds since 1970.
    public var fetchedAt: Int64
    /// Its bytes as they came.
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
  /// Most documents; the one that was fetched first goes.
  public static let documentMaximum = 256
  /// Most bytes of all documents as they came; the ones that were fetched first go.
  public static let byteCountMaximum = 512 << 10

  private var documents: [RelayURL: (document: Document, fetchedAt: Instant)] = [:]
  /// In the order in which they were fetched.
  private var order: [RelayURL] = []
  private var byteCount = 0

  /// Nothing kept.
  public init() {}

  /// How many are kept.
  public var count: Int { documents.count }

  /// A relay's document; nil when there is none, or when it is older than an hour.
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
