public import Clocks
public import Contracts
public import Frames

// The hub: every message between workers passes through it, and it knows which worker has which message.
//
// What: a machine without I/O. Inputs are frames from peers, connections that begin or end, and the passing of time;
// outputs are `HubAction`s that a shell performs. It owns the mailboxes, the credit in both directions, the table of
// unanswered requests, and the rules of redelivery. Each part with state of its own has a type: `SeatTable`,
// `CreditBooks`, `DeliverySlab`, `TopicSubscribers`, `AckGroups`, `PoolBytes`; and in each `Seat` a `Mailbox`,
// `HeldAnswers` and `InFlight`.
//
// Why one machine for messages, in the process that starts the workers: a message broker sees that a connection closed,
// but not why; a process manager sees an exit, but not the work that was lost. Here both are known in one place. So the
// hub decides at once, for each message at a dead worker, whether it is delivered again, answered `unknown`, or kept as
// a dead letter (`MessageHub+Departure.swift`).
//
// How it stays bounded. A peer may send only what it has credit for. While the receiver's mailbox is below its bound,
// the sender gets its credit back at once; above the bound, it gets it back when the frame leaves the mailbox. For a
// large request, or above a bound on unanswered requests, it gets it back with the answer (`MessageHub+Credit.swift`).
// So a full mailbox grows by no more than the windows of its senders, and `poolBytes` bounds all mailboxes together.
// Each streamed answer has a window of its own as well (`MessageHub+Parts.swift`), so that a slow caller delays its own
// answer and not the worker's other callers.
//
// How it avoids deadlock. The hub always reads every peer. Terminal answers, acknowledgements and frames that maintain
// a connection need no credit and wait in no mailbox. Only one frame of them can wait: a terminal answer, behind parts
// of the same answer.
//
// Rejected: a journal in the hub, because its durable state would be a second truth beside the workers' databases: a
// worker commits what must survive before it answers "accepted". Also rejected: one queue for each pair of peers.

/// Routes frames between seats; the comment at the head of the file says how.
///
/// Isolation: a plain value, used from one place. The payloads of frames are borrowed for the call.
public struct MessageHub: ~Copyable {
  /// What has happened so far.
  public internal(set) var counters = HubCounters()
  /// Which role may call which method; grows when a user's own workers bring methods.
  public internal(set) var table: AccessTable { didSet { routes = RouteTable(table) } }
  var routes: RouteTable
  /// The bounds in force.
  public internal(set) var limits: HubLimits

  var seats = SeatTable()
  var credits = CreditBooks()
  var deliveries = DeliverySlab()
  var deadlines = Deadlines<Instant, DeliveryReference>(voidMinimum: 64)
  var subscribers = TopicSubscribers()
  var ackGroups = AckGroups()
  var pool = PoolBytes()
  private var nextTrace: UInt64

  /// A hub without seats. `traceSeed` makes trace numbers differ from one start of the supervisor to the next.
  public init(limits: HubLimits, table: AccessTable, traceSeed: UInt64) {
    self.limits = limits
    self.table = table
    routes = RouteTable(table)
    nextTrace = traceSeed
  }

  // MARK: Frames

  /// A frame arrived from the peer on `seat`. `payload` is borrowed for the call; an action whose payload is `.input`
  /// means this payload.
  public mutating func received(
    _ header: FrameHeader, payload: UnsafeRawBufferPointer, from seat: SeatIndex, now: Instant,
    actions: inout [HubAction]
  ) {
    counters.framesIn &+= 1
    do throws(FrameViolation) {
      guard header.source == .hub else {
        throw .rule(.forgedSource, "source is written by the hub; a peer leaves it 0")
      }
      if header.type.spendsCredit(flags: header.flags) { try credits.spend(seat, byteCount: payload.count) }
      switch header.type {
      case .request: try receivedRequest(header, payload, from: seat, now: now, actions: &actions)
      case .event: try receivedEvent(header, payload, from: seat, now: now, actions: &actions)
      case .response, .error, .progress:
        try receivedAnswer(header, payload, from: seat, now: now, actions: &actions)
      case .ack: receivedAck(header, from: seat, now: now, actions: &actions)
      case .nack: receivedNack(header, payload, from: seat, now: now, actions: &actions)
      case .cancel: receivedCancel(header, from: seat, now: now, actions: &actions)
      case .subscribe, .unsubscribe: try receivedSubscription(header, from: seat, actions: &actions)
      case .credit: try receivedCredit(header, payload, from: seat, now: now, actions: &actions)
      case .ping:
        actions.append(.send(seat: seat, header: FrameHeader(type: .pong, re: header.id), payload: .none))
      case .pong: break
      case .ready: try receivedReady(header, from: seat, now: now, actions: &actions)
      case .status, .extend, .goodbye, .fatal, .config:
        touch(seat, now)
        actions.append(.control(seat: seat, header: header))
      case .hello: throw .rule(.outOfTurn, "HELLO comes once, as the first frame")
      case .welcome, .registry, .drain, .gap:
        throw .rule(.unknownType, "only the hub sends \(header.type)")
      }
    } catch {
      violated(error, by: seat, actions: &actions)
    }
  }

  /// The peer broke a rule of the protocol; this machine or the shell's reader has found it.
  public mutating func violated(_ violation: FrameViolation, by seat: SeatIndex, actions: inout [HubAction]) {
    counters.violations += 1
    actions.append(.cut(seat: seat, violation: violation))
  }

  /// The present turn of the event loop ends: announces to each peer the credit that it got back in this turn, in one
  /// frame.
  public mutating func turnEnded(actions: inout [HubAction]) { credits.announce(actions: &actions) }

  // MARK: Time

  /// When ``timerFired(now:actions:)`` is next due; nil = never.
  public var nextDeadline: Instant? { deadlines.first }

  /// A deadline has passed.
  public mutating func timerFired(now: Instant, actions: inout [HubAction]) {
    // Equal deadlines come in the order in which they were added. So of many messages that expire together, each is at
    // the front of its mailbox when it is removed.
    while let (_, due) = deadlines.popDue(at: now) {
      guard deliveries.holds(due), let deadline = deliveries[due.index].deadline, deadline <= now
      else { continue }
      deadlinePassed(due.index, now: now, actions: &actions)
    }
  }

  /// Gives a new delivery its time to live; 0 = none.
  mutating func setExpiry(afterMilliseconds ttl: UInt32, of index: DeliveryIndex) {
    guard ttl > 0 else { return }
    let end = deliveries[index].receivedAt.advanced(milliseconds: UInt64(ttl))
    deliveries[index].expiresAt = end
    setDeadline(end, of: index)
  }

  mutating func setDeadline(_ instant: Instant, of index: DeliveryIndex) {
    deliveries[index].deadline = instant
    deadlines.add(deliveries.reference(to: index), at: instant)
    deadlines.removeVoid { instant, due in deliveries.holds(due) && deliveries[due.index].deadline == instant }
  }

  // MARK: Small parts

  mutating func newTrace() -> UInt64 {
    nextTrace &+= 1
    if nextTrace == 0 { nextTrace = 1 }
    return nextTrace
  }

  mutating func checkId(_ id: UInt64, from seat: SeatIndex) throws(FrameViolation) {
    guard id > 0 else { throw .rule(.idNotIncreasing, "what is to be answered needs an id of at least 1") }
    guard id > seats[seat].lastId else {
      throw .rule(
        .idNotIncreasing, "id \(id) is not greater than \(seats[seat].lastId), the last one on this connection")
    }
    seats[seat].lastId = id
  }

  /// The header that the receiver gets: the hub writes the fields that only the hub may write.
  mutating func stamped(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer, from seat: SeatIndex) -> FrameHeader {
    var header = header
    header.source = seats[seat].endpoint
    header.flags.remove(.redelivered)
    header.attempt = 0
    header.payloadByteCount = payload.count
    if header.trace == 0 { header.trace = newTrace() }
    header.callerRole = seats[seat].role
    return header
  }

  static func stored(_ payload: UnsafeRawBufferPointer) -> HubPayload {
    payload.count == 0 ? .none : .stored([UInt8](payload))
  }

  /// The peer on the seat has sent or taken a frame that shows that it works.
  mutating func touch(_ seat: SeatIndex, _ now: Instant) {
    if seats[seat].busySince != nil { seats[seat].busySince = now }
  }

  /// Notes since when a worker owes progress, or that it owes none.
  mutating func updateBusy(_ seat: SeatIndex, _ now: Instant) {
    if !seats[seat].isOwing {
      seats[seat].busySince = nil
    } else if seats[seat].busySince == nil {
      seats[seat].busySince = now
    }
    seats[seat].held.look(at: now)
  }
}
