public import Bus
public import Contracts
public import EventLoop
public import Frames

/// One request whose caller receives a value repeatedly: immediately, then at each change. Changes while the caller
/// takes no parts are merged into one.
@EventLoopActor
public final class ChangeFollower<Value: Payload & Equatable> {
  /// The maximum number of followers of all callers of a worker.
  public nonisolated static var maximum: Int { 1_024 }

  private let request: BusRequest
  private var hasChanged = true
  private var ending: Refusal?
  private var sleeper: CheckedContinuation<Void, Never>?

  /// Follows for the caller of a request, until it cancels.
  public init(_ request: BusRequest) {
    self.request = request
    request.onCancel = { [weak self] in
      self?.end(Refusal(.cancelled, "cancelled by the caller", outcome: .done))
    }
  }

  /// The followed value may have changed.
  public func changed() {
    hasChanged = true
    wake()
  }

  /// Ends it with this refusal, for example when the worker is about to end; the caller then sends the request again.
  public func end(_ refusal: Refusal) {
    if ending == nil { ending = refusal }
    wake()
  }

  /// Sends the followed value whenever it differs from the last one sent, until a final value.
  ///
  /// - Parameters:
  ///   - isFinal: whether no value follows this one.
  ///   - look: reads the present value.
  /// - Throws: what `look` throws, and the refusal of an ``end(_:)``.
  public func run(
    until isFinal: (Value) -> Bool,
    _ look: @EventLoopActor () async throws(Refusal) -> Value
  ) async throws(Refusal) {
    var last: Value?
    while true {
      if let ending { throw ending }
      guard hasChanged else {
        await withCheckedContinuation { sleeper = $0 }
        continue
      }
      hasChanged = false
      let now = try await look()
      if now != last { try await request.send(part: BusPayload(now)) }
      last = now
      if isFinal(now) { return }
    }
  }

  private func wake() {
    sleeper?.resume()
    sleeper = nil
  }
}
