import Contracts
import JobTracking

// The part of `job.status` that is for figures: what the book has counted.

extension Tracker {
  /// Adds what has happened since the start, and what is open.
  func addFigures(to status: inout TrackingStatus) {
    status.results = book.counters.results
    status.diagnostics = book.counters.diagnostics
    for (state, payments) in book.counters.payments {
      status.payments[state.rawValue] = JobPayments(count: payments.count, amount: payments.amount)
    }
    let open = book.openPayments
    status.openPayments = JobPayments(count: open.count, amount: open.amount)
    let unpaid = book.unpaidPayments
    status.unpaid = JobPayments(count: unpaid.count, amount: unpaid.amount)
    status.unseen = book.unseenCount
  }
}
