internal import DequeModule

/// A queue for one resource that many clients share: each client's elements in order, and the clients in turn. A client
/// that brings a thousand elements waits behind its own, and delays no other client by more than one element per
/// client.
///
/// Each operation takes constant time.
public struct FairQueue<Element> {
  private var lines: [UInt64: Deque<Element>] = [:]
  /// Clients that have something waiting, in the order of their turns.
  private var clients: Deque<UInt64> = []
  /// Elements that wait.
  public private(set) var count = 0

  /// An empty queue.
  public init() {}

  /// Whether nothing waits.
  public var isEmpty: Bool { count == 0 }

  /// The next element.
  public var first: Element? { clients.first.flatMap { lines[$0]?.first } }

  /// Appends an element behind the others of the same client.
  public mutating func append(_ element: Element, of client: UInt64) {
    count += 1
    if lines[client]?.append(element) == nil {
      lines[client] = [element]
      clients.append(client)
    }
  }

  /// Removes and returns the next element; its client's turn comes again after all other clients have had theirs.
  public mutating func popFirst() -> Element? {
    guard let client = clients.popFirst(), let element = lines[client]?.popFirst() else { return nil }
    count -= 1
    if lines[client]?.isEmpty == true { lines[client] = nil } else { clients.append(client) }
    return element
  }
}

extension FairQueue: Sendable where Element: Sendable {}
