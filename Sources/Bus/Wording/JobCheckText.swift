public import Contracts
internal import Frames

/// The checks of the job tracker in `roost doctor`.
public enum JobCheckText {
  /// What needs or may need a person's attention, each with what to do; one good check when there is nothing.
  public static func checks(_ status: TrackingStatus) -> [DoctorResult.Check] {
    var checks: [DoctorResult.Check] = []
    if let fault = status.fault { checks.append(.init(name: "jobs", isGood: false, text: fault)) }
    if status.unseen > 0 {
      let one = status.unseen == 1
      checks.append(
        .init(
          name: "jobs", isGood: false,
          text: "\(Amount.count(status.unseen, "open job")) \(one ? "has" : "have") no relay, and "
            + "\(one ? "is" : "are") seen on this machine alone: add a relay (roost relay add URL), or call off what is "
            + "not wanted (roost job list)"
        ))
    }
    if status.openPayments.count > 0 {
      let one = status.openPayments.count == 1
      let payments = Amount.count(status.openPayments.count, "payment")
      checks.append(
        .init(
          name: "jobs", isGood: true, isPending: true,
          text: "\(payments) of \(Amount.satoshis(status.openPayments.amount)) "
            + "\(one ? "waits" : "wait") for a decision: roost job list, then roost job approve or deny"))
    }
    if status.unpaid.count > 0 {
      let one = status.unpaid.count == 1
      let payments = Amount.count(status.unpaid.count, "payment")
      checks.append(
        .init(
          name: "jobs", isGood: true, isPending: true,
          text: "\(payments) of \(Amount.satoshis(status.unpaid.amount)) \(one ? "is" : "are") approved and not paid "
            + "yet: roost job list --open; 'roost job show' has what to pay by"))
    }
    guard checks.isEmpty else { return checks }
    let open = Job.State.allCases.filter { !$0.isFinal }.reduce(0) { $0 + (status.jobs[$1.rawValue] ?? 0) }
    let text = "\(open) under way, none without a relay or waiting for a decision about money"
    return [.init(name: "jobs", isGood: true, text: text)]
  }
}
