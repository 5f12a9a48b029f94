internal import DequeModule
internal import FairSharing

// Which queries of which clients the store works on.
//
//   asked ── a slot is free, and the client is below its share ─▶ granted ── ended ──▶ the next is granted
//     │                                                             │  ▲
//     └─ else it waits; the client with the least service      rests ▼  │ works
//        is next                                             a client that does not read: its slot is
//                                                            taken back as soon as another client waits
//
// A query over a million events may take the store a second. So each client may have `clientMaximum` queries under way,
// and all clients together `maximum`. Of the queries that wait, one of the client that has had the least service is
// next (`ServiceClock`).
//
// Two lines of turns wait: newcomers, of clients without a slot; and the others, of clients that hold one or whose
// query is long. The last `keptCount` slots are for newcomers, so that one query does not wait behind a hundred queries
// of another client. The slot of a newcomer is short: when its query has delivered a share and has more while another
// newcomer waits, it gives up the slot, and continues as a long query in the other line. To that line a quarter of all
// slots belongs, so heavy clients make progress too while newcomers keep coming.
//
// A slot whose client does not read is idle, and goes to another client. A query that gave up its slot later continues
// where it stopped.

/// The slots of clients at the store, as a value.
public struct QuerySlots: Sendable {
  /// A slot that a client has, or waits for.
  public struct Turn: Hashable, Sendable {
    /// The client.
    public let client: UInt64
    let number: UInt64
    /// Whether its query is long: it has already given up a short slot, and waits to continue.
    let isLong: Bool
  }

  /// The number of slots, for all clients together.
  public let maximum: Int
  /// The most slots of one client.
  public let clientMaximum: Int
  /// The number of slots that are reserved for newcomers.
  public let keptCount: Int
  /// The number of slots in use.
  public private(set) var grantedCount = 0
  /// The granted turns that were newcomers: their slots are short.
  private var short: Set<Turn> = []

  private var nextNumber: UInt64 = 0
  private var held: [UInt64: Int] = [:]
  private var clock = ServiceClock()
  /// The waiting turns of clients that had no slot when they lined up.
  private var newcomers = FairOrder<Turn>()
  /// The other waiting turns of clients that have fewer than ``clientMaximum`` slots.
  private var queue = FairOrder<Turn>()
  /// The waiting turns of clients that have ``clientMaximum`` slots, until one of these ends.
  private var postponed: [UInt64: Deque<Turn>] = [:]
  private var resting: Set<Turn> = []
  /// The number of turns that each client has or waits for.
  private var wants: [UInt64: Int] = [:]
  /// The number of clients that have a turn or wait for one.
  public var sharerCount: Int { wants.count }

  /// No slot is in use.
  public init(maximum: Int, clientMaximum: Int, keptCount: Int) {
    precondition(clientMaximum > 0 && maximum > keptCount, "one has to be served")
    (self.maximum, self.clientMaximum, self.keptCount) = (maximum, clientMaximum, keptCount)
  }

  /// Asks for a turn.
  ///
  /// - Parameters:
  ///   - client: the client that needs it.
  ///   - isLong: whether its query has already given up a short slot; it gets no other short one.
  /// - Returns: the turn, and whether it is granted. If it is not granted and another turn is idle, also that turn: the
  ///   caller must ``end(_:byteCount:milliseconds:)`` it.
  public mutating func ask(_ client: UInt64, isLong: Bool = false) -> (turn: Turn, isGranted: Bool, wanted: Turn?) {
    nextNumber += 1
    let turn = Turn(client: client, number: nextNumber, isLong: isLong)
    wants[client, default: 0] += 1
    let heldCount = held[client, default: 0]
    guard heldCount < clientMaximum else {
      postponed[client, default: []].append(turn)
      return (turn, false, nil)
    }
    lineUp(turn)
    let granted = grantNext()
    precondition(granted.isEmpty || granted == [turn], "those before it wait because nothing is free")
    return granted.isEmpty ? (turn, false, resting.popFirst()) : (turn, true, nil)
  }

  private mutating func lineUp(_ turn: Turn) {
    if held[turn.client] == nil, !turn.isLong {
      newcomers.append(turn, of: turn.client, by: clock)
    } else {
      queue.append(turn, of: turn.client, by: clock)
    }
  }

  /// The least cost of a query, in bytes.
  private static let leastCost = 8 << 10
  /// The cost of a millisecond of the store's time, in bytes: about what the store delivers in one.
  private static let millisecondCost = 8 << 10
  /// The longest time that counts: no caller waits longer for an answer.
  private static let millisecondMaximum: UInt64 = 60_000

  private mutating func grant(_ turn: Turn, isShort: Bool, due: UInt64) {
    clock.begin(turn.client, due: due, cost: Self.leastCost)
    grantedCount += 1
    if isShort { short.insert(turn) }
    held[turn.client, default: 0] += 1
  }

  /// A turn is over.
  ///
  /// - Parameters:
  ///   - turn: a turn that was granted.
  ///   - byteCount: what it delivered to its client.
  ///   - milliseconds: how long the store worked, for a query whose bytes do not show that, such as a count. All
  ///     granted turns shared the store in that time, so this one is charged its part of it.
  /// - Returns: the turns that are granted instead.
  public mutating func end(_ turn: Turn, byteCount: Int = 0, milliseconds: UInt64 = 0) -> [Turn] {
    let time = Int(min(milliseconds, Self.millisecondMaximum)) * Self.millisecondCost / max(1, grantedCount)
    clock.end(
      turn.client, cost: max(byteCount, time, Self.leastCost), counted: Self.leastCost, among: sharerCount)
    wantsLess(turn.client)
    resting.remove(turn)
    short.remove(turn)
    grantedCount -= 1
    let left = held[turn.client, default: 1] - 1
    held[turn.client] = left == 0 ? nil : left
    if let next = nextPostponed(of: turn.client) { lineUp(next) }
    return grantNext()
  }

  /// Gives up a turn that was not granted yet.
  ///
  /// - Returns: the turns that are granted instead: another turn of the client may take its place in the queue.
  public mutating func withdraw(_ turn: Turn) -> [Turn] {
    let client = turn.client
    if newcomers.remove(turn, of: client) || queue.remove(turn, of: client) {
      wantsLess(client)
      if let next = nextPostponed(of: client) { lineUp(next) }
      return grantNext()
    }
    guard let index = postponed[client]?.firstIndex(of: turn) else { return [] }
    postponed[client]?.remove(at: index)
    if postponed[client]?.isEmpty == true { postponed[client] = nil }
    wantsLess(client)
    return []
  }

  private mutating func wantsLess(_ client: UInt64) {
    guard let count = wants[client] else { return }
    wants[client] = count == 1 ? nil : count - 1
  }

  private mutating func nextPostponed(of client: UInt64) -> Turn? {
    let next = postponed[client]?.popFirst()
    if postponed[client]?.isEmpty == true { postponed[client] = nil }
    return next
  }

  /// A client has disconnected, and has withdrawn its waiting turns. Its granted turns end later, but it no longer
  /// shares.
  public mutating func forget(_ client: UInt64) {
    clock.forget(client)
    wants[client] = nil
  }

  private mutating func grantNext() -> [Turn] {
    var granted: [Turn] = []
    while let (next, due, isShort) = nextInLine() {
      if held[next.client, default: 0] < clientMaximum {
        grant(next, isShort: isShort, due: due)
        granted.append(next)
      } else {
        postponed[next.client, default: []].prepend(next)
      }
    }
    return granted
  }

  private mutating func nextInLine() -> (turn: Turn, due: UInt64, isShort: Bool)? {
    guard grantedCount < maximum else { return nil }
    let longCount = grantedCount - short.count
    if longCount < maximum / Self.longShare, let (next, due) = queue.popFirst(by: clock) { return (next, due, false) }
    if let (next, due) = newcomers.popFirst(by: clock) { return (next, due, true) }
    guard grantedCount < maximum - keptCount, let (next, due) = queue.popFirst(by: clock) else { return nil }
    return (next, due, false)
  }

  /// A quarter of all slots is for turns that are no newcomers.
  private static let longShare = 4

  /// A query has delivered its share in a turn, and has more.
  ///
  /// - Returns: whether the turn must be ended now: its slot is short, and a newcomer waits.
  public func isSpent(_ turn: Turn) -> Bool { !newcomers.isEmpty && short.contains(turn) }

  /// The client of a turn has stopped reading: the turn is idle until ``works(_:)``.
  ///
  /// - Returns: whether the turn must be ended now, because other clients wait.
  public mutating func rests(_ turn: Turn) -> Bool {
    if !queue.isEmpty || !newcomers.isEmpty { return true }
    resting.insert(turn)
    return false
  }

  /// The client reads again.
  public mutating func works(_ turn: Turn) { resting.remove(turn) }
}
