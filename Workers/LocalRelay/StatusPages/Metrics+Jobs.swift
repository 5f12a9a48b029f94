internal import Contracts

// Metrics of jobs: those that others do for the user, and those that are done for others.

extension Metrics {
  static func addJobs(_ status: TrackingStatus, to text: inout MetricText) {
    text.add(
      "roost_jobs", .gauge, "Jobs that others do, by state; those that have ended as long as they are kept.",
      Job.State.allCases.map { MetricText.Sample([("state", $0.rawValue)], status.jobs[$0.rawValue] ?? 0) })
    text.add("roost_jobs_writable", .gauge, "Whether jobs are accepted.", status.fault == nil ? 1 : 0)
    text.add("roost_jobs_without_relay", .gauge, "Jobs for relays of which no relay has a request.", status.unseen)
    text.add("roost_jobs_answers_total", .counter, "Events that were answers to jobs.", status.answers)
    text.add("roost_jobs_results_total", .counter, "Results among them that count.", status.results)
    text.add(
      "roost_jobs_diagnostics_total", .counter, "What was odd about answers, and why they do not count.",
      status.diagnostics.sorted { $0.key < $1.key }.map { MetricText.Sample([("word", $0.key)], $0.value) })
    text.add("roost_jobs_open_payments", .gauge, "Payments that wait for a decision.", status.openPayments.count)
    text.add(
      "roost_jobs_open_payments_millisatoshi", .gauge, "What those ask for together.", status.openPayments.amount)
    text.add("roost_jobs_unpaid", .gauge, "Payments that are approved and not paid yet.", status.unpaid.count)
    text.add("roost_jobs_unpaid_millisatoshi", .gauge, "What those are together.", status.unpaid.amount)
    text.add(
      "roost_jobs_approved_day_millisatoshi", .gauge, "What was approved in the last 24 hours.", status.approvedToday)
    let payments = JobProviderState.PaymentState.allCases.map { ($0.rawValue, status.payments[$0.rawValue]) }
    text.add(
      "roost_jobs_payments_total", .counter, "Payments that have come to a state.",
      payments.map { MetricText.Sample([("state", $0)], $1?.count ?? 0) })
    text.add(
      "roost_jobs_payments_millisatoshi_total", .counter, "What those are together.",
      payments.map { MetricText.Sample([("state", $0)], $1?.amount ?? 0) })
  }

  static func addServing(_ status: ServingStatus, to text: inout MetricText) {
    let services = status.services.map { MetricText.Member(labels: [("kind", "\($0.kind)")], value: $0) }
    text.add("roost_serving_running", .gauge, "Jobs of others that are worked on.", of: services) { $0.running }
    text.add("roost_serving_taken_total", .counter, "Jobs of others that were taken up.", of: services) { $0.taken }
    text.add("roost_serving_answered_total", .counter, "Those that ended with a result.", of: services) { $0.answered }
    text.add("roost_serving_failed_total", .counter, "Those that ended with an error.", of: services) { $0.failed }
    text.add("roost_serving_waiting", .gauge, "Jobs of others that wait for their turn.", status.waiting)
    text.add("roost_serving_unpaid", .gauge, "Jobs of others whose bill is not paid yet.", status.unpaid)
    text.add(
      "roost_serving_passed_over_total", .counter, "Requests that were not taken up.", status.passedOver)
  }
}
