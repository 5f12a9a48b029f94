internal import DequeModule
internal import HeapModule

// Which waiting client is next: the one that has had the least service (start-time fair queueing, Goyal, Vin and Cheng
// 1996).
//
// The clock is virtual: it advances with work done, at the rate of an ideal scheduler that serves all active clients
// equally. A client's mark is the virtual time at which that scheduler would have finished what the client has had. The
// client's next request is due at its mark, or now if the mark is past. So a light client is due now, whatever others
// ask for, and a heavy client is due later with everything it gets. Because the clock advances, no client is overtaken
// forever, however many clients arrive.

/// The service that clients have had, as virtual times.
public struct ServiceClock: Sendable {
  /// The present virtual time.
  public private(set) var time: UInt64 = 0
  private var marks: [UInt64: UInt64] = [:]

  /// No client has been served.
  public init() {}

  /// The virtual time at which a client's next request is due.
  public func due(_ client: UInt64) -> UInt64 { max(time, marks[client] ?? 0) }

  /// Service of a client begins.
  ///
  /// - Parameters:
  ///   - client: the client.
  ///   - due: the virtual time at which its request was due.
  ///   - cost: the least that the request will cost; it counts at once.
  public mutating func begin(_ client: UInt64, due: UInt64, cost: Int) {
    time = max(time, due)
    marks[client] = max(time, marks[client] ?? 0) + UInt64(cost)
  }

  /// Service of a client has ended. The whole cost advances the clock, including the part that counted at the
  /// beginning. Otherwise clients that return all the time with small requests would always come before a client that
  /// asked once.
  ///
  /// - Parameters:
  ///   - client: the client. Nothing is kept for a client that has left.
  ///   - cost: what the service has cost.
  ///   - counted: the part of the cost that counted at the beginning.
  ///   - sharerCount: about how many clients are active; a number too high makes the clock slower.
  public mutating func end(_ client: UInt64, cost: Int, counted: Int, among sharerCount: Int) {
    time += UInt64(cost / max(1, sharerCount))
    if let mark = marks[client] { marks[client] = mark + UInt64(cost - counted) }
  }

  /// A client has left.
  public mutating func forget(_ client: UInt64) { marks[client] = nil }
}

/// Waiting elements: those of one client in the client's own order, and among clients the element that is due first.
public struct FairOrder<Element: Sendable & Equatable>: Sendable {
  private struct Place: Comparable, Sendable {
    let due: UInt64
    let number: UInt64
    let client: UInt64

    static func == (left: Place, right: Place) -> Bool { left.number == right.number }
    static func < (left: Place, right: Place) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private var lines: [UInt64: Deque<Element>] = [:]
  /// One place for each client that has, or had, something waiting. If a client was served after it got its place, it
  /// gets a later place when its turn comes.
  private var places = Heap<Place>()
  /// Clients that have a place.
  private var placed: Set<UInt64> = []
  private var nextNumber: UInt64 = 0

  /// Nothing waits.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { lines.isEmpty }

  /// Appends an element behind the others of the same client.
  public mutating func append(_ element: Element, of client: UInt64, by clock: ServiceClock) {
    lines[client, default: []].append(element)
    if !placed.contains(client) { place(client, clock.due(client)) }
  }

  /// Removes an element, wherever it waits; false if it does not wait here. The client keeps its place for its next
  /// element, so a client that adds and withdraws all the time never has more than one place.
  public mutating func remove(_ element: Element, of client: UInt64) -> Bool {
    guard let index = lines[client]?.firstIndex(of: element) else { return false }
    lines[client]?.remove(at: index)
    if lines[client]?.isEmpty == true { lines[client] = nil }
    return true
  }

  private mutating func place(_ client: UInt64, _ due: UInt64) {
    placed.insert(client)
    nextNumber += 1
    places.insert(Place(due: due, number: nextNumber, client: client))
  }

  /// Removes the element that is due first, and returns it with the time at which it was due.
  public mutating func popFirst(by clock: ServiceClock) -> (element: Element, due: UInt64)? {
    while let first = places.popMin() {
      placed.remove(first.client)
      guard lines[first.client] != nil else { continue }
      let due = clock.due(first.client)
      if due > max(first.due, clock.time) {
        place(first.client, due)
        continue
      }
      guard let element = lines[first.client]?.popFirst() else { continue }
      if lines[first.client]?.isEmpty == true { lines[first.client] = nil } else { place(first.client, due) }
      return (element, first.due)
    }
    return nil
  }
}
