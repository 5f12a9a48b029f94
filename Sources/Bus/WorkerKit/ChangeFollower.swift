public import Bus
public import Contracts
public import EventLoop
public import Frames

/// One request under way whose caller is told of something again and again: as it is at once, then at each change.
/// Changes that come while the caller takes nothing are one change.
@EventLoopActor
public final class ChangeFollower<Value: Payload & Equatable> {
  /// Followers of all callers that a worker has at once.
  public nonisolated static var maximum: Int { 1_024 }

  private let request: BusRequest
  private var hasChanged = true
  private var ending: Refusal?
  private var sleeper: CheckedContinuation<Void, Never>?

  /// Follows for the caller of a request, until he cancels it.
  public init(_ request: BusRequest) {
    self.request = request
    request.onCancel = { [weak self] in
      self?.end(Refusal(.cancelled, "cancelled by the caller", outcome: .done))
    }
  }

  /// What is followed may have changed.
  public func changed() {
    hasChanged = true
    wake()
  }

  /// Ends it with this answer, such as that of a worker about to end: the caller comes again.
  public func end(_ refusal: Refusal) {
    if ending == nil { ending = refusal }
    wake()
  }

  /// Sends what is followed whenever it is other than it was sent last, until it has come to its end.
  ///
  /// - Parameters:
  ///   - isFinal: whether nothing comes after a value.
  ///   - look: what is followed as it is now.
  /// - Throws: what `look` throws, and the reason of an ``end(_:)``.
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
