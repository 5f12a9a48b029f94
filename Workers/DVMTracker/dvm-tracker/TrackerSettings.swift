import Contracts
import JobTracking

extension TrackerSettings {
  /// The machine's limits with these settings.
  var limits: TrackingLimits {
    func seconds(_ milliseconds: Int64) -> Int64 { max(1, milliseconds / 1_000) }
    var limits = TrackingLimits()
    limits.deadlines.publish = seconds(publishDeadlineMilliseconds)
    limits.deadlines.answer = seconds(answerDeadlineMilliseconds)
    limits.deadlines.result = seconds(resultDeadlineMilliseconds)
    limits.deadlines.decision = seconds(decisionDeadlineMilliseconds)
    limits.deadlines.delivery = seconds(deliveryDeadlineMilliseconds)
    limits.deadlines.total = seconds(totalDeadlineMilliseconds)
    (limits.dayMaximum, limits.providerDayMaximum, limits.openMaximum) = (dayMaximum, providerMaximum, jobsMaximum)
    return limits
  }
}
