import Frames

@testable import MessageHub

// The hub's books, added up a second time from what they are about. Pure looking: the tests' bench asks after steps,
// and so does the fuzz entry (Tests/Fuzz/HubFuzz.swift), which is compiled with this file.

extension MessageHub {
  /// Every count the hub keeps that differs from what it counts, as a sentence each; empty when all is in order.
  /// `cut` are the seats of peers that broke a rule: what credit they have no longer matters.
  func discrepancies(besides cut: Set<SeatIndex> = []) -> [String] {
    var found: [String] = []
    var pool = 0
    for seat in seats.all {
      found += discrepancies(of: seat)
      for entries in seat.queues { pool += entries.reduce(0) { $0 + $1.payload.storedByteCount } }
    }
    for index in deliveries.indices(where: { _ in true }) { pool += deliveries[index].payload.storedByteCount }
    for (index, credit) in waitingParts() where deliveries[index].parts.waiting != credit {
      found.append("of answer \(index) wait \(credit), not \(deliveries[index].parts.waiting)")
    }
    if keptByteCount != pool { found.append("\(keptByteCount) bytes are said to be kept, and \(pool) are") }
    for (number, group) in ackGroups.all {
      let copies = deliveries.indices { $0.ackGroup == number }
      if copies.count != group.awaitedCount {
        found.append("a publisher waits for \(group.awaitedCount), not \(copies.count)")
      }
    }
    for seat in seats.all where seat.isConnected && !cut.contains(seat.index) {
      found += creditDiscrepancies(of: seat.index)
    }
    return found
  }

  private func creditDiscrepancies(of seat: SeatIndex) -> [String] {
    var found: [String] = []
    let book = credits[seat]
    var held = heldCredit(of: seat)
    held.frames += book.owed.frames
    held.bytes += book.owed.bytes
    let frames = Int64(book.allowed.frames) - Int64(book.received.frames)
    let bytes = Int64(book.allowed.bytes) - Int64(book.received.bytes)
    if frames != Int64(book.window.frames) - Int64(held.frames) {
      found.append("seat \(seat) may send \(frames) frames; \(held.frames) of \(book.window.frames) are held")
    }
    if bytes != Int64(book.window.bytes) - Int64(held.bytes) {
      found.append("seat \(seat) may send \(bytes) bytes; \(held.bytes) of \(book.window.bytes) are held")
    }
    if !book.isBehind, book.owed.frames != 0 { found.append("seat \(seat) is owed credit and is not behind") }
    if book.isBehind, !isFullOfAnswers(seat) { found.append("seat \(seat) is behind, with room") }
    if book.withheld != withheldCredit(of: seat) { found.append("seat \(seat): credit withheld") }
    return found
  }

  /// What is still accounted for although nothing should be under way; empty when every account is at zero.
  func leftovers(besides cut: Set<SeatIndex> = []) -> [String] {
    var found = discrepancies(besides: cut)
    if openDeliveryCount != 0 { found.append("\(openDeliveryCount) messages are open") }
    if keptByteCount != 0 { found.append("\(keptByteCount) bytes are kept") }
    if !ackGroups.all.isEmpty { found.append("\(ackGroups.all.count) publishers wait") }
    for seat in seats.all {
      let isBare =
        seat.waitingByteCount == 0 && seat.waitingCount == 0 && seat.held.all.isEmpty
        && seat.inFlight.suspectCount == 0 && seat.inFlight.count == 0 && seat.outstanding.isEmpty
        && seat.busySince == nil && (!seat.isConnected || credits[seat.index].owed.frames == 0)
      if !isBare { found.append("seat \(seat.index) is not done: \(report(seat.index))") }
    }
    return found
  }

  /// The parts of each open answer that wait for its caller.
  private func waitingParts() -> [DeliveryIndex: Credit] {
    var waiting: [DeliveryIndex: Credit] = [:]
    for index in deliveries.indices(where: { _ in true }) { waiting[index] = Credit.zero }
    for seat in seats.all {
      for entry in seat.queues.joined() {
        guard let answer = entry.answers, deliveries.holds(answer) else { continue }
        waiting[answer.index]?.add(byteCount: entry.payloadByteCount)
      }
    }
    return waiting
  }

  /// Credit of the seat's present connection that the hub holds, frame by frame.
  func heldCredit(of seat: SeatIndex) -> Credit {
    var held = Credit.zero
    let holder = CreditHolder(seat: seat, turn: seats[seat].turn)
    for entry in seats.all.lazy.flatMap(\.queues).joined() where entry.creditHolder == holder {
      held.add(byteCount: entry.payloadByteCount)
    }
    for index in deliveries.indices(where: { $0.holdsCredit && $0.callerSeat == seat })
    where deliveries[index].header.source == seats[seat].endpoint {
      held.add(byteCount: deliveries[index].payloadByteCount)
    }
    return held
  }

  /// Credit that comes back with answers.
  func withheldCredit(of seat: SeatIndex) -> Credit {
    let endpoint = seats[seat].endpoint
    let held = deliveries.indices { $0.holdsCredit && $0.callerSeat == seat && $0.header.source == endpoint }
    return held.reduce(into: Credit.zero) { sum, index in
      sum.add(byteCount: deliveries[index].payloadByteCount)
    }
  }

  private func discrepancies(of seat: Seat) -> [String] {
    var wrong: [String] = []
    func check(_ isRight: Bool, _ what: String) {
      if !isRight { wrong.append("seat \(seat.index): \(what)") }
    }
    let index = seat.index
    let inFlight = deliveries.indices {
      $0.receiverSeat == index && ($0.state == .delivered || $0.state == .abandoned)
    }
    var unaccepted = 0
    var abandoned = 0
    var suspectsInFlight = 0
    for delivery in inFlight {
      if !deliveries[delivery].isAccepted { unaccepted += 1 }
      if deliveries[delivery].state == .abandoned { abandoned += 1 }
      if deliveries[delivery].isSuspect { suspectsInFlight += 1 }
    }
    let suspects = deliveries.indices { $0.receiverSeat == index && $0.isSuspect }
    check(seat.inFlight.count == inFlight.count, "messages in flight")
    check(seat.inFlight.unacceptedCount == unaccepted, "messages not accepted")
    check(seat.inFlight.abandonedCount == abandoned, "messages given up")
    check(seat.inFlight.suspectCount == suspects.count, "suspects")
    check(suspectsInFlight == (seat.inFlight.suspect.isSome ? 1 : 0), "the suspect in flight")
    let mailbox = seat.mailbox
    let waiting = [mailbox.work, mailbox.answers].joined().reduce(0) { $0 + $1.payloadByteCount }
    check(mailbox.byteCount == waiting, "bytes that wait")
    let owes = seat.state == .ready && (unaccepted > 0 || (mailbox.count > 0 && !seat.granted.hasRoom))
    check(!seat.isWorker || (seat.busySince != nil) == owes, "whether it owes progress")
    if seat.state == .ready && seat.granted.hasRoom && !seat.inFlight.suspect.isSome {
      check(mailbox.work.isEmpty && seat.gaps.isEmpty, "what can be sent waits")
    }
    if seat.isConnected && seat.granted.hasRoom { check(mailbox.answers.isEmpty, "an answer that can be sent waits") }
    return wrong + heldDiscrepancies(of: seat)
  }

  private func heldDiscrepancies(of seat: Seat) -> [String] {
    let entries = seat.held.all.values.flatMap(\.entries)
    var wrong: [String] = []
    if entries.count != seat.held.count { wrong.append("seat \(seat.index): frames held") }
    if entries.reduce(0, { $0 + $1.payloadByteCount }) != seat.held.byteCount {
      wrong.append("seat \(seat.index): bytes held")
    }
    if entries.count(where: { $0.creditHolder != nil }) != seat.held.creditCount {
      wrong.append("seat \(seat.index): frames held on their workers' credit")
    }
    for (id, answer) in seat.held.all {
      let grants = seat.outstanding[id].map { deliveries[$0].grants } ?? answer.grants
      guard let first = answer.entries.first, let grants, first.header.flags.contains(.more), !grants.hasRoom else {
        wrong.append("seat \(seat.index): what may be sent of answer \(id) is held")
        continue
      }
    }
    return wrong
  }
}
