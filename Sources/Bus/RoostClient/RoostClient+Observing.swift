internal import Bus
internal import Clocks
public import Contracts
internal import EventLoop
public import Frames
public import Nostr

// Observing: a sequence that outlives the store and the supervisor.
//
// What: each iterator has one `store.observe` under way. When it is cut off the iterator asks again from where it was
// (`ObservedPlace`), so that its reader sees one sequence without a gap and without repetition. Nothing is read ahead:
// what the reader has not taken waits in the window of the answer, 64 parts or 256 KiB, and beyond that in the store,
// which has it on disk. So a reader may take as long as it likes, and holds back nobody.
//
// Rejected: a queue of events with a bound and a policy for "full". The store is that queue, and forgets nothing.

/// Stored events and those that come, each once. Made by ``RoostClient/observe(_:after:options:)-([Filter],_,_)``.
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
/// Each loop over it is an observation of its own. It ends when the loop is left, or its task cancelled; and with a
/// `Refusal` when the store will not answer: `bad-request` for a filter it does not take, `unknown-seq` when `after` is
/// from another database, `unavailable` and the like when nothing answers for the client's patience at the beginning.
/// Once begun, it waits for a store or a supervisor that is away for as long as that takes.
public struct Observation: AsyncSequence, Sendable {
  /// Events, and the end of what was stored.
  public typealias Element = ObservedItem
  /// Why it ended.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let seq: Int64?
  let options: ObserveOptions

  /// Begins; the store is asked when the first item is.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: ObservationReader(client, filters, after: seq, options))
  }

  /// One observation under way.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: ObservationReader

    /// The next item; nil when the task is cancelled. One reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ObservedItem? {
      try await reader.next()
    }
  }
}

extension RoostClient {
  /// What is stored that any of `filters` matches, newest first, and then what comes.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64. Each may have a `limit`, which is about what is stored.
  ///   - seq: the number of an event, or of the end of what was stored, that the caller has: only what was committed
  ///     after it is given, in that order. A program that keeps the last number it has dealt with misses nothing,
  ///     whatever dies meanwhile.
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
  /// How far relays are with what somebody observes: as it is at once, then at each change, without an end.
  ///
  /// - Parameters:
  ///   - filters: those of the observation.
  ///   - options: the same as there; it goes by filters, policy and relays.
  public nonisolated func fetchProgress(
    of filters: [Filter], options: ObserveOptions = ObserveOptions()
  ) -> FetchProgress {
    FetchProgress(client: self, filters: filters, options: options)
  }
}

/// How far relays are with what is observed, again and again. Made by ``RoostClient/fetchProgress(of:options:)``.
///
/// Changes that come while nobody reads are given as one. It ends when its task is cancelled, and with a `Refusal` when
/// the planner will not answer, or none is there. Until the observation has begun, `isObserved` is false.
public struct FetchProgress: AsyncSequence, Sendable {
  /// How far each relay is.
  public typealias Element = ObserveProgress
  /// Why it ended.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let options: ObserveOptions

  /// Begins; the planner is asked when the first item is.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      reader: FollowReader(client, isFinal: { _ in false }) { [filters, options] (client) async throws(Refusal) in
        try await client.stream(PlanMethod.progress, StoreObserve(try filters.payload(), afterSeq: nil, options))
      })
  }

  /// One reading under way.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<ObserveProgress>

    /// The progress when it has changed; nil when the task is cancelled. One reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ObserveProgress? {
      try await reader.next()
    }
  }
}

/// One observation: asks, reads, and asks again.
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
  /// The filters as they stand in a request.
  func payload() throws(Refusal) -> [JSONValue] {
    var values: [JSONValue] = []
    for filter in self { values.append(try JSONPayload.decode(JSONValue.self, from: filter.json)) }
    return values
  }
}
