public import Contracts
internal import Frames

/// Remarks about relays in plain words, with what to do: in `roost relay list`, `roost doctor` and on the status page.
public enum RelayRemarkText {
  /// The end of a sentence: `refuses what it is asked: "restricted: no" (3 times, last 2026-11-23 04:10:11)`.
  public static func words(_ remark: RelayRemark) -> String {
    let quoted = remark.text.isEmpty ? "without a reason" : "\"\(VisibleText.make(remark.text))\""
    let at = CalendarTime.text(remark.at)
    let often = remark.count > 1 ? " (\(remark.count) times, last \(at))" : " (\(at))"
    switch remark.kind {
    case .refusedRequest: return "refuses what it is asked: \(quoted)\(often)"
    case .refusedEvent: return "refuses events: \(quoted)\(often)"
    case .authWall: return "wants to know who asks, and was shown no account: \(quoted)\(often)"
    case .capped: return "gives \(Amount.count(remark.limit ?? 0, "event")) to a question at most\(often)"
    case .notice: return "says: \(quoted)\(often)"
    }
  }

  /// What a person can do about it; nil when there is nothing to do.
  public static func advice(_ remark: RelayRemark) -> String? {
    switch remark.kind {
    case .refusedRequest where isPassing(remark): "it is asked again more slowly, and nothing is to be done"
    case .refusedRequest:
      "if that continues, remove it from 'relays', or say 'reads = false' for its group, in supervisor.conf"
    case .refusedEvent: "'roost queue' shows which events; if that continues, say 'writes = false' for its group"
    case .authWall:
      "ask it as an account that it knows (see 'authenticate' in supervisor.conf), or take it out of 'relays' there"
    case .capped: "what is older is asked for page by page, and nothing is to be done"
    case .notice: nil
    }
  }

  /// Checks for `roost doctor` and the status page: one that fails when no relay in use can be reached, and one that
  /// fails for each configured relay that has refused requests, or required authentication, within the last hour. Other
  /// complaints of relays are good and pending; mere notices are good.
  public static func checks(_ relays: [RelayStates.Relay], now: Int64) -> [DoctorResult.Check] {
    var checks = reachChecks(relays)
    for relay in relays {
      for remark in relay.remarks ?? [] where now - remark.at <= recentSeconds {
        guard checks.count < checkMaximum else { return checks }
        let isComplaint = [.refusedRequest, .refusedEvent, .authWall].contains(remark.kind)
        let isWall = remark.kind == .authWall || (remark.kind == .refusedRequest && !isPassing(remark))
        let advice = advice(remark).map { ": \($0)" } ?? ""
        checks.append(
          DoctorResult.Check(
            name: "relay", isGood: !(isWall && relay.isConfigured), isPending: isComplaint,
            text: "\(VisibleText.make(relay.relay)) \(words(remark))\(advice)"))
      }
    }
    return checks
  }

  /// One relay that is away is no problem: there are others, and it is retried. If all are away, the network is down.
  private static func reachChecks(_ relays: [RelayStates.Relay]) -> [DoctorResult.Check] {
    let wanted = relays.filter { $0.state != .idle }
    let away = wanted.filter { ![.open, .connecting, .closing].contains($0.state) }
    guard let first = away.first, away.count == wanted.count else { return [] }
    let who = wanted.count == 1 ? "the one that is wanted cannot be reached" : "none of \(wanted.count) can be reached"
    let why = first.reason.map { " (\(VisibleText.make($0)))" } ?? ""
    let text = "\(who)\(why): see to the network; 'roost relay list' tells more"
    return [DoctorResult.Check(name: "relays", isGood: false, text: text)]
  }

  /// A refusal that will pass without any action.
  private static func isPassing(_ remark: RelayRemark) -> Bool {
    remark.text.hasPrefix("rate-limited:") || remark.text.hasPrefix("error:")
  }

  /// Remarks that are older than so many seconds are not reported by the doctor.
  public static let recentSeconds: Int64 = 3_600
  /// The maximum number of remarks in one answer of the doctor; 'roost relay list' has the others.
  private static let checkMaximum = 20
}
