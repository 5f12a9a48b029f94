internal import Nostr

/// The ids met last, each with its seq, bounded.
///
/// Two generations: when the young one is full it becomes the old one, and the old one is forgotten. What is asked for
/// in the old one moves to the young. So between one and two times ``capacity`` ids are remembered, and no list of uses
/// is kept.
struct RecentIDs<Value: Sendable>: Sendable {
  let capacity: Int
  private var young: [EventID: Value] = [:]
  private var old: [EventID: Value] = [:]

  init(capacity: Int) {
    self.capacity = capacity
    young.reserveCapacity(capacity)
  }

  var count: Int { young.count + old.count }

  mutating func insert(_ id: EventID, _ value: Value) {
    if young.count >= capacity {
      old = young
      young = Dictionary(minimumCapacity: capacity)
    }
    young[id] = value
  }

  mutating func value(of id: EventID) -> Value? {
    if let value = young[id] { return value }
    guard let value = old.removeValue(forKey: id) else { return nil }
    insert(id, value)
    return value
  }

  mutating func removeAll() {
    young.removeAll(keepingCapacity: true)
    old = [:]
  }

  mutating func remove(_ id: EventID) {
    young[id] = nil
    old[id] = nil
  }
}
