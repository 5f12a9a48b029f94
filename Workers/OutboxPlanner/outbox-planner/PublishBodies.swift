import DequeModule
import Nostr

/// The bytes of events that will soon be sent: those used last, up to a bound. All others are in the ledger.
struct PublishBodies {
  /// Most bytes of events held.
  static let byteMaximum = 32 << 20

  private var events: [EventID: [UInt8]] = [:]
  private var order = Deque<EventID>()
  private var byteCount = 0

  subscript(id: EventID) -> [UInt8]? { events[id] }

  /// Keeps an event. If its id is present, the first copy stays.
  mutating func keep(_ event: [UInt8], _ id: EventID) {
    guard events[id] == nil else { return }
    events[id] = event
    order.append(id)
    byteCount += event.count
    while byteCount > Self.byteMaximum, let oldest = order.popFirst() {
      if let gone = events.removeValue(forKey: oldest) { byteCount -= gone.count }
    }
  }

  mutating func drop(_ id: EventID) {
    guard let gone = events.removeValue(forKey: id) else { return }
    byteCount -= gone.count
    // Its entry in the order stays behind; such entries must not pile up.
    if order.count > 2 * events.count + 1_024 { order.removeAll { events[$0] == nil } }
  }
}
