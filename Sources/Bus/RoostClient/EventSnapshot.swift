internal import EventLoop
public import Frames
public import Nostr

/// What an observation knows at one moment, to be shown: the newest events, newest first, each once, and of a
/// replaceable event its newest version only.
///
/// A value: an application keeps the last one and shows it. It has at most ``countMaximum`` events; older ones leave
/// it. If kind 5 is observed too, deleted events (NIP-09) leave it; the requests to delete are not in it.
public struct EventSnapshot: Sendable {
  /// The events, those with the latest `created_at` first, and of the same second the one with the lowest id.
  public private(set) var events: [ReceivedEvent] = []
  /// Whether all stored events have come: what is missing is not stored.
  public private(set) var isComplete = false
  /// All events up to this seq are taken into account; nil before the end of the stored events. A later observation
  /// that passes it as `after` continues from here.
  public private(set) var seq: Int64?
  /// How many events it holds at most.
  public let limit: Int

  /// The most events of a snapshot.
  public static let countMaximum = 10_000
  /// How many events it holds unless the application says it.
  public static let countStandard = 500

  private var ids: Set<EventID> = []
  private var addresses: [EventAddress: EventID] = [:]

  /// Nothing yet.
  ///
  /// - Parameter limit: how many events it holds, 1 to ``countMaximum``.
  public init(limit: Int = EventSnapshot.countStandard) { self.limit = min(max(1, limit), Self.countMaximum) }

  /// Takes an item of the observation.
  ///
  /// - Returns: whether anything is different now.
  @discardableResult
  public mutating func take(_ item: ObservedItem) -> Bool {
    switch item {
    case .storedEnd(let seq):
      self.seq = max(self.seq ?? seq, seq)
      defer { isComplete = true }
      return !isComplete
    case .event(let received):
      if isComplete, let new = received.seq { seq = max(seq ?? new, new) }
      return take(received)
    }
  }

  private mutating func take(_ received: ReceivedEvent) -> Bool {
    let event = received.event
    guard !ids.contains(event.id) else { return false }
    // Deleted events that come later are refused by the store.
    if event.kind == EventKind.deletion { return delete(event) }
    var isChanged = false
    if let address = EventAddress(of: event) {
      if let present = addresses[address], let index = events.firstIndex(where: { $0.event.id == present }) {
        guard Self.isBefore(event, events[index].event) else { return isChanged }
        remove(at: index)
        isChanged = true
      }
      addresses[address] = event.id
    }
    let index = place(of: event)
    guard index < limit else {
      if let address = EventAddress(of: event) { addresses[address] = nil }
      return isChanged
    }
    events.insert(received, at: index)
    ids.insert(event.id)
    if events.count > limit { remove(at: events.count - 1) }
    return true
  }

  private mutating func delete(_ event: Event) -> Bool {
    // `try?`: one that names nothing deletes nothing.
    guard let request = try? DeletionRequest(event) else { return false }
    let places = events.indices.filter { request.covers(IndexedEvent(events[$0].event)) }
    for index in places.reversed() { remove(at: index) }
    return !places.isEmpty
  }

  private mutating func remove(at index: Int) {
    let event = events.remove(at: index).event
    ids.remove(event.id)
    if let address = EventAddress(of: event), addresses[address] == event.id { addresses[address] = nil }
  }

  /// The index of the first event that comes after this one.
  private func place(of event: Event) -> Int {
    var (low, high) = (0, events.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.isBefore(events[middle].event, event) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func isBefore(_ left: Event, _ right: Event) -> Bool {
    left.createdAt != right.createdAt ? left.createdAt > right.createdAt : left.id < right.id
  }
}

/// An observation as values to show. Made by ``RoostClient/snapshots(of:limit:options:)``. Ends as ``Observation``
/// does.
public struct SnapshotSequence: AsyncSequence, Sendable {
  /// What is known.
  public typealias Element = EventSnapshot
  /// The reason of an early end.
  public typealias Failure = Refusal

  let observation: Observation
  let limit: Int

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator {
    Iterator(observed: observation.makeAsyncIterator(), snapshot: EventSnapshot(limit: limit))
  }

  /// One observation.
  public struct Iterator: AsyncIteratorProtocol {
    var observed: Observation.Iterator
    var snapshot: EventSnapshot

    /// The snapshot when all stored events are in it, and then at each change; nil when the task is cancelled. Only one
    /// reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> EventSnapshot? {
      while let item = try await observed.next(isolation: actor) {
        let isChanged = snapshot.take(item)
        if isChanged, snapshot.isComplete { return snapshot }
      }
      return nil
    }
  }
}

extension RoostClient {
  /// An observation as snapshots: the first when all stored events have come, the next at each change.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64; with kind 5 among them, deleted events leave the snapshot.
  ///   - limit: how many events a snapshot holds, up to ``EventSnapshot/countMaximum``. The store sends all that the
  ///     filters match: give the filters a `limit` too.
  ///   - options: those of the observation.
  public nonisolated func snapshots(
    of filters: [Filter], limit: Int = EventSnapshot.countStandard, options: ObserveOptions = ObserveOptions()
  ) -> SnapshotSequence {
    SnapshotSequence(observation: observe(filters, options: options), limit: limit)
  }

  /// What is known now: the observation ends when all stored events have come. With relays among its policy they are
  /// asked, but not waited for; see ``fetch(_:fromAtLeast:withinMilliseconds:relays:)``.
  ///
  /// - Parameters:
  ///   - filters: 1 to 64.
  ///   - limit: how many events it holds.
  ///   - options: those of the observation.
  /// - Throws: as the observation; `cancelled` when the task is.
  public func snapshot(
    of filters: [Filter], limit: Int = EventSnapshot.countStandard, options: ObserveOptions = ObserveOptions()
  ) async throws(Refusal) -> EventSnapshot {
    var iterator = snapshots(of: filters, limit: limit, options: options).makeAsyncIterator()
    guard let snapshot = try await iterator.next(isolation: EventLoopActor.shared) else {
      throw Refusal(.cancelled, "the caller wants no more", outcome: .done)
    }
    return snapshot
  }
}
