internal import Nostr
internal import Synchronization

/// The events used last, by id, in memory. A client that asks for an event that just came, or was just requested, does
/// not wait for a disk.
///
/// Bounded by bytes, in two generations like the gate's ids. When the young generation has half of the bytes it becomes
/// the old one, and the previous old one is dropped; an event that is requested from the old generation moves to the
/// young one.
///
/// An event that is removed from the archive is removed here when that is committed. A reader may still hold such an
/// event from an older state. So a reader passes the number of removals that it knows; if there was another since, its
/// events are not kept.
final class RecentEvents: Sendable {
  /// The bytes counted for an event in addition to its JSON: what filters need of it.
  static let overheadByteCount = 300

  private struct State {
    var young: [EventID: StoredEvent] = [:]
    var old: [EventID: StoredEvent] = [:]
    var youngByteCount = 0
    var byteLimit: Int
    var removals: UInt64 = 0

    mutating func insert(_ event: StoredEvent) {
      let byteCount = event.json.count + RecentEvents.overheadByteCount
      guard byteCount <= byteLimit / 2 else { return }
      if youngByteCount + byteCount > byteLimit / 2 {
        old = young
        young = Dictionary(minimumCapacity: old.count)
        youngByteCount = 0
      }
      if young.updateValue(event, forKey: event.indexed.id) == nil { youngByteCount += byteCount }
    }
  }

  private let state: Mutex<State>

  init(byteLimit: Int) { state = Mutex(State(byteLimit: byteLimit)) }

  /// The bytes that all events may have; 0: no event is kept.
  var byteLimit: Int {
    get { state.withLock { $0.byteLimit } }
    set {
      state.withLock { state in
        state.byteLimit = newValue
        (state.young, state.old, state.youngByteCount) = ([:], [:], 0)
      }
    }
  }

  /// The number of removals so far.
  var removals: UInt64 { state.withLock { $0.removals } }

  /// An event; nil if it is not in memory.
  func event(_ id: EventID) -> StoredEvent? {
    state.withLock { state in
      if let event = state.young[id] { return event }
      guard let event = state.old.removeValue(forKey: id) else { return nil }
      state.insert(event)
      return event
    }
  }

  /// Keeps the committed events, and drops those that the same transaction removed.
  func committed(_ events: [StoredEvent], gone: [EventID]) {
    state.withLock { state in
      for event in events { state.insert(event) }
      guard !gone.isEmpty else { return }
      state.removals += 1
      for id in gone {
        if let event = state.young.removeValue(forKey: id) {
          state.youngByteCount -= event.json.count + Self.overheadByteCount
        }
        state.old[id] = nil
      }
    }
  }

  /// Drops all events: those still stored can be read again.
  func forget() {
    state.withLock { state in
      state.removals += 1
      (state.young, state.old, state.youngByteCount) = ([:], [:], 0)
    }
  }

  /// Keeps the events that were read, unless an event was removed since.
  func read(_ events: [StoredEvent], removals: UInt64) {
    state.withLock { state in
      guard state.removals == removals else { return }
      for event in events { state.insert(event) }
    }
  }
}
