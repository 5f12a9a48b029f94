internal import Clocks
internal import EventLoop

/// Performs an ``AddressRace``. Use it once.
@EventLoopActor
final class AddressDialler {
  private var race: AddressRace
  private let objection: @EventLoopActor (ByteStream) -> AddressRace.Failure?
  private var attempts: [Int: Task<Void, Never>] = [:]
  private var streams: [Int: ByteStream] = [:]
  private let timer = LoopTimer()
  private var outcome: CheckedContinuation<ByteStream?, Never>?

  /// - Parameter objection: why a connection is unwanted, before a byte is sent; nil if it may be used.
  init(_ race: AddressRace, objection: @escaping @EventLoopActor (ByteStream) -> AddressRace.Failure?) {
    self.race = race
    self.objection = objection
  }

  /// The first connection that is wanted. The caller owns and closes it.
  ///
  /// - Throws: the fault of the whole race; `cancelled` at once if the task is cancelled.
  func winner(_ endpoint: String) async throws(WebSocketFault) -> ByteStream {
    let stream = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        outcome = continuation
        perform(race.started(at: EventLoop.process.now))
      }
    } onCancel: {
      EventLoopActor.task { self.end(nil) }
    }
    // A cancelled task does not use a connection that was made in the same turn.
    if Task.isCancelled {
      stream?.close()
      throw WebSocketFault(.cancelled, endpoint: endpoint, detail: "given up while connecting")
    }
    guard let stream else { throw race.fault(endpoint) }
    return stream
  }

  private func perform(_ actions: [AddressRace.Action]) {
    for action in actions {
      switch action {
      case .dial(let index): dial(index)
      case .abandon(let index): attempts.removeValue(forKey: index)?.cancel()
      case .setTimer(let instant):
        timer.set(at: instant) { [unowned self] in perform(race.timerFired(at: EventLoop.process.now)) }
      case .win(let index): end(streams.removeValue(forKey: index))
      case .lose: end(nil)
      }
    }
  }

  private func dial(_ index: Int) {
    let (address, deadline) = (race.addresses[index], race.end)
    attempts[index] = EventLoopActor.task { [self] in
      if Task.isCancelled { return }
      do throws(LoopFault) {
        connected(index, try await ByteStream.connect(to: address, deadline: deadline))
      } catch {
        guard attempts.removeValue(forKey: index) != nil else { return }
        let failure = AddressRace.Failure(code: .unreachable, detail: error.description, cause: error)
        perform(race.failed(index, failure, at: EventLoop.process.now))
      }
    }
  }

  private func connected(_ index: Int, _ stream: ByteStream) {
    // An attempt that was given up may have succeeded in the same turn.
    guard attempts.removeValue(forKey: index) != nil else {
      stream.close()
      return
    }
    if let failure = objection(stream) {
      stream.close()
      perform(race.failed(index, failure, at: EventLoop.process.now))
    } else {
      streams[index] = stream
      perform(race.connected(index))
    }
  }

  private func end(_ stream: ByteStream?) {
    guard let outcome else { return }
    self.outcome = nil
    timer.cancel()
    for attempt in attempts.values { attempt.cancel() }
    attempts = [:]
    outcome.resume(returning: stream)
  }
}
