internal import Frames

/// The deliveries in flight at one worker, oldest first, and its suspects.
///
/// What is accepted or abandoned stays long. It is in a list of its own, so that the other list, which every ACK looks
/// through, stays short.
struct InFlight {
  private var open = DeliveryList()
  private var aside = DeliveryList()
  /// Both together.
  private(set) var count = 0
  private(set) var unacceptedCount = 0
  private(set) var abandonedCount = 0
  /// Suspects that wait and the one in flight.
  private(set) var suspectCount = 0
  /// The suspect in flight: there is never more than one.
  private(set) var suspect = DeliveryIndex.none

  /// The worker gets a delivery.
  mutating func add(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    open.append(index, in: &deliveries)
    count += 1
    unacceptedCount += 1
    deliveries[index].isSetAside = false
    deliveries[index].isAccepted = false
    if deliveries[index].isSuspect { suspect = index }
  }

  /// The worker has answered, or will not.
  mutating func remove(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    if deliveries[index].isSetAside {
      aside.remove(index, in: &deliveries)
    } else {
      open.remove(index, in: &deliveries)
    }
    count -= 1
    if !deliveries[index].isAccepted { unacceptedCount -= 1 }
    if deliveries[index].state == .abandoned { abandonedCount -= 1 }
    if suspect == index { suspect = .none }
  }

  /// The worker has shown that this message does not kill it.
  @inline(__always)
  mutating func accept(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    if !deliveries[index].isAccepted {
      deliveries[index].isAccepted = true
      unacceptedCount -= 1
      setAside(index, in: &deliveries)
    }
    clearSuspicion(of: index, in: &deliveries)
  }

  /// The caller has its answer: the worker's is awaited, and will be discarded.
  mutating func abandon(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    deliveries[index].state = .abandoned
    abandonedCount += 1
    setAside(index, in: &deliveries)
  }

  /// The oldest abandoned delivery, once there are more than `maximum`.
  func oldestAbandoned(above maximum: Int, in deliveries: DeliverySlab) -> DeliveryIndex? {
    guard abandonedCount > maximum else { return nil }
    var oldest = aside.first
    while deliveries[oldest].state != .abandoned { oldest = deliveries[oldest].next }
    return oldest
  }

  /// The delivery with this sender and id. Oldest first: acknowledgements come mostly in order.
  func find(source: Endpoint, id: UInt64, in deliveries: DeliverySlab) -> DeliveryIndex? {
    var (index, rest) = (open.first, aside.first)
    while true {
      if !index.isSome { (index, rest) = (rest, .none) }
      guard index.isSome else { return nil }
      if deliveries[index].header.id == id && deliveries[index].header.source == source { return index }
      index = deliveries[index].next
    }
  }

  /// All, in the order in which they came to the hub.
  func all(in deliveries: DeliverySlab) -> [DeliveryIndex] {
    var all: [DeliveryIndex] = []
    for var index in [aside.first, open.first] {
      while index.isSome {
        all.append(index)
        index = deliveries[index].next
      }
    }
    all.sort { deliveries[$0].serial < deliveries[$1].serial }
    return all
  }

  // MARK: Suspects

  /// A delivery that waits for the worker is a suspect from now on.
  mutating func makeSuspect(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    deliveries[index].isSuspect = true
    suspectCount += 1
  }

  mutating func clearSuspicion(of index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    guard deliveries[index].isSuspect else { return }
    deliveries[index].isSuspect = false
    suspectCount -= 1
    if suspect == index { suspect = .none }
  }

  private mutating func setAside(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    if deliveries[index].isSetAside { return }
    open.remove(index, in: &deliveries)
    aside.append(index, in: &deliveries)
    deliveries[index].isSetAside = true
  }
}

/// A list of deliveries, linked through themselves.
private struct DeliveryList {
  private(set) var first = DeliveryIndex.none
  private var last = DeliveryIndex.none

  mutating func append(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    deliveries[index].previous = last
    deliveries[index].next = .none
    if last.isSome { deliveries[last].next = index } else { first = index }
    last = index
  }

  mutating func remove(_ index: DeliveryIndex, in deliveries: inout DeliverySlab) {
    let (previous, next) = (deliveries[index].previous, deliveries[index].next)
    if previous.isSome { deliveries[previous].next = next } else { first = next }
    if next.isSome { deliveries[next].previous = previous } else { last = previous }
  }
}
