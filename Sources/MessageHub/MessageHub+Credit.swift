internal import Clocks
internal import Frames

extension MessageHub {
  /// The peer uses credit for one frame.
  mutating func spendCredit(of seat: Int, byteCount: Int) throws(FrameViolation) {
    let received = seats[seat].received
    let announced = seats[seat].announced
    guard received.frames < announced.frames, received.bytes < announced.bytes else {
      throw .rule(
        .noCredit,
        "sent \(received.frames) frames and \(received.bytes) bytes, allowed \(announced.frames) and \(announced.bytes)"
      )
    }
    seats[seat].received.frames = received.frames + 1
    seats[seat].received.bytes = received.bytes + UInt64(byteCount)
    tellCreditIfDue(to: seat)
  }

  /// A frame of the peer has left the hub's care.
  @inline(__always)
  mutating func returnCredit(to seat: Int, turn: UInt32, byteCount: Int) {
    guard seats[seat].turn == turn else { return }
    seats[seat].allowed.frames += 1
    seats[seat].allowed.bytes += UInt64(byteCount)
    tellCreditIfDue(to: seat)
  }

  /// A quarter of the window may lag behind, so that a single question does not cost a CREDIT of its own; who sends large
  /// frames hears at once, and so does a peer that could otherwise send nothing at all.
  @inline(__always)
  private mutating func tellCreditIfDue(to seat: Int) {
    if seats[seat].isLagging { return }
    let received = seats[seat].received
    let announced = seats[seat].announced
    let lagFrames = seats[seat].allowed.frames - announced.frames
    if lagFrames == 0 { return }
    let lagBytes = seats[seat].allowed.bytes - announced.bytes
    if lagFrames * 4 >= seats[seat].window.frames || lagBytes * 16 >= seats[seat].window.bytes
      || received.frames >= announced.frames || received.bytes >= announced.bytes
    {
      seats[seat].isLagging = true
      laggingSeats.append(seat)
    }
  }

  /// The peer says how much it takes in all.
  mutating func receivedCredit(
    _ payload: UnsafeRawBufferPointer, from seat: Int, now: Instant, actions: inout [HubAction]
  ) throws(FrameViolation) {
    guard let credit = Credit(payload) else {
      throw .rule(.badPayload, "CREDIT has 16 bytes of payload, not \(payload.count)")
    }
    guard credit.frames > seats[seat].granted.frames || credit.bytes > seats[seat].granted.bytes else { return }
    seats[seat].granted.frames = max(seats[seat].granted.frames, credit.frames)
    seats[seat].granted.bytes = max(seats[seat].granted.bytes, credit.bytes)
    touch(seat, now)
    pump(seat, now: now, actions: &actions)
    updateBusy(seat, now)
  }

  mutating func useCredit(towards seat: Int, byteCount: Int) {
    seats[seat].sent.frames += 1
    seats[seat].sent.bytes += UInt64(byteCount)
  }
}
