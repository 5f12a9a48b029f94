internal import Clocks
internal import Frames

extension MessageHub {
  /// The peer uses credit for one frame.
  @inline(__always)
  mutating func spendCredit(of seat: Int, byteCount: Int) throws(FrameViolation) {
    switch seats[seat].spend(byteCount: byteCount) {
    case .goesOn: break
    case .isDue: laggingSeats.append(seat)
    case .hasNone:
      let (received, announced) = (seats[seat].received, seats[seat].announced)
      throw .rule(
        .noCredit,
        "sent \(received.frames) frames and \(received.bytes) bytes, allowed \(announced.frames) and \(announced.bytes)"
      )
    }
  }

  /// A frame of the peer has left the hub's care.
  @inline(__always)
  mutating func returnCredit(to seat: Int, turn: UInt32, byteCount: Int) {
    if seats[seat].giveBack(byteCount: byteCount, turn: turn) == .isDue { laggingSeats.append(seat) }
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

  @inline(__always)
  mutating func useCredit(towards seat: Int, byteCount: Int) { seats[seat].use(byteCount: byteCount) }
}

extension Seat {
  /// What follows from a change of the peer's credit.
  enum CreditStep {
    /// Nothing.
    case goesOn
    /// The peer is to be told its total at the end of the turn.
    case isDue
    /// It has sent what it may not.
    case hasNone
  }

  @inline(__always)
  mutating func spend(byteCount: Int) -> CreditStep {
    guard received.frames < announced.frames, received.bytes < announced.bytes else { return .hasNone }
    received.frames += 1
    received.bytes += UInt64(byteCount)
    return step()
  }

  /// Credit of an earlier connection is gone with it.
  @inline(__always)
  mutating func giveBack(byteCount: Int, turn: UInt32) -> CreditStep {
    guard self.turn == turn else { return .goesOn }
    allowed.frames += 1
    allowed.bytes += UInt64(byteCount)
    return step()
  }

  /// A quarter of the window may lag behind, so that a single question does not cost a CREDIT of its own; who sends
  /// large frames hears at once, and so does a peer that could otherwise send nothing at all.
  @inline(__always)
  private mutating func step() -> CreditStep {
    let lagFrames = allowed.frames - announced.frames
    if isLagging || lagFrames == 0 { return .goesOn }
    let lagBytes = allowed.bytes - announced.bytes
    guard
      lagFrames * 4 >= window.frames || lagBytes * 16 >= window.bytes || received.frames >= announced.frames
        || received.bytes >= announced.bytes
    else { return .goesOn }
    isLagging = true
    return .isDue
  }

  @inline(__always)
  mutating func use(byteCount: Int) {
    sent.frames += 1
    sent.bytes += UInt64(byteCount)
  }
}
