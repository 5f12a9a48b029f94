public import Contracts
public import Cryptography
public import Nostr

/// The lists that a feed or an inbox goes by: whose events it shows, and what it keeps out.
public struct FeedLists: Sendable {
  /// One list: its newest version, and what is known of its encrypted entries.
  private struct Entry: Sendable {
    var event: Event?
    /// The decrypted entries; those of the version before until these are read.
    var hidden: [[String]] = []
    var privacy = FeedState.PrivateEntries.none
  }

  /// What a version of a list has changed.
  public struct Change: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int
    /// Other people are shown.
    public static let people = Change(rawValue: 1)
    /// Something else is kept out.
    public static let mutes = Change(rawValue: 2)

    /// A set of changes.
    public init(rawValue: Int) { self.rawValue = rawValue }
  }

  /// The account.
  public let account: PublicKey
  /// Where the people come from; nil: everyone, for an inbox.
  public let source: PeopleSource?
  private var people = Entry()
  private var mutes = Entry()
  /// Whose events are shown, in the order of the list.
  public private(set) var peopleInOrder: [PublicKey] = []
  /// The same as a set.
  public private(set) var shown: Set<PublicKey> = []
  /// What is kept out.
  public private(set) var muting = Muting()

  /// No list is known.
  public init(account: PublicKey, source: PeopleSource?) { (self.account, self.source) = (account, source) }

  /// The filters for all versions of these lists.
  public var filters: [Filter] {
    [Filter(authors: [account], kinds: [EventKind.mutes])] + (source.map { [$0.filter] } ?? [])
  }

  /// Whether an event is a version of one of these lists.
  public func isVersion(_ event: Event) -> Bool { isMutes(event) || source?.isVersion(event) == true }

  private func isMutes(_ event: Event) -> Bool { event.kind == EventKind.mutes && event.pubkey == account }

  /// Takes a version of a list; one that is not newer changes nothing.
  ///
  /// Its encrypted entries are in ``sealed`` until they are read. Until then those of the version before count.
  public mutating func adopt(_ event: Event) -> Change {
    if isMutes(event) {
      guard isNewer(event, mutes.event) else { return [] }
      take(event, &mutes)
      return derive(.mutes)
    }
    guard let source, source.isVersion(event), isNewer(event, people.event) else { return [] }
    // The content of a follow list once held relays, and is no text of NIP-44.
    if case .follows = source { people.event = event } else { take(event, &people) }
    return derive(.people)
  }

  private func isNewer(_ event: Event, _ known: Event?) -> Bool {
    guard let known else { return true }
    return (known.createdAt, event.id) < (event.createdAt, known.id)
  }

  private func take(_ event: Event, _ entry: inout Entry) {
    entry.event = event
    if event.content.isEmpty { (entry.hidden, entry.privacy) = ([], .none) } else { entry.privacy = .locked }
  }

  private mutating func derive(_ change: Change) -> Change {
    if change.contains(.mutes) { muting = mutes.event.map { Muting($0, hidden: mutes.hidden) } ?? Muting() }
    if change.contains(.people) {
      peopleInOrder = people.event.map { PeopleSource.people(of: $0, hidden: people.hidden) } ?? []
      let new = Set(peopleInOrder)
      if new == shown { return change.subtracting(.people) }
      shown = new
    }
    return change
  }

  // MARK: Encrypted entries

  /// The lists whose encrypted entries are not read yet.
  public var sealed: [Event] {
    [mutes, people].compactMap { $0.privacy == .locked ? $0.event : nil }
  }

  /// The encrypted entries of a version were decrypted. Nothing changes if a newer one has come.
  ///
  /// - Parameters:
  ///   - hidden: the entries; nil: they cannot be read.
  ///   - id: the version.
  ///   - privacy: why they cannot be read; `locked`: not yet.
  public mutating func opened(
    _ hidden: [[String]]?, of id: EventID, _ privacy: FeedState.PrivateEntries
  ) -> Change {
    func fill(_ entry: inout Entry) -> Bool {
      guard entry.event?.id == id, entry.privacy == .locked else { return false }
      entry.privacy = privacy
      guard let hidden else { return false }
      entry.hidden = hidden
      return true
    }
    if mutes.event?.id == id { return fill(&mutes) ? derive(.mutes) : [] }
    return fill(&people) ? derive(.people) : []
  }

  /// What the caller learns of these lists.
  public var state: FeedState {
    var state = FeedState(account: "\(account)", privateMutes: mutes.privacy)
    guard let source else { return state }
    state.isListKnown = people.event != nil
    state.people = shown.count
    if case .set = source { state.privatePeople = people.privacy }
    return state
  }
}
