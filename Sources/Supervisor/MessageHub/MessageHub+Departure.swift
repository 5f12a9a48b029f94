public import Clocks
internal import Contracts
internal import DequeModule
internal import Frames

// A connection ends. The hub gives up the requests of its peer, and decides about each delivery that a worker had in
// flight:
//
//   a dead letter that is tried again → the same dead letter, ERROR quarantined
//   cancelled already                → ERROR cancelled, outcome unknown
//   a part of the answer is out      → ERROR worker-died, outcome unknown (a second run would repeat the part)
//   AT_MOST_ONCE                     → ERROR worker-died, outcome unknown
//   delivered `deliveriesMaximum` times → dead letter, ERROR quarantined
//   anything else                    → back to the front of the mailbox, a suspect
//
// A suspect is delivered to the next instance first and alone. If that instance dies too, the suspect is to blame;
// otherwise its answer clears it. So one bad message costs a worker three lives, and no other message is lost.

extension MessageHub {
  /// What a worker's end did to its deliveries.
  public struct DepartureReport: Sendable, Equatable {
    /// Deliveries for the next instance.
    var requeued = 0
    /// Messages answered `unknown`.
    var answeredUnknown = 0
    /// Messages quarantined.
    public var quarantined = 0
    /// The one message in hand had killed an instance before, or one was quarantined: the death is its fault, not the
    /// worker's, and so was the one before.
    public var isPoison = false

    /// Nothing was in hand.
    public init() {}
  }

  /// The connection on `seat` has ended. A client's seat becomes free; a worker's keeps its mailbox.
  @discardableResult
  public mutating func left(_ seat: Int, now: Instant, actions: inout [HubAction]) -> DepartureReport {
    guard seats[seat].isConnected else { return DepartureReport() }
    seats[seat].state = .away
    giveUpRequests(of: seat, now: now, actions: &actions)
    // Answers to the connection that ended mean nothing to the next one.
    while let entry = seats[seat].answers.popFirst() { settle(entry, of: seat) }
    dropHeld(of: seat)
    seats[seat].busySince = nil
    seats[seat].wantsRoomNotice = false
    guard seats[seat].isWorker else {
      while let entry = seats[seat].mailbox.popFirst() { settle(entry, of: seat) }
      vacate(seat)
      return DepartureReport()
    }
    return dealWithHands(of: seat, actions: &actions)
  }

  /// What the peer had asked for: withdrawn from mailboxes, cancelled where it is being done.
  private mutating func giveUpRequests(of seat: Int, now: Instant, actions: inout [HubAction]) {
    var receivers: Set<Int> = []
    for index in seats[seat].outstanding.values.sorted() {
      switch deliveries[index].state {
      case .queued: receivers.insert(deliveries[index].receiverSeat)
      case .delivered:
        receivers.insert(deliveries[index].receiverSeat)
        // One that the caller gave up before it left has been told already.
        if !deliveries[index].isCancelled { sendCancel(index, actions: &actions) }
        forget(index)
      case .inService:
        actions.append(.serviceCancelled(call(of: index)))
        end(index)
      case .deferred, .abandoned: break  // Only events are deferred, and only what is not abandoned is outstanding.
      }
    }
    for receiver in receivers.sorted() {
      withdrawRequests(of: seat, from: receiver)
      pump(receiver, now: now, actions: &actions)
      updateBusy(receiver, now)
    }
    seats[seat].outstanding.removeAll()
  }

  /// Takes all requests of a caller from a mailbox in one pass.
  private mutating func withdrawRequests(of caller: Int, from receiver: Int) {
    var waiting = Deque<MailboxEntry>()
    swap(&waiting, &seats[receiver].mailbox)
    while let entry = waiting.popFirst() {
      guard entry.delivery.isSome, deliveries[entry.delivery].isRequest,
        deliveries[entry.delivery].header.source == seats[caller].endpoint
      else {
        seats[receiver].mailbox.append(entry)
        continue
      }
      settle(entry, of: receiver)
      end(entry.delivery)
    }
  }

  private mutating func dealWithHands(of seat: Int, actions: inout [HubAction]) -> DepartureReport {
    var report = DepartureReport()
    var inHand: [DeliveryIndex] = []
    for list in [seats[seat].setAside, seats[seat].hand] {
      var index = list.first
      while index.isSome {
        inHand.append(index)
        index = deliveries[index].next
      }
    }
    inHand.sort { deliveries[$0].serial < deliveries[$1].serial }
    // What was accepted has shown that it does not kill; of the rest, one that was alone and killed before is to blame.
    let doubtful = inHand.filter { !deliveries[$0].isAccepted }
    report.isPoison = doubtful.count == 1 && deliveries[doubtful[0]].deaths > 0
    // Newest first, so that the front of the mailbox ends up in the order in which they came to the hub.
    for index in inHand.reversed() { dealWith(index, of: seat, report: &report, actions: &actions) }
    // One that is accepted each time, and kills all the same, is found out only here.
    if report.quarantined > 0 { report.isPoison = true }
    return report
  }

  private mutating func dealWith(
    _ index: DeliveryIndex, of seat: Int, report: inout DepartureReport, actions: inout [HubAction]
  ) {
    removeInHand(index, of: seat)
    clearSuspicion(of: index)
    deliveries[index].deaths += 1
    let delivery = deliveries[index]
    let name = seats[seat].name
    if delivery.state == .abandoned {
      end(index)
    } else if delivery.isRetriedLetter {
      quarantine(index, actions: &actions)
      report.quarantined += 1
    } else if delivery.isCancelled {
      refuse(index, Refusal(.cancelled, "cancelled; \(name) died meanwhile", outcome: .unknown), actions: &actions)
      report.answeredUnknown += 1
    } else if delivery.hasParts || delivery.header.flags.contains(.atMostOnce) {
      let why =
        delivery.hasParts ? "in the middle of the answer" : "with the request in hand, which may be done only once"
      refuse(index, Refusal(.workerDied, "\(name) died \(why)", outcome: .unknown), actions: &actions)
      report.answeredUnknown += 1
    } else if delivery.deaths >= limits.deliveriesMaximum {
      quarantine(index, actions: &actions)
      report.quarantined += 1
    } else {
      requeue(index, atFront: true)
      deliveries[index].isSuspect = true
      seats[seat].suspectCount += 1
      report.requeued += 1
    }
  }

  private mutating func quarantine(_ index: DeliveryIndex, actions: inout [HubAction]) {
    counters.quarantined += 1
    let delivery = deliveries[index]
    let worker = seats[delivery.receiverSeat].name
    let times = delivery.deaths == 1 ? "once" : "\(delivery.deaths) times"
    actions.append(
      delivery.isRetriedLetter
        ? .retryKilled(id: delivery.header.id, worker: worker, deliveries: delivery.deaths)
        : .keepDeadLetter(letter(of: delivery, for: worker)))
    refuse(
      index,
      Refusal(
        .quarantined, "\(worker) died \(times) with this message in hand; \(fate(of: delivery))", outcome: .unknown),
      actions: &actions)
  }

  /// What its caller is told of where a quarantined message is.
  private func fate(of delivery: Delivery) -> String {
    limits.keepsDeadLetters && table[delivery.header.method]?.isSecret != true
      ? "it is set aside, see 'roost dead-letters'" : "it is thrown away"
  }

  private func letter(of delivery: Delivery, for worker: String) -> DeadLetter {
    var bytes: [UInt8] = []
    if case .stored(let payload) = delivery.payload { bytes = payload }
    let sender = seats[delivery.callerSeat]
    return DeadLetter(
      worker: worker, header: delivery.header, payload: bytes,
      sender: sender.endpoint == delivery.header.source ? sender.name : "someone who has left",
      deliveries: delivery.deaths)
  }
}
