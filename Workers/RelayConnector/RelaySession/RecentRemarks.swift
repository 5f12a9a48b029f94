public import Clocks
public import Nostr

// What a relay does that its owner may want to know, without reading logs: the last of each kind, and how many there
// were. So it is bounded whatever a relay says.
//
// That a relay gives no more than so many events to a question is not said by most of them: they send EOSE behind the
// 500th. It is taken for such a bound when two different questions, both asking for more, ended at the same round
// number, and no answer was ever larger. One such end may be by chance.

/// The last remark of each kind about one relay.
public struct RecentRemarks: Sendable {
  /// What there is to say.
  public enum Kind: Sendable, Hashable {
    /// CLOSED, with an error.
    case refusedRequest
    /// OK false.
    case refusedEvent
    /// `auth-required`, and nobody was named who could show himself.
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
    /// How often.
    public var count: UInt64
    /// When last.
    public var at: Instant
    /// At how many events answers end, with ``Kind/capped``.
    public var limit: Int?
  }

  /// The last of each kind.
  public private(set) var latest: [Kind: Remark] = [:]
  /// The largest answer, and what was asked.
  private var largest: (count: Int, filters: RawFilters)?

  /// Answers below this are no sign of a bound.
  static let capMinimum = 50

  mutating func note(_ kind: Kind, _ reason: RelayReason, limit: Int? = nil, at now: Instant) {
    let count = latest[kind]?.count ?? 0
    latest[kind] = Remark(reason: reason, count: count + 1, at: now, limit: limit)
  }

  /// EOSE came behind so many events.
  mutating func ended(
    _ filters: RawFilters, eventCount: Int, _ completeness: RelayMessage.Completeness, at now: Instant
  ) {
    let none = RelayReason("")
    if completeness == .partial { return note(.capped, none, limit: eventCount, at: now) }
    let isWhole = completeness == .finished || filters.eventCountMaximum.map { eventCount >= $0 } ?? false
    guard !isWhole, eventCount >= Self.capMinimum else { return }
    guard let before = largest, eventCount <= before.count else {
      // A larger answer: what looked like a bound was none.
      if latest[.capped]?.limit ?? .max < eventCount { latest[.capped] = nil }
      largest = (eventCount, filters)
      return
    }
    guard eventCount == before.count, filters != before.filters, eventCount % Self.capMinimum == 0 else { return }
    note(.capped, none, limit: eventCount, at: now)
  }
}
