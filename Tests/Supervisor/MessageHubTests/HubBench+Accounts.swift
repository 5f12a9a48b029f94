import Frames
import Testing

@testable import MessageHub

extension HubBench {
  /// Credit of the seat's present connection that the hub holds.
  func heldCredit(of seat: SeatIndex) -> Credit { hub.heldCredit(of: seat) }

  /// Every count the hub keeps against what it counts.
  func checkAccounts(_ comment: Comment? = nil) {
    let found = hub.discrepancies()
    #expect(found.isEmpty, comment)
    for index in hub.deliveries.indices(where: { $0.state == .delivered && $0.isRequest }) {
      checkParts(index, comment)
    }
  }

  /// The books of one answer's parts: what waits is in the caller's mailbox, and half a window that was taken is
  /// announced.
  private func checkParts(_ index: DeliveryIndex, _ comment: Comment?) {
    let delivery = hub.deliveries[index]
    let waiting = hub.seats[delivery.callerSeat].queues.joined().filter {
      $0.answers.map { $0.index == index && hub.deliveries.holds($0) } ?? false
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

  /// Nothing is under way: every account is at zero.
  func expectNothingLeft(_ comment: Comment? = nil) {
    let found = hub.leftovers()
    #expect(found.isEmpty, comment)
  }
}
