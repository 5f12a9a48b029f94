public import Contracts
internal import Cryptography

// What a process has seen happen to its jobs, for statistics. Changes of pictures are counted, so nothing counts that
// is not on disk, and each effect of a fact counts once. What is there at the start does not count.

/// Counts what becomes of jobs.
public struct JobCounters: Sendable, Hashable {
  /// Payments that reached a state.
  public struct Payments: Sendable, Hashable {
    /// How many.
    public var count: UInt64 = 0
    /// Their sum in millisatoshi, without payments of unknown amount.
    public var amount: Int64 = 0

    /// Adds payments. Strangers choose the amounts, so the sum stops at the largest number.
    mutating func add(_ amount: Int64, count: Int = 1) {
      self.count += UInt64(count)
      let (sum, isOver) = self.amount.addingReportingOverflow(amount)
      self.amount = isOver ? .max : sum
    }
  }

  /// Results that count.
  public private(set) var results: UInt64 = 0
  /// Oddities, and reasons why answers do not count, by word.
  public private(set) var diagnostics: [String: UInt64] = [:]
  /// Payments, by the state that they reached.
  public private(set) var payments: [JobProviderState.PaymentState: Payments] = [:]

  /// All counters are 0.
  public init() {}

  /// Counts what has changed between two pictures of a job.
  mutating func changed(from before: JobPicture, to after: JobPicture) {
    for (word, count) in after.diagnostics {
      let rise = count - (before.diagnostics[word] ?? 0)
      if rise > 0 { diagnostics[word, default: 0] += UInt64(rise) }
    }
    for (provider, pair) in after.pairs {
      let old = before.pairs[provider]
      results += UInt64(max(0, pair.resultCount - (old?.resultCount ?? 0)))
      let rise = pair.paidCount - (old?.paidCount ?? 0)
      if rise > 0 { paid(pair.paidAmount - (old?.paidAmount ?? 0), count: rise) }
      guard let state = pair.payment, state != .paid, state != old?.payment else { continue }
      payments[state, default: Payments()].add(pair.wantedAmount)
    }
  }

  /// Payments were proven.
  mutating func paid(_ amount: Int64, count: Int = 1) { payments[.paid, default: Payments()].add(amount, count: count) }
}

extension JobPicture.Pair {
  /// What is paid, or asked for, in millisatoshi; 0 if it is not known.
  var wantedAmount: Int64 { max(0, intent?.amount ?? bill?.payable ?? bill?.amount ?? 0) }
}

extension JobTable {
  /// Payments of jobs in memory that are asked for and not decided.
  public var openPayments: JobCounters.Payments { payments(in: .asked) }

  /// Payments of jobs in memory that are approved and not known to be paid.
  public var unpaidPayments: JobCounters.Payments { payments(in: .approved) }

  private func payments(in state: JobProviderState.PaymentState) -> JobCounters.Payments {
    var found = JobCounters.Payments()
    for picture in records.values.lazy.map(\.picture) where !picture.state.isFinal {
      for pair in picture.pairs.values where pair.payment == state { found.add(pair.wantedAmount) }
    }
    return found
  }

  /// Jobs in memory that are for relays and whose requests are only in the store of this machine, because no relay is
  /// known for them.
  public var unseenCount: Int {
    records.values.count { record in
      guard record.picture.state == .published, !record.order.isLocal else { return false }
      let asked = record.picture.attempts.filter { $0.request != nil }
      return !asked.isEmpty && asked.allSatisfy { ($0.relays ?? 0) == 0 && $0.isStored }
    }
  }
}
