public import Addresses
public import Clocks
internal import Nostr

// How many relays are dialled that no group of `supervisor.conf` has.
//
// Anybody may name relays in his lists, and a list of strangers' lists is a list of thousands. Without a bound whoever
// reads many people dials half the network, and whoever wants to harm a host has others dial it. So relays outside the
// groups are counted here, for wishes and publishes together: how many at once, and how many new ones a minute. What is
// over the budget waits and is told so; nothing is dropped. A part of both is kept for private messages, which are few,
// and of which somebody waits for each. What strangers name for an answer of ours, as the customers of jobs do, has
// bounds of its own beside that: it takes no place from what the user does himself.
//
// A relay that nobody needs any more lingers, since its connection does as well: coming back to it is no new dial. It
// gives up its place to whoever needs one.

/// Who may dial a relay that no group has.
public struct DialBudget: Sendable {
  /// What a relay is dialled for.
  public enum Purpose: Hashable, Sendable, CaseIterable {
    /// A gift wrap is to be delivered.
    case directMessage
    /// Another event is to be published.
    case publish
    /// An event is to be published where somebody else wants it.
    case foreign
    /// Somebody observes, or the planner itself wants to know something.
    case interest
  }
  /// The answer to whoever wants to dial.
  public enum Admission: Hashable, Sendable {
    /// He may, until he releases the relay.
    case granted
    /// Not yet: ask again at this instant, or when a relay was released (nil). The text says why.
    case waits(until: Instant?, String)
  }

  /// Most relays at once.
  public static let relayMaximum = 20
  /// Most new ones within ``windowMilliseconds``.
  public static let newMaximum = 12
  /// How many of either are kept for direct messages.
  public static let reservedCount = 4
  /// Most relays at once, and most new ones in the same time, that only strangers name.
  public static let foreignMaximum = 4
  /// The time in which new ones are counted.
  public static let windowMilliseconds: UInt64 = 60_000
  /// How long a relay that nobody needs is still taken for connected.
  public static let lingerMilliseconds: UInt64 = 60_000

  private var held: [RelayURL: Set<Purpose>] = [:]
  private var lingering: [RelayURL: Instant] = [:]
  /// When new ones were dialled, of the last window, the oldest first.
  private var dials: [Instant] = []
  /// The same of those that only strangers name.
  private var foreignDials: [Instant] = []

  /// Nothing was dialled yet.
  public init() {}

  /// Relays in use now.
  public var count: Int { held.count }
  /// Those among them that only strangers name.
  private var foreignCount: Int { held.values.count { $0 == [.foreign] } }

  /// Somebody wants to dial a relay. Asking again for the same relay and purpose changes nothing.
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
        // Those above the limit leave the window first.
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

  /// A relay is not needed any more for this purpose.
  public mutating func release(_ relay: RelayURL, for purpose: Purpose, at now: Instant) {
    guard held[relay]?.remove(purpose) != nil, held[relay]?.isEmpty == true else { return }
    held[relay] = nil
    // Coming back to one that strangers name is a new dial: they are not to keep others from lingering.
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

  /// The relays that have lingered for longest go, until all have a place.
  private mutating func makeRoom(for newCount: Int) {
    while held.count - foreignCount + lingering.count + newCount > Self.relayMaximum,
      let oldest = lingering.min(by: { ($0.value, $0.key.text) < ($1.value, $1.key.text) })
    {
      lingering[oldest.key] = nil
    }
  }
}
