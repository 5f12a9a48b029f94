import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import RelaySession
import RelaySubscriptions
import WorkerKit

/// One `relay.request` under way. Events go to the caller as they come. When the caller has no room, they wait here,
/// and the relay is held back. The end waits behind them.
@EventLoopActor
final class RequestInFlight {
  let link: RelayLink
  let question: SubscriptionFilters
  /// Whether only others name the relay.
  let isForeign: Bool
  /// The stored events in pages, with `all`.
  var drain: Drain?
  /// The requests of the pages under way.
  var pages: [RequestKey: (page: Drain.Page, question: SubscriptionFilters)] = [:]
  /// The trace of the caller's request.
  var trace: UInt64 { request.trace }
  /// Whether its time in all is over.
  var isLate: Bool { EventLoop.process.now >= totalEnd }
  /// The number of events passed on, or waiting to be.
  private(set) var count = 0

  private let request: BusRequest
  private let key: RequestKey
  private let limit: Int?
  private let onTurn: @EventLoopActor (Bool) -> Void
  private var waiting: [[UInt8]] = []
  private var isSending = false
  /// Until when the relay may take in all; it moves by the time that the caller took.
  private var totalEnd: Instant
  private var callersTurn: Instant?
  private var ending: Result<RelayRequestResult, Refusal>?

  /// `onTurn(true)` says that the relay is to send, `onTurn(false)` that the caller is to read.
  init(
    _ request: BusRequest, link: RelayLink, key: RequestKey, _ question: SubscriptionFilters, limit: Int?,
    isForeign: Bool, totalMilliseconds: UInt64, onTurn: @escaping @EventLoopActor (Bool) -> Void
  ) {
    self.request = request
    self.link = link
    self.key = key
    self.question = question
    self.limit = limit
    self.isForeign = isForeign
    self.onTurn = onTurn
    totalEnd = EventLoop.process.now.advanced(milliseconds: totalMilliseconds)
  }

  /// Whether the caller's limit is reached.
  var hasEnough: Bool { limit.map { count >= $0 } ?? false }

  /// The relay's deadline, if it may be silent until `silenceEnd`. No deadline while the caller takes nothing,
  /// because the relay does not cause that delay.
  func deadline(isRelaysTurn: Bool, silenceEnd: Instant) -> Instant {
    let now = EventLoop.process.now
    guard isRelaysTurn else {
      if callersTurn == nil { callersTurn = now }
      return Instant(nanoseconds: .max)
    }
    if let since = callersTurn { totalEnd = totalEnd.advanced(milliseconds: now.milliseconds(since: since)) }
    callersTurn = nil
    return min(totalEnd, silenceEnd)
  }

  /// Passes an event on, unless the limit was reached before it.
  func deliver(_ event: [UInt8]) {
    if hasEnough { return }
    count += 1
    if waiting.isEmpty, !isSending, request.sendNow(part: BusPayload(event)) { return }
    waiting.append(event)
    guard !isSending else { return }
    isSending = true
    // From here the relay is held back, so no more events can gather than one read of the socket brought.
    link.hold()
    onTurn(false)
    EventLoopActor.task { [self] in await sendWaiting() }
  }

  /// Passes a NOTICE of the relay to the caller at once; it may be about this request.
  func remark(_ text: String) { request.progress(BusPayload(json: StatusReport(text: text))) }

  /// Ends the answer, after the events that still wait.
  func end(_ result: Result<RelayRequestResult, Refusal>) {
    guard ending == nil else { return }
    ending = result
    request.onCancel = nil
    if case .failure = result { waiting = [] }
    if !isSending { finish() }
  }

  private func sendWaiting() async {
    while !waiting.isEmpty {
      let event = waiting.removeFirst()
      do throws(Refusal) { try await request.send(part: BusPayload(event)) } catch {
        // The caller no longer waits for events. The request's own cancellation does the rest.
        waiting = []
      }
    }
    isSending = false
    onTurn(true)
    link.release()
    if ending != nil { finish() }
  }

  private func finish() {
    switch ending {
    case .success(let result): request.respond(to: RelayMethod.request, result)
    case .failure(let refusal): request.refuse(refusal)
    case nil: break
    }
  }
}
