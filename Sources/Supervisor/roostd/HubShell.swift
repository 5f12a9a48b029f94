import Clocks
import Contracts
import EventLoop
import Frames
import MessageHub
import Recordings

/// Performs what the hub machine decides: writes frames, cuts connections, keeps the one timer.
///
/// Everything happens on the loop, in the order the machine said it. Frames that arrive in one read are processed one
/// by one, and what they cause is coalesced by the streams into one write a peer and turn.
@EventLoopActor
final class HubShell {
  private(set) var hub: MessageHub
  private var connections: [PeerConnection?] = []
  private var actions: [HubAction] = []
  private let timer = LoopTimer()
  private var timerInstant: Instant?
  private var isSettling = false

  /// What the machine leaves to the supervisor, with the payload of the frame behind it.
  var onAction: (@EventLoopActor (HubAction, UnsafeRawBufferPointer) -> Void)?

  init(limits: HubLimits, table: AccessTable, traceSeed: UInt64) {
    hub = MessageHub(limits: limits, table: table, traceSeed: traceSeed)
  }

  /// The connection on a seat.
  func connection(on seat: SeatIndex) -> PeerConnection? {
    seat.number < connections.count ? connections[seat.number] : nil
  }

  /// All peers with a seat.
  var allConnections: [PeerConnection] { connections.compactMap { $0 } }

  /// From now on frames of `connection` are the hub's, as those of the seat in its role.
  func seat(_ connection: PeerConnection) {
    guard let seat = connection.seat else { preconditionFailure("a connection has its seat before its first frame") }
    while connections.count <= seat.number { connections.append(nil) }
    connections[seat.number] = connection
    connection.didJoin()
    connection.onFrames = { [unowned self, unowned connection] run throws(FrameViolation) in
      try received(&run, from: connection, seat)
    }
    connection.onViolation = { [unowned self] violation in
      change { hub, _, actions in hub.violated(violation, by: seat, actions: &actions) }
    }
  }

  /// The connection on `seat` is closed.
  @discardableResult
  func unseat(_ seat: SeatIndex) -> MessageHub.DepartureReport {
    if seat.number < connections.count { connections[seat.number] = nil }
    return change { hub, now, actions in hub.left(seat, now: now, actions: &actions) }
  }

  /// Which role may call what.
  var table: AccessTable { hub.table }

  /// Lets `body` change the hub, then performs what came of it.
  @discardableResult
  func change<Result, Failure: Error>(
    _ body: (inout MessageHub, Instant, inout [HubAction]) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var gathered: [HubAction] = []
    swap(&gathered, &actions)
    defer {
      perform(&gathered, input: UnsafeRawBufferPointer(start: nil, count: 0))
      gathered.removeAll(keepingCapacity: true)
      swap(&gathered, &actions)
      settleSoon()
    }
    return try body(&hub, EventLoop.process.now, &gathered)
  }

  private func received(
    _ run: inout FrameRun, from connection: PeerConnection, _ seat: SeatIndex
  ) throws(FrameViolation) {
    var gathered: [HubAction] = []
    swap(&gathered, &actions)
    defer {
      swap(&gathered, &actions)
      settleSoon()
    }
    let now = EventLoop.process.turnStart
    while connection.seat == seat, !connection.stream.isClosed, let (header, payload) = try run.next() {
      connection.recording?.record(.fromWorker, header, payload)
      hub.received(header, payload: payload, from: seat, now: now, actions: &gathered)
      perform(&gathered, input: payload)
      gathered.removeAll(keepingCapacity: true)
    }
  }

  private func perform(_ actions: inout [HubAction], input: UnsafeRawBufferPointer) {
    for index in actions.indices {
      switch actions[index] {
      case .send(let seat, let header, let payload): send(header, payload, input: input, to: seat)
      default: onAction?(actions[index], input)
      }
    }
  }

  @inline(__always)
  private func send(_ header: FrameHeader, _ payload: HubPayload, input: UnsafeRawBufferPointer, to seat: SeatIndex) {
    guard let connection = connection(on: seat) else { return }
    switch payload {
    case .none: connection.send(header, UnsafeRawBufferPointer(start: nil, count: 0))
    case .input: connection.send(header, input)
    case .stored(let bytes): bytes.withUnsafeBytes { connection.send(header, $0) }
    }
  }

  /// Once at the end of the turn: credit that came back, and the timer.
  private func settleSoon() {
    guard !isSettling else { return }
    isSettling = true
    EventLoop.process.atTurnEnd { [unowned self] in settle() }
  }

  private func settle() {
    isSettling = false
    var gathered: [HubAction] = []
    hub.turnEnded(actions: &gathered)
    perform(&gathered, input: UnsafeRawBufferPointer(start: nil, count: 0))
    guard let next = hub.nextDeadline else {
      if timerInstant != nil { timer.cancel() }
      timerInstant = nil
      return
    }
    // An earlier timer that finds nothing due costs one wake-up; setting it again for every request costs more.
    if let timerInstant, timerInstant <= next { return }
    timerInstant = next
    timer.set(at: next) { [unowned self] in
      timerInstant = nil
      change { hub, now, actions in hub.timerFired(now: now, actions: &actions) }
    }
  }
}
