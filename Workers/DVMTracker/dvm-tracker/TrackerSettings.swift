import JobTracking

/// The settings of `[worker.dvm-tracker]` in `supervisor.conf`; what is absent is as ``TrackingLimits`` has it.
struct TrackerSettings: Decodable, Sendable {
  var publishDeadlineMilliseconds: Int64?
  var answerDeadlineMilliseconds: Int64?
  var resultDeadlineMilliseconds: Int64?
  var decisionDeadlineMilliseconds: Int64?
  var deliveryDeadlineMilliseconds: Int64?
  var totalDeadlineMilliseconds: Int64?
  var dayMaximum: Int64?
  var providerMaximum: Int64?
  var jobsMaximum: Int?

  /// The machine's limits with these settings.
  var limits: TrackingLimits {
    var limits = TrackingLimits()
    let usual = limits.deadlines
    func seconds(_ milliseconds: Int64?, _ standard: Int64) -> Int64 {
      milliseconds.map { max(1, $0 / 1_000) } ?? standard
    }
    limits.deadlines.publish = seconds(publishDeadlineMilliseconds, usual.publish)
    limits.deadlines.answer = seconds(answerDeadlineMilliseconds, usual.answer)
    limits.deadlines.result = seconds(resultDeadlineMilliseconds, usual.result)
    limits.deadlines.decision = seconds(decisionDeadlineMilliseconds, usual.decision)
    limits.deadlines.delivery = seconds(deliveryDeadlineMilliseconds, usual.delivery)
    limits.deadlines.total = seconds(totalDeadlineMilliseconds, usual.total)
    limits.dayMaximum = dayMaximum ?? limits.dayMaximum
    limits.providerDayMaximum = providerMaximum ?? limits.providerDayMaximum
    limits.openMaximum = jobsMaximum ?? limits.openMaximum
    return limits
  }
}
