public import Clocks
public import Contracts
public import Frames

extension MessageHub {
  // MARK: Seats

  /// Gives a worker of `supervisor.conf` its seat, closed until its mailbox is opened.
  ///
  /// - Returns: nil when all 4,095 seats are taken.
  public mutating func reserveSeat(name: String, role: Role) -> SeatIndex? {
    guard let seat = seats.take(name: name, role: role) else { return nil }
    seats.makeMember(seat)
    return seat
  }

  /// Takes away the seat of a worker that is no longer in the configuration; its mailbox must be closed.
  public mutating func releaseSeat(_ seat: SeatIndex) {
    precondition(seats[seat].state == .closed, "a seat with a mailbox has a worker")
    vacate(seat)
  }

  mutating func vacate(_ seat: SeatIndex) {
    subscribers.removeAll(of: seat)
    seats.vacate(seat)
  }

  // MARK: Coming

  /// Seats a client.
  ///
  /// - Parameters:
  ///   - name: its name, for display.
  ///   - role: its role.
  ///   - window: what it takes before it grants more.
  ///   - lengthMaximum: the longest frame it takes, as the length field counts it.
  ///   - grantsAnswers: whether it grants each of its answers apart (``HubLimits/answerWindow``).
  ///   - isOfOtherUser: whether it is of another user than the supervisor's.
  /// - Returns: its seat; nil when none is free.
  public mutating func joinClient(
    name: String, role: Role, window: Window, lengthMaximum: Int = .max, grantsAnswers: Bool = false,
    isOfOtherUser: Bool = false
  ) -> SeatIndex? {
    guard let seat = seats.take(name: name, role: role) else { return nil }
    seats[seat].begin(window: window, lengthMaximum: lengthMaximum)
    seats[seat].grantsAnswers = grantsAnswers
    seats[seat].isOfOtherUser = isOfOtherUser
    seats[seat].state = .ready
    credits.open(seat, turn: seats[seat].turn, window: limits.window)
    return seat
  }

  /// Seats a worker's new connection on the worker's own seat. It gets work once it says READY.
  ///
  /// - Parameters:
  ///   - seat: the worker's seat.
  ///   - serves: its methods, by number.
  ///   - window: what it lets the hub send at first.
  ///   - lengthMaximum: the longest frame it takes.
  ///   - knowsAnswerCredit: whether it takes CREDIT for single answers (``HubLimits/answerWindow``).
  ///   - knowsCallerRole: whether it reads the role of each sender (`FrameHeader.callerRole`).
  public mutating func joinWorker(
    _ seat: SeatIndex, serves: [UInt16], window: Window, lengthMaximum: Int = .max, knowsAnswerCredit: Bool = false,
    knowsCallerRole: Bool = false
  ) {
    precondition(!seats[seat].isConnected, "one connection a seat")
    seats[seat].begin(window: window, lengthMaximum: lengthMaximum)
    seats[seat].serves = serves
    seats[seat].knowsAnswerCredit = knowsAnswerCredit
    seats[seat].knowsCallerRole = knowsCallerRole
    seats[seat].state = .greeted
    credits.open(seat, turn: seats[seat].turn, window: limits.window)
  }

  mutating func receivedReady(
    _ header: FrameHeader, from seat: SeatIndex, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard seats[seat].isWorker else { return }
    guard seats[seat].state == .greeted || seats[seat].state == .draining else {
      throw .rule(.outOfTurn, "READY comes once, after WELCOME")
    }
    if seats[seat].state == .greeted { seats[seat].state = .ready }
    actions.append(.control(seat: seat, header: header))
    advance(seat, now: now, actions: &actions)
  }

  /// No new work for the worker from now on; answers still pass.
  public mutating func beginDrain(_ seat: SeatIndex) {
    guard seats[seat].isConnected else { return }
    seats[seat].state = .draining
    seats[seat].busySince = nil
  }

  // MARK: Mailboxes

  /// Work for the worker is accepted from now on, and kept while the worker is away.
  public mutating func openMailbox(_ seat: SeatIndex) {
    if seats[seat].state == .closed { seats[seat].state = .away }
  }

  /// Work for the worker is refused from now on, and what waits is answered; `reason` follows the worker's name.
  public mutating func closeMailbox(
    _ seat: SeatIndex, reason: String, retryAfterMilliseconds: UInt32? = nil, now: Instant, actions: inout [HubAction]
  ) {
    precondition(!seats[seat].isConnected, "a connected worker's mailbox stays open")
    seats[seat].close(reason, retryAfterMilliseconds: retryAfterMilliseconds)
    subscribers.removeAll(of: seat)
    seats[seat].gaps = [:]
    while let entry = seats[seat].mailbox.takeWork() {
      release(entry)
      guard entry.delivery.isSome else {
        counters.dropped += 1
        continue
      }
      // One that was delivered before, and requeued at a death, may be done in part.
      let outcome = deliveries[entry.delivery].outcomeInQueue
      refuse(entry.delivery, refusalWhenClosed(seat, outcome: outcome), actions: &actions)
    }
    // What the worker had put off is lost as well.
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
    /// Messages in flight at it.
    public var inFlight = 0
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
  public func report(_ seat: SeatIndex) -> SeatReport {
    var report = SeatReport()
    report.mailboxFrames = seats[seat].waitingCount
    report.mailboxBytes = seats[seat].waitingByteCount
    report.inFlight = seats[seat].inFlight.count
    report.suspects = seats[seat].inFlight.suspectCount
    report.outstanding = seats[seat].outstanding.count
    report.isOutOfCredit = seats[seat].isConnected && seats[seat].mailbox.count > 0 && !seats[seat].granted.hasRoom
    report.busySince = seats[seat].busySince
    for entries in seats[seat].queues {
      for holder in entries.lazy.compactMap(\.creditHolder) { report.holding[seats[holder.seat].name, default: 0] += 1 }
    }
    return report
  }

  /// The role of the seat's peer, by name.
  public func roleName(ofSeat seat: SeatIndex) -> String { roleName(seats[seat].role) }

  /// The endpoint of a seat's present, or last, connection.
  public func endpoint(of seat: SeatIndex) -> Endpoint { seats[seat].endpoint }

  /// Whether a seat has nothing in flight: a drain is complete.
  public func isIdle(_ seat: SeatIndex) -> Bool { seats[seat].inFlight.count == 0 }

  /// Since when a READY worker has had work and shown no progress; nil when it owes none.
  public func busySince(_ seat: SeatIndex) -> Instant? { seats[seat].busySince }

  /// Payload bytes kept in all mailboxes and with unanswered requests.
  public var keptByteCount: Int { pool.count }

  /// Messages without a terminal answer, for tests: 0 once nothing is under way.
  var openDeliveryCount: Int { deliveries.count }

  /// The registry as WELCOME and REGISTRY have it.
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
    let members = seats.all.filter { $0.isWorker && $0.state != .closed }.map { seat in
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
    try table.register(methods: methods, of: role)
  }

  /// Takes over a table that has a peer's methods already.
  public mutating func adopt(_ table: AccessTable) { self.table = table }

  /// Takes over changed bounds. Peers keep the windows that they know.
  public mutating func adopt(limits: HubLimits) {
    let (window, answerWindow) = (self.limits.window, self.limits.answerWindow)
    self.limits = limits
    self.limits.window = window
    self.limits.answerWindow = answerWindow
    // What fills a mailbox under the old bound may leave room under the new one.
    for seat in seats.all where seat.isConnected { returnOwed(to: seat.index) }
  }

  /// Takes over changed roles of workers that are not Roost's own.
  public mutating func adopt(customRoles: [AccessTable.CustomRole]) { table.adopt(customRoles: customRoles) }
}
