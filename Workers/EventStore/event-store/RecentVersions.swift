import DequeModule
import EventArchive

// Versions of lists are replaced within seconds when two devices write, and with a version its sightings are removed.
// While a version is remembered here, a further relay's copy can still be sent to an observer, also one that comes in
// the transaction that replaces it.

/// The versions of lists that were announced last, and from which relays.
struct RecentVersions {
  private struct Version {
    let event: VerifiedEvent
    var relays: Set<Int64>
  }

  private var versions: [Int64: Version] = [:]
  /// In the order in which they were announced.
  private var seqs = Deque<Int64>()
  private var byteCount = 0

  /// The most versions; beyond it the oldest is forgotten.
  private static let countMaximum = 256
  /// The most bytes of them.
  private static let byteCountMaximum = 4 << 20

  /// A version was announced. Of what was handed in on this machine the planner knows which relays have it.
  mutating func announced(_ event: VerifiedEvent, _ seq: Int64) {
    guard let relay = event.relay, event.json.count <= Self.byteCountMaximum, versions[seq] == nil else { return }
    versions[seq] = Version(event: event, relays: [relay])
    seqs.append(seq)
    byteCount += event.json.count
    while seqs.count > Self.countMaximum || byteCount > Self.byteCountMaximum {
      guard let oldest = seqs.popFirst(), let version = versions.removeValue(forKey: oldest) else { return }
      byteCount -= version.event.json.count
    }
  }

  /// A relay has sent a stored event again.
  ///
  /// - Returns: the event, as of this relay, if it is such a version and the relay had not sent it before.
  mutating func sighted(_ seq: Int64, at relay: Int64) -> VerifiedEvent? {
    guard versions[seq]?.relays.insert(relay).inserted == true, var event = versions[seq]?.event else { return nil }
    event.relay = relay
    return event
  }
}
