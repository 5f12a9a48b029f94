import ClientSession
import EventLoop

/// Gives clients their turns at the store (see `QuestionTurns`).
@EventLoopActor
final class QuestionDesk {
  typealias Turn = QuestionTurns.Turn

  /// Questions that the store works on at a time. Each holds some 128 KiB there, and as much again on its way.
  private static let maximum = 64
  /// Those of one client.
  private static let clientMaximum = 8
  /// Those that are kept for clients that have none.
  private static let keptCount = 16

  private var turns = QuestionTurns(maximum: maximum, clientMaximum: clientMaximum, keptCount: keptCount)
  private var waiters: [Turn: CheckedContinuation<Bool, Never>] = [:]
  private var onWanted: [Turn: @EventLoopActor () -> Void] = [:]
  /// Granted before anybody awaited it.
  private var granted: Set<Turn> = []

  /// Asks for a turn. ``end(_:)`` must follow, whatever becomes of it.
  ///
  /// - Parameter onWanted: called while it rests, when somebody else waits: it is to be ended.
  func ask(_ client: UInt64, onWanted: (@EventLoopActor () -> Void)? = nil) -> Turn {
    let (turn, isGranted, wanted) = turns.ask(client)
    if isGranted { granted.insert(turn) }
    self.onWanted[turn] = onWanted
    if let wanted { self.onWanted[wanted]?() }
    return turn
  }

  /// Waits for a turn to be granted; false if it was ended meanwhile.
  func granting(_ turn: Turn) async -> Bool {
    if granted.contains(turn) { return true }
    return await withCheckedContinuation { waiters[turn] = $0 }
  }

  /// A turn is over, or is not wanted any more.
  func end(_ turn: Turn) {
    onWanted[turn] = nil
    guard granted.remove(turn) != nil else {
      turns.withdraw(turn)
      waiters.removeValue(forKey: turn)?.resume(returning: false)
      return
    }
    for next in turns.end(turn) {
      granted.insert(next)
      waiters.removeValue(forKey: next)?.resume(returning: true)
    }
  }

  /// Nothing happens in a turn, since its client does not read; true if it is to be ended for others.
  func rests(_ turn: Turn) -> Bool { turns.rests(turn) }

  /// The client reads again.
  func works(_ turn: Turn) { turns.works(turn) }
}
