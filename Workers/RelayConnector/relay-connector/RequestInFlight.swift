import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import RelaySession
import WorkerKit

/// One `relay.request` under way: events go to the caller as they come, and wait here, with the relay held back, when
/// the caller has no room. The end waits behind them.
@EventLoopActor
final class RequestInFlight {
  let link: RelayLink
  let question: SubscriptionFilters
  /// Events passed on, or waiting to be.
  private(set) var count = 0

  private let request: BusRequest
  private let key: RequestKey
  private let limit: Int?
  private let onTurn: @EventLoopActor (Bool) -> Void
  private var waiting: [[UInt8]] = []
  private var isSending = false
  /// Until when the relay may take to be done; later by what the caller has taken.
  private var totalEnd: Instant
  private var callersTurn: Instant?
  private var ending: Result<RelayRequestResult, Refusal>?

  /// `onTurn(true)` says that it is the relay's turn again, `onTurn(false)` that the caller holds things up.
  init(
    _ request: BusRequest, link: RelayLink, key: RequestKey, _ question: SubscriptionFilters, limit: Int?,
    totalMilliseconds: UInt64, onTurn: @escaping @EventLoopActor (Bool) -> Void
  ) {
    self.request = request
    self.link = link
    self.key = key
    self.question = question
    self.limit = limit
    self.onTurn = onTurn
    totalEnd = EventLoop.process.now.advanced(milliseconds: totalMilliseconds)
  }

  /// Whether the caller's limit is reached.
  var hasEnough: Bool { limit.map { count >= $0 } ?? false }

  /// Until when the relay has, if it may be silent until `silenceEnd`: for ever while the caller takes nothing, since
  /// that is not the relay's fault.
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

  /// Passes an event on, unless there were enough before it.
  func deliver(_ event: [UInt8]) {
    if hasEnough { return }
    count += 1
    if waiting.isEmpty, !isSending, request.sendNow(part: BusPayload(event)) { return }
    waiting.append(event)
    guard !isSending else { return }
    isSending = true
    // From here the relay waits, so no more than what one read had brought can gather.
    link.hold()
    onTurn(false)
    EventLoopActor.task { [self] in await sendWaiting() }
  }

  /// Tells the caller at once what the relay says to people; it may be about this.
  func remark(_ text: String) { request.progress(BusPayload(json: StatusReport(text: text))) }

  /// Ends the answer, behind what still waits.
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
        // Nobody waits for it any more; the request's own cancellation says the rest.
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
