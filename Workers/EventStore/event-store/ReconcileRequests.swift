import Bus
import Contracts
import EventLoop
import Frames
import Reconciliation

/// The requests of reconciliations that are open, each as long as its session: they end when their caller cancels them,
/// when no message comes for too long, or with the store.
@EventLoopActor
final class ReconcileRequests {
  /// The sessions and their bounds.
  var sessions: ReconcileSessions
  /// Called with the number of each session that ends.
  var onEnd: (@EventLoopActor (UInt64) -> Void)?
  private var requests: [UInt64: BusRequest] = [:]
  /// Ends idle sessions.
  private let timer = LoopTimer()

  static let cancelled = Refusal(.cancelled, "cancelled by the caller", outcome: .done)
  static let stopping = Refusal(
    .unavailable, "the event store is stopping", outcome: .done, retryAfterMilliseconds: fullRetryMilliseconds)
  /// When another attempt may find room.
  static let fullRetryMilliseconds: UInt32 = 5_000

  init(_ limits: ReconcileSessions.Limits) { sessions = ReconcileSessions(limits: limits) }

  /// The request of a session; nil when it has ended.
  subscript(_ number: UInt64) -> BusRequest? { requests[number] }

  /// A session's records are read: from now on it takes messages.
  func opened(_ number: UInt64, _ request: BusRequest) {
    requests[number] = request
    request.onCancel = { [unowned self] in end(number, Self.cancelled) }
    setIdleTimer()
  }

  /// Ends a session, and refuses its request.
  func end(_ number: UInt64, _ refusal: Refusal) {
    let request = requests[number]
    forget(number)
    request?.refuse(refusal)
  }

  /// Ends a session whose request is answered elsewhere.
  func forget(_ number: UInt64) {
    requests[number] = nil
    sessions.end(number)
    onEnd?(number)
  }

  /// The store is to finish.
  func drain() {
    for number in sessions.numbers { end(number, Self.stopping) }
  }

  private func setIdleTimer() {
    guard !timer.isSet, let deadline = sessions.nextDeadline else { return }
    timer.set(at: deadline) { [unowned self] in
      let seconds = sessions.limits.idleMilliseconds / 1_000
      for number in sessions.idle(now: EventLoop.process.now) {
        end(number, Refusal(.idle, "no message has come for \(seconds) s", outcome: .done))
      }
      setIdleTimer()
    }
  }

  /// Reads a message of the other side.
  ///
  /// - Throws: `bad-payload` when it is too long or cannot be read.
  static func read<Result>(
    _ message: [UInt8], _ body: ([UInt8]) throws(ReconcileFault) -> Result
  ) throws(Refusal) -> Result {
    guard message.count <= ReconcileOpen.messageByteMaximum else {
      throw Refusal(
        .badPayload, "the message has \(message.count) bytes; \(ReconcileOpen.messageByteMaximum) are taken at most",
        outcome: .notStarted)
    }
    do throws(ReconcileFault) { return try body(message) } catch {
      throw Refusal(.badPayload, "the message cannot be read: \(error)", outcome: .notStarted)
    }
  }
}
