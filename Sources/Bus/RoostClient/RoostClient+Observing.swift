internal import Bus
internal import Clocks
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// Observing: a sequence that survives restarts of the store and the supervisor.
//
// Each iterator has one `store.observe` under way. When it is interrupted, the iterator sends the request again from
// its position (`ObservedPlace`), so that its reader sees one sequence without gaps or repetitions. Nothing is read
// ahead: unread events wait in the window of the answer, 64 parts or 256 KiB, and beyond that in the store, which has
// them on disk. So a reader may be slow, and delays no other program.
//
// Rejected: a bounded queue of events with a policy for "full". The store is that queue, and loses nothing.

/// Stored events and new ones, each once. Made by ``RoostClient/observe(_:after:options:)-([Filter],_,_)``.
///
/// ```swift
/// for try await item in roost.observe([Filter(kinds: [1], limit: 20)]) {
///   switch item {
///   case .event(let received): print(received.event.content)
///   case .storedEnd: print("-- new from here on --")
///   }
/// }
/// ```
///
/// Each loop over it is an observation of its own. It ends when the loop ends, or when its task is cancelled, and with
/// a `Refusal` when the store refuses: `bad-request` for an invalid filter, `unknown-seq` when `after` is from another
/// database, `unavailable` and similar codes when no store answers within the client's patience at the start. Once it
/// has begun, it waits without a time limit for a store or a supervisor that is away.
public struct Observation: AsyncSequence, Sendable {
  /// Events, and the end of the stored ones.
  public typealias Element = ObservedItem
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let seq: Int64?
  let options: ObserveOptions

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: ObservationReader(client, filters, after: seq, options))
  }

  /// One observation.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: ObservationReader

    /// The next item; nil when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ObservedItem? {
      try await reader.next()
    }
  }
}

extension RoostClient {
  /// The stored events that any of `filters` matches, newest first, and then new ones.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64. Each may have a `limit`, which applies to stored events.
  ///   - seq: the seq of the last event, or of the end of stored events, that the caller has: only events committed
  ///     after it are returned, in that order. A program that keeps the last seq it has handled misses nothing,
  ///     whatever process dies meanwhile.
  ///   - options: where events come from, and from which relays.
  public nonisolated func observe(
    _ filters: [Filter], after seq: Int64? = nil, options: ObserveOptions = ObserveOptions()
  ) -> Observation {
    Observation(client: self, filters: filters, seq: seq, options: options)
  }

  /// The same for one filter.
  public nonisolated func observe(
    _ filter: Filter, after seq: Int64? = nil, options: ObserveOptions = ObserveOptions()
  ) -> Observation {
    observe([filter], after: seq, options: options)
  }
}

extension RoostClient {
  /// How far relays are with an observation: immediately, then at each change, without an end.
  ///
  /// - Parameters:
  ///   - filters: those of the observation.
  ///   - options: those of the observation; only policy and relays count.
  public nonisolated func fetchProgress(
    of filters: [Filter], options: ObserveOptions = ObserveOptions()
  ) -> FetchProgress {
    FetchProgress(client: self, filters: filters, options: options)
  }
}

/// How far relays are with an observation, over time. Made by ``RoostClient/fetchProgress(of:options:)``.
///
/// Several changes between two reads are returned as one. It ends when its task is cancelled, and with a `Refusal` when
/// the planner refuses, or when there is no planner. Until the observation has begun, `isObserved` is false.
public struct FetchProgress: AsyncSequence, Sendable {
  /// The progress at each relay.
  public typealias Element = ObserveProgress
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let options: ObserveOptions

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      reader: FollowReader(client, isFinal: { _ in false }) { [filters, options] (client) async throws(Refusal) in
        try await client.stream(PlanMethod.progress, StoreObserve(try filters.payload(), afterSeq: nil, options))
      })
  }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<ObserveProgress>

    /// The progress when it has changed; nil when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ObserveProgress? {
      try await reader.next()
    }
  }
}

/// One observation: it sends the request, reads the answer, and repeats the request after an interruption.
@EventLoopActor
final class ObservationReader {
  private let client: RoostClient
  private let filters: [Filter]
  private let options: ObserveOptions
  private var place: ObservedPlace
  private var answer: RoostStream<ObservedEvents, Nothing>?
  private var perseverance = Perseverance(isLasting: true)

  nonisolated init(_ client: RoostClient, _ filters: [Filter], after seq: Int64?, _ options: ObserveOptions) {
    self.client = client
    self.filters = filters
    self.options = options
    place = ObservedPlace(after: seq)
  }

  func next() async throws(Refusal) -> ObservedItem? {
    while !Task.isCancelled {
      do throws(Refusal) {
        let item = try await nextOfAnswer()
        perseverance.moved()
        if place.isNew(item) { return item }
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: error, perseverance)
      }
    }
    return nil
  }

  private func nextOfAnswer() async throws(Refusal) -> ObservedItem {
    if answer == nil {
      let arguments = StoreObserve(try filters.payload(), afterSeq: place.resumeSeq, options)
      answer = try await client.stream(StoreMethod.observe, arguments)
    }
    guard let part = try await answer?.nextPart() else {
      throw Refusal(.unavailable, "the store ended the observation", outcome: .done)
    }
    return try ObservedItem(part: part.bytes)
  }
}

extension [Filter] {
  /// The filters in the form of a request.
  func payload() throws(Refusal) -> [JSONValue] {
    var values: [JSONValue] = []
    for filter in self { values.append(try JSONPayload.decode(JSONValue.self, from: filter.json)) }
    return values
  }
}
