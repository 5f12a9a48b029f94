public import Contracts
public import Frames
internal import JSON
public import Nostr
internal import NostrContracts

// What a role may read of the store, whatever its worker asks.
//
// A worker that reads what strangers send may be taken over by it. The access table says which methods it calls; this
// says what it gets by them: what its work needs, and no more. The hub writes the role into each request, so that no
// worker can speak as another.
//
//    reader       messages (kinds 4, 1059, 21059)        everything else
//    all          all                                     all
//    notes        none                                    all; a tracker may name relays to be asked
//    localRelay   gift wraps of the recipients it names   all
//    wakes        without their content, of the last      mute lists, and kinds that wake, of the last five days,
//                 five days, for the keys it names        for the keys it names
//
// Which keys a push relay names cannot be bounded here: with `nostr-registration = "anybody"` it learns them from
// phones and nobody else knows them.

/// What the worker of a role may read.
public enum StoreReader: Sendable, Hashable {
  /// Whatever there is: applications, the planner, and roles of `supervisor.conf` that may call the store.
  case all
  /// All but messages: workers that do jobs, or have them done at relays that they name.
  case notes(namesRelays: Bool)
  /// A relay for clients of this machine, which are shown gift wraps as its recipients.
  case localRelay
  /// Who wakes phones.
  case wakes

  /// Older events are not given to `wakes`: the widest `nostr-age`, and the two days by which a gift wrap's time is
  /// made up, with a day to spare.
  public static let wakingSeconds: Int64 = 5 * 86_400
  /// Most keys that a filter of `wakes` names: the widest `nostr-keys-maximum`.
  public static let wakingKeyMaximum = 2_000

  /// The reader of a role.
  ///
  /// - Parameter role: the caller's role as the hub wrote it; nil when no hub did, which is trusted with least.
  public init(role: UInt16?) {
    switch role {
    case Role.dvmTracker.number?: self = .notes(namesRelays: true)
    case Role.dvmProvider.number?, nil: self = .notes(namesRelays: false)
    case Role.localRelay.number?: self = .localRelay
    case Role.pushRelay.number?: self = .wakes
    default: self = .all
    }
  }

  /// Whether messages are given, to whom they are addressed or without exception.
  public enum Messages: Sendable, Hashable {
    /// All; gift wraps by what the caller says of recipients.
    case asAsked
    /// None.
    case none
    /// Gift wraps for the recipients that the caller names; none if it names none.
    case forRecipients
    /// Those whose `p` tag names a key that the filters name.
    case forNamedKeys
  }

  /// Which messages are given.
  public var messages: Messages {
    switch self {
    case .all: .asAsked
    case .notes: .none
    case .localRelay: .forRecipients
    case .wakes: .forNamedKeys
    }
  }

  // MARK: What is asked

  /// The filters of `store.query` and `store.count` as they count.
  ///
  /// - Throws: `denied` when they ask for what the role has no business with.
  public func queried(_ filters: [Filter]) throws(Refusal) -> [Filter] {
    guard self == .wakes, let other = filters.first(where: { !Self.asksForMuteLists($0) }) else { return filters }
    throw Self.denied("may query mute lists (kind 10000) of authors it names, and nothing else", other)
  }

  /// The filters of `store.observe` as they count.
  ///
  /// - Parameters:
  ///   - arguments: what else is asked.
  ///   - filters: its filters.
  ///   - now: seconds since 1970.
  /// - Throws: `denied` when they ask for what the role has no business with.
  public func observed(
    _ arguments: StoreObserve, _ filters: [Filter], now: Int64
  ) throws(Refusal) -> [Filter] {
    if self == .all { return filters }
    if arguments.id != nil {
      throw Refusal(.denied, "a worker of this role observes without an 'id'", outcome: .notStarted)
    }
    if self != .notes(namesRelays: true), arguments.relays?.isEmpty == false {
      throw Refusal(.denied, "a worker of this role names no 'relays' to be asked", outcome: .notStarted)
    }
    guard self == .wakes else { return filters }
    var bounded: [Filter] = []
    for var filter in filters {
      if !Self.asksForMuteLists(filter) {
        guard Self.asksForWakes(filter) else {
          throw Self.denied(
            "may observe mute lists (kind 10000) of authors it names, and kinds that wake with 1 to "
              + "\(Self.wakingKeyMaximum) keys in '#p'", filter)
        }
        filter.since = max(filter.since ?? 0, now - Self.wakingSeconds)
      }
      bounded.append(filter)
    }
    return bounded
  }

  private static func asksForMuteLists(_ filter: Filter) -> Bool {
    filter.kinds == [EventKind.mutes] && filter.authors?.isEmpty == false
  }

  private static func asksForWakes(_ filter: Filter) -> Bool {
    guard let kinds = filter.kinds, EventKind.wakingKinds.isSuperset(of: kinds) else { return false }
    let keys = TagLetter("p").flatMap { filter.tags[$0] } ?? []
    return (1...wakingKeyMaximum).contains(keys.count)
  }

  private static func denied(_ sentence: String, _ filter: Filter) -> Refusal {
    Refusal(.denied, "a push relay \(sentence)", outcome: .notStarted)
  }

  // MARK: What is given

  /// Whether events of a kind are given without their content, since nothing that the role does needs it.
  public func withholdsContent(of kind: UInt16) -> Bool {
    self == .wakes
      && (EventKind.giftWraps.contains(kind) || kind == EventKind.encryptedDirectMessage || kind == EventKind.mutes)
  }

  /// Shows an event as the role may have it.
  ///
  /// - Parameters:
  ///   - json: the event's own bytes, as they are stored.
  ///   - kind: its kind.
  ///   - body: what is done with the bytes that the role may have. Without its content an event is not what its id
  ///     says.
  public func showing<Result>(
    _ json: UnsafeRawBufferPointer, kind: UInt16, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard withholdsContent(of: kind) else { return body(json) }
    return Self.withoutContent(json).withUnsafeBytes(body)
  }

  /// An event with an empty content; nothing at all when it cannot be read, which is not so of what is stored.
  static func withoutContent(_ json: UnsafeRawBufferPointer) -> [UInt8] {
    do throws(EventFault) {
      let content = try ScannedEvent(json).content.content
      return Array(json[..<content.lowerBound]) + Array(json[content.upperBound...])
    } catch {
      return []
    }
  }
}
