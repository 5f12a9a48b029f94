internal import Clocks
internal import Frames

/// A message that needs an answer: a request until its terminal answer, an EVENT with NEEDS_ACK until its ACK.
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
  var callerSeat: SeatIndex
  var receiverSeat: SeatIndex
  var attempt: UInt16 = 0
  /// Deliveries that ended with the worker's death. Apart from `attempt`, because a NACK is no death.
  var deaths: UInt16 = 0
  /// The end of its time to live; nil = none.
  var expiresAt: Instant?
  /// When it next wants attention: its end, the end of a cancel's grace, or of a NACK's delay.
  var deadline: Instant?
  var receivedAt: Instant
  /// Kept for redelivery; `.none` once it cannot be needed again.
  var payload = HubPayload.none
  /// A worker of the role has passed it on to another: it is not passed on again.
  var isHandedOver = false
  /// A part of the answer has gone to the caller: a second delivery would repeat it.
  var hasParts = false
  /// The parts of the answer that have come.
  var parts = PartCounts()
  /// What its caller grants of the answer, if it grants each of its answers.
  var grants = GrantedCredit()
  /// The receiver acknowledged the request, or showed progress: it is not a suspect and may take its time.
  var isAccepted = false
  /// Redelivered after a death, not yet cleared.
  var isSuspect = false
  /// The caller wants an answer although CANCEL went to the worker.
  var isCancelled = false
  /// The sender's credit for this frame is still held.
  var holdsCredit = false
  /// The topic event this is a copy of, if its publisher waits for all of them.
  var ackGroup: AckGroups.Number?
  /// Neighbours in one of the receiver's two lists of deliveries in flight.
  var previous = DeliveryIndex.none
  var next = DeliveryIndex.none
  var isSetAside = false
  /// Guards against stale references to a reused slot; 0 = the slot is free.
  var serial: UInt64 = 0

  var payloadByteCount: Int { header.payloadByteCount }
  var isRequest: Bool { header.type == .request }
  /// A dead letter that is tried again, the only thing the supervisor asks of workers: one more death is the last.
  var isRetriedLetter: Bool { callerSeat == .supervisor }
  /// What can be said of the work when it is given up while it waits.
  var outcomeInQueue: Outcome { attempt == 0 ? .notStarted : .unknown }
}

/// The parts of one answer: how many came in this attempt, how many of them wait in the caller's mailbox, and how many
/// the worker knows to be taken.
struct PartCounts {
  private var received = Credit.zero
  private(set) var waiting = Credit.zero
  private var announced = Credit.zero

  /// Whether one more part lies within the answer's window; like all credit, its bytes may be overdrawn by one payload.
  func hasRoom(in window: Window) -> Bool { waiting.frames < window.frames && waiting.bytes < window.bytes }

  /// A part came from the worker.
  @inline(__always)
  mutating func didReceive(byteCount: Int) { received.add(byteCount: byteCount) }

  /// A part is put into the caller's mailbox.
  mutating func didKeep(byteCount: Int) { waiting.add(byteCount: byteCount) }

  /// A part has left the caller's mailbox.
  mutating func didRelease(byteCount: Int) { waiting.remove(byteCount: byteCount) }

  /// The totals to announce to the worker, once half a window was taken since the last time: a stream that is taken as
  /// it comes costs one frame for every 32 parts, and a worker that waits always gets one, because it has sent a whole
  /// window.
  @inline(__always)
  mutating func announcement(_ window: Window) -> Credit? {
    let taken = Credit(frames: received.frames - waiting.frames, bytes: received.bytes - waiting.bytes)
    guard
      (taken.frames - announced.frames) * 2 >= window.frames || (taken.bytes - announced.bytes) * 2 >= window.bytes
    else { return nil }
    announced = taken
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

/// A delivery by its place and serial number: another delivery that has its place by now is not it.
struct DeliveryReference {
  let index: DeliveryIndex
  fileprivate let serial: UInt64
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

  /// A copy of the frame's header. Of the header that the subscript lends, Swift 6.3.1 reads fields after the access is
  /// over if the subscript is not inlined, as in the fuzz build, where they are freed by then.
  func header(of index: DeliveryIndex) -> FrameHeader { slots[Int(index.slot)].header }

  /// The deliveries that satisfy a condition, in no order that means anything. Reads every slot.
  func indices(where condition: (Delivery) -> Bool) -> [DeliveryIndex] {
    slots.indices.filter { slots[$0].serial != 0 && condition(slots[$0]) }.map { DeliveryIndex($0) }
  }

  /// Names a delivery beyond its end.
  func reference(to index: DeliveryIndex) -> DeliveryReference {
    DeliveryReference(index: index, serial: self[index].serial)
  }

  /// Whether the delivery has not ended.
  func holds(_ reference: DeliveryReference) -> Bool {
    slots[Int(reference.index.slot)].serial == reference.serial
  }
}
