public import Clocks
public import Nostr

// What an operator may want to know of a relay without reading logs: the last remark of each kind, and a count. So the
// memory is bounded, whatever a relay sends.
//
// Most relays do not say that they limit the events of an answer: they send EOSE after the 500th. The session assumes
// such a limit when two different requests, both for more events, ended at the same round number, and no answer was
// ever larger. One such end may be chance.

/// The last remark of each kind about one relay.
public struct RecentRemarks: Sendable {
  /// The kinds of remark.
  public enum Kind: Sendable, Hashable {
    /// CLOSED, with an error.
    case refusedRequest
    /// OK false.
    case refusedEvent
    /// `auth-required`, and the request or publish named no account that could authenticate.
    case authWall
    /// Answers end at ``Remark/limit``.
    case capped
    /// NOTICE.
    case notice
  }

  /// One remark.
  public struct Remark: Sendable {
    /// The relay's words, as they came.
    public var reason: RelayReason
    /// How often it happened.
    public var count: UInt64
    /// When it last happened.
    public var at: Instant
    /// The number of events at which answers end, with ``Kind/capped``.
    public var limit: Int?
  }

  /// The last of each kind.
  public private(set) var latest: [Kind: Remark] = [:]
  /// The largest answer, and the filters of its request.
  private var largest: (count: Int, filters: RawFilters)?

  /// An answer with fewer events is no sign of a limit.
  static let capMinimum = 50

  mutating func note(_ kind: Kind, _ reason: RelayReason, limit: Int? = nil, at now: Instant) {
    let count = latest[kind]?.count ?? 0
    latest[kind] = Remark(reason: reason, count: count + 1, at: now, limit: limit)
  }

  /// EOSE came after `eventCount` events.
  mutating func ended(
    _ filters: RawFilters, eventCount: Int, _ completeness: RelayMessage.Completeness, at now: Instant
  ) {
    let none = RelayReason("")
    if completeness == .partial { return note(.capped, none, limit: eventCount, at: now) }
    let isWhole = completeness == .finished || filters.eventCountMaximum.map { eventCount >= $0 } ?? false
    guard !isWhole, eventCount >= Self.capMinimum else { return }
    guard let before = largest, eventCount <= before.count else {
      // A larger answer: what looked like a limit was not one.
      if latest[.capped]?.limit ?? .max < eventCount { latest[.capped] = nil }
      largest = (eventCount, filters)
      return
    }
    guard eventCount == before.count, filters != before.filters, eventCount % Self.capMinimum == 0 else { return }
    note(.capped, none, limit: eventCount, at: now)
  }
}
