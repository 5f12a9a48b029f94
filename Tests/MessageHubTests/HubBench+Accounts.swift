import DequeModule
import Frames
import Testing

@testable import MessageHub

// The hub's books, added up a second time from what they are about.

extension HubBench {
  /// Credit of the seat's present connection that the hub holds, frame by frame.
  func heldCredit(of seat: Int) -> Credit {
    var held = Credit(frames: 0, bytes: 0)
    func add(_ byteCount: Int) {
      held.frames += 1
      held.bytes += UInt64(byteCount)
    }
    for other in hub.seats {
      for entries in [other.answers, other.mailbox] {
        for entry in entries where entry.creditHolder == seat && entry.creditTurn == hub.seats[seat].turn {
          add(entry.payloadByteCount)
        }
      }
    }
    for index in hub.deliveries.indices(where: { $0.holdsCredit && $0.callerSeat == seat }) {
      let delivery = hub.deliveries[index]
      if delivery.header.source == hub.seats[seat].endpoint { add(delivery.payloadByteCount) }
    }
    return held
  }

  /// Every count the hub keeps against what it counts.
  func checkAccounts(_ comment: Comment? = nil) {
    var pool = 0
    for seat in hub.seats {
      checkSeat(seat, comment)
      for entries in [seat.answers, seat.mailbox] { pool += entries.reduce(0) { $0 + $1.payload.storedByteCount } }
    }
    for index in hub.deliveries.indices(where: { _ in true }) { pool += hub.deliveries[index].payload.storedByteCount }
    #expect(hub.keptByteCount == pool, comment)
    for (number, group) in hub.ackGroups {
      let copies = hub.deliveries.indices { $0.ackGroup == number }
      #expect(copies.count == group.remaining, comment)
    }
    for seat in peers.keys {
      let books = hub.seats[seat]
      let held = heldCredit(of: seat)
      let away = Credit(frames: held.frames + books.owed.frames, bytes: held.bytes + books.owed.bytes)
      #expect(books.allowed.frames - books.received.frames == books.window.frames - away.frames, comment)
      #expect(
        Int64(books.allowed.bytes) - Int64(books.received.bytes) == Int64(books.window.bytes) - Int64(away.bytes),
        comment)
      #expect(books.isBehind || books.owed.frames == 0, comment)
      if books.isBehind { #expect(isFullOfAnswers(seat), comment) }
      #expect(books.withheld == withheldCredit(of: seat), comment)
    }
    for index in hub.deliveries.indices(where: { $0.state == .delivered && $0.isRequest }) {
      checkParts(index, comment)
    }
  }

  /// Credit that comes back with answers.
  func withheldCredit(of seat: Int) -> Credit {
    let endpoint = hub.seats[seat].endpoint
    let held = hub.deliveries.indices { $0.holdsCredit && $0.callerSeat == seat && $0.header.source == endpoint }
    return held.reduce(into: Credit(frames: 0, bytes: 0)) { sum, index in
      sum.frames += 1
      sum.bytes += UInt64(hub.deliveries[index].payloadByteCount)
    }
  }

  /// The books of one answer's parts: what waits is in the caller's mailbox, and half a window that was taken is told.
  private func checkParts(_ index: Int, _ comment: Comment?) {
    let delivery = hub.deliveries[index]
    let waiting = hub.seats[delivery.callerSeat].answers.filter {
      $0.answers == index && $0.answersSerial == delivery.serial
    }
    #expect(delivery.parts.waiting.frames == UInt64(waiting.count), comment)
    #expect(delivery.parts.waiting.bytes == waiting.reduce(0) { $0 + UInt64($1.payloadByteCount) }, comment)
    guard let peer = peers[delivery.receiverSeat], peer.knowsAnswerCredit else { return }
    var answer = BenchAnswer(delivery.header)
    answer.attempt = delivery.attempt
    let sent = peer.answersSent[answer] ?? Credit(frames: 0, bytes: 0)
    let window = limits.answerWindow
    let granted = peer.answerGrants[answer] ?? Credit(frames: window.frames, bytes: window.bytes)
    let room = Credit(
      frames: sent.frames - delivery.parts.waiting.frames + window.frames - granted.frames,
      bytes: sent.bytes - delivery.parts.waiting.bytes + window.bytes - granted.bytes)
    #expect(room.frames * 2 < window.frames && room.bytes * 2 < window.bytes, comment)
  }

  private func checkSeat(_ seat: Seat, _ comment: Comment?) {
    let index = seat.index
    let inHand = hub.deliveries.indices {
      $0.receiverSeat == index && ($0.state == .delivered || $0.state == .abandoned)
    }
    let deliveries = inHand.map { hub.deliveries[$0] }
    #expect(seat.inHandCount == inHand.count, comment)
    #expect(seat.unacceptedCount == deliveries.count { !$0.isAccepted }, comment)
    #expect(seat.abandonedCount == deliveries.count { $0.state == .abandoned }, comment)
    let suspects = hub.deliveries.indices { $0.receiverSeat == index && $0.isSuspect }
    #expect(seat.suspectCount == suspects.count, comment)
    #expect(deliveries.count { $0.isSuspect } == (seat.suspectInHand < 0 ? 0 : 1), comment)
    #expect(
      seat.mailboxBytes == seat.mailbox.reduce(0) { $0 + $1.payloadByteCount }
        + seat.answers.reduce(0) { $0 + $1.payloadByteCount }, comment)
    let owes = seat.state == .ready && (seat.unacceptedCount > 0 || (seat.waitingCount > 0 && !seat.hasCredit))
    if seat.isWorker { #expect((seat.busySince != nil) == owes, comment) }
    if seat.state == .ready && seat.hasCredit && seat.suspectInHand < 0 {
      #expect(seat.mailbox.isEmpty, "what can be sent is sent; \(comment?.rawValue ?? "")")
    }
    if seat.isConnected && seat.hasCredit { #expect(seat.answers.isEmpty && seat.gaps.isEmpty, comment) }
  }

  /// Nothing is under way: every account stands at zero.
  func expectNothingLeft(_ comment: Comment? = nil) {
    #expect(hub.openDeliveryCount == 0, comment)
    #expect(hub.keptByteCount == 0, comment)
    #expect(hub.ackGroups.isEmpty, comment)
    for seat in hub.seats {
      #expect(seat.mailboxBytes == 0 && seat.waitingCount == 0, comment)
      #expect(seat.suspectCount == 0 && seat.inHandCount == 0 && seat.outstanding.isEmpty, comment)
      #expect(seat.busySince == nil && seat.owed.frames == 0, comment)
    }
    checkAccounts(comment)
  }
}
