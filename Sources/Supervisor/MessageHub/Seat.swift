internal import Clocks
internal import DequeModule
internal import Frames

/// One frame that waits for its receiver.
struct MailboxEntry {
  /// The frame; `destination`, `attempt` and `ttl` are written when it leaves.
  var header: FrameHeader
  var payload: HubPayload
  var payloadByteCount: Int
  /// The delivery behind it; none for frames that are not answered.
  var delivery: DeliveryIndex
  /// For frames without a delivery: the end of their time to live. They are late rather than lost, with `ttl` at 1.
  var expiresAt: Instant?
  /// For a part of an answer: the caller's delivery it belongs to, so that the terminal answer stays
  /// behind.
  var answers = DeliveryIndex.none
  var answersSerial: UInt64 = 0
  /// The seat whose credit this frame still holds, if any.
  var creditHolder: Int?
  var creditTurn: UInt32 = 0
}

/// A place on the bus. A worker's seat outlives its connections: mailbox, subscriptions and name stay.
struct Seat {
  enum State {
    /// Nobody's.
    case free
    /// A worker's, without a connection; the mailbox collects.
    case away
    /// Greeted, not READY: may send, gets no work yet.
    case greeted
    /// Takes work.
    case ready
    /// Told to finish: gets no new work.
    case draining
    /// A worker's that is stopped: work for it is refused.
    case closed
  }

  var state = State.free
  var name = ""
  var role: UInt16 = 0
  /// Which connection of this seat it is; part of the endpoint.
  var turn: UInt32 = 0
  /// The first turn of the present tenant: endpoints of earlier ones are `gone`, also when the seat is a worker's.
  var firstTurn: UInt32 = 0
  /// A worker of any kind: lossless topics, a mailbox that survives.
  var isWorker = false
  /// Why the seat is closed, and when asking again makes sense.
  var closedReason = ""
  var retryAfterMilliseconds: UInt32?

  // What the peer may send us.
  var window = Window.standard
  var received = Credit(frames: 0, bytes: 0)
  var allowed = Credit(frames: 0, bytes: 0)
  var announced = Credit(frames: 0, bytes: 0)
  var isLagging = false
  var lastId: UInt64 = 0
  /// The most payload a frame to the peer may have.
  var payloadMaximum = Int.max
  /// Credit that comes back with the answers to the peer's messages: more of those are open than may be.
  var withheld = Credit(frames: 0, bytes: 0)
  /// Whether parts of answers fill the mailbox of a client. It gets no credit back until it takes some, so it has no
  /// more answers waiting than its window of requests has brought about.
  var isBehind = false
  /// The credit that comes back then.
  var owed = Credit(frames: 0, bytes: 0)

  // What we may send the peer.
  var sent = Credit(frames: 0, bytes: 0)
  var granted = Credit(frames: 0, bytes: 0)
  /// Whether the peer is told how much it may send of a single answer.
  var knowsAnswerCredit = false
  /// Whether the peer is told the role of each sender.
  var knowsCallerRole = false

  // What waits for the peer: answers to its requests (parts, and terminal answers behind parts of their own) apart from
  // work and events, because a worker that is not READY, is draining or has a suspect in hand still needs its answers.
  var answers = Deque<MailboxEntry>()
  var mailbox = Deque<MailboxEntry>()
  /// Payload bytes of both.
  var mailboxBytes = 0
  /// Whether the peer grants each of its answers apart: what waits of them is in ``held``, by the peer's number of the
  /// request, and ``answers`` stays empty.
  var grantsAnswers = false
  var held: [UInt64: HeldAnswer] = [:]
  /// Frames in ``held``, and their payload bytes.
  var heldCount = 0
  var heldBytes = 0
  /// Frames in ``held`` that hold their worker's credit.
  var heldCreditCount = 0
  /// Since when the peer has taken nothing of ``held``; nil while it is empty.
  var untakenSince: Instant?
  var gaps: [UInt16: UInt64] = [:]
  var wantsRoomNotice = false

  // What the peer has in hand, oldest first. What is accepted or abandoned stays long: it stands aside, so that the
  // rest, which is looked through at every ACK, stays short.
  var hand = DeliveryList()
  var setAside = DeliveryList()
  /// Both together.
  var inHandCount = 0
  var unacceptedCount = 0
  var abandonedCount = 0
  /// Suspects that wait and the one in hand.
  var suspectCount = 0
  /// The suspect in hand: there is never more than one.
  var suspectInHand = DeliveryIndex.none

  // What the peer has asked for and not been answered.
  var outstanding: [UInt64: DeliveryIndex] = [:]

  /// The methods it serves: few, so that looking through them beats hashing.
  var serves: [UInt16] = []
  var subscriptions: Set<UInt16> = []
  /// Since when there has been work without a sign of progress; nil while there is none.
  var busySince: Instant?

  var endpoint: Endpoint { Endpoint(rawValue: UInt32(truncatingIfNeeded: index) | ((turn & 0x7FFFF) << 12)) }
  let index: Int

  init(index: Int) { self.index = index }

  var isConnected: Bool { state == .greeted || state == .ready || state == .draining }
  /// Whether the peer lets us send one more frame that spends credit.
  @inline(__always)
  var hasCredit: Bool { sent.frames < granted.frames && sent.bytes < granted.bytes }
  /// Frames that wait for the connection's credit.
  @inline(__always)
  var queuedCount: Int { mailbox.count + answers.count }
  /// Frames that wait, those that wait for credit of their own answers among them.
  var waitingCount: Int { queuedCount + heldCount }
  /// Payload bytes of these.
  var waitingBytes: Int { mailboxBytes + heldBytes }
  /// Whether `endpoint` is this seat's under its present tenant.
  @inline(__always)
  func isReached(by endpoint: Endpoint) -> Bool {
    if endpoint == self.endpoint { return true }
    let turns = endpoint.rawValue >> 12
    return isWorker && (turns &- firstTurn) & 0x7FFFF < (turn &- firstTurn) & 0x7FFFF
  }
  /// Whether work for the seat may be accepted: now, or kept until the worker is back.
  var acceptsWork: Bool { state == .ready || state == .away || state == .greeted || state == .draining }
}
