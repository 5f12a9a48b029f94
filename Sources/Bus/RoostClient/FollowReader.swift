internal import Contracts
internal import EventLoop
internal import Frames

/// Reads the values that a worker sends at each change: it sends the request, reads the answer, and repeats the request
/// after an interruption. A repeated value is returned once. It waits for a worker or a supervisor that is away.
@EventLoopActor
final class FollowReader<Value: Payload & Equatable> {
  private let client: RoostClient
  private let ask: @EventLoopActor (RoostClient) async throws(Refusal) -> RoostStream<Value, Nothing>
  private let isFinal: @Sendable (Value) -> Bool
  private let explain: @EventLoopActor (RoostClient, Refusal) -> Refusal
  private var last: Value?
  private var answer: RoostStream<Value, Nothing>?
  private var perseverance = Perseverance(isLasting: true)

  /// - Parameters:
  ///   - ask: sends the request whose parts are read.
  ///   - isFinal: whether no value follows this one.
  ///   - explain: describes an error in terms of the caller.
  nonisolated init(
    _ client: RoostClient, isFinal: @escaping @Sendable (Value) -> Bool,
    explain: @escaping @EventLoopActor (RoostClient, Refusal) -> Refusal = { $0.explained($1) },
    ask: @escaping @EventLoopActor (RoostClient) async throws(Refusal) -> RoostStream<Value, Nothing>
  ) {
    self.client = client
    self.ask = ask
    self.isFinal = isFinal
    self.explain = explain
  }

  /// The next value that differs from the one before; nil after a final one, and when the task is cancelled.
  func next() async throws(Refusal) -> Value? {
    while !Task.isCancelled, last.map(isFinal) != true {
      do throws(Refusal) {
        if answer == nil { answer = try await ask(client) }
        guard let value = try await answer?.nextPart() else {
          throw Refusal(.unavailable, "the worker ended the answer", outcome: .done)
        }
        perseverance.moved()
        if value == last { continue }
        last = value
        return value
      } catch {
        answer = nil
        if Task.isCancelled { return nil }
        perseverance = try await client.persevere(after: explain(client, error), perseverance)
      }
    }
    answer = nil
    return nil
  }
}
