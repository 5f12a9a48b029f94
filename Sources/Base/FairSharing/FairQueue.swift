internal import DequeModule

/// What waits for one of something, from many clients: each client's in its order, and the clients in turn. Whoever
/// brings a thousand waits behind himself, and keeps nobody waiting longer than for one of each client's.
///
/// Each operation takes constant time.
public struct FairQueue<Element> {
  private var lines: [UInt64: Deque<Element>] = [:]
  /// Clients of whom something waits, in the order of their turns.
  private var clients: Deque<UInt64> = []
  /// Elements that wait.
  public private(set) var count = 0

  /// Nobody waits.
  public init() {}

  /// Whether nobody waits.
  public var isEmpty: Bool { count == 0 }

  /// What is next.
  public var first: Element? { clients.first.flatMap { lines[$0]?.first } }

  /// Puts an element behind those of the same client.
  public mutating func append(_ element: Element, of client: UInt64) {
    count += 1
    if lines[client]?.append(element) == nil {
      lines[client] = [element]
      clients.append(client)
    }
  }

  /// Takes the next; its client's turn comes again when all others have had theirs.
  public mutating func popFirst() -> Element? {
    guard let client = clients.popFirst(), let element = lines[client]?.popFirst() else { return nil }
    count -= 1
    if lines[client]?.isEmpty == true { lines[client] = nil } else { clients.append(client) }
    return element
  }
}

extension FairQueue: Sendable where Element: Sendable {}
