public import Clocks

// When a relay outside the groups of `supervisor.conf` may be dialled.
//
// Lists may name any relay, so the lists of many authors name thousands. Without a limit a client that reads many
// authors would dial half the network, and an attacker could direct dials at a host of its choice. So every dial
// outside the groups counts, whatever it is for, a reconnection too, and so does every socket until it has ended. It is
// counted in the process that dials: neither a death of the planner nor a caller beside it changes the budget.
//
//     wanted ──▶ place in the queue ──▶ socket ──▶ ended
//                     │  dial               │ released: closed when another relay needs its place
//                     └──▶ released, left   └──▶ wanted again: no new dial
//
// A dial over the budget waits. The most urgent purpose is served first, and of equal ones the first that came. Four
// dials of a minute, and four sockets, are kept for gift wraps. Gift wraps may also use the others, so a publication
// that has waited for ten seconds, with no other one dialled in that time, goes before them (`guardMilliseconds`).
// Relays that only others name have a share of their own, which is small, and take nothing from the others' dials.
//
// The dials of a queue that moves are spread by a pause with a random part, so that a minute's end does not bring eight
// handshakes at once.
//
// Bounds: a link has one place or one socket, and the caller bounds its links.

/// Decides when a relay outside the groups may be dialled. A machine without I/O.
public struct DialBudget: Sendable {
  /// What the shell does, in order.
  public enum Action: Hashable, Sendable {
    /// Dial: the socket counts from now on, until ``DialBudget/ended(_:at:)``.
    case dial(DialKey)
    /// Close the connection, which nothing needs, to make room.
    case close(DialKey)
    /// Call ``DialBudget/timerFired(at:)`` at this instant; it replaces any earlier one.
    case setTimer(Instant)
    /// No call of ``DialBudget/timerFired(at:)`` is needed.
    case cancelTimer
  }
  /// Why a relay is not dialled yet.
  public struct Wait: Hashable, Sendable {
    /// The reason, as a sentence without a full stop.
    public let reason: String
    /// After how many milliseconds the budget has room again; nil when that depends on other relays.
    public let milliseconds: UInt64?
  }

  /// Most sockets at once.
  public static let socketMaximum = 20
  /// Most new dials within ``windowMilliseconds``.
  public static let dialMaximum = 12
  /// How many of either are kept for gift wraps.
  public static let reservedCount = 4
  /// Most sockets to relays that only others name, and most new dials to them within ``windowMilliseconds``.
  public static let foreignMaximum = 4
  /// Most sockets to relays that are wanted for backfills only.
  public static let backfillMaximum = 2
  /// The time in which new dials are counted.
  public static let windowMilliseconds: UInt64 = 60_000
  /// After this time a publication that waits is dialled before gift wraps.
  public static let guardMilliseconds: UInt64 = 10_000
  /// The least pause between two dials from the queue.
  public static let pauseMilliseconds: UInt64 = 100
  /// The most that a random part adds to that pause.
  public static let jitterMilliseconds: UInt64 = 200
  /// How long a place is kept for work that comes again.
  public static let placeMilliseconds: UInt64 = 30_000

  private struct Place {
    var purpose: DialPurpose
    /// When it was wanted for this purpose.
    var since: Instant
    let number: UInt64
    /// When the place is given up; nil while the relay is wanted.
    var until: Instant?
  }

  private struct Socket {
    let isForeign: Bool
    /// Whether it is wanted for backfills only.
    var isBackfill = false
    /// Since when nothing needs it.
    var idleSince: Instant?
    var isClosing = false
  }

  /// Purposes with the same limits.
  private enum Share {
    case giftWraps, foreign, backfill, others

    init(_ purpose: DialPurpose) {
      switch purpose {
      case .giftWrap: self = .giftWraps
      case .foreign: self = .foreign
      case .backfill: self = .backfill
      case .publish, .feed, .lookUp: self = .others
      }
    }
  }

  private struct Dial {
    let at: Instant
    let isGiftWrap: Bool
  }

  private var places: [DialKey: Place] = [:]
  private var sockets: [DialKey: Socket] = [:]
  /// The dials within the last window, the oldest first.
  private var dials: [Dial] = []
  private var foreignDials: [Instant] = []
  private var lastPublish: Instant?
  /// The queue does not move before this instant.
  private var pauseEnd: Instant?
  private var lastNumber: UInt64 = 0
  private var timer: Instant?
  private var generator: SeededGenerator

  /// Nothing was dialled yet. The random parts of the pauses come from `seed`.
  public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Sockets now, also those that are being opened or closed.
  public var socketCount: Int { sockets.count }
  /// Whether a link waits or has a socket.
  public func has(_ key: DialKey) -> Bool { places[key] != nil || sockets[key] != nil }
  /// Relays that wait.
  public var waitingCount: Int { places.count }

  // MARK: Input

  /// Work has come for a relay: it is to be dialled if it has no socket. A relay that waits is from now on wanted for
  /// the more urgent of both purposes.
  public mutating func wanted(_ key: DialKey, for purpose: DialPurpose, at now: Instant) -> [Action] {
    guard sockets[key] == nil else {
      sockets[key]?.idleSince = nil
      sockets[key]?.isClosing = false
      guard purpose != .backfill, sockets[key]?.isBackfill == true else { return [] }
      sockets[key]?.isBackfill = false
      return settled(at: now)
    }
    if let place = places[key] {
      places[key]?.until = nil
      guard purpose < place.purpose else { return settled(at: now) }
      places[key]?.purpose = purpose
      places[key]?.since = now
    } else {
      lastNumber += 1
      places[key] = Place(purpose: purpose, since: now, number: lastNumber)
    }
    return settled(at: now, new: key)
  }

  /// Nothing needs a relay now. Its socket may be closed for another; its place is kept if the work comes again.
  public mutating func released(_ key: DialKey, at now: Instant) -> [Action] {
    if sockets[key] != nil, sockets[key]?.idleSince == nil { sockets[key]?.idleSince = now }
    if let place = places[key] {
      if !place.purpose.comesAgain {
        places[key] = nil
      } else if place.until == nil {
        places[key]?.until = now.advanced(milliseconds: Self.placeMilliseconds)
      }
    }
    return settled(at: now)
  }

  /// A dial has failed, or a connection has ended.
  public mutating func ended(_ key: DialKey, at now: Instant) -> [Action] {
    guard sockets.removeValue(forKey: key) != nil else { return [] }
    return settled(at: now)
  }

  /// The relay will not be dialled. A socket counts until ``ended(_:at:)``.
  public mutating func left(_ key: DialKey, at now: Instant) -> [Action] {
    guard places.removeValue(forKey: key) != nil else { return [] }
    return settled(at: now)
  }

  /// A relay with a socket belongs to no group any longer. Its socket counts; that it was dialled does not.
  public mutating func leftGroup(_ key: DialKey, at now: Instant) -> [Action] {
    sockets[key] = Socket(isForeign: false)
    return settled(at: now)
  }

  /// A relay belongs to the connector's group now, and does not count.
  public mutating func joinedGroup(_ key: DialKey, at now: Instant) -> [Action] {
    places[key] = nil
    sockets[key] = nil
    return settled(at: now)
  }

  /// The instant of the last ``Action/setTimer(_:)`` has come.
  public mutating func timerFired(at now: Instant) -> [Action] {
    timer = nil
    return settled(at: now)
  }

  // MARK: Why a relay waits

  /// Why a relay is not dialled yet; nil when it does not wait.
  public func wait(of key: DialKey, at now: Instant) -> Wait? {
    guard let place = places[key] else { return nil }
    if place.purpose == .foreign {
      if foreignSocketCount >= Self.foreignMaximum {
        return Wait(
          reason: "\(foreignSocketCount) relays that others name are in use, which is the budget", milliseconds: nil)
      }
      if let end = windowEnd(of: .foreign) {
        let reason =
          "\(foreignDials.count) relays that others name were dialled within the last minute, which is the budget"
        return Wait(reason: reason, milliseconds: end.milliseconds(since: now))
      }
    } else if let end = windowEnd(of: place.purpose) {
      let isFull = dials.count >= Self.dialMaximum
      let kept = isFull ? "" : "; \(Self.reservedCount) more are kept for private messages"
      let count = isFull ? dials.count : otherDials.count
      return Wait(
        reason: "\(count) new relays were dialled within the last minute, which is the budget\(kept)",
        milliseconds: end.milliseconds(since: now))
    }
    if !hasBackfillPlace(place.purpose) {
      return Wait(
        reason: "\(Self.backfillMaximum) relays are in use for old events, which is the budget", milliseconds: nil)
    }
    if sockets.count >= Self.socketMaximum(for: place.purpose) {
      let reason = "\(sockets.count) relays outside the groups of supervisor.conf are in use, which is the budget"
      return Wait(reason: reason, milliseconds: nil)
    }
    return Wait(reason: "other relays are dialled before it", milliseconds: Self.pauseMilliseconds)
  }

  // MARK: The queue

  /// Dials what may be dialled now. A relay that is new in the queue does not wait for the pause.
  private mutating func settled(at now: Instant, new: DialKey? = nil) -> [Action] {
    forget(at: now)
    var actions: [Action] = []
    var isPaused = false
    while let key = next(at: now, &actions) {
      if key != new {
        isPaused = pauseEnd.map { now < $0 } ?? false
        if isPaused { break }
        let jitter = UInt64.random(in: 0...Self.jitterMilliseconds, using: &generator)
        pauseEnd = now.advanced(milliseconds: Self.pauseMilliseconds + jitter)
      }
      dial(key, at: now)
      actions.append(.dial(key))
    }
    setTimer(isPaused: isPaused, &actions)
    return actions
  }

  private mutating func forget(at now: Instant) {
    dials.removeAll { $0.at.advanced(milliseconds: Self.windowMilliseconds) <= now }
    foreignDials.removeAll { $0.advanced(milliseconds: Self.windowMilliseconds) <= now }
    places = places.filter { place in place.value.until.map { now < $0 } ?? true }
  }

  /// The relay that may be dialled next; nil when none may. Where only the number of sockets forbids it, those that
  /// nothing needs are closed.
  private mutating func next(at now: Instant, _ actions: inout [Action]) -> DialKey? {
    // Of those with the same limits, only the first can be next.
    var firsts: [Share: (key: DialKey, rank: (Int, UInt64), purpose: DialPurpose)] = [:]
    for (key, place) in places {
      let (share, rank) = (Share(place.purpose), rank(place, at: now))
      if firsts[share].map({ rank < $0.rank }) ?? true { firsts[share] = (key, rank, place.purpose) }
    }
    for (key, _, purpose) in firsts.values.sorted(by: { $0.rank < $1.rank })
    where windowEnd(of: purpose) == nil && hasForeignPlace(purpose) && hasBackfillPlace(purpose) {
      let maximum = Self.socketMaximum(for: purpose)
      if sockets.count < maximum { return key }
      makeRoom(below: maximum, &actions)
    }
    return nil
  }

  private func rank(_ place: Place, at now: Instant) -> (Int, UInt64) {
    (isOverdue(place, at: now) ? -1 : place.purpose.rawValue, place.number)
  }

  /// Whether a publication goes before gift wraps.
  private func isOverdue(_ place: Place, at now: Instant) -> Bool {
    guard place.purpose == .publish else { return false }
    return now.milliseconds(since: max(place.since, lastPublish ?? place.since)) >= Self.guardMilliseconds
  }

  private mutating func dial(_ key: DialKey, at now: Instant) {
    guard let purpose = places.removeValue(forKey: key)?.purpose else { preconditionFailure("it waits") }
    sockets[key] = Socket(isForeign: purpose == .foreign, isBackfill: purpose == .backfill)
    if purpose == .publish { lastPublish = now }
    if purpose == .foreign {
      foreignDials.append(now)
    } else {
      dials.append(Dial(at: now, isGiftWrap: purpose == .giftWrap))
    }
  }

  /// Has the sockets closed that nothing needs for the longest time, as many as are in the way; none if even that would
  /// leave too many.
  private mutating func makeRoom(below maximum: Int, _ actions: inout [Action]) {
    let surplus = sockets.count - maximum + 1 - sockets.values.count { $0.isClosing }
    guard surplus > 0 else { return }
    let idle = sockets.compactMap { key, socket in socket.isClosing ? nil : socket.idleSince.map { ($0, key) } }
      .sorted { ($0.0, $0.1.rawValue) < ($1.0, $1.1.rawValue) }
    guard idle.count >= surplus else { return }
    for (_, key) in idle.prefix(surplus) {
      sockets[key]?.isClosing = true
      actions.append(.close(key))
    }
  }

  private mutating func setTimer(isPaused: Bool, _ actions: inout [Action]) {
    var due: [Instant?] = []
    if !places.isEmpty {
      due = [isPaused ? pauseEnd : nil, dials.first?.at.advanced(milliseconds: Self.windowMilliseconds)]
      due += [foreignDials.first?.advanced(milliseconds: Self.windowMilliseconds)]
      due += places.values.map(\.until)
    }
    let next = due.compactMap(\.self).min()
    if next == timer { return }
    timer = next
    actions.append(next.map { .setTimer($0) } ?? .cancelTimer)
  }

  // MARK: Limits

  private static func socketMaximum(for purpose: DialPurpose) -> Int {
    purpose == .giftWrap ? socketMaximum : socketMaximum - reservedCount
  }

  private var foreignSocketCount: Int { sockets.values.count(where: \.isForeign) }

  private func hasForeignPlace(_ purpose: DialPurpose) -> Bool {
    purpose != .foreign || foreignSocketCount < Self.foreignMaximum
  }

  private func hasBackfillPlace(_ purpose: DialPurpose) -> Bool {
    purpose != .backfill || sockets.values.count(where: \.isBackfill) < Self.backfillMaximum
  }

  /// The counted dials that were not for gift wraps.
  private var otherDials: [Dial] { dials.filter { !$0.isGiftWrap } }

  /// Until when the dials of the last minute leave no room for this purpose; nil when there is room.
  private func windowEnd(of purpose: DialPurpose) -> Instant? {
    func end(_ counted: [Instant], _ maximum: Int) -> Instant? {
      // This dial and those before it must leave the window, then the count is below the limit.
      counted.count < maximum
        ? nil : counted[counted.count - maximum].advanced(milliseconds: Self.windowMilliseconds)
    }
    if purpose == .foreign { return end(foreignDials, Self.foreignMaximum) }
    let all = end(dials.map(\.at), Self.dialMaximum)
    guard purpose != .giftWrap else { return all }
    let others = end(otherDials.map(\.at), Self.dialMaximum - Self.reservedCount)
    return [all, others].compactMap(\.self).max()
  }
}
