internal import Bus
public import Contracts
public import Cryptography
public import Frames
public import Nostr

/// The result of storing an event as one's own.
public struct OwnEvent: Sendable, Hashable {
  /// The event, signed.
  public let event: Event
  /// Its place in the store's order of commits; nil for an ephemeral event, which is passed on and not stored.
  public let seq: Int64?
  /// Whether it was not stored before. Storing an event twice is the same as once.
  public let isNew: Bool
  /// Whether it was stored but damaged, and this copy has replaced it.
  public let isMended: Bool
}

extension RoostClient {
  /// The default maximum number of events that ``query(_:limit:)-([Filter],_)`` collects.
  public nonisolated static let queryLimit = 500

  /// Stores a signed event as one's own, and sends it to no relay; ``publish(_:to:expiresAfterSeconds:replaces:)`` does
  /// both. When this returns, the event is verified and committed, and every observer has it or will get it.
  ///
  /// - Throws: `bad-request` for more bytes than ``eventByteCountMaximum``, `invalid` with the reason, `superseded` (by
  ///   a newer event), `deleted` (by its author), `expired-event`, `disk-full`; `expired` when the store does not
  ///   answer in time; `unavailable` or `no-supervisor` when no store or supervisor runs. After `outcome` `unknown` the
  ///   caller may store it again.
  @discardableResult
  public func store(_ event: Event) async throws(Refusal) -> OwnEvent { try await store(json: event.json) }

  /// The maximum size of an event, in bytes, on the present connection.
  public var eventByteCountMaximum: Int {
    EventLimit.byteCountMaximum(frameLimit: frameLimit ?? FrameReader.defaultLengthMaximum)
  }

  /// The same for an event's bytes, which are stored unchanged.
  ///
  /// - Parameters:
  ///   - json: the event.
  ///   - timeoutMilliseconds: how long it may take; `storeMilliseconds` of the settings when nil.
  @discardableResult
  public func store(json: [UInt8], timeoutMilliseconds: UInt32? = nil) async throws(Refusal) -> OwnEvent {
    try checkSize(json)
    // The store verifies it too. Here a check costs less than a frame, and a refusal is known to be not started.
    let event = try Self.verified(json)
    let result = try await request(
      StoreMethod.publish, SignedEvent(json),
      options: .idempotent(ttlMilliseconds: timeoutMilliseconds ?? settings.storeMilliseconds))
    return OwnEvent(event: event, seq: result.seq, isNew: result.isNew, isMended: result.isMended == true)
  }

  func checkSize(_ json: [UInt8]) throws(Refusal) {
    let maximum = eventByteCountMaximum
    guard json.count > maximum else { return }
    throw Refusal(
      .badRequest, "\(EventFault.tooLarge(byteCount: json.count, maximum: maximum))", outcome: .notStarted)
  }

  /// Reads an event, and refuses one whose signature is wrong before it is sent anywhere.
  static func verified(_ json: [UInt8]) throws(Refusal) -> Event {
    do throws(EventFault) {
      let event = try Event(json: json)
      try event.verify()
      return event
    } catch {
      throw Refusal(.invalidEvent, "\(error)", outcome: .notStarted)
    }
  }

  /// The stored events that any of `filters` matches, newest first, as a sequence of any length.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64, each with an optional `limit`.
  ///   - limit: the maximum number of events of all filters together.
  ///   - last: the last event of an earlier, interrupted answer: the sequence begins after it in the order of the
  ///     answer. The filters must then have no `limit`.
  public nonisolated func events(
    matching filters: [Filter], limit: Int? = nil, behind last: Event? = nil
  ) -> EventSequence {
    EventSequence(client: self, filters: filters, limit: limit, last: last)
  }

  /// The newest stored events that any of `filters` matches, as one list.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64.
  ///   - limit: the maximum number of events, default ``queryLimit``; all of them are held in memory. For more events
  ///     see ``events(matching:limit:behind:)``.
  /// - Throws: `bad-request` for a filter that the store refuses; without an answer, as ``Observation`` says.
  public func query(_ filters: [Filter], limit: Int = RoostClient.queryLimit) async throws(Refusal) -> [Event] {
    let reader = EventReader(self, filters, limit: limit, behind: nil)
    var events: [Event] = []
    while let received = try await reader.next() { events.append(received.event) }
    if Task.isCancelled { throw Refusal(.cancelled, "the caller wants no more", outcome: .done) }
    return events
  }

  /// The same for one filter.
  public func query(_ filter: Filter, limit: Int = RoostClient.queryLimit) async throws(Refusal) -> [Event] {
    try await query([filter], limit: limit)
  }

  /// The number of stored events that any of `filters` matches, each counted once.
  public func count(_ filters: [Filter]) async throws(Refusal) -> Int {
    let counted = try await request(
      StoreMethod.count, StoreQuery(filters: try filters.payload()),
      options: .idempotent(ttlMilliseconds: settings.storeMilliseconds))
    return counted.count
  }

  /// The same for one filter.
  public func count(_ filter: Filter) async throws(Refusal) -> Int { try await count([filter]) }

  /// The stored events with these ids, in the order of the ids; those that are not stored are left out.
  public func events(_ ids: [EventID]) async throws(Refusal) -> [Event] {
    var found: [EventID: Event] = [:]
    var rest = Set(ids).sorted()[...]
    while !rest.isEmpty {
      let some = Array(rest.prefix(Filter.valueCountMaximum))
      rest = rest.dropFirst(some.count)
      for event in try await query([Filter(ids: some)], limit: some.count) { found[event.id] = event }
    }
    return ids.compactMap { found[$0] }
  }

  /// The relays that have sent an event, in the order in which they first did, and its seq.
  ///
  /// - Throws: `no-such-event` when it is not stored. An event that was only handed in here has no relays.
  public func seen(_ id: EventID) async throws(Refusal) -> SeenResult {
    try await request(
      StoreMethod.seen, StoreSeen(id: "\(id)"), options: .idempotent(ttlMilliseconds: settings.storeMilliseconds))
  }

  /// Says that all events up to this seq of the observations under a name are handled: ``ObserveOptions/id``. When this
  /// returns, it is committed.
  ///
  /// - Throws: `no-such-observe` when nothing was observed under the name; `unknown-seq` for a seq of another database.
  public func acknowledge(_ id: String, upTo seq: Int64) async throws(Refusal) {
    _ = try await request(
      StoreMethod.acknowledge, StoreAcknowledge(id: id, seq: seq),
      options: .idempotent(ttlMilliseconds: settings.storeMilliseconds))
  }

  /// A person's stored profile: the newest event of kind 0.
  ///
  /// - Returns: nil when none is stored. Every text in it is a stranger's.
  /// - Throws: `failed` when the stored event is not a valid profile; otherwise as ``query(_:limit:)-([Filter],_)``.
  public func profile(_ key: PublicKey) async throws(Refusal) -> Profile? {
    let newest = try await query(Filter(authors: [key], kinds: [EventKind.metadata], limit: 1)).first
    guard let newest else { return nil }
    do throws(KindFault) { return try Profile(newest) } catch {
      throw Refusal(.failed, "the profile of \(key.npub) cannot be read: \(error)", outcome: .done)
    }
  }

  /// What is stored of a person's own publications: profile, relays, follows, last note.
  public func person(_ key: PublicKey) async throws(Refusal) -> Person {
    Person(key, try await query(Person.filters(of: key)))
  }
}
