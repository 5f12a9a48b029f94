public import Nostr

/// An event as reconciliation knows it: its time and its id. 40 bytes.
public struct ReconcileRecord: Hashable, Sendable, Comparable {
  /// `created_at`, seconds since 1970. No event has ``infinity``.
  public let timestamp: UInt64
  /// The event's id.
  public let id: EventID

  /// The time that NIP-77 reserves for the end of everything.
  public static let infinity = UInt64.max

  /// A record.
  @inline(__always)
  public init(timestamp: UInt64, id: EventID) {
    self.timestamp = timestamp
    self.id = id
  }

  /// Compares by time, then by the bytes of the id (NIP-77).
  @inline(__always)
  public static func < (left: ReconcileRecord, right: ReconcileRecord) -> Bool {
    left.timestamp == right.timestamp ? left.id < right.id : left.timestamp < right.timestamp
  }
}
