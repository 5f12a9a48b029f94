public import Clocks
public import Cryptography
internal import DequeModule

// Which people relays are asked for, and in which batches.
//
//     wanted ─▶ gathered for 100 ms ─▶ waiting ─▶ under way: one plan.want for each batch ─▶ asked
//                                        ▲                       │
//                                        └── refused: later ─────┘
//
// A batch that is full has nothing to wait for, and goes at once.
//
// A person is at one place at a time: so callers that ask for overlapping sets at once share one question, and a caller
// that asks while it is under way waits for the same answer. The planner decides which relays are asked; a batch has as
// many people as a relay commonly answers in one page.

/// Gathers the people for whom relays are to be asked, and asks in batches.
public struct ProfileAsking: Sendable {
  /// The bounds.
  public struct Limits: Sendable, Hashable {
    /// How long people are gathered before a batch goes out, in milliseconds.
    public var gatherMilliseconds: UInt64 = 100
    /// The most people of a batch. Relays send 500 events at least, as most say in their information, so a batch comes
    /// in one page.
    public var batchMaximum = 500
    /// The most batches under way; further people wait. Half of what the planner takes from all its callers.
    public var underWayMaximum = 32
    /// The most people that wait or are under way; a request for more is refused.
    public var keyMaximum = 100_000
    /// How long a batch that the planner refuses, or that was lost with it, is tried again, in milliseconds.
    public var patienceMilliseconds: UInt64 = 15_000
    /// The longest wait between two attempts, in milliseconds.
    public var retryMillisecondsMaximum: UInt64 = 2_000
    /// People of requests of at most so many do not wait behind those of larger ones.
    public var fewMaximum = 50

    /// The limits above.
    public init() {}
  }

  /// What the shell does.
  public enum Action: Hashable, Sendable {
    /// Have relays asked for these people, and report with the number how that ended.
    case want(UInt64, [PublicKey])
    /// Call ``ProfileAsking/timerFired(at:)`` then; it replaces an earlier timer.
    case setTimer(Instant)
    /// Relays have been asked for these people; with a reason they could not be.
    case asked([PublicKey], failure: String?)
  }

  private enum Place: Sendable { case waiting, underWay }

  private struct Batch: Sendable {
    var keys: [PublicKey]
    var began: Instant
    var delay: BackOff
  }

  private let limits: Limits
  /// When relays were asked for whom.
  public private(set) var history: AskedKeys
  private var places: [PublicKey: Place] = [:]
  private var few: Deque<PublicKey> = []
  private var many: Deque<PublicKey> = []
  private var gatherEnd: Instant?
  private var underWay: [UInt64: Batch] = [:]
  private var refused: Deadlines<Instant, UInt64> = Deadlines()
  private var resting: [UInt64: Batch] = [:]
  private var lastNumber: UInt64 = 0

  /// Nothing is asked.
  public init(limits: Limits = Limits(), history: AskedKeys = AskedKeys()) {
    (self.limits, self.history) = (limits, history)
  }

  /// The number of people who wait or for whom relays are asked at present.
  public var openCount: Int { places.count }

  /// Whether so many further people have room.
  public func hasRoom(for count: Int) -> Bool { places.count + count <= limits.keyMaximum }

  /// A caller wants these people, asked for no longer ago than it says.
  ///
  /// - Parameters:
  ///   - keys: the people.
  ///   - maxAgeMilliseconds: those are not asked for again who were within this time; 0: all are.
  ///   - now: the moment.
  /// - Returns: those that the caller waits for, because they are asked for now or already; and what to do.
  public mutating func wanted(
    _ keys: [PublicKey], maxAgeMilliseconds: UInt64, at now: Instant
  ) -> (pending: [PublicKey], actions: [Action]) {
    var pending: [PublicKey] = []
    let isOfFew = keys.count <= limits.fewMaximum
    for key in keys {
      if places[key] == nil {
        if let asked = history[key], now.milliseconds(since: asked) < maxAgeMilliseconds { continue }
        places[key] = .waiting
        if isOfFew { few.append(key) } else { many.append(key) }
      }
      pending.append(key)
    }
    let isFirst = gatherEnd == nil && waitingCount > 0
    if isFirst { gatherEnd = now.advanced(milliseconds: limits.gatherMilliseconds) }
    if waitingCount >= limits.batchMaximum { return (pending, send(at: now)) }
    return (pending, isFirst ? timer() : [])
  }

  /// The timer has fired.
  public mutating func timerFired(at now: Instant) -> [Action] {
    var actions: [Action] = []
    while let due = refused.popDue(at: now) {
      guard let batch = resting.removeValue(forKey: due.cause) else { continue }
      underWay[due.cause] = batch
      actions.append(.want(due.cause, batch.keys))
    }
    return actions + send(at: now)
  }

  /// Relays have been asked for a batch.
  public mutating func ended(_ number: UInt64, at now: Instant) -> [Action] {
    guard let batch = underWay.removeValue(forKey: number) else { return [] }
    history.asked(batch.keys, at: batch.began)
    return over(batch, failure: nil) + send(at: now)
  }

  /// The planner has refused a batch, or has died with it.
  ///
  /// - Parameters:
  ///   - number: the batch.
  ///   - reason: why.
  ///   - now: the moment.
  ///   - generator: for the wait before the next attempt.
  public mutating func failed(
    _ number: UInt64, _ reason: String, at now: Instant, using generator: inout some RandomNumberGenerator
  ) -> [Action] {
    guard var batch = underWay.removeValue(forKey: number) else { return [] }
    guard now.milliseconds(since: batch.began) < limits.patienceMilliseconds else {
      return over(batch, failure: reason) + send(at: now)
    }
    refused.add(number, at: now.advanced(milliseconds: batch.delay.next(using: &generator)))
    resting[number] = batch
    return timer()
  }

  private mutating func over(_ batch: Batch, failure: String?) -> [Action] {
    for key in batch.keys { places[key] = nil }
    return [.asked(batch.keys, failure: failure)]
  }

  private var waitingCount: Int { few.count + many.count }

  /// Sends what may go, and sets the timer for the rest.
  private mutating func send(at now: Instant) -> [Action] {
    var actions: [Action] = []
    if let end = gatherEnd {
      let least = now >= end ? 1 : limits.batchMaximum
      while underWay.count + resting.count < limits.underWayMaximum, waitingCount >= least {
        var keys: [PublicKey] = []
        while keys.count < limits.batchMaximum, let key = few.popFirst() ?? many.popFirst() {
          places[key] = .underWay
          keys.append(key)
        }
        lastNumber += 1
        underWay[lastNumber] = Batch(
          keys: keys, began: now, delay: BackOff(longestMilliseconds: limits.retryMillisecondsMaximum))
        actions.append(.want(lastNumber, keys))
      }
      // People who wait for a batch to end need no timer.
      if waitingCount == 0 { gatherEnd = nil }
    }
    return actions + timer(after: now)
  }

  private func timer(after now: Instant? = nil) -> [Action] {
    let gathered = gatherEnd.flatMap { end in now.map { end > $0 } ?? true ? end : nil }
    return [gathered, refused.first].compactMap(\.self).min().map { [.setTimer($0)] } ?? []
  }
}
