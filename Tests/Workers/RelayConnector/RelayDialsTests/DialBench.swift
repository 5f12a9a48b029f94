import Clocks
import RelayDials

/// A budget, the relays that it has had dialled, and its clock.
final class DialBench {
  private(set) var budget = DialBudget(seed: 7)
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  /// Each dial with its moment, in order.
  private(set) var dials: [(key: UInt64, at: Instant)] = []
  /// Links with a socket.
  private(set) var open: Set<UInt64> = []
  /// Links that were told to close, and have not ended.
  private(set) var closing: Set<UInt64> = []
  private(set) var timer: Instant?
  private(set) var mostSockets = 0

  var dialled: [UInt64] { dials.map(\.key) }

  func want(_ key: UInt64, _ purpose: DialPurpose) {
    perform { budget, now in budget.wanted(DialKey(key), for: purpose, at: now) }
  }
  func release(_ key: UInt64) { perform { budget, now in budget.released(DialKey(key), at: now) } }
  func leave(_ key: UInt64) { perform { budget, now in budget.left(DialKey(key), at: now) } }
  func leaveGroup(_ key: UInt64) {
    open.insert(key)
    perform { budget, now in budget.leftGroup(DialKey(key), at: now) }
  }
  func joinGroup(_ key: UInt64) {
    open.remove(key)
    perform { budget, now in budget.joinedGroup(DialKey(key), at: now) }
  }

  /// The connection ends.
  func end(_ key: UInt64) {
    open.remove(key)
    closing.remove(key)
    perform { budget, now in budget.ended(DialKey(key), at: now) }
  }

  /// What was told to close has closed.
  func endClosing() { for key in closing.sorted() { end(key) } }

  /// Lets time pass, with the timer in it.
  func pass(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    while let due = timer, due <= end {
      now = max(now, due)
      timer = nil
      perform { budget, now in budget.timerFired(at: now) }
    }
    now = end
  }

  func wait(of key: UInt64) -> DialBudget.Wait? { budget.wait(of: DialKey(key), at: now) }

  /// The most dials in any minute.
  func mostInAMinute(of keys: (UInt64) -> Bool = { _ in true }) -> Int {
    let times = dials.filter { keys($0.key) }.map(\.at)
    return times.map { first in times.count { $0 >= first && $0.milliseconds(since: first) < 60_000 } }.max() ?? 0
  }

  private func perform(_ body: (inout DialBudget, Instant) -> [DialBudget.Action]) {
    for action in body(&budget, now) {
      switch action {
      case .dial(let key):
        precondition(!open.contains(key.rawValue), "one link has one socket")
        dials.append((key.rawValue, now))
        open.insert(key.rawValue)
      case .close(let key):
        precondition(open.contains(key.rawValue), "only a socket is closed")
        closing.insert(key.rawValue)
      case .setTimer(let instant): timer = instant
      case .cancelTimer: timer = nil
      }
    }
    mostSockets = max(mostSockets, open.count)
    precondition(budget.socketCount == open.count, "the budget counts what there is")
  }
}
