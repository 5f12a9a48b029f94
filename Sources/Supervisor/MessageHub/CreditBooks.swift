internal import Frames

/// A connection whose credit a frame holds until the frame leaves the hub's care.
struct CreditHolder: Hashable {
  let seat: SeatIndex
  let turn: UInt32
}

/// What one peer may send the hub.
struct CreditBook {
  /// The turn of the seat that it is for; nil once that connection has ended.
  fileprivate var turn: UInt32?
  fileprivate(set) var window = Window.standard
  fileprivate(set) var received = Credit.zero
  fileprivate(set) var allowed = Credit.zero
  /// What the peer knows of ``allowed``.
  fileprivate(set) var announced = Credit.zero
  /// Credit that comes back with the answers to the peer's messages: more of those are open than may be.
  fileprivate(set) var withheld = Credit.zero
  /// Whether parts of answers fill the mailbox of a client. It gets no credit back until it takes some, so it has no
  /// more answers waiting than its window of requests has brought about.
  fileprivate(set) var isBehind = false
  /// The credit that comes back then.
  fileprivate(set) var owed = Credit.zero
  private var isLagging = false

  fileprivate init() {}

  fileprivate init(turn: UInt32, window: Window) {
    self.turn = turn
    self.window = window
    allowed = Credit(frames: window.frames, bytes: window.bytes)
    announced = allowed
  }

  /// Whether a request of this size takes from the last quarter of the window what the answers before it withhold.
  func overdraws(byteCount: Int) -> Bool {
    (withheld.frames + 1) * 4 > window.frames * 3 || (withheld.bytes + UInt64(byteCount)) * 4 > window.bytes * 3
  }

  @inline(__always)
  fileprivate mutating func giveBack(byteCount: Int) -> Bool {
    if isBehind {
      owed.add(byteCount: byteCount)
      return false
    }
    allowed.add(byteCount: byteCount)
    return becomesDue()
  }

  /// Whether the peer must learn its total at the end of the turn, and does not wait for that already.
  ///
  /// A quarter of the window may lag behind, so that a single question does not cost a CREDIT of its own. A peer that
  /// sends large frames learns it at once, and so does one that could otherwise send nothing at all.
  @inline(__always)
  fileprivate mutating func becomesDue() -> Bool {
    let lagFrames = allowed.frames - announced.frames
    if isLagging || lagFrames == 0 { return false }
    let lagBytes = allowed.bytes - announced.bytes
    isLagging =
      lagFrames * 4 >= window.frames || lagBytes * 16 >= window.bytes || received.frames >= announced.frames
      || received.bytes >= announced.bytes
    return isLagging
  }

  fileprivate mutating func announce() -> Credit {
    isLagging = false
    announced = allowed
    return allowed
  }
}

/// What every peer may send the hub, and which peers must learn of more at the end of the turn.
struct CreditBooks {
  private var books: [CreditBook] = []
  private var lagging: [SeatIndex] = []

  subscript(seat: SeatIndex) -> CreditBook {
    @inline(__always) get { books[seat.number] }
  }

  /// A connection begins.
  mutating func open(_ seat: SeatIndex, turn: UInt32, window: Window) {
    while books.count <= seat.number { books.append(CreditBook()) }
    books[seat.number] = CreditBook(turn: turn, window: window)
  }

  /// A connection has ended: its credit is gone with it.
  mutating func close(_ seat: SeatIndex) {
    books[seat.number].turn = nil
    lagging.removeAll { $0 == seat }
  }

  /// The present connection of a seat.
  func holder(_ seat: SeatIndex) -> CreditHolder {
    guard let turn = books[seat.number].turn else { preconditionFailure("only a connection has credit to hold") }
    return CreditHolder(seat: seat, turn: turn)
  }

  /// The peer sends one frame.
  @inline(__always)
  mutating func spend(_ seat: SeatIndex, byteCount: Int) throws(FrameViolation) {
    let (received, announced) = (books[seat.number].received, books[seat.number].announced)
    guard received.frames < announced.frames, received.bytes < announced.bytes else {
      throw .rule(
        .noCredit,
        "sent \(received.frames) frames and \(received.bytes) bytes, allowed \(announced.frames) and \(announced.bytes)"
      )
    }
    books[seat.number].received.add(byteCount: byteCount)
    if books[seat.number].becomesDue() { lagging.append(seat) }
  }

  /// A frame of the seat's present connection has left the hub's care.
  @inline(__always)
  mutating func giveBack(to seat: SeatIndex, byteCount: Int) {
    if books[seat.number].giveBack(byteCount: byteCount) { lagging.append(seat) }
  }

  /// The same of any connection; nothing happens once it has ended.
  @inline(__always)
  mutating func giveBack(to holder: CreditHolder, byteCount: Int) {
    if books[holder.seat.number].turn == holder.turn { giveBack(to: holder.seat, byteCount: byteCount) }
  }

  /// The credit of a message comes back with its answer.
  mutating func withhold(from seat: SeatIndex, byteCount: Int) {
    books[seat.number].withheld.add(byteCount: byteCount)
  }

  /// The answer is there, or begins. The books of a connection that has ended are closed.
  mutating func giveBackWithheld(to seat: SeatIndex, byteCount: Int) {
    guard books[seat.number].turn != nil else { return }
    books[seat.number].withheld.remove(byteCount: byteCount)
    giveBack(to: seat, byteCount: byteCount)
  }

  /// The client leaves its answers: it is owed what would come back to it.
  mutating func fallBehind(_ seat: SeatIndex) { books[seat.number].isBehind = true }

  /// The client has taken enough of them: what it is owed comes back.
  mutating func catchUp(_ seat: SeatIndex) {
    let owed = books[seat.number].owed
    books[seat.number].isBehind = false
    books[seat.number].owed = .zero
    books[seat.number].allowed.frames += owed.frames
    books[seat.number].allowed.bytes += owed.bytes
    if books[seat.number].becomesDue() { lagging.append(seat) }
  }

  /// Tells each peer that lags behind its total: one frame a peer.
  mutating func announce(actions: inout [HubAction]) {
    if lagging.isEmpty { return }
    for seat in lagging {
      let header = FrameHeader(type: .credit, payloadByteCount: 16)
      actions.append(.send(seat: seat, header: header, payload: .stored(books[seat.number].announce().payload)))
    }
    lagging.removeAll(keepingCapacity: true)
  }
}
