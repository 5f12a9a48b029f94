internal import Bus
internal import Contracts
internal import EventLoop
public import Frames
internal import Nostr

/// What is stored, newest first, of one second the lowest id first, each event once. Made by
/// ``RoostClient/events(matching:limit:behind:)``.
///
/// Events are read from the store as the loop takes them: a million of them need no more memory than a few. A lost
/// connection or a restarted store is waited for, as long as the client's patience, and the sequence continues where it
/// was. It ends with a `Refusal` when the store will not answer, and early when the loop is left or its task cancelled.
public struct EventSequence: AsyncSequence, Sendable {
  /// Events with the bytes that were signed.
  public typealias Element = ReceivedEvent
  /// Why it ended before its end.
  public typealias Failure = Refusal

  let client: RoostClient
  let filters: [Filter]
  let limit: Int?
  let last: Event?

  /// Begins; the store is asked when the first event is.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: EventReader(client, filters, limit: limit, behind: last))
  }

  /// One query under way.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: EventReader

    /// The next event; nil at the end, and when the task is cancelled. One reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> ReceivedEvent? {
      try await reader.next()
    }
  }
}

/// One query: asks, reads, and asks for the rest.
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
        .badRequest, "a filter with a limit cannot go on behind an event: nobody knows how much of it was used",
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
