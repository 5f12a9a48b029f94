public import Contracts
internal import Frames

/// The checks of publishing in `roost doctor`.
public enum PlanCheckText {
  /// Whether publications wait for a connector that is away, or for relays for a long time, and which lists have lost
  /// more than half of their entries.
  ///
  /// - Parameters:
  ///   - status: the planner's own status.
  ///   - now: seconds since 1970.
  public static func checks(_ status: PlanStatus, now: Int64) -> [DoctorResult.Check] {
    general(status)
      + (status.shrunkLists ?? []).map { list in
        DoctorResult.Check(
          name: "lists", isGood: false,
          text:
            "\(ReplacedText.who(list)) \(ReplacedText.what(list)), since \(ReplacedText.age(list, now)); if that was "
            + "not meant: roost queue replaced \(list.id) --draft | roost publish --as \(list.account ?? "NAME") "
            + "--replace -; if it was: roost queue replaced \(list.id) --forget")
      }
  }

  /// The same without names of accounts, for readers of the status page.
  public static func anonymousChecks(_ status: PlanStatus) -> [DoctorResult.Check] {
    general(status)
      + (status.shrunkLists ?? []).map { _ in
        DoctorResult.Check(name: "lists", isGood: false, text: "a list has lost more than half of its entries")
      }
  }

  private static func general(_ status: PlanStatus) -> [DoctorResult.Check] {
    connectorChecks(status) + overdueChecks(status)
  }

  private static func overdueChecks(_ status: PlanStatus) -> [DoctorResult.Check] {
    guard let count = status.overdue, count > 0 else { return [] }
    let relays = (status.overdueRelays ?? []).map(VisibleText.make).joined(separator: ", ")
    let span = Amount.duration(milliseconds: UInt64(PlanStatus.overdueSeconds) * 1_000)
    return [
      .init(
        name: "waiting", isGood: false,
        text: "\(Amount.count(count, "publication")) \(count == 1 ? "waits" : "wait") for longer than \(span) for "
          + "\(relays): 'roost queue list --open' shows them, and 'roost relay list' why; for a relay that is gone for "
          + "good: 'roost queue cancel ID --relay URL'")
    ]
  }

  private static func connectorChecks(_ status: PlanStatus) -> [DoctorResult.Check] {
    if let fault = status.fault { return [.init(name: "publishing", isGood: false, text: fault)] }
    guard let silent = status.silentConnectors, let first = silent.first else {
      return [.init(name: "publishing", isGood: true, text: "every configured connector is there")]
    }
    let who = "\(silent.joined(separator: " and ")) \(silent.count == 1 ? "is" : "are") held, stopped or starting"
    guard let count = status.waitingForConnectors, count > 0 else {
      return [
        .init(
          name: "publishing", isGood: true, isPending: true,
          text: "\(who): what is published meanwhile is queued, and nothing waits yet")
      ]
    }
    return [
      .init(
        name: "publishing", isGood: false,
        text: "\(who), and \(Amount.count(count, "publication")) \(count == 1 ? "waits" : "wait") for that; "
          + "'roost hold --release \(first)' or 'roost start \(first)' has \(count == 1 ? "it" : "them") sent")
    ]
  }
}
