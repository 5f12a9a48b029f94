import ClientSession
import Clocks
import EventLoop

/// Gives clients slots at the store (see `QuerySlots`; the code calls a slot a turn). Large queries have slots of their
/// own, because on the bus they would delay all other queries.
@EventLoopActor
final class QueryScheduler {
  /// A slot, or a request for one.
  struct Turn: Hashable {
    fileprivate let turn: QuerySlots.Turn
    fileprivate let isLarge: Bool
  }

  /// Most queries at the store. Each takes some 128 KiB there, and as much again on the bus.
  private static let maximum = 32
  /// Most queries of one client.
  private static let clientMaximum = 8
  /// Slots reserved for clients that hold none.
  private static let keptCount = 16
  /// Most large queries, at most one of each client.
  private static let largeMaximum = 4
  /// Filter values from which on a query is large: keys of 64 KiB.
  private static let largeValueCount = 1_000

  private var ordinary = QuerySlots(maximum: maximum, clientMaximum: clientMaximum, keptCount: keptCount)
  private var large = QuerySlots(maximum: largeMaximum, clientMaximum: 1, keptCount: 0)
  private var waiters: [Turn: CheckedContinuation<Bool, Never>] = [:]
  private var onWanted: [Turn: @EventLoopActor () -> Void] = [:]
  private var wished: Set<Turn> = []
  /// How long clients waited for EOSE, without those for which relays are awaited first (`/fetch`).
  var latency = LatencyHistogram()
  private var granted: Set<Turn> = []

  /// Requests a slot. ``end(_:byteCount:milliseconds:)`` must follow in any case.
  ///
  /// - Parameters:
  ///   - client: the client's number.
  ///   - question: the query.
  ///   - isLong: whether the query has given up a slot that was ``isSpent(_:)``.
  ///   - onWanted: called while the slot is idle and another client waits: the slot must then be ended.
  func ask(
    _ client: UInt64, _ question: ClientQuery, isLong: Bool = false, onWanted: (@EventLoopActor () -> Void)? = nil
  ) -> Turn {
    let isLarge = question.valueCount >= Self.largeValueCount
    let (turn, isGranted, wanted) = isLarge ? large.ask(client, isLong: isLong) : ordinary.ask(client, isLong: isLong)
    let own = Turn(turn: turn, isLarge: isLarge)
    if isGranted { granted.insert(own) } else { wished.insert(own) }
    self.onWanted[own] = onWanted
    if let wanted { self.onWanted[Turn(turn: wanted, isLarge: isLarge)]?() }
    return own
  }

  /// Waits until a slot is granted.
  ///
  /// - Returns: false if the request was ended instead.
  func granting(_ turn: Turn) async -> Bool {
    guard wished.contains(turn) else { return granted.contains(turn) }
    return await withCheckedContinuation { waiters[turn] = $0 }
  }

  /// Whether a slot was granted.
  func isGranted(_ turn: Turn) -> Bool { granted.contains(turn) }

  /// Ends a slot, or a request for one. May be called again.
  ///
  /// - Parameters:
  ///   - turn: the slot.
  ///   - byteCount: the bytes that it has brought its client.
  ///   - milliseconds: how long the store worked, for a query whose bytes do not show its cost.
  func end(_ turn: Turn, byteCount: Int = 0, milliseconds: UInt64 = 0) {
    onWanted[turn] = nil
    if granted.remove(turn) != nil {
      grant(
        turn.isLarge
          ? large.end(turn.turn, byteCount: byteCount, milliseconds: milliseconds)
          : ordinary.end(turn.turn, byteCount: byteCount, milliseconds: milliseconds), isLarge: turn.isLarge)
    } else if wished.remove(turn) != nil {
      let next = turn.isLarge ? large.withdraw(turn.turn) : ordinary.withdraw(turn.turn)
      waiters.removeValue(forKey: turn)?.resume(returning: false)
      grant(next, isLarge: turn.isLarge)
    }
  }

  private func grant(_ turns: [QuerySlots.Turn], isLarge: Bool) {
    for next in turns {
      let next = Turn(turn: next, isLarge: isLarge)
      wished.remove(next)
      granted.insert(next)
      waiters.removeValue(forKey: next)?.resume(returning: true)
    }
  }

  /// A client has left, and will request no slot.
  func forget(_ client: UInt64) {
    ordinary.forget(client)
    large.forget(client)
  }

  /// The slot is idle, because its client does not read.
  ///
  /// - Returns: true if the slot must be ended for another client.
  func rests(_ turn: Turn) -> Bool { turn.isLarge ? large.rests(turn.turn) : ordinary.rests(turn.turn) }

  /// Whether a slot that has brought its share must be ended for another client.
  func isSpent(_ turn: Turn) -> Bool { turn.isLarge ? large.isSpent(turn.turn) : ordinary.isSpent(turn.turn) }

  /// The client reads again.
  func works(_ turn: Turn) {
    if turn.isLarge { large.works(turn.turn) } else { ordinary.works(turn.turn) }
  }
}
