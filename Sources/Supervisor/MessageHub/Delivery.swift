internal import Clocks
internal import Frames

/// A message that somebody must answer for: a request until its terminal answer, an EVENT with NEEDS_ACK until its ACK.
struct Delivery {
  enum State {
    /// In a mailbox.
    case queued
    /// With the worker; `queued` again if the worker dies.
    case delivered
    /// Cancelled or expired while with the worker: the caller has, or will get, its answer; the worker's is awaited.
    case abandoned
    /// Refused by its receiver for now (NACK with a delay).
    case deferred
    /// With the supervisor's own service.
    case inService
  }

  var state: State
  /// The frame as it came, `source` stamped.
  var header: FrameHeader
  var callerSeat: Int
  var receiverSeat: Int
  var attempt: UInt16 = 0
  /// Deliveries that ended with the worker's death. Apart from `attempt`, because a NACK is no death.
  var deaths: UInt16 = 0
  /// The end of its time to live; nil = none.
  var expiresAt: Instant?
  /// When it next wants attention: its end, the end of a cancel's grace, or of a NACK's delay.
  var deadline: Instant?
  var receivedAt: Instant
  /// Kept for redelivery; `.none` once it cannot be needed again.
  var payload: HubPayload
  var payloadByteCount: Int
  /// A part of the answer has gone to the caller: a second delivery would repeat it.
  var hasParts = false
  /// The parts of the answer, as far as they have come.
  var parts = PartCounts()
  /// What its caller grants of the answer, if it grants each of its answers.
  var grants = AnswerCredit()
  /// The receiver acknowledged the request, or showed progress: it is not a suspect and may take its time.
  var isAccepted = false
  /// Redelivered after a death, not yet cleared.
  var isSuspect = false
  /// The caller wants an answer although the worker was told to stop.
  var isCancelled = false
  /// The sender's credit for this frame is still held.
  var holdsCredit = false
  /// The topic event this is a copy of, if its publisher waits for all of them.
  var ackGroup: Int?
  /// Neighbours in one of the receiver's two lists of what it has in hand.
  var previous = DeliveryIndex.none
  var next = DeliveryIndex.none
  var isSetAside = false
  /// Guards against stale references to a reused slot; 0 = the slot is free.
  var serial: UInt64 = 0

  var isRequest: Bool { header.type == .request }
  /// A dead letter that is tried again, the only thing the supervisor asks of workers: one more death is the last.
  var isRetriedLetter: Bool { callerSeat == 0 }
  /// What can be said of the work when it is given up while it waits.
  var outcomeInQueue: Outcome { attempt == 0 ? .notStarted : .unknown }
}

/// The parts of one answer: how many came in this attempt, how many of them wait in the caller's mailbox, and how many
/// the worker was told are taken.
struct PartCounts {
  private var received = Credit(frames: 0, bytes: 0)
  private(set) var waiting = Credit(frames: 0, bytes: 0)
  private var told = Credit(frames: 0, bytes: 0)

  /// Whether one more part lies within the answer's window; like all credit, its bytes may be overdrawn by one payload.
  func hasRoom(in window: Window) -> Bool { waiting.frames < window.frames && waiting.bytes < window.bytes }

  /// A part came from the worker.
  @inline(__always)
  mutating func didReceive(byteCount: Int) {
    received.frames += 1
    received.bytes += UInt64(byteCount)
  }

  /// A part is put into the caller's mailbox.
  mutating func didKeep(byteCount: Int) {
    waiting.frames += 1
    waiting.bytes += UInt64(byteCount)
  }

  /// A part has left the caller's mailbox.
  mutating func didRelease(byteCount: Int) {
    waiting.frames -= 1
    waiting.bytes -= UInt64(byteCount)
  }

  /// The totals to tell the worker, once half a window was taken since the last time: a stream that is taken as it
  /// comes costs one frame for every 32 parts, and a worker that waits is always told, because it has sent a whole
  /// window.
  @inline(__always)
  mutating func announcement(_ window: Window) -> Credit? {
    let taken = Credit(frames: received.frames - waiting.frames, bytes: received.bytes - waiting.bytes)
    guard (taken.frames - told.frames) * 2 >= window.frames || (taken.bytes - told.bytes) * 2 >= window.bytes else {
      return nil
    }
    told = taken
    return Credit(frames: taken.frames + window.frames, bytes: taken.bytes + window.bytes)
  }
}

/// The place of a delivery in the hub, or ``none``.
struct DeliveryIndex: Hashable, Comparable, Sendable {
  fileprivate let slot: Int32

  fileprivate init(_ slot: Int) { self.slot = Int32(slot) }
  private init() { slot = -1 }

  /// No delivery.
  static let none = DeliveryIndex()

  /// Whether it is the place of a delivery.
  @inline(__always)
  var isSome: Bool { slot >= 0 }

  static func < (left: DeliveryIndex, right: DeliveryIndex) -> Bool { left.slot < right.slot }
}

/// A slab of deliveries: stable indices, no allocation once warm.
struct DeliverySlab {
  private var slots: [Delivery] = []
  private var free: [Int] = []
  private var nextSerial: UInt64 = 1

  var count: Int { slots.count - free.count }

  mutating func insert(_ delivery: consuming Delivery) -> DeliveryIndex {
    delivery.serial = nextSerial
    nextSerial += 1
    guard let index = free.popLast() else {
      slots.append(delivery)
      return DeliveryIndex(slots.count - 1)
    }
    slots[index] = delivery
    return DeliveryIndex(index)
  }

  mutating func remove(_ index: DeliveryIndex) {
    let slot = Int(index.slot)
    precondition(slots[slot].serial != 0, "a delivery ends once")
    slots[slot].serial = 0
    slots[slot].payload = .none
    free.append(slot)
  }

  subscript(index: DeliveryIndex) -> Delivery {
    // Lent, not copied: most readers want one field of many.
    @inline(__always) _read {
      precondition(slots[Int(index.slot)].serial != 0, "no delivery in this slot")
      yield slots[Int(index.slot)]
    }
    @inline(__always) _modify {
      precondition(slots[Int(index.slot)].serial != 0, "no delivery in this slot")
      yield &slots[Int(index.slot)]
    }
  }

  /// The deliveries that satisfy a condition, in no order that means anything. Reads every slot.
  func indices(where condition: (Delivery) -> Bool) -> [DeliveryIndex] {
    slots.indices.filter { slots[$0].serial != 0 && condition(slots[$0]) }.map { DeliveryIndex($0) }
  }

  /// Whether the slot still holds the delivery with this serial number.
  func holds(_ index: DeliveryIndex, serial: UInt64) -> Bool { slots[Int(index.slot)].serial == serial }
}

/// A list of deliveries, linked through themselves.
struct DeliveryList {
  var first = DeliveryIndex.none
  var last = DeliveryIndex.none

  mutating func append(_ index: DeliveryIndex) {
    if !first.isSome { first = index }
    last = index
  }

  mutating func remove(between previous: DeliveryIndex, and next: DeliveryIndex) {
    if !previous.isSome { first = next }
    if !next.isSome { last = previous }
  }
}

/// A publisher that waits until every worker subscribed to a topic has acknowledged.
struct AckGroup {
  var publisher: Endpoint
  var id: UInt64
  var remaining: Int
}
