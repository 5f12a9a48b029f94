internal import Bus
internal import Contracts
internal import EventLoop
public import Frames
internal import Nostr

/// Stored events, newest first, and within one second the lowest id first; each event once. Made by
/// ``RoostClient/events(matching:limit:behind:)``.
///
/// Events are read from the store as the loop consumes them: a million events need no more memory than a few. After a
/// lost connection or a restart of the store the sequence waits, as long as the client's patience, and continues where
/// it was. It ends with a `Refusal` when the store refuses, and early when the loop ends or its task is cancelled.
public struct EventSequence: AsyncSequence, Sendable {
  /// Events with the bytes that were signed.
  public typealias Element = ReceivedEvent
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let limit: Int?
  let last: Event?

  /// Starts an iteration; the first call of `next` sends the query.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: EventReader(client, filters, limit: limit, behind: last))
  }

  /// One query.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: EventReader

    /// The next event; nil at the end, and when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ReceivedEvent? {
      try await reader.next()
    }
  }
}

/// One query: it sends the request, reads the answer, and requests the rest after an interruption.
@EventLoopActor
final class EventReader {
  private let client: RoostClient
  private let isPossible: Bool
  private var place: QueryPlace
  private var answer: RoostStream<QueriedEvents, StoreCount>?
  private var perseverance = Perseverance(isLasting: false)
  private var isOver = false

  nonisolated init(_ client: RoostClient, _ filters: [Filter], limit: Int?, behind last: Event?) {
    self.client = client
    isPossible = last == nil || !filters.contains { $0.limit != nil }
    place = QueryPlace(filters, limit: limit, behind: last)
  }

  func next() async throws(Refusal) -> ReceivedEvent? {
    guard isPossible else {
      throw Refusal(
        .badRequest,
        "a filter with a limit cannot continue after an event: how much of the limit was used is not known",
        outcome: .notStarted)
    }
    while !isOver, !place.isComplete, !Task.isCancelled {
      do throws(Refusal) {
        guard let event = try await nextOfAnswer() else {
          isOver = true
          return nil
        }
        perseverance.moved()
        if place.isNew(event) { return event }
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: error, perseverance)
      }
    }
    return nil
  }

  private func nextOfAnswer() async throws(Refusal) -> ReceivedEvent? {
    if answer == nil {
      let arguments = StoreQuery(filters: try place.nextFilters.payload(), limit: place.nextLimit)
      answer = try await client.stream(StoreMethod.query, arguments, options: .idempotent())
    }
    guard let part = try await answer?.nextPart() else { return nil }
    return try ReceivedEvent(json: part.bytes)
  }
}
