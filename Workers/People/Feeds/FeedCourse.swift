public import Contracts
public import Cryptography
internal import Frames
public import Nostr

// What passes a feed or an inbox, in which order, and where it continues. A value without I/O.
//
//     seq of the store ─▶ lists ─▶ encrypted entries ─▶ first page ─▶ everything after that seq, in order
//                                        ▲                                │ a version of a list
//                                        └────────────────────────────────┘
//
// The lists come in the same answer as the events, so in the order of commits: what was committed after a version of a
// list is judged by it, whatever process is how late. When other people are to be shown, the answer is given up, and
// asked for again for them from the seq of that version on. So nothing of those who were added is missed, and nothing
// of those who were removed passes.
//
// The first page is the only thing that is not in the order of seq. It is asked for after the seq from which the rest
// follows was read; what was committed in between is in both, and remembered.

/// What passes a feed or an inbox.
public struct FeedCourse: Sendable {
  /// What is read.
  public enum Subject: Sendable {
    /// What some people write, of these kinds.
    case people(PeopleSource, kinds: [UInt16])
    /// What others write to the account; nil: all sorts.
    case inbox(only: Set<InboxItem.Sort>?)
  }

  /// What becomes of an event of the store.
  public enum Verdict: Sendable {
    /// It is left out.
    case leftOut
    /// It is shown.
    case shown
    /// It is shown as an item of the inbox.
    case found(InboxJudge.Finding)
  }

  /// What is read.
  public let subject: Subject
  /// The lists.
  public private(set) var lists: FeedLists
  /// The seq of the last event that was handled, whether it passed or not.
  public private(set) var position: Int64
  private let judge: InboxJudge
  private let kinds: Set<UInt16>
  /// Events of the first page that were committed after ``position`` was read.
  private var early: Set<EventID> = []

  /// What one page has at most that was committed while it was read; the page itself is no longer.
  private static let earlyMaximum = PeopleFeed.limitMaximum

  /// - Parameters:
  ///   - account: whose feed or inbox it is.
  ///   - subject: what is read.
  ///   - position: the seq of the store, or the last that the caller has handled.
  public init(of account: PublicKey, _ subject: Subject, after position: Int64) {
    self.subject = subject
    self.position = position
    judge = InboxJudge(account)
    switch subject {
    case .people(let source, let kinds):
      lists = FeedLists(account: account, source: source)
      self.kinds = Set(kinds)
    case .inbox:
      lists = FeedLists(account: account, source: nil)
      kinds = Set(InboxJudge.kinds)
    }
  }

  // MARK: Questions

  /// The filters of what is shown, each with at most so many bytes of JSON; empty: the list has no people, or is not
  /// known.
  public func shownFilters(byteMaximum: Int) -> [Filter] {
    guard case .people(_, let kinds) = subject else { return [judge.filter] }
    guard !lists.shown.isEmpty else { return [] }
    let filter = Filter(authors: lists.peopleInOrder, kinds: kinds.sorted())
    return filter.parts(valueMaximum: Filter.valueCountMaximum, byteMaximum: byteMaximum) ?? []
  }

  /// The filters of everything that is read from ``position`` on: what is shown, and the lists. They have at most so
  /// many bytes of JSON together: of a list that is longer, the kinds are asked for, and the rest is left out here.
  public func observedFilters(byteMaximum: Int) -> [Filter] {
    let shown = shownFilters(byteMaximum: byteMaximum)
    let isLong = shown.reduce(0) { $0 + $1.json.count + 1 } > byteMaximum || shown.count > Self.filterMaximum
    return lists.filters + (isLong ? [Filter(kinds: kinds.sorted())] : shown)
  }

  /// The store takes that many filters; two are for the lists.
  private static let filterMaximum = StoreObserve.filterMaximum - 2

  // MARK: Lists

  /// A list was read before the first event.
  public mutating func learned(_ list: Event) -> FeedLists.Change { lists.adopt(list) }

  /// The encrypted entries of a list were decrypted: see ``FeedLists/opened(_:of:_:)``.
  public mutating func opened(
    _ hidden: [[String]]?, of id: EventID, _ privacy: FeedState.PrivateEntries
  ) -> FeedLists.Change {
    lists.opened(hidden, of: id, privacy)
  }

  // MARK: Events

  /// An event of the first page.
  public mutating func paged(_ event: Event, seq: Int64?) -> Verdict {
    if let seq, seq > position, early.count < Self.earlyMaximum { early.insert(event.id) }
    return verdict(event)
  }

  /// An event of the answer from ``position`` on, with what it changes if it is a list.
  public mutating func received(_ event: Event, seq: Int64?) -> (verdict: Verdict, change: FeedLists.Change) {
    let isBehind = seq.map { $0 <= position } ?? false
    if let seq { position = max(position, seq) }
    let change = lists.isVersion(event) ? lists.adopt(event) : []
    let isEarly = early.remove(event.id) != nil
    return (isBehind || isEarly ? .leftOut : verdict(event), change)
  }

  /// The store has sent everything up to this seq.
  public mutating func storedEnded(at seq: Int64) { position = max(position, seq) }

  private func verdict(_ event: Event) -> Verdict {
    guard kinds.contains(event.kind) else { return .leftOut }
    switch subject {
    case .people:
      return lists.shown.contains(event.pubkey) && !lists.muting.mutes(event) ? .shown : .leftOut
    case .inbox(let only):
      guard let finding = judge.judge(event), only?.contains(finding.sort) ?? true, !lists.muting.mutes(event) else {
        return .leftOut
      }
      return .found(finding)
    }
  }
}
