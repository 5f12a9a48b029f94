public import Clocks

// The reconciliations with this side, and what they may cost. A reconciliation keeps its records from the first message
// to the last, and the other side decides when that is. So their number is limited, and an idle one ends.

/// The reconciliations under way at an answering side, and their bounds. A machine without I/O.
///
///     begin ─▶ reading ─ opened ─▶ open ─ take … ─▶ ended, or idle for too long
public struct ReconcileSessions: Sendable {
  /// The limits.
  public struct Limits: Sendable {
    /// The most reconciliations of one caller.
    public var perCaller = 64
    /// The most reconciliations of all callers.
    public var count = 128
    /// The most records of one reconciliation, 40 bytes each.
    public var records = 1_000_000
    /// The most records of all reconciliations.
    public var allRecords = 2_500_000
    /// A reconciliation without a message for this long ends.
    public var idleMilliseconds: UInt64 = 60_000

    /// The standard limits.
    public init() {}
  }

  private struct Entry {
    let caller: UInt32
    /// Nil while its records are being read.
    var reconciler: Reconciler?
    var usedAt: Instant
  }

  /// The limits of this side.
  public let limits: Limits
  private var entries: [UInt64: Entry] = [:]
  private var callerCounts: [UInt32: Int] = [:]
  private var lastNumber: UInt64 = 0
  /// The records that all reconciliations keep.
  public private(set) var recordCount = 0

  /// No reconciliations.
  public init(limits: Limits = Limits()) { self.limits = limits }

  /// The number of reconciliations under way.
  public var count: Int { entries.count }

  /// The numbers of the reconciliations under way.
  public var numbers: [UInt64] { Array(entries.keys) }

  /// The most records that a new one may have now. Less than the limit while others hold many; then there is room
  /// later.
  public var room: Int { max(0, min(limits.records, limits.allRecords - recordCount)) }

  /// A reconciliation begins; its records must now be read.
  ///
  /// - Returns: its number, which is never used again; nil when there are too many.
  public mutating func begin(caller: UInt32, now: Instant) -> UInt64? {
    guard entries.count < limits.count, callerCounts[caller, default: 0] < limits.perCaller else { return nil }
    lastNumber += 1
    entries[lastNumber] = Entry(caller: caller, reconciler: nil, usedAt: now)
    callerCounts[caller, default: 0] += 1
    return lastNumber
  }

  /// The records of a reconciliation have been read: from here on it takes messages, and can be idle.
  ///
  /// - Returns: false when it has ended meanwhile.
  public mutating func opened(_ number: UInt64, _ reconciler: Reconciler, now: Instant) -> Bool {
    guard var entry = entries[number], entry.reconciler == nil else { return false }
    entry.reconciler = reconciler
    entry.usedAt = now
    entries[number] = entry
    recordCount += reconciler.records.count
    return true
  }

  /// A message has come for a reconciliation; nil when the caller has no reconciliation of this number.
  public mutating func take(_ number: UInt64, caller: UInt32, now: Instant) -> Reconciler? {
    guard let entry = entries[number], entry.caller == caller, let reconciler = entry.reconciler else { return nil }
    entries[number]?.usedAt = now
    return reconciler
  }

  /// A reconciliation ends.
  ///
  /// - Returns: whether it was under way.
  @discardableResult
  public mutating func end(_ number: UInt64) -> Bool {
    guard let entry = entries.removeValue(forKey: number) else { return false }
    recordCount -= entry.reconciler?.records.count ?? 0
    let left = callerCounts[entry.caller, default: 1] - 1
    callerCounts[entry.caller] = left == 0 ? nil : left
    return true
  }

  /// The reconciliations that have been idle for too long; the caller ends them.
  public func idle(now: Instant) -> [UInt64] {
    entries.filter { $0.value.reconciler != nil && now >= deadline($0.value) }.map(\.key).sorted()
  }

  /// When the next one will have been idle for too long; nil when all are being read.
  public var nextDeadline: Instant? {
    entries.values.filter { $0.reconciler != nil }.map { deadline($0) }.min()
  }

  private func deadline(_ entry: Entry) -> Instant { entry.usedAt.advanced(milliseconds: limits.idleMilliseconds) }
}
