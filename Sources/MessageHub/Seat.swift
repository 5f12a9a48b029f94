internal import Clocks
internal import DequeModule
internal import Frames

/// One frame that waits for its receiver.
struct MailboxEntry {
  /// The frame; `attempt` and `ttl` are written when it leaves.
  var header: FrameHeader
  var payload: HubPayload
  var payloadByteCount: Int
  /// The delivery behind it, or -1 for frames nobody answers.
  var delivery: Int
  /// For a part of an answer: the caller's delivery it belongs to (-1 otherwise), so that the terminal answer stays behind.
  var answers = -1
  var answersSerial: UInt64 = 0
  /// The seat whose credit this frame still holds, or -1.
  var creditHolder: Int
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

  // What we may send the peer.
  var sent = Credit(frames: 0, bytes: 0)
  var granted = Credit(frames: 0, bytes: 0)

  // What waits for the peer.
  var mailbox = Deque<MailboxEntry>()
  var mailboxBytes = 0
  var gaps: [UInt16: UInt64] = [:]
  var wantsRoomNotice = false

  // What the peer has in hand, oldest first.
  var firstInHand = -1
  var lastInHand = -1
  var inHandCount = 0
  var unacceptedCount = 0
  var suspectCount = 0

  // What the peer has asked for and not been answered.
  var outstanding: [UInt64: Int] = [:]

  var serves: Set<UInt16> = []
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
  /// Whether work for the seat may be accepted: now, or kept until the worker is back.
  var acceptsWork: Bool { state == .ready || state == .away || state == .greeted || state == .draining }
}
