public import Clocks
internal import Contracts
internal import Frames

// A connection ends. The hub cancels the requests that its peer has made. If the peer is a worker, the hub also decides
// about each delivery that the worker had in flight. The first line that fits decides:
//
//   its caller has an answer already                 → it ends
//   a dead letter that is tried again                → it stays a dead letter, ERROR quarantined
//   its caller has cancelled it                      → ERROR cancelled, outcome unknown
//   a part of its answer was sent                    → ERROR worker-died, outcome unknown: a second run would repeat it
//   AT_MOST_ONCE                                     → ERROR worker-died, outcome unknown
//   it was in flight at `deliveriesMaximum` deaths   → dead letter, ERROR quarantined
//   any other                                        → back to the front of the mailbox, as a suspect
//
// A suspect is delivered to the next instance before all others, and alone: several suspects, one after the other. If
// that instance dies too, the suspect is to blame; if it answers or accepts the suspect, the suspect is cleared. So a
// bad message ends `deliveriesMaximum` lives of a worker (three by default), and no other message is lost.

extension MessageHub {
  /// What a worker's end did to its deliveries.
  public struct DepartureReport: Sendable, Equatable {
    /// Deliveries that wait for the next instance.
    var requeued = 0
    /// Messages answered `unknown`.
    var answeredUnknown = 0
    /// Messages quarantined.
    public var quarantined = 0
    /// Whether a message is to blame for this death, and for the one before, and not the worker: the only message that
    /// the worker had not accepted was in flight at an earlier death too, or a message was quarantined.
    public var isPoison = false

    /// Nothing was in flight.
    public init() {}
  }

  /// The connection on `seat` has ended. A client's seat becomes free; a worker's keeps its mailbox.
  @discardableResult
  public mutating func left(_ seat: SeatIndex, now: Instant, actions: inout [HubAction]) -> DepartureReport {
    guard seats[seat].isConnected else { return DepartureReport() }
    seats[seat].state = .away
    credits.close(seat)
    giveUpRequests(of: seat, now: now, actions: &actions)
    // The next connection on this seat has made no requests, so answers to the old one mean nothing to it.
    while let entry = seats[seat].mailbox.takeAnswer() { release(entry) }
    for entry in seats[seat].held.removeAll() { release(entry) }
    seats[seat].busySince = nil
    seats[seat].wantsRoomNotice = false
    guard seats[seat].isWorker else {
      while let entry = seats[seat].mailbox.takeWork() { release(entry) }
      vacate(seat)
      return DepartureReport()
    }
    return judgeInFlight(of: seat, actions: &actions)
  }

  /// Gives up the requests of a peer: removes those that wait from the mailboxes, and cancels those in flight.
  private mutating func giveUpRequests(of seat: SeatIndex, now: Instant, actions: inout [HubAction]) {
    var receivers: Set<SeatIndex> = []
    for index in seats[seat].outstanding.values.sorted() {
      switch deliveries[index].state {
      case .queued: receivers.insert(deliveries[index].receiverSeat)
      case .delivered:
        receivers.insert(deliveries[index].receiverSeat)
        // If the caller cancelled the request before it left, the worker has the CANCEL already.
        if !deliveries[index].isCancelled { sendCancel(index, actions: &actions) }
        forget(index)
      case .inService:
        actions.append(.serviceCancelled(call(of: index)))
        end(index)
      case .deferred, .abandoned: break  // Only events are deferred, and an abandoned request is not outstanding.
      }
    }
    for receiver in receivers.sorted() {
      for entry in seats[receiver].mailbox.takeRequests(of: seats[seat].endpoint) {
        release(entry)
        end(entry.delivery)
      }
      advance(receiver, now: now, actions: &actions)
    }
    seats[seat].outstanding.removeAll()
  }

  private mutating func judgeInFlight(of seat: SeatIndex, actions: inout [HubAction]) -> DepartureReport {
    var report = DepartureReport()
    let inFlight = seats[seat].inFlight.all(in: deliveries)
    // A message that the worker accepted has shown that it does not kill. If only one other message was in flight, and
    // it was in flight at an earlier death too, it is to blame.
    let doubtful = inFlight.filter { !deliveries[$0].isAccepted }
    report.isPoison = doubtful.count == 1 && deliveries[doubtful[0]].deaths > 0
    // Newest first: each goes to the front of the mailbox, so in the end the oldest is first.
    for index in inFlight.reversed() { judge(index, of: seat, report: &report, actions: &actions) }
    // A message that the worker accepts each time, and that kills it all the same, is found only here, by its count of
    // deaths.
    if report.quarantined > 0 { report.isPoison = true }
    return report
  }

  private mutating func judge(
    _ index: DeliveryIndex, of seat: SeatIndex, report: inout DepartureReport, actions: inout [HubAction]
  ) {
    seats[seat].inFlight.remove(index, in: &deliveries)
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
      seats[seat].inFlight.makeSuspect(index, in: &deliveries)
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

  /// What became of a quarantined message, in the words of its refusal.
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
