internal import Clocks
internal import DequeModule
internal import Frames

/// A place on the bus. A worker's seat outlives its connections: mailbox, subscriptions and name stay.
struct Seat {
  enum State {
    /// It has no tenant.
    case free
    /// A worker's, without a connection; the mailbox collects.
    case away
    /// Greeted, not READY: may send, gets no work yet.
    case greeted
    /// Takes work.
    case ready
    /// DRAIN was sent: it finishes, and gets no new work.
    case draining
    /// A worker's that is stopped: work for it is refused.
    case closed
  }

  let index: SeatIndex
  var state = State.free
  var name = ""
  var role: UInt16 = 0
  /// Which connection of this seat it is; part of the endpoint.
  var turn: UInt32 = 0
  /// The first turn of the present tenant: endpoints of earlier ones are `gone`, also when the seat is a worker's.
  var firstTurn: UInt32 = 0
  /// A client of another user than the supervisor's.
  var isOfOtherUser = false
  /// A worker of any kind: lossless topics, a mailbox that survives.
  var isWorker = false
  /// Why the seat is closed, and when asking again makes sense.
  private(set) var closedReason = ""
  private(set) var retryAfterMilliseconds: UInt32?
  /// The methods it serves: few, so that looking through them beats hashing.
  var serves: [UInt16] = []

  // What the present connection has said.
  var lastId: UInt64 = 0
  /// The most payload a frame to the peer may have.
  var payloadMaximum = Int.max
  /// Whether the peer takes CREDIT for a single answer.
  var knowsAnswerCredit = false
  /// Whether the peer reads the role of each sender.
  var knowsCallerRole = false
  /// Whether the peer grants each of its answers apart: what waits of them is in ``held``, not in ``mailbox``.
  var grantsAnswers = false
  /// What the hub may send over the connection.
  var granted = GrantedCredit()

  /// What waits for the connection's credit.
  var mailbox = Mailbox()
  /// What waits for the credit of single answers.
  var held = HeldAnswers()
  /// Events that a slow subscriber has missed, by topic.
  var gaps: [UInt16: UInt64] = [:]
  var wantsRoomNotice = false

  /// What the peer has and must answer.
  var inFlight = InFlight()
  /// The peer's own requests without a terminal answer.
  var outstanding: [UInt64: DeliveryIndex] = [:]
  /// Since when there has been work without a sign of progress; nil without such work.
  var busySince: Instant?

  init(index: SeatIndex) { self.index = index }

  /// The next connection begins.
  mutating func begin(window: Window, lengthMaximum: Int) {
    turn += 1
    lastId = 0
    payloadMaximum = lengthMaximum - (FrameHeader.byteCount - 4)
    granted = GrantedCredit(window)
  }

  /// Work is refused from now on.
  mutating func close(_ reason: String, retryAfterMilliseconds: UInt32?) {
    state = .closed
    closedReason = reason
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  var endpoint: Endpoint { Endpoint(rawValue: UInt32(truncatingIfNeeded: index.number) | ((turn & 0x7FFFF) << 12)) }
  var isConnected: Bool { state == .greeted || state == .ready || state == .draining }
  /// Whether work for the seat may be accepted: now, or kept until the worker is back.
  var acceptsWork: Bool { isConnected || state == .away }

  /// Whether a frame that spends credit can go to the peer at once.
  @inline(__always)
  var isOpenHanded: Bool { state == .ready && mailbox.work.isEmpty && granted.hasRoom && inFlight.suspectCount == 0 }

  /// Whether a part of an answer can go to the peer at once, on the connection's credit.
  @inline(__always)
  var takesParts: Bool { isConnected && mailbox.answers.isEmpty && granted.hasRoom }

  /// Whether the worker owes progress.
  var isOwing: Bool {
    state == .ready
      && (inFlight.unacceptedCount > 0 || (mailbox.count > 0 && !granted.hasRoom) || held.creditCount > 0)
  }

  /// Frames that wait, those that wait for credit of their own answers among them.
  var waitingCount: Int { mailbox.count + held.count }
  /// All of these, queue by queue.
  var queues: [Deque<MailboxEntry>] { [mailbox.answers, mailbox.work] + held.all.values.map(\.entries) }
  /// Payload bytes of these.
  var waitingByteCount: Int { mailbox.byteCount + held.byteCount }

  /// Whether `endpoint` is this seat's under its present tenant.
  @inline(__always)
  func isReached(by endpoint: Endpoint) -> Bool {
    if endpoint == self.endpoint { return true }
    let turns = endpoint.rawValue >> 12
    return isWorker && (turns &- firstTurn) & 0x7FFFF < (turn &- firstTurn) & 0x7FFFF
  }
}
