import ClientSession
import EventLoop

/// Gives clients their turns at the store (see `QuerySlots`): for ordinary questions, and apart from them for large
/// ones, which fill the bus on their way and would stand in front of all others there.
@EventLoopActor
final class QueryScheduler {
  /// A turn, or the wish for one.
  struct Turn: Hashable {
    fileprivate let turn: QuerySlots.Turn
    fileprivate let isLarge: Bool
  }

  /// Questions that the store works on at a time. Each holds some 128 KiB there, and as much again on its way.
  private static let maximum = 32
  /// Those of one client.
  private static let clientMaximum = 8
  /// Those that are kept for clients that have none.
  private static let keptCount = 16
  /// Large questions at a time; of one client one.
  private static let largeMaximum = 4
  /// Values of filters from which on a question is large: keys of 64 KiB.
  private static let largeValueCount = 1_000

  private var ordinary = QuerySlots(maximum: maximum, clientMaximum: clientMaximum, keptCount: keptCount)
  private var large = QuerySlots(maximum: largeMaximum, clientMaximum: 1, keptCount: 0)
  private var waiters: [Turn: CheckedContinuation<Bool, Never>] = [:]
  private var onWanted: [Turn: @EventLoopActor () -> Void] = [:]
  private var wished: Set<Turn> = []
  private var granted: Set<Turn> = []

  /// Asks for a turn. ``end(_:byteCount:milliseconds:)`` must follow, whatever becomes of it.
  ///
  /// - Parameters:
  ///   - client: for whom.
  ///   - question: what is asked.
  ///   - isLong: whether it has given a turn away that was ``isSpent(_:)``.
  ///   - onWanted: called while it rests, when somebody else waits: it is to be ended.
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

  /// Waits for a turn to be granted; false if it was ended.
  func granting(_ turn: Turn) async -> Bool {
    guard wished.contains(turn) else { return granted.contains(turn) }
    return await withCheckedContinuation { waiters[turn] = $0 }
  }

  /// Whether a turn has been granted.
  func isGranted(_ turn: Turn) -> Bool { granted.contains(turn) }

  /// A turn is over, or is not wanted any more. May be called again.
  ///
  /// - Parameters:
  ///   - turn: one that was asked for.
  ///   - byteCount: what it has brought its client.
  ///   - milliseconds: how long the store was asked, of a question that brings nothing by which that could be told.
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

  /// A client is gone, and asks for no turn any more.
  func forget(_ client: UInt64) {
    ordinary.forget(client)
    large.forget(client)
  }

  /// Nothing happens in a turn, since its client does not read; true if it is to be ended for others.
  func rests(_ turn: Turn) -> Bool { turn.isLarge ? large.rests(turn.turn) : ordinary.rests(turn.turn) }

  /// Whether a turn that has brought its share is to be ended for others.
  func isSpent(_ turn: Turn) -> Bool { turn.isLarge ? large.isSpent(turn.turn) : ordinary.isSpent(turn.turn) }

  /// The client reads again.
  func works(_ turn: Turn) {
    if turn.isLarge { large.works(turn.turn) } else { ordinary.works(turn.turn) }
  }
}
