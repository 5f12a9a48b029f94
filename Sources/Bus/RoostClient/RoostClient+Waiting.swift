public import Addresses
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// Waiting for relays: that so many have an event, or that so many have sent what they have. When the time is over, the
// answer says which relays did and which did not, and nothing is lost: an accepted event stays in the queue.

/// What became of a publication within the time that the caller waited.
public struct AwaitedPublication: Sendable, Hashable {
  /// The publication as it was then; the planner keeps trying those relays that wait.
  public let publication: Publication
  /// How many relays were to have it.
  public let wanted: Int
  /// Relays that have it.
  public var having: [PublicationTarget] { publication.targets.filter { $0.state == .confirmed } }
  /// Relays that do not, and why; `PublicationTarget.state` says whether they are still tried.
  public var lacking: [PublicationTarget] { publication.targets.filter { $0.state != .confirmed } }
  /// Whether enough relays have it.
  public var isEnough: Bool { having.count >= wanted }
}

/// What relays have sent within the time that the caller waited.
public struct AwaitedFetch: Sendable {
  /// Stored events that match, newest first, whichever relay they are from.
  public let events: [Event]
  /// The relays that were asked, and how far each is.
  public let relays: [ObserveProgress.Relay]
  /// How many relays were to send all that they have.
  public let wanted: Int
  /// Relays that have sent all that they have.
  public var answered: [ObserveProgress.Relay] { relays.filter { $0.state == .stored } }
  /// Relays that have not.
  public var silent: [ObserveProgress.Relay] { relays.filter { $0.state != .stored } }
  /// Whether enough relays have answered.
  public var isEnough: Bool { answered.count >= wanted }
}

extension RoostClient {
  /// The longest wait for relays, in milliseconds: an hour.
  public nonisolated static let waitMillisecondsMaximum: UInt64 = 3_600_000
  /// How long relays are waited for unless the caller says it, in milliseconds.
  public nonisolated static let waitMillisecondsStandard: UInt64 = 30_000

  /// Waits until so many relays have a published event, until no further one will have it, or until the time is over.
  ///
  /// - Parameters:
  ///   - id: the event, which ``publish(_:to:expiresAfterSeconds:replaces:)`` has accepted.
  ///   - count: how many relays, from 1.
  ///   - milliseconds: how long, up to ``waitMillisecondsMaximum``.
  /// - Throws: `no-such-event` when it was never published; `cancelled` when the task is.
  public func wait(
    for id: EventID, atLeast count: Int, withinMilliseconds milliseconds: UInt64 = waitMillisecondsStandard
  ) async throws(Refusal) -> AwaitedPublication {
    let latest = Latest<Publication>()
    let states = progress(of: id)
    try await limited(milliseconds) { () async throws(Refusal) in
      for try await publication in states {
        latest.value = publication
        if publication.targets.count(where: { $0.state == .confirmed }) >= count { return }
      }
    }
    if let publication = latest.value { return AwaitedPublication(publication: publication, wanted: count) }
    guard let publication = try await publications(ids: [id], limit: 1).first else {
      throw Refusal(.noSuchEvent, "\(id) was never accepted for publishing, or is forgotten", outcome: .notStarted)
    }
    return AwaitedPublication(publication: publication, wanted: count)
  }

  /// Publishes an event, and waits until so many relays have it. When it throws, nothing was accepted, or the refusal's
  /// outcome is `unknown`; when the time is over, it returns.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - relays: only these relays; the planner chooses when nil.
  ///   - count: how many relays are to have it, from 1.
  ///   - milliseconds: how long they are waited for.
  public func publish(
    _ event: Event, to relays: [RelayURL]? = nil, untilAtLeast count: Int,
    withinMilliseconds milliseconds: UInt64 = waitMillisecondsStandard
  ) async throws(Refusal) -> AwaitedPublication {
    let publication = try await publish(event, to: relays)
    do throws(Refusal) { return try await wait(for: event.id, atLeast: count, withinMilliseconds: milliseconds) } catch
    {
      // It is accepted: what keeps this client from following it is no refusal of the event.
      if Task.isCancelled { throw error }
      return AwaitedPublication(publication: publication, wanted: count)
    }
  }

  /// Signs a draft, publishes it, and waits as above.
  public func publish(
    _ draft: EventDraft, as account: String? = nil, to relays: [RelayURL]? = nil, untilAtLeast count: Int,
    withinMilliseconds milliseconds: UInt64 = waitMillisecondsStandard
  ) async throws(Refusal) -> (event: Event, awaited: AwaitedPublication) {
    let event = try await sign(draft, as: account)
    return (event, try await publish(event, to: relays, untilAtLeast: count, withinMilliseconds: milliseconds))
  }

  /// Has relays asked for stored events, and waits until so many have sent all that they have (EOSE, committed by the
  /// store), until no further one will, or until the time is over. What is on its way then is still stored.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64; the newest events of each filter's `limit`, or all since its `since`.
  ///   - count: how many relays, from 1.
  ///   - milliseconds: how long, up to ``waitMillisecondsMaximum``.
  ///   - relays: only these relays; the planner chooses when nil.
  /// - Throws: as ``query(_:limit:)-([Filter],_)``; `full` when too many wishes are under way.
  public func fetch(
    _ filters: [Filter], fromAtLeast count: Int = 1,
    withinMilliseconds milliseconds: UInt64 = waitMillisecondsStandard, relays: [RelayURL]? = nil
  ) async throws(Refusal) -> AwaitedFetch {
    var wanted = PlanWant(filters: try filters.payload(), depth: .newest, urgency: .lookUp)
    wanted.relays = relays?.map(\.text)
    wanted.exclusiveRelays = relays == nil ? nil : true
    wanted.seconds = Int(min(milliseconds, Self.waitMillisecondsMaximum) / 1_000) + 1
    let latest = Latest<[ObserveProgress.Relay]>()
    do throws(Refusal) {
      try await limited(milliseconds) { [wanted] () async throws(Refusal) in
        // Left early, the wish is cancelled with its answer.
        let answer = try await self.stream(PlanMethod.want, wanted)
        while let item = try await answer.next() {
          switch item {
          case .part(let progress): latest.value = progress.relays
          case .end(let end): latest.value = end.relays
          }
          if latest.value?.count(where: { $0.state == .stored }) ?? 0 >= count { return }
        }
      }
    } catch {
      throw explained(error)
    }
    return AwaitedFetch(events: try await query(filters), relays: latest.value ?? [], wanted: count)
  }

  /// Runs `body` for at most so long: then its task is cancelled, and what it throws because of that is dropped.
  ///
  /// - Throws: what `body` throws; `cancelled` when the caller's task is.
  private func limited(
    _ milliseconds: UInt64, _ body: @escaping @EventLoopActor () async throws(Refusal) -> Void
  ) async throws(Refusal) {
    let work = EventLoopActor.task { () async -> Refusal? in
      do throws(Refusal) {
        try await body()
        return nil
      } catch { return error }
    }
    let timer = LoopTimer()
    let isOver = Latest<Bool>()
    timer.set(afterMilliseconds: min(milliseconds, Self.waitMillisecondsMaximum)) {
      isOver.value = true
      work.cancel()
    }
    let refusal = await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
    timer.cancel()
    if Task.isCancelled { throw Refusal(.cancelled, "the caller wants no more", outcome: .unknown) }
    if let refusal, isOver.value != true { throw refusal }
  }
}

/// The last value that a task has seen.
@EventLoopActor
private final class Latest<Value: Sendable> {
  var value: Value?
}
