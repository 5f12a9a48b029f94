public import Addresses
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// Publishing: the application hands over an event once, and the event reaches its relays whatever happens afterwards.
//
// When `publish` returns, outbox-planner has the event on disk and the event store has verified it. From then on the
// planner sends it, for days if necessary. An application may follow the progress, and may stop at any time.

extension RoostClient {
  /// How long the acceptance of an event may take, in milliseconds.
  static let acceptMilliseconds: UInt32 = 30_000

  /// Publishes a signed event. When this returns, the event is on disk, stored, and on its way; a repeated call with
  /// the same event has the same outcome and sends nothing twice.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - relays: only these relays, at most `PlanPublish.relayMaximum`; the planner chooses when nil. For an event that
  ///     was published before, relays that are new to it are added.
  ///   - expiresAfterSeconds: when relays that have not accepted it are given up; the configured value when nil.
  ///   - replaces: whether it is intended that a profile or a list loses entries of the version before.
  /// - Throws: `no-relays` with the reason; `would-replace` with the number of entries; `invalid`, `superseded`,
  ///   `deleted`, `expired-event`, `disk-full`; `unavailable` when no outbox-planner runs (``store(_:)`` needs none).
  ///   After `outcome` `unknown` the caller may publish it again.
  @discardableResult
  public func publish(
    _ event: Event, to relays: [RelayURL]? = nil, expiresAfterSeconds: Int64? = nil, replaces: Bool = false
  ) async throws(Refusal) -> Publication {
    try await publish(json: event.json, to: relays, expiresAfterSeconds: expiresAfterSeconds, replaces: replaces)
  }

  /// The same for an event's bytes.
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

  /// Versions of lists, including profiles, that were kept because the next version had lost entries; the newest first.
  ///
  /// - Parameters:
  ///   - id: only this version, with its event.
  ///   - forgets: whether the planner forgets that version.
  public func replacedLists(_ id: EventID? = nil, forgets: Bool = false) async throws(Refusal) -> [ReplacedList] {
    let wanted = PlanReplaced(id: id?.description, forget: forgets ? true : nil)
    do throws(Refusal) {
      return try await stream(PlanMethod.replaced, wanted, options: Self.planOptions).collect()
    } catch {
      throw explained(error)
    }
  }

  /// Publications, the newest first.
  ///
  /// - Parameters:
  ///   - states: only publications in one of these states; all when nil.
  ///   - ids: only these events.
  ///   - limit: the maximum number; default 100.
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

  /// Publications that still wait for a relay, the oldest first.
  ///
  /// - Parameters:
  ///   - seconds: only those that were accepted at least so long ago.
  ///   - limit: the maximum number; default 100.
  public func unsent(olderThanSeconds seconds: Int64 = 0, limit: Int? = nil) async throws(Refusal) -> [Publication] {
    let wanted = PlanPublications(limit: limit, olderThan: seconds)
    do throws(Refusal) {
      return try await stream(PlanMethod.publications, wanted, options: Self.planOptions).collect()
    } catch {
      throw explained(error)
    }
  }

  /// Sends at once what waits for relays, of all publications that were accepted at least so long ago and have not
  /// ended; never to relays that have the event.
  ///
  /// - Parameters:
  ///   - seconds: the least age; 0: all.
  ///   - withFailed: whether relays of them that were given up or cancelled are tried again too.
  @discardableResult
  public func retryUnsent(
    olderThanSeconds seconds: Int64, withFailed: Bool = false
  ) async throws(Refusal) -> RetriedPublications {
    let wanted = PlanRetryUnsent(olderThan: seconds, withFailed: withFailed ? true : nil)
    do throws(Refusal) {
      return try await request(PlanMethod.retryUnsent, wanted, options: Self.planOptions)
    } catch {
      throw explained(error)
    }
  }

  /// Sends again to relays that failed or were cancelled, and now to those that wait; never to those that have the
  /// event.
  @discardableResult
  public func retryPublication(_ id: EventID, at relay: RelayURL? = nil) async throws(Refusal) -> Publication {
    try await plan(PlanMethod.retry, PlanPublication(id: "\(id)", relay: relay?.text))
  }

  /// Stops the attempts at relays that do not have the event yet.
  @discardableResult
  public func cancelPublication(_ id: EventID, at relay: RelayURL? = nil) async throws(Refusal) -> Publication {
    try await plan(PlanMethod.cancel, PlanPublication(id: "\(id)", relay: relay?.text))
  }

  /// The state of a publication: immediately, then at each change, until the state is final.
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

  /// Explains a refusal that means that no planner is configured.
  func explained(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .outboxPlanner, "which asks relays and sends to them")
  }

  /// Explains a refusal that means that no worker of a role is configured. A worker that failed or was stopped is not a
  /// member either, but then the refusal itself says so.
  func explained(_ refusal: Refusal, without role: Role, _ task: String) -> Refusal {
    guard refusal.reason == .notConfigured || refusal.code == .unknownMethod, let members = registry?.members,
      !members.contains(where: { $0.role == role.name })
    else { return refusal }
    var told = refusal
    told.message = "no \(role) runs here, \(task): add [worker.\(role)] to supervisor.conf"
    return told
  }
}

/// The states of a publication over time. Made by ``RoostClient/progress(of:)``.
///
/// Several changes between two reads are returned as one. It ends with a final state, or when its task is cancelled;
/// with a `Refusal` `no-such-event` when the event was never published. It waits for a planner or a supervisor that is
/// away.
public struct PublicationProgress: AsyncSequence, Sendable {
  /// The publication.
  public typealias Element = Publication
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let id: EventID

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator {
    let wanted = PlanPublication(id: "\(id)")
    return Iterator(
      reader: FollowReader(client, isFinal: \.state.isFinal) { (client) async throws(Refusal) in
        try await client.stream(PlanMethod.follow, wanted)
      })
  }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<Publication>

    /// The publication when it has changed; nil after a final state, or when the task is cancelled. Only one reader at
    /// a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Publication? {
      try await reader.next()
    }
  }
}
