public import Clocks
internal import DequeModule
internal import Frames

// A connection ends. What its peer had asked for is given up; what a worker had in hand is dealt with by class:
//
//   cancelled already                → ERROR cancelled, outcome unknown
//   a part of the answer is out      → ERROR worker-died, outcome unknown (a second run would repeat the part)
//   AT_MOST_ONCE                     → ERROR worker-died, outcome unknown
//   delivered `deliveriesMaximum` times → dead letter, ERROR quarantined
//   anything else                    → back to the front of the mailbox, a suspect
//
// Suspects go first and alone to the next instance: the one in hand at a second death is the poison, and the others are
// cleared by their answers. So one bad message costs a worker three lives and nobody else's message.

extension MessageHub {
  /// How a death looked from here.
  public struct DepartureReport: Sendable, Equatable {
    /// Messages that go to the next instance.
    public var requeued = 0
    /// Messages answered `unknown`.
    public var answeredUnknown = 0
    /// Messages quarantined.
    public var quarantined = 0
    /// The one message in hand had killed an instance before: the death is its fault, not the worker's.
    public var isPoison = false

    /// Nothing was in hand.
    public init() {}
  }

  /// The connection on `seat` has ended. A client's seat becomes free; a worker's keeps its mailbox.
  @discardableResult
  public mutating func left(_ seat: Int, now: Instant, actions: inout [HubAction]) -> DepartureReport {
    guard seats[seat].isConnected else { return DepartureReport() }
    giveUpRequests(of: seat, actions: &actions)
    dropAnswers(to: seat)
    seats[seat].busySince = nil
    seats[seat].wantsRoomNotice = false
    guard seats[seat].isWorker else {
      while let entry = seats[seat].mailbox.popFirst() { settle(entry, of: seat) }
      vacate(seat)
      return DepartureReport()
    }
    seats[seat].state = .away
    return dealWithHands(of: seat, actions: &actions)
  }

  /// What the peer had asked for: withdrawn from mailboxes, cancelled where it is being done.
  private mutating func giveUpRequests(of seat: Int, actions: inout [HubAction]) {
    for index in seats[seat].outstanding.values.sorted() {
      switch deliveries[index].state {
      case .queued:
        removeFromMailbox(index)
        end(index)
      case .deferred: end(index)
      case .delivered:
        sendCancel(index, actions: &actions)
        forget(index)
      case .inService:
        actions.append(.serviceCancelled(call(of: index)))
        end(index)
      case .abandoned: break
      }
    }
    seats[seat].outstanding.removeAll()
  }

  /// Answers to the connection that ended mean nothing to the next one.
  private mutating func dropAnswers(to seat: Int) {
    var kept: [MailboxEntry] = []
    while let entry = seats[seat].mailbox.popFirst() {
      settle(entry, of: seat)
      let isAnswer = entry.answers >= 0 || entry.header.type.isTerminal(flags: entry.header.flags)
      if !isAnswer { kept.append(entry) }
    }
    for entry in kept { enqueue(withoutCredit(entry), for: seat) }
  }

  /// `settle` has given the credit back already.
  private func withoutCredit(_ entry: MailboxEntry) -> MailboxEntry {
    var entry = entry
    entry.creditHolder = -1
    return entry
  }

  private mutating func dealWithHands(of seat: Int, actions: inout [HubAction]) -> DepartureReport {
    var report = DepartureReport()
    var inHand: [Int] = []
    var index = seats[seat].firstInHand
    while index >= 0 {
      inHand.append(index)
      index = deliveries[index].next
    }
    let doing = inHand.filter { deliveries[$0].state == .delivered }
    report.isPoison = doing.count == 1 && doing.allSatisfy { deliveries[$0].attempt > 1 }
    // Newest first, so that the front of the mailbox ends up in the order of delivery.
    for index in inHand.reversed() { dealWith(index, of: seat, report: &report, actions: &actions) }
    return report
  }

  private mutating func dealWith(
    _ index: Int, of seat: Int, report: inout DepartureReport, actions: inout [HubAction]
  ) {
    removeInHand(index, of: seat)
    clearSuspicion(of: index)
    let delivery = deliveries[index]
    let name = seats[seat].name
    if delivery.state == .abandoned {
      end(index)
    } else if delivery.isCancelled {
      refuse(index, Refusal(.cancelled, "cancelled; \(name) died meanwhile", outcome: .unknown), actions: &actions)
      report.answeredUnknown += 1
    } else if delivery.hasParts || delivery.header.flags.contains(.atMostOnce) {
      let why =
        delivery.hasParts ? "in the middle of the answer" : "with the request in hand, which may be done only once"
      refuse(index, Refusal(.workerDied, "\(name) died \(why)", outcome: .unknown), actions: &actions)
      report.answeredUnknown += 1
    } else if delivery.attempt >= limits.deliveriesMaximum {
      quarantine(index, actions: &actions)
      report.quarantined += 1
    } else {
      requeue(index, atFront: true)
      deliveries[index].isSuspect = true
      seats[seat].suspectCount += 1
      report.requeued += 1
    }
  }

  private mutating func quarantine(_ index: Int, actions: inout [HubAction]) {
    counters.quarantined += 1
    let delivery = deliveries[index]
    let worker = seats[delivery.receiverSeat].name
    var bytes: [UInt8] = []
    if case .stored(let payload) = delivery.payload { bytes = payload }
    let sender = seats[delivery.callerSeat]
    let letter = DeadLetter(
      worker: worker, header: delivery.header, payload: bytes,
      sender: sender.endpoint == delivery.header.source ? sender.name : "someone who has left",
      deliveries: delivery.attempt)
    actions.append(.keepDeadLetter(letter))
    refuse(
      index,
      Refusal(
        .quarantined, "\(worker) died \(delivery.attempt) times with this message in hand; it is kept as a dead letter",
        outcome: .unknown),
      actions: &actions)
  }
}
