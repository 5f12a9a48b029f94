public import Addresses
public import Clocks
internal import Nostr

// Limits the dials of relays that are in no group of `supervisor.conf`.
//
// Lists may name any relay, so the lists of many authors name thousands of relays. Without a limit, a client that reads
// many authors would dial half the network, and an attacker could direct dials at a host of its choice. So relays
// outside the groups are counted, for interests and publications together: how many at once, and how many new ones a
// minute. A request over the budget waits, with the reason; nothing is dropped. A part of both limits is reserved for
// private messages: they are few, and a user waits for each. Relays that only others name for a publication, such as
// the customers of jobs, have limits of their own, so they take no place from what the user publishes.
//
// A relay that is no longer needed lingers, because its connection does: using it again is no new dial. It gives up its
// place when another relay needs one.

/// Decides when a relay outside the groups may be dialled.
public struct DialBudget: Sendable {
  /// Why a relay is dialled.
  public enum Purpose: Hashable, Sendable, CaseIterable {
    /// To deliver a gift wrap.
    case directMessage
    /// To publish another event.
    case publish
    /// To publish an event to a relay that only others name.
    case foreign
    /// For an observe of an application, or for an interest of the planner itself.
    case interest
  }
  /// The answer to a request to dial.
  public enum Admission: Hashable, Sendable {
    /// The caller may dial, until it releases the relay.
    case granted
    /// Not yet: request again at this instant, or after a relay was released (nil). The text is the reason.
    case waits(until: Instant?, String)
  }

  /// Most relays at once.
  public static let relayMaximum = 20
  /// Most new ones within ``windowMilliseconds``.
  public static let newMaximum = 12
  /// How many places of either limit are reserved for direct messages.
  public static let reservedCount = 4
  /// Most relays at once that only others name, and most new ones in the same time.
  public static let foreignMaximum = 4
  /// The time in which new ones are counted.
  public static let windowMilliseconds: UInt64 = 60_000
  /// How long a relay still counts as connected after its release.
  public static let lingerMilliseconds: UInt64 = 60_000

  private var held: [RelayURL: Set<Purpose>] = [:]
  private var lingering: [RelayURL: Instant] = [:]
  /// Times of the new dials within the last window, the oldest first.
  private var dials: [Instant] = []
  /// The same for relays that only others name.
  private var foreignDials: [Instant] = []

  /// No relay was dialled yet.
  public init() {}

  /// Relays in use now.
  public var count: Int { held.count }
  /// Relays in use that only others name.
  private var foreignCount: Int { held.values.count { $0 == [.foreign] } }

  /// Requests to dial a relay. A second request for the same relay and purpose changes nothing.
  public mutating func dial(_ relay: RelayURL, for purpose: Purpose, at now: Instant) -> Admission {
    if held[relay] != nil {
      held[relay]?.insert(purpose)
      return .granted
    }
    forget(before: now)
    if purpose == .foreign { return dialForeign(relay, at: now) }
    let (heldCount, reserved) = (held.count - foreignCount, purpose == .directMessage ? 0 : Self.reservedCount)
    guard heldCount < Self.relayMaximum - reserved else {
      return .waits(
        until: nil, "\(heldCount) relays outside the groups of supervisor.conf are in use, which is the budget")
    }
    let isConnected = lingering.removeValue(forKey: relay) != nil
    if !isConnected {
      guard dials.count < Self.newMaximum - reserved else {
        // This dial and those before it must leave the window, then the count is below the limit.
        let place = dials.count - (Self.newMaximum - reserved)
        return .waits(
          until: dials[place].advanced(milliseconds: Self.windowMilliseconds),
          "\(dials.count) new relays were dialled within the last minute, which is the budget")
      }
      dials.append(now)
      makeRoom(for: 1)
    }
    held[relay] = [purpose]
    return .granted
  }

  private mutating func dialForeign(_ relay: RelayURL, at now: Instant) -> Admission {
    guard foreignCount < Self.foreignMaximum else {
      return .waits(until: nil, "\(foreignCount) relays that others name are in use, which is the budget")
    }
    guard foreignDials.count < Self.foreignMaximum else {
      return .waits(
        until: foreignDials[0].advanced(milliseconds: Self.windowMilliseconds),
        "\(foreignDials.count) relays that others name were dialled within the last minute, which is the budget")
    }
    foreignDials.append(now)
    held[relay] = [.foreign]
    return .granted
  }

  /// Releases a relay for this purpose.
  public mutating func release(_ relay: RelayURL, for purpose: Purpose, at now: Instant) {
    guard held[relay]?.remove(purpose) != nil, held[relay]?.isEmpty == true else { return }
    held[relay] = nil
    // A relay that only others name does not linger: it must not push out a relay that does.
    guard purpose != .foreign else { return }
    lingering[relay] = now.advanced(milliseconds: Self.lingerMilliseconds)
    makeRoom(for: 0)
  }

  private mutating func forget(before now: Instant) {
    lingering = lingering.filter { $0.value > now }
    let first = dials.firstIndex { $0.advanced(milliseconds: Self.windowMilliseconds) > now } ?? dials.count
    dials.removeFirst(first)
    foreignDials.removeAll { $0.advanced(milliseconds: Self.windowMilliseconds) <= now }
  }

  /// Drops the relays that began to linger first, until the rest fits.
  private mutating func makeRoom(for newCount: Int) {
    while held.count - foreignCount + lingering.count + newCount > Self.relayMaximum,
      let oldest = lingering.min(by: { ($0.value, $0.key.text) < ($1.value, $1.key.text) })
    {
      lingering[oldest.key] = nil
    }
  }
}
