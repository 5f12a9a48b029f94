internal import DequeModule

// Which questions of which clients the store works on.
//
//   asked ── a turn is free, and the client has not its share ──▶ granted ── ended ──▶ the next client's is granted
//     │                                                             │  ▲
//     └─ else it waits, the clients in turn                 resting ▼  │ working
//                                                            a client that does not read: its turn is
//                                                            wanted back as soon as somebody waits
//
// A question among a million events may take the store a second. So what is asked at a time is bounded for each
// client, and for all together; beyond it the clients take turns. The last turns of all are kept for clients that have
// none: who asks one thing does not wait for those who ask a hundred. A turn whose client does not read does nothing,
// and is given to another: it costs its owner to ask again.

/// Turns of clients at the store, as a value.
public struct QuestionTurns: Sendable {
  /// One client's turn, or the wish for one.
  public struct Turn: Hashable, Sendable {
    /// Whose.
    public let client: UInt64
    let number: UInt64
  }

  /// Turns at a time.
  public let maximum: Int
  /// Turns of one client at a time.
  public let clientMaximum: Int
  /// Of all turns, those that only a client gets who has none.
  public let keptCount: Int
  /// Turns that are granted.
  public private(set) var grantedCount = 0

  private var nextNumber: UInt64 = 0
  private var held: [UInt64: Int] = [:]
  /// Wishes of clients that had no turn when they asked.
  private var newcomers = FairQueue<Turn>()
  /// Wishes of clients that have less than their share.
  private var queue = FairQueue<Turn>()
  /// Wishes of the others, until they end a turn.
  private var postponed: [UInt64: Deque<Turn>] = [:]
  private var resting: Set<Turn> = []
  /// Wishes that were given up where they stand.
  private var withdrawn: Set<Turn> = []

  /// No turn is granted.
  public init(maximum: Int, clientMaximum: Int, keptCount: Int) {
    precondition(clientMaximum > 0 && maximum > keptCount, "somebody has to be served")
    (self.maximum, self.clientMaximum, self.keptCount) = (maximum, clientMaximum, keptCount)
  }

  /// Asks for a turn.
  ///
  /// - Returns: the turn; whether it is granted; if it is not, a resting turn that is wanted back, if there is one: its
  ///   owner is to ``end(_:)`` it.
  public mutating func ask(_ client: UInt64) -> (turn: Turn, isGranted: Bool, wanted: Turn?) {
    nextNumber += 1
    let turn = Turn(client: client, number: nextNumber)
    let heldCount = held[client, default: 0]
    guard heldCount < clientMaximum else {
      postponed[client, default: []].append(turn)
      return (turn, false, nil)
    }
    lineUp(turn)
    let granted = grantNext()
    precondition(granted.isEmpty || granted == [turn], "whoever stands in front of it waits because nothing is free")
    return granted.isEmpty ? (turn, false, resting.popFirst()) : (turn, true, nil)
  }

  private mutating func lineUp(_ turn: Turn) {
    if held[turn.client] == nil { newcomers.append(turn, of: turn.client) } else { queue.append(turn, of: turn.client) }
  }

  private mutating func grant(_ turn: Turn) {
    grantedCount += 1
    held[turn.client, default: 0] += 1
  }

  /// A turn is over.
  ///
  /// - Returns: those that are granted instead.
  public mutating func end(_ turn: Turn) -> [Turn] {
    resting.remove(turn)
    grantedCount -= 1
    let left = held[turn.client, default: 1] - 1
    held[turn.client] = left == 0 ? nil : left
    if let next = nextPostponed(of: turn.client) { lineUp(next) }
    return grantNext()
  }

  /// A wish that was not granted yet is given up.
  public mutating func withdraw(_ turn: Turn) { withdrawn.insert(turn) }

  private mutating func nextPostponed(of client: UInt64) -> Turn? {
    let next = postponed[client]?.popFirst()
    if postponed[client]?.isEmpty == true { postponed[client] = nil }
    return next
  }

  private mutating func grantNext() -> [Turn] {
    var granted: [Turn] = []
    while let next = nextInLine() {
      if withdrawn.remove(next) != nil {
        if let other = nextPostponed(of: next.client) { lineUp(other) }
      } else if held[next.client, default: 0] < clientMaximum {
        grant(next)
        granted.append(next)
      } else {
        postponed[next.client, default: []].prepend(next)
      }
    }
    return granted
  }

  private mutating func nextInLine() -> Turn? {
    if grantedCount < maximum, let next = newcomers.popFirst() { return next }
    return grantedCount < maximum - keptCount ? queue.popFirst() : nil
  }

  /// The client of a turn does not read: nothing happens in it until ``works(_:)``.
  ///
  /// - Returns: whether the turn is wanted by others, and is to be ended now.
  public mutating func rests(_ turn: Turn) -> Bool {
    if !queue.isEmpty || !newcomers.isEmpty { return true }
    resting.insert(turn)
    return false
  }

  /// The client reads again.
  public mutating func works(_ turn: Turn) { resting.remove(turn) }
}
