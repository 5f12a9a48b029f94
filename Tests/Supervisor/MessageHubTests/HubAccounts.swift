import DequeModule
import Frames

@testable import MessageHub

// The hub's books, added up a second time from what they are about. Pure looking: the tests' bench asks after steps,
// and so does the fuzz entry (Tests/Fuzz/HubFuzz.swift), which is compiled with this file.

extension MessageHub {
  /// Every count the hub keeps that differs from what it counts, as a sentence each; empty when all is in order.
  /// `cut` are the seats of peers that broke a rule: what credit they have is nobody's business any more.
  func discrepancies(besides cut: Set<Int> = []) -> [String] {
    var found: [String] = []
    var pool = 0
    for seat in seats {
      found += discrepancies(of: seat)
      for entries in seat.queues { pool += entries.reduce(0) { $0 + $1.payload.storedByteCount } }
    }
    for index in deliveries.indices(where: { _ in true }) { pool += deliveries[index].payload.storedByteCount }
    for (index, credit) in waitingParts() where deliveries[index].parts.waiting != credit {
      found.append("of answer \(index) wait \(credit), not \(deliveries[index].parts.waiting)")
    }
    if keptByteCount != pool { found.append("\(keptByteCount) bytes are said to be kept, and \(pool) are") }
    for (number, group) in ackGroups {
      let copies = deliveries.indices { $0.ackGroup == number }
      if copies.count != group.remaining {
        found.append("a publisher waits for \(group.remaining), not \(copies.count)")
      }
    }
    for seat in seats where seat.isConnected && !cut.contains(seat.index) {
      var held = heldCredit(of: seat.index)
      held.frames += seat.owed.frames
      held.bytes += seat.owed.bytes
      let frames = Int64(seat.allowed.frames) - Int64(seat.received.frames)
      let bytes = Int64(seat.allowed.bytes) - Int64(seat.received.bytes)
      if frames != Int64(seat.window.frames) - Int64(held.frames) {
        found.append("seat \(seat.index) may send \(frames) frames; \(held.frames) of \(seat.window.frames) are held")
      }
      if bytes != Int64(seat.window.bytes) - Int64(held.bytes) {
        found.append("seat \(seat.index) may send \(bytes) bytes; \(held.bytes) of \(seat.window.bytes) are held")
      }
      if !seat.isBehind, seat.owed.frames != 0 { found.append("seat \(seat.index) is owed credit and is not behind") }
      if seat.isBehind, !isFullOfAnswers(seat.index) { found.append("seat \(seat.index) is behind, with room") }
      if seat.withheld != withheldCredit(of: seat.index) { found.append("seat \(seat.index): credit withheld") }
    }
    return found
  }

  /// What is still accounted for although nothing should be under way; empty when every account stands at zero.
  func leftovers(besides cut: Set<Int> = []) -> [String] {
    var found = discrepancies(besides: cut)
    if openDeliveryCount != 0 { found.append("\(openDeliveryCount) messages are open") }
    if keptByteCount != 0 { found.append("\(keptByteCount) bytes are kept") }
    if !ackGroups.isEmpty { found.append("\(ackGroups.count) publishers wait") }
    for seat in seats {
      let isBare =
        seat.waitingBytes == 0 && seat.waitingCount == 0 && seat.held.isEmpty && seat.suspectCount == 0
        && seat.inHandCount == 0 && seat.outstanding.isEmpty && seat.busySince == nil && seat.owed.frames == 0
      if !isBare { found.append("seat \(seat.index) is not done: \(report(seat.index))") }
    }
    return found
  }

  /// The parts of each open answer that wait for its caller.
  private func waitingParts() -> [DeliveryIndex: Credit] {
    var waiting: [DeliveryIndex: Credit] = [:]
    for index in deliveries.indices(where: { _ in true }) { waiting[index] = Credit(frames: 0, bytes: 0) }
    for seat in seats {
      for entry in seat.queues.joined()
      where entry.answers.isSome && deliveries.holds(entry.answers, serial: entry.answersSerial) {
        waiting[entry.answers]?.frames += 1
        waiting[entry.answers]?.bytes += UInt64(entry.payloadByteCount)
      }
    }
    return waiting
  }

  /// Credit of the seat's present connection that the hub holds, frame by frame.
  func heldCredit(of seat: Int) -> Credit {
    var held = Credit(frames: 0, bytes: 0)
    func add(_ byteCount: Int) {
      held.frames += 1
      held.bytes += UInt64(byteCount)
    }
    let turn = seats[seat].turn
    for other in seats {
      for entries in other.queues {
        for entry in entries where entry.creditHolder == seat && entry.creditTurn == turn {
          add(entry.payloadByteCount)
        }
      }
    }
    for index in deliveries.indices(where: { $0.holdsCredit && $0.callerSeat == seat })
    where deliveries[index].header.source == seats[seat].endpoint {
      add(deliveries[index].payloadByteCount)
    }
    return held
  }

  /// Credit that comes back with answers.
  func withheldCredit(of seat: Int) -> Credit {
    let endpoint = seats[seat].endpoint
    let held = deliveries.indices { $0.holdsCredit && $0.callerSeat == seat && $0.header.source == endpoint }
    return held.reduce(into: Credit(frames: 0, bytes: 0)) { sum, index in
      sum.frames += 1
      sum.bytes += UInt64(deliveries[index].payloadByteCount)
    }
  }

  private func discrepancies(of seat: Seat) -> [String] {
    var wrong: [String] = []
    func check(_ isRight: Bool, _ what: String) {
      if !isRight { wrong.append("seat \(seat.index): \(what)") }
    }
    let index = seat.index
    let inHand = deliveries.indices {
      $0.receiverSeat == index && ($0.state == .delivered || $0.state == .abandoned)
    }
    var unaccepted = 0
    var abandoned = 0
    var suspectsInHand = 0
    for delivery in inHand {
      if !deliveries[delivery].isAccepted { unaccepted += 1 }
      if deliveries[delivery].state == .abandoned { abandoned += 1 }
      if deliveries[delivery].isSuspect { suspectsInHand += 1 }
    }
    let suspects = deliveries.indices { $0.receiverSeat == index && $0.isSuspect }
    check(seat.inHandCount == inHand.count, "messages in hand")
    check(seat.unacceptedCount == unaccepted, "messages not accepted")
    check(seat.abandonedCount == abandoned, "messages given up")
    check(seat.suspectCount == suspects.count, "suspects")
    check(suspectsInHand == (seat.suspectInHand.isSome ? 1 : 0), "the suspect in hand")
    let waiting = [seat.mailbox, seat.answers].reduce(0) { $0 + $1.reduce(0) { $0 + $1.payloadByteCount } }
    check(seat.mailboxBytes == waiting, "bytes that wait")
    let owes = seat.state == .ready && (seat.unacceptedCount > 0 || (seat.queuedCount > 0 && !seat.hasCredit))
    check(!seat.isWorker || (seat.busySince != nil) == owes, "whether it owes progress")
    if seat.state == .ready && seat.hasCredit && !seat.suspectInHand.isSome {
      check(seat.mailbox.isEmpty && seat.gaps.isEmpty, "what can be sent waits")
    }
    if seat.isConnected && seat.hasCredit { check(seat.answers.isEmpty, "an answer that can be sent waits") }
    return wrong + heldDiscrepancies(of: seat)
  }

  private func heldDiscrepancies(of seat: Seat) -> [String] {
    let entries = seat.held.values.flatMap(\.entries)
    var wrong: [String] = []
    if entries.count != seat.heldCount { wrong.append("seat \(seat.index): frames held") }
    if entries.reduce(0, { $0 + $1.payloadByteCount }) != seat.heldBytes {
      wrong.append("seat \(seat.index): bytes held")
    }
    if entries.count(where: { $0.creditHolder != nil }) != seat.heldCreditCount {
      wrong.append("seat \(seat.index): frames held on their workers' credit")
    }
    for (id, answer) in seat.held {
      let books = seat.outstanding[id].map { deliveries[$0].grants } ?? answer.books
      guard let first = answer.entries.first, let books, first.header.flags.contains(.more),
        !books.hasRoom(in: limits.answerWindow)
      else {
        wrong.append("seat \(seat.index): what may be sent of answer \(id) is held")
        continue
      }
    }
    return wrong
  }
}

extension Seat {
  /// All that waits for the peer, queue by queue.
  var queues: [Deque<MailboxEntry>] { [answers, mailbox] + held.values.map(\.entries) }
}
