internal import Nostr
internal import Synchronization

/// The events met last, by id, in memory: whoever asks for one that just came, or was just asked for, waits for no
/// disk.
///
/// Bounded by bytes, in two generations like the gate's ids: when the young one has half of the bytes it becomes the
/// old one, and the old one is forgotten; what is asked for in the old one moves to the young.
///
/// What is removed from the archive is removed here when that is committed. A reader may still hold such an event, from
/// a state of before; so he says which removals he knows of, and comes too late if there was another.
final class RecentEvents: Sendable {
  /// Bytes counted for an event besides its JSON: what is kept of it for filters.
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

  /// Bytes that the events may have together; 0: none is kept.
  var byteLimit: Int {
    get { state.withLock { $0.byteLimit } }
    set {
      state.withLock { state in
        state.byteLimit = newValue
        (state.young, state.old, state.youngByteCount) = ([:], [:], 0)
      }
    }
  }

  /// How many removals there have been.
  var removals: UInt64 { state.withLock { $0.removals } }

  /// An event, if it is here.
  func event(_ id: EventID) -> StoredEvent? {
    state.withLock { state in
      if let event = state.young[id] { return event }
      guard let event = state.old.removeValue(forKey: id) else { return nil }
      state.insert(event)
      return event
    }
  }

  /// Keeps what was committed; what went in the same transaction goes.
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

  /// Forgets all: what is still stored can be read again.
  func forget() {
    state.withLock { state in
      state.removals += 1
      (state.young, state.old, state.youngByteCount) = ([:], [:], 0)
    }
  }

  /// Keeps what was read, unless something was removed since then.
  func read(_ events: [StoredEvent], removals: UInt64) {
    state.withLock { state in
      guard state.removals == removals else { return }
      for event in events { state.insert(event) }
    }
  }
}
