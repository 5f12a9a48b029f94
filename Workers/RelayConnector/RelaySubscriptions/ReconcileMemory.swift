public import Addresses
public import Clocks

/// The relays where a reconciliation has failed (NIP-77): for an hour their events are paged instead. A value without
/// I/O.
public struct ReconcileMemory: Sendable {
  private var relays: [RelayURL: (reason: String, until: Instant)] = [:]

  /// How long a failure is remembered.
  public static let milliseconds: UInt64 = 3_600_000
  /// The most relays that are remembered. Beyond it the one that would be forgotten next is forgotten.
  public static let relayMaximum = 1_024

  /// Nothing is remembered.
  public init() {}

  /// Why a relay's events are to be paged; nil when it may be asked to reconcile.
  public func reason(at relay: RelayURL, now: Instant) -> String? {
    guard let kept = relays[relay], kept.until > now else { return nil }
    return kept.reason
  }

  /// A reconciliation has ended. With `complete`, or with an end that is not about the relay, nothing is remembered.
  public mutating func ended(_ end: Reconciliation.End, at relay: RelayURL, now: Instant) {
    switch end {
    case .unsupported(let reason), .failed(let reason, isAboutRelay: true):
      relays[relay] = (reason, now.advanced(milliseconds: Self.milliseconds))
      guard relays.count > Self.relayMaximum, let oldest = relays.min(by: { $0.value.until < $1.value.until })
      else { return }
      relays[oldest.key] = nil
    case .complete: relays[relay] = nil
    case .failed, .cancelled: break
    }
  }

  /// A caller wants the relay tried again.
  public mutating func forget(_ relay: RelayURL) { relays[relay] = nil }
}
