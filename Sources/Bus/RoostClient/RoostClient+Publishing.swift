public import Addresses
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// Publishing: an event is handed over once, and reaches its relays whatever happens afterwards.
//
// What is returned means that outbox-planner has it on disk and the event store has verified it. Sending is the
// planner's affair from then on, for days if need be; whoever wants to see it reads the progress, and may stop reading
// at any time.

extension RoostClient {
  /// How long it may take until an event is accepted, in milliseconds.
  static let acceptMilliseconds: UInt32 = 30_000

  /// Publishes a signed event. When this returns it is on disk, stored, and on its way; asking again with the same
  /// event gives the same outcome and sends nothing twice.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - relays: to these and no others, `PlanPublish.relayMaximum` at most; planned unless said. For an event that
  ///     was published before, those that it does not have yet are added.
  ///   - expiresAfterSeconds: after which relays that have not taken it are given up; as configured unless said.
  ///   - replaces: whether it is meant that a profile or a list loses entries of the version before.
  /// - Throws: `no-relays` with the reason; `would-replace` with the number of entries; `invalid`,
  ///   `superseded`, `deleted`, `expired-event`, `disk-full`;
  ///   `unavailable` when no outbox-planner is there (``store(_:)`` needs none). After `outcome` `unknown` it may be
  ///   published again.
  @discardableResult
  public func publish(
    _ event: Event, to relays: [RelayURL]? = nil, expiresAfterSeconds: Int64? = nil, replaces: Bool = false
  ) async throws(Refusal) -> Publication {
    try await publish(json: event.json, to: relays, expiresAfterSeconds: expiresAfterSeconds, replaces: replaces)
  }

  /// The same of an event's bytes.
  ///
  /// - Parameters:
  ///   - json: the event.
  ///   - relays: as above.
  ///   - expiresAfterSeconds: as above.
  ///   - replaces: as above.
  ///   - timeoutMilliseconds: how long its acceptance may take; 30 seconds when nil.
  @discardableResult
  public func publish(
    json: [UInt8], to relays: [RelayURL]? = nil, expiresAfterSeconds: Int64? = nil, replaces: Bool = false,
    timeoutMilliseconds: UInt32? = nil
  ) async throws(Refusal) -> Publication {
    try checkSize(json)
    _ = try Self.verified(json)
    let wanted = PlanPublish(
      event: RawJSON(json), relays: relays?.map(\.text),
      expiresAfter: expiresAfterSeconds, replace: replaces ? true : nil)
    return try await plan(PlanMethod.publish, wanted, timeoutMilliseconds: timeoutMilliseconds)
  }

  /// Versions of lists, profiles among them, that were kept because the next one had lost entries; the newest first.
  ///
  /// - Parameters:
  ///   - id: only this one, with its event.
  ///   - forgets: whether that one is kept no longer.
  public func replacedLists(_ id: EventID? = nil, forgets: Bool = false) async throws(Refusal) -> [ReplacedList] {
    let wanted = PlanReplaced(id: id?.description, forget: forgets ? true : nil)
    do throws(Refusal) {
      return try await stream(PlanMethod.replaced, wanted, options: Self.planOptions).collect()
    } catch {
      throw explained(error)
    }
  }

  /// What was published, the newest first.
  ///
  /// - Parameters:
  ///   - states: in one of these; in any when nil.
  ///   - ids: only these.
  ///   - limit: how many at most; 100 unless said.
  ///   - timeoutMilliseconds: how long the answer may take; 30 seconds when nil.
  public func publications(
    in states: [Publication.State]? = nil, ids: [EventID]? = nil, limit: Int? = nil, timeoutMilliseconds: UInt32? = nil
  ) async throws(Refusal) -> [Publication] {
    let wanted = PlanPublications(states: states, ids: ids?.map(\.description), limit: limit)
    do throws(Refusal) {
      let options = RequestOptions.idempotent(ttlMilliseconds: timeoutMilliseconds ?? Self.acceptMilliseconds)
      return try await stream(PlanMethod.publications, wanted, options: options).collect()
    } catch {
      throw explained(error)
    }
  }

  /// Has relays that failed, or were called off, tried again, and those that wait tried now; never those that have it.
  @discardableResult
  public func retryPublication(_ id: EventID, at relay: RelayURL? = nil) async throws(Refusal) -> Publication {
    try await plan(PlanMethod.retry, PlanPublication(id: "\(id)", relay: relay?.text))
  }

  /// Has relays that do not have it yet not tried any more.
  @discardableResult
  public func cancelPublication(_ id: EventID, at relay: RelayURL? = nil) async throws(Refusal) -> Publication {
    try await plan(PlanMethod.cancel, PlanPublication(id: "\(id)", relay: relay?.text))
  }

  /// How an event that was published is doing: as it is at once, then at each change, until its state is final.
  public nonisolated func progress(of id: EventID) -> PublicationProgress { PublicationProgress(client: self, id: id) }

  private static let planOptions = RequestOptions.idempotent(ttlMilliseconds: acceptMilliseconds)

  private func plan<Arguments>(
    _ method: Method<Arguments, Publication>, _ arguments: Arguments, timeoutMilliseconds: UInt32? = nil
  ) async throws(Refusal) -> Publication {
    let options = RequestOptions.idempotent(ttlMilliseconds: timeoutMilliseconds ?? Self.acceptMilliseconds)
    do throws(Refusal) {
      return try await request(method, arguments, options: options)
    } catch {
      throw explained(error)
    }
  }

  /// Says that no planner is configured, if that is what is wrong.
  func explained(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .outboxPlanner, "which asks relays and sends to them")
  }

  /// Says that no worker of a role is configured, if that is what is wrong. One that failed, or was stopped, is no
  /// member either, and the refusal says so itself.
  func explained(_ refusal: Refusal, without role: Role, _ task: String) -> Refusal {
    guard refusal.reason == .notConfigured || refusal.code == .unknownMethod, let members = registry?.members,
      !members.contains(where: { $0.role == role.name })
    else { return refusal }
    var told = refusal
    told.message = "no \(role) runs here, \(task): add [worker.\(role)] to supervisor.conf"
    return told
  }
}

/// How a publication is doing, again and again. Made by ``RoostClient/progress(of:)``.
///
/// Changes that come while nobody reads are given as one. It ends with a final state, or when its task is cancelled;
/// with a `Refusal` `no-such-event` when the event was never published. A planner or a supervisor that is away is
/// waited for.
public struct PublicationProgress: AsyncSequence, Sendable {
  /// The publication.
  public typealias Element = Publication
  /// Why it ended.
  public typealias Failure = Refusal

  let client: RoostClient
  let id: EventID

  /// Begins; the planner is asked when the first item is.
  public func makeAsyncIterator() -> Iterator {
    let wanted = PlanPublication(id: "\(id)")
    return Iterator(
      reader: FollowReader(client, isFinal: \.state.isFinal) { (client) async throws(Refusal) in
        try await client.stream(PlanMethod.follow, wanted)
      })
  }

  /// One reading under way.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<Publication>

    /// The publication when it has changed; nil after a final state, or when the task is cancelled. One reader at a
    /// time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Publication? {
      try await reader.next()
    }
  }
}
