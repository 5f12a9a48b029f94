public import Contracts
public import Frames
internal import JSON
public import Nostr
internal import NostrContracts

// What a role may read of the store, whatever its worker requests.
//
// A worker that reads data from strangers may be taken over by them. The access table says which methods it may call;
// this type says what it receives from them: what its work needs, and nothing else. The hub writes the role into each
// request, so no worker can pretend to have another.
//
//    reader       messages (kinds 4, 1059, 21059)        everything else
//    all          all                                     all
//    notes        none                                    all; a tracker may name relays to be asked
//    localRelay   gift wraps of the recipients it names   all
//    wakes        without their content, of the last      mute lists, and kinds that wake, of the last five days,
//                 five days, for the keys it names        for the keys it names
//
// The keys that a push relay names cannot be restricted here: if `nostr-registration` admits every phone, the push
// relay learns the keys from phones, and no other part of Roost knows them.

/// What the worker of a role may read.
public enum StoreReader: Sendable, Hashable {
  /// Everything: applications, the planner, and roles of `supervisor.conf` that may call the store.
  case all
  /// Everything except messages: workers that do jobs, or have them done at relays that they name.
  case notes(namesRelays: Bool)
  /// A relay for clients of this machine, which receive gift wraps as their recipients.
  case localRelay
  /// The push relay, which wakes phones.
  case wakes

  /// `wakes` receives no older events: the widest `nostr-age`, plus the two days by which a gift wrap is dated back,
  /// plus a day to spare.
  public static let wakingSeconds: Int64 = 5 * 86_400
  /// Most keys that a filter of `wakes` names: the widest `nostr-keys-maximum`.
  public static let wakingKeyMaximum = 2_000

  /// The reader of a role.
  ///
  /// - Parameter role: the caller's role, as the hub wrote it. Nil when no hub did; then the caller gets the fewest
  ///   rights.
  public init(role: UInt16?) {
    switch role {
    case Role.dvmTracker.number?: self = .notes(namesRelays: true)
    case Role.dvmProvider.number?, nil: self = .notes(namesRelays: false)
    case Role.localRelay.number?: self = .localRelay
    case Role.pushRelay.number?: self = .wakes
    default: self = .all
    }
  }

  /// Which messages a role receives.
  public enum Messages: Sendable, Hashable {
    /// All messages; gift wraps for the recipients that the caller names, if it names any.
    case asAsked
    /// No messages.
    case none
    /// Gift wraps for the recipients that the caller names; none if it names none.
    case forRecipients
    /// Messages with a `p` tag for a key that the filters name.
    case forNamedKeys
  }

  /// Which messages the role receives.
  public var messages: Messages {
    switch self {
    case .all: .asAsked
    case .notes: .none
    case .localRelay: .forRecipients
    case .wakes: .forNamedKeys
    }
  }

  // MARK: Requests

  /// The filters of `store.query` and `store.count`, as they apply to the role.
  ///
  /// - Throws: `denied` when they ask for something that the role does not need.
  public func queried(_ filters: [Filter]) throws(Refusal) -> [Filter] {
    guard self == .wakes, let other = filters.first(where: { !Self.asksForMuteLists($0) }) else { return filters }
    throw Self.denied("may query mute lists (kind 10000) of authors it names, and nothing else", other)
  }

  /// The filters of `store.observe`, as they apply to the role.
  ///
  /// - Parameters:
  ///   - arguments: the other arguments of the call.
  ///   - filters: its filters.
  ///   - now: seconds since 1970.
  /// - Throws: `denied` when they ask for something that the role does not need.
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

  // MARK: Answers

  /// Whether events of a kind are sent without their content, because the role does not need it.
  public func withholdsContent(of kind: UInt16) -> Bool {
    self == .wakes
      && (EventKind.giftWraps.contains(kind) || kind == EventKind.encryptedDirectMessage || kind == EventKind.mutes)
  }

  /// Calls `body` with an event as the role may see it.
  ///
  /// - Parameters:
  ///   - json: the event's own bytes, as stored.
  ///   - kind: its kind.
  ///   - body: receives the bytes that the role may see. Without its content an event no longer matches its id.
  public func showing<Result>(
    _ json: UnsafeRawBufferPointer, kind: UInt16, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard withholdsContent(of: kind) else { return body(json) }
    return Self.withoutContent(json).withUnsafeBytes(body)
  }

  /// An event with empty content; no bytes when it cannot be read, which does not happen with stored events.
  static func withoutContent(_ json: UnsafeRawBufferPointer) -> [UInt8] {
    do throws(EventFault) {
      let content = try ScannedEvent(json).content.content
      return Array(json[..<content.lowerBound]) + Array(json[content.upperBound...])
    } catch {
      return []
    }
  }
}
