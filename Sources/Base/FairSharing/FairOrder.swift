internal import DequeModule
internal import HeapModule

// Who is next of those that wait: whoever has had least (start-time fair queueing, Goyal, Vin and Cheng 1996).
//
// Time passes here with what is served, as fast as it would if all who want something were served at once, each an
// equal part. A client's mark is the time at which it will have had its part of what it got. What it wants next is due
// then, or now if that is past. So who asks for little is due now, whatever others ask for; who asks for all there is
// is due later with all that he gets. And since time passes, nobody is overtaken for ever, however many come again.

/// What clients have been served, as times.
public struct ServiceClock: Sendable {
  /// Now.
  public private(set) var time: UInt64 = 0
  private var marks: [UInt64: UInt64] = [:]

  /// Nobody was served yet.
  public init() {}

  /// When something is due that a client wants.
  public func due(_ client: UInt64) -> UInt64 { max(time, marks[client] ?? 0) }

  /// A client is served what was due then.
  ///
  /// - Parameters:
  ///   - client: who is served.
  ///   - due: when it was due, in virtual time.
  ///   - cost: what that takes at least; it counts at once.
  public mutating func begin(_ client: UInt64, due: UInt64, cost: Int) {
    time = max(time, due)
    marks[client] = max(time, marks[client] ?? 0) + UInt64(cost)
  }

  /// A client has been served. All of it makes time pass, also what counted for the client when it began: or those who
  /// come again all the time, and ask for little, would stand before whoever has asked once.
  ///
  /// - Parameters:
  ///   - client: who. Nothing is kept of one that is gone.
  ///   - cost: what it took.
  ///   - counted: how much of that counted when it began.
  ///   - sharerCount: about how many clients want something; too many make time pass slower.
  public mutating func end(_ client: UInt64, cost: Int, counted: Int, among sharerCount: Int) {
    time += UInt64(cost / max(1, sharerCount))
    if let mark = marks[client] { marks[client] = mark + UInt64(cost - counted) }
  }

  /// A client is gone.
  public mutating func forget(_ client: UInt64) { marks[client] = nil }
}

/// What waits, each client's in its order, and of the clients the one that is due first.
public struct FairOrder<Element: Sendable & Equatable>: Sendable {
  private struct Place: Comparable, Sendable {
    let due: UInt64
    let number: UInt64
    let client: UInt64

    static func == (left: Place, right: Place) -> Bool { left.number == right.number }
    static func < (left: Place, right: Place) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }

  private var lines: [UInt64: Deque<Element>] = [:]
  /// One for each client of whom something waits, or has waited. A client may have been served since it got its place:
  /// then it gets another when its turn comes.
  private var places = Heap<Place>()
  /// Clients that have a place.
  private var placed: Set<UInt64> = []
  private var nextNumber: UInt64 = 0

  /// Nothing waits.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { lines.isEmpty }

  /// Puts what a client wants behind what else it wants.
  public mutating func append(_ element: Element, of client: UInt64, by clock: ServiceClock) {
    lines[client, default: []].append(element)
    if !placed.contains(client) { place(client, clock.due(client)) }
  }

  /// Takes out what waits, wherever it stands; false if it does not wait here. The client keeps its place for what it
  /// wants next: whoever wishes and withdraws all the time has one and no more.
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

  /// Takes what is due first, and says since when.
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
