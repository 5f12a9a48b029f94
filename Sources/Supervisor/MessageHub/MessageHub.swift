public import Clocks
public import Contracts
public import Frames

// The hub: every message between workers passes here, and the hub knows which of them has what.
//
// What: a machine without I/O. Inputs are frames from peers, comings and goings of connections, and the passing of
// time; outputs are `HubAction`s that a shell performs. It owns the mailboxes, the credit in both directions, the table
// of unanswered requests, and the rules of redelivery. What has state of its own is a value of its own: `SeatTable`,
// `CreditBooks`, `DeliverySlab`, `TopicSubscribers`, `AckGroups`, and in a `Seat` `Mailbox`, `HeldAnswers`, `InFlight`.
//
// Why in one machine: a broker sees a closed connection but no exit; a process manager sees an exit but not the work.
// The supervisor tells this machine of both, so it can decide for every message at a worker's death, in the same
// instant, whether it is delivered again, answered `unknown`, or kept as a dead letter.
//
// How it stays bounded. A peer may send only what it has credit for. Credit comes back when a frame leaves the hub's
// care: at once, while the receiver's mailbox is below its bound; when the frame is taken from the mailbox, above it.
// So a full mailbox grows by no more than the windows of its senders, and `poolBytes` bounds all mailboxes
// together. Parts of answers have a window for each answer besides (`MessageHub+Parts.swift`), so that one caller does
// not hold up a worker's others.
//
// How it cannot deadlock. A peer is always read. Terminal answers, acknowledgements and what runs a connection need no
// credit and pass every mailbox, except that an answer does not overtake parts of itself.
//
// Rejected: a journal in the hub (its own durable state would be a second truth beside the workers' databases: what
// must survive the hub is committed by the worker before it says "accepted"), and one queue for each pair of peers.

/// Routes frames between seats; see the essay at the head of the file.
///
/// Isolation: a plain value, used from one place. Frames' payloads are borrowed for the call.
public struct MessageHub: ~Copyable {
  /// What has happened so far.
  public internal(set) var counters = HubCounters()
  /// Which role may call what; grows when custom workers bring methods.
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

  /// A frame arrived from the peer on `seat`. `payload` is borrowed for the call; actions that say `.input` refer to
  /// it.
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
      case .nack: receivedNack(header, from: seat, now: now, actions: &actions)
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

  /// The peer broke a rule of the protocol, as found here or by the shell's reader.
  public mutating func violated(_ violation: FrameViolation, by seat: SeatIndex, actions: inout [HubAction]) {
    counters.violations += 1
    actions.append(.cut(seat: seat, violation: violation))
  }

  /// The present turn of the event loop ends: tells peers the credit they got back meanwhile, one frame a peer.
  public mutating func turnEnded(actions: inout [HubAction]) { credits.announce(actions: &actions) }

  // MARK: Time

  /// When ``timerFired(now:actions:)`` is next due; nil = never.
  public var nextDeadline: Instant? { deadlines.first }

  /// A deadline has passed.
  public mutating func timerFired(now: Instant, actions: inout [HubAction]) {
    // Those added first come first: of many that expire together each is at the front of its mailbox.
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

  /// The frame as it continues: what only the hub may say is written by the hub.
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

  /// The seat's connection sent or took something that shows it at work.
  mutating func touch(_ seat: SeatIndex, _ now: Instant) {
    if seats[seat].busySince != nil { seats[seat].busySince = now }
  }

  /// Starts or ends the time since which a worker owes progress.
  mutating func updateBusy(_ seat: SeatIndex, _ now: Instant) {
    if !seats[seat].isOwing {
      seats[seat].busySince = nil
    } else if seats[seat].busySince == nil {
      seats[seat].busySince = now
    }
    seats[seat].held.look(at: now)
  }
}
