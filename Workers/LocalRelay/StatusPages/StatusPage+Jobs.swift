internal import Contracts
internal import Frames

// The page's section on jobs: a line for jobs that others do, a line for jobs that are done for others, and a line for
// each kind of the latter. Without the two workers there is no section.

extension StatusPage {
  static func jobs(_ snapshot: RoostSnapshot) -> Markup {
    let rows = asked(snapshot.jobs) + served(snapshot.serving)
    guard !rows.isEmpty else { return "" }
    return "<section class=\"card\" id=\"jobs\"><h2>Jobs</h2><ul>\n\(rows)</ul></section>\n"
  }

  static func row(_ level: StatusLevel, _ name: String, _ state: String, _ note: String) -> Markup {
    """
    <li class="row">\(dot(level))<span class="name">\(name)</span><span>\(state)</span>\
    <span class="soft note">\(note)</span></li>

    """
  }

  private static func asked(_ jobs: Told<TrackingStatus>) -> [Markup] {
    let name = "done by others"
    switch jobs {
    case .absent: return []
    case .silent: return [row(.bad, name, "unknown", "the job tracker does not answer")]
    case .told(let status):
      func count(_ state: Job.State) -> Int { status.jobs[state.rawValue] ?? 0 }
      let open = Job.State.allCases.filter { !$0.isFinal }.reduce(0) { $0 + count($1) }
      var notes: [String] = []
      if status.openPayments.count > 0 {
        let payments = Amount.count(status.openPayments.count, "payment")
        notes.append("\(payments) of \(Amount.satoshis(status.openPayments.amount)) to decide: roost job list")
      }
      if status.unpaid.count > 0 {
        let payments = Amount.count(status.unpaid.count, "payment")
        let amount = Amount.satoshis(status.unpaid.amount)
        notes.append("\(payments) of \(amount) approved, to be paid: roost job list --open")
      }
      if status.unseen > 0 { notes.append("\(Amount.count(status.unseen, "job")) without a relay: roost relay add") }
      let ended: [(Job.State, String)] = [
        (.settled, "settled"), (.failed, "failed"), (.expired, "expired"), (.cancelled, "cancelled"),
      ]
      notes += ended.compactMap { state, word in count(state) > 0 ? "\(number(count(state))) \(word)" : nil }
      let waits = status.openPayments.count + status.unpaid.count > 0 || status.unseen > 0
      return [row(waits ? .pending : .good, name, "\(number(open)) open", notes.joined(separator: ", "))]
    }
  }

  private static func served(_ serving: Told<ServingStatus>) -> [Markup] {
    let name = "done for others"
    switch serving {
    case .absent: return []
    case .silent: return [row(.bad, name, "unknown", "the provider does not answer")]
    case .told(let status):
      let running = status.services.reduce(0) { $0 + $1.running }
      let others = [
        (status.waiting, "waiting"), (status.unpaid, "with an unpaid bill"),
        (Int(clamping: status.passedOver), "passed over"),
      ]
      let notes = others.compactMap { count, word in count > 0 ? "\(number(count)) \(word)" : nil }
      let isGood = status.provider != nil
      let note = isGood ? notes.joined(separator: ", ") : "the signer has not said who answers"
      return [row(isGood ? .good : .pending, name, "\(number(running)) running", note)]
        + status.services.prefix(listMaximum).map { service in
          let done = "\(number(service.answered)) answered, \(number(service.failed)) failed"
          return row(.idle, "kind \(service.kind)", "\(number(service.running)) running", "\(service.program): \(done)")
        }
    }
  }
}
