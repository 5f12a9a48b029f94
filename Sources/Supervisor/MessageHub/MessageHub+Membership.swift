public import Clocks
public import Contracts
internal import DequeModule
public import Frames

extension MessageHub {
  // MARK: Seats

  /// Gives a worker of `supervisor.conf` its seat, closed until its mailbox is opened.
  ///
  /// - Returns: nil when all 4,095 seats are taken.
  public mutating func reserveSeat(name: String, role: Role) -> Int? {
    guard let seat = takeSeat() else { return nil }
    seats[seat].name = name
    seats[seat].role = role.number
    seats[seat].isWorker = true
    seats[seat].state = .closed
    seats[seat].closedReason = "is not started yet"
    // A turn of the seat's own, before anybody joins: so the first connection does not follow the last tenant's
    // directly, as the next connection of a worker that is back does (`Registry.member(at:role:)`).
    seats[seat].turn += 1
    seats[seat].firstTurn = seats[seat].turn
    membersByRole[role.number, default: []].append(seat)
    return seat
  }

  /// Takes away the seat of a worker that is no longer in the configuration; its mailbox must be closed.
  public mutating func releaseSeat(_ seat: Int) {
    precondition(seats[seat].state == .closed, "a seat with a mailbox is still somebody's")
    membersByRole[seats[seat].role]?.removeAll { $0 == seat }
    vacate(seat)
  }

  private mutating func takeSeat() -> Int? {
    if let seat = freeSeats.popLast() { return seat }
    guard seats.count <= Endpoint.seatMaximum else { return nil }
    seats.append(Seat(index: seats.count))
    return seats.count - 1
  }

  mutating func vacate(_ seat: Int) {
    for topic in seats[seat].subscriptions { unsubscribe(seat, from: topic) }
    let turn = seats[seat].turn
    seats[seat] = Seat(index: seat)
    seats[seat].turn = turn
    freeSeats.append(seat)
  }

  // MARK: Coming

  /// Seats a client, which takes frames of `lengthMaximum` bytes at most, as the length field counts them.
  ///
  /// - Parameters:
  ///   - role: its role.
  ///   - name: its name, for display.
  ///   - window: what it takes before it grants more.
  ///   - lengthMaximum: the longest frame it takes, as the length field counts it.
  ///   - grantsAnswers: whether it grants each of its answers apart (``HubLimits/answerWindow``).
  /// - Returns: its seat; nil when none is free.
  public mutating func joinClient(
    name: String, role: Role, window: Window, lengthMaximum: Int = .max, grantsAnswers: Bool = false
  ) -> Int? {
    guard let seat = takeSeat() else { return nil }
    seats[seat].grantsAnswers = grantsAnswers
    seats[seat].name = name
    seats[seat].role = role.number
    begin(seat, grantedByPeer: window, lengthMaximum)
    seats[seat].state = .ready
    return seat
  }

  /// Seats a worker's new connection on the worker's own seat. It gets work once it says READY.
  ///
  /// - Parameters:
  ///   - seat: the worker's seat.
  ///   - serves: its methods, by number.
  ///   - window: what it lets the hub send at first.
  ///   - lengthMaximum: the longest frame it takes.
  ///   - knowsAnswerCredit: whether it is sent CREDIT for single answers (``HubLimits/answerWindow``).
  ///   - knowsCallerRole: whether it is told the role of each sender (`FrameHeader.callerRole`).
  public mutating func joinWorker(
    _ seat: Int, serves: [UInt16], window: Window, lengthMaximum: Int = .max, knowsAnswerCredit: Bool = false,
    knowsCallerRole: Bool = false
  ) {
    precondition(!seats[seat].isConnected, "one connection a seat")
    begin(seat, grantedByPeer: window, lengthMaximum)
    seats[seat].knowsAnswerCredit = knowsAnswerCredit
    seats[seat].knowsCallerRole = knowsCallerRole
    seats[seat].serves = serves
    seats[seat].state = .greeted
  }

  private mutating func begin(_ seat: Int, grantedByPeer window: Window, _ lengthMaximum: Int) {
    seats[seat].turn += 1
    seats[seat].payloadMaximum = lengthMaximum - (FrameHeader.byteCount - 4)
    seats[seat].window = limits.window
    seats[seat].received = Credit(frames: 0, bytes: 0)
    seats[seat].allowed = Credit(frames: limits.window.frames, bytes: limits.window.bytes)
    seats[seat].announced = seats[seat].allowed
    seats[seat].isLagging = false
    seats[seat].withheld = Credit(frames: 0, bytes: 0)
    seats[seat].owed = Credit(frames: 0, bytes: 0)
    seats[seat].isBehind = false
    laggingSeats.removeAll { $0 == seat }
    seats[seat].lastId = 0
    seats[seat].sent = Credit(frames: 0, bytes: 0)
    seats[seat].granted = Credit(frames: window.frames, bytes: window.bytes)
  }

  mutating func receivedReady(
    _ header: FrameHeader, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard seats[seat].isWorker else { return }
    guard seats[seat].state == .greeted || seats[seat].state == .draining else {
      throw .rule(.outOfTurn, "READY comes once, after WELCOME")
    }
    if seats[seat].state == .greeted { seats[seat].state = .ready }
    actions.append(.control(seat: seat, header: header))
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  /// No new work for the worker from now on; answers still pass.
  public mutating func beginDrain(_ seat: Int) {
    guard seats[seat].isConnected else { return }
    seats[seat].state = .draining
    seats[seat].busySince = nil
  }

  // MARK: Mailboxes

  /// Work for the worker is accepted from now on, and kept while the worker is away.
  public mutating func openMailbox(_ seat: Int) {
    if seats[seat].state == .closed { seats[seat].state = .away }
  }

  /// Work for the worker is refused from now on, and what waits is answered; `reason` goes on after the worker's name.
  public mutating func closeMailbox(
    _ seat: Int, reason: String, retryAfterMilliseconds: UInt32? = nil, now: Instant, actions: inout [HubAction]
  ) {
    precondition(!seats[seat].isConnected, "a connected worker's mailbox stays open")
    seats[seat].state = .closed
    seats[seat].closedReason = reason
    seats[seat].retryAfterMilliseconds = retryAfterMilliseconds
    for topic in seats[seat].subscriptions { unsubscribe(seat, from: topic) }
    while let entry = seats[seat].mailbox.popFirst() {
      settle(entry, of: seat)
      guard entry.delivery.isSome else {
        counters.dropped += 1
        continue
      }
      // Delivered before and requeued at a death: how far it was, nobody knows.
      let outcome = deliveries[entry.delivery].outcomeInQueue
      refuse(entry.delivery, refusalWhenClosed(seat, outcome: outcome), actions: &actions)
    }
    // What the worker had put off is nobody's either.
    for index in deliveries.indices(where: { $0.state == .deferred && $0.receiverSeat == seat }) {
      refuse(index, refusalWhenClosed(seat, outcome: .unknown), actions: &actions)
    }
  }

  // MARK: Looking

  /// What the hub knows of a seat, for `roost status` and `roost why`.
  public struct SeatReport: Sendable, Equatable {
    /// Frames that wait for it.
    public var mailboxFrames = 0
    /// Payload bytes that wait for it.
    public var mailboxBytes = 0
    /// Messages it has and has not answered.
    public var inHand = 0
    /// Messages redelivered after a death that are not cleared yet.
    public var suspects = 0
    /// Requests of its own that are not answered.
    public var outstanding = 0
    /// Whether frames wait because it has not granted credit.
    public var isOutOfCredit = false
    /// Since when it has had work without a sign of progress.
    public var busySince: Instant?
    /// Messages still held on a sender's credit because this mailbox is full, by the sender's name.
    public var holding: [String: Int] = [:]
  }

  /// Reports on a seat.
  public func report(_ seat: Int) -> SeatReport {
    var report = SeatReport()
    report.mailboxFrames = seats[seat].waitingCount
    report.mailboxBytes = seats[seat].waitingBytes
    report.inHand = seats[seat].inHandCount
    report.suspects = seats[seat].suspectCount
    report.outstanding = seats[seat].outstanding.count
    report.isOutOfCredit = seats[seat].isConnected && seats[seat].queuedCount > 0 && !seats[seat].hasCredit
    report.busySince = seats[seat].busySince
    for entries in [seats[seat].answers, seats[seat].mailbox] + seats[seat].held.values.map(\.entries) {
      for holder in entries.lazy.compactMap(\.creditHolder) { report.holding[seats[holder].name, default: 0] += 1 }
    }
    return report
  }

  /// The role of whoever has the seat, by name.
  public func roleName(ofSeat seat: Int) -> String { roleName(seats[seat].role) }

  /// The endpoint of a seat's present, or last, connection.
  public func endpoint(of seat: Int) -> Endpoint { seats[seat].endpoint }

  /// Whether a seat has nothing in hand and nothing to answer: a drain is complete.
  public func isIdle(_ seat: Int) -> Bool { seats[seat].inHandCount == 0 }

  /// Since when a READY worker has had work and shown no progress; nil when it owes none.
  public func busySince(_ seat: Int) -> Instant? { seats[seat].busySince }

  /// Payload bytes kept in all mailboxes and with unanswered requests.
  public var keptByteCount: Int { poolBytes }

  /// Everything that is accounted for, for tests: all zero once nothing is under way.
  var openDeliveryCount: Int { deliveries.count }

  /// The registry as WELCOME and REGISTRY tell it.
  public func registry() -> Registry { registry(table) }

  /// The registry as it would be with another table.
  public func registry(_ table: AccessTable) -> Registry {
    var methods: [String: Registry.Method] = [:]
    var topics: [String: UInt16] = [:]
    for entry in table.all {
      switch entry.kind {
      case .method: methods[entry.name] = Registry.Method(number: entry.number, role: entry.server.name)
      case .topic: topics[entry.name] = entry.number
      }
    }
    let members = seats.filter { $0.isWorker && $0.state != .closed }.map { seat in
      Registry.Member(
        name: seat.name, role: roleName(seat.role), endpoint: seat.endpoint.rawValue, isReady: seat.state == .ready)
    }
    return Registry(
      methods: methods, topics: topics, roles: table.roles.mapValues(\.number), members: members)
  }

  /// Registers the methods a greeting peer says it serves.
  ///
  /// - Returns: their numbers, and whether the registry grew.
  public mutating func register(
    methods: [String], of role: Role
  ) throws(AccessTable.ServeProblem) -> (numbers: [UInt16], grew: Bool) {
    let (numbers, grew) = try table.register(methods: methods, of: role)
    if grew { routes = RouteTable(table) }
    return (numbers, grew)
  }

  /// Takes over a table in which somebody's methods were registered already.
  public mutating func adopt(_ table: AccessTable) {
    self.table = table
    routes = RouteTable(table)
  }

  /// Takes over changed bounds. Peers keep the windows that they were told.
  public mutating func adopt(limits: HubLimits) {
    let (window, answerWindow) = (self.limits.window, self.limits.answerWindow)
    self.limits = limits
    self.limits.window = window
    self.limits.answerWindow = answerWindow
    // What fills a mailbox under the old bound may leave room under the new one.
    for seat in seats.indices { returnOwed(to: seat) }
  }

  /// Takes over changed roles of people's own workers.
  public mutating func adopt(customRoles: [AccessTable.CustomRole]) {
    table.adopt(customRoles: customRoles)
    routes = RouteTable(table)
  }

  /// Seats with a connection, to be told of a changed registry.
  var connectedSeats: [Int] { seats.filter { $0.isConnected }.map(\.index) }
}
