internal import Contracts
internal import Frames
internal import Wording

/// The level of a state, for the reader of the page.
enum StatusLevel: String, Sendable, Comparable {
  /// As it should be.
  case good
  /// Not active, as intended.
  case idle
  /// In transition to another state.
  case pending
  /// Needs the user's attention.
  case bad

  /// The level of a worker's state; an unknown state is bad.
  init(workerState: WorkerStateWord) {
    switch workerState {
    case .ready, .attached: self = .good
    case .stopped, .exited, .absent, .held: self = .idle
    case .waiting, .starting, .draining, .stopping: self = .pending
    default: self = .bad
    }
  }

  /// The level of a relay's state. An unreachable relay is retried without the user.
  init(relayState: RelayStateWord) {
    switch relayState {
    case .open: self = .good
    case .idle: self = .idle
    case .connecting, .closing: self = .pending
    default: self = .bad
    }
  }

  private var rank: Int {
    switch self {
    case .good: 0
    case .idle: 1
    case .pending: 2
    case .bad: 3
    }
  }

  static func < (left: StatusLevel, right: StatusLevel) -> Bool { left.rank < right.rank }
}

/// Whether everything is well, and what is not.
struct Verdict: Sendable {
  /// A matter that needs the user's attention.
  struct Matter: Sendable {
    var subject: String
    var text: String
    /// Commands that tell more about it, or repair it.
    var commands: [String] = []
    /// Whether it may be intended: `roost doctor` shows it with –.
    var isNote = false
    /// Whether it counts here, and is shown under what waits for the user.
    var isDetailed = false

    init(_ subject: String, _ text: String, _ commands: String..., isNote: Bool = false, isDetailed: Bool = false) {
      (self.subject, self.text, self.commands) = (subject, text, commands)
      (self.isNote, self.isDetailed) = (isNote, isDetailed)
    }
  }

  private(set) var matters: [Matter] = []
  /// Whether something is in transition.
  private(set) var isPending = false

  /// How long a worker may have work without progress before it is reported, in milliseconds.
  static let quietMilliseconds: UInt64 = 10_000

  init(_ snapshot: RoostSnapshot) {
    judgeWorkers(snapshot)
    judgeStore(snapshot.store)
    judgeKeys(snapshot.keys)
    judge("Local relay", LocalRelayCheckText.checks(snapshot.local), "roost doctor")
    let ready = Self.ready(snapshot.supervisor)
    if case .silent(let why) = snapshot.store, ready(\.role, Role.eventStore.name) { silent("Event store", why) }
    if case .silent(let why) = snapshot.plan, ready(\.role, Role.outboxPlanner.name) { silent("Publish queue", why) }
    if case .silent(let why) = snapshot.jobs, ready(\.role, Role.dvmTracker.name) { silent("Jobs", why) }
    if case .silent(let why) = snapshot.serving, ready(\.role, Role.dvmProvider.name) {
      silent("Jobs for others", why)
    }
    judge("Jobs", snapshot.jobs.value.map(JobCheckText.checks) ?? [], "roost job list")
    judge("Publish queue", snapshot.plan.value.map(PlanCheckText.anonymousChecks) ?? [], "roost doctor")
    judge("Push relay", snapshot.push.value.map(PushCheckText.checks) ?? [], "roost push stats")
    for connector in snapshot.connectors {
      if case .silent(let why) = connector.relays, ready(\.name, connector.name) { silent(connector.name, why) }
    }
    judgeRelays(snapshot)
  }

  /// Relays that want an account or money are shown with what waits for the user.
  private mutating func judgeRelays(_ snapshot: RoostSnapshot) {
    let others = snapshot.relays.map { relay in
      var other = relay
      other.remarks = relay.remarks?.filter { !Waiting.isWall($0, now: snapshot.at) }
      return other
    }
    judge("Relays", RelayRemarkText.checks(others, now: snapshot.at), "roost relay list")
    for relay in snapshot.relays where relay.isConfigured {
      for remark in relay.remarks ?? [] where Waiting.isWall(remark, now: snapshot.at) && remark.kind != .refusedEvent {
        matters.append(Matter(relay.relay, RelayRemarkText.words(remark), isDetailed: true))
      }
    }
  }

  /// Whether a worker takes work, by its name or its role. If it does not, its state already explains its silence. If
  /// the supervisor does not answer, the silence itself is reported.
  private static func ready(_ told: Told<SupervisorStatus>) -> (KeyPath<WorkerStatus, String>, String) -> Bool {
    guard let workers = told.value?.workers else { return { _, _ in true } }
    return { path, text in workers.contains { $0[keyPath: path] == text && StatusLevel(workerState: $0.state) == .good }
    }
  }

  /// The worst level.
  var level: StatusLevel {
    if matters.contains(where: { !$0.isNote }) { return .bad }
    return isPending || !matters.isEmpty ? .pending : .good
  }

  /// A short summary.
  var sentence: String {
    let count = matters.count { !$0.isNote }
    if count == 0 { return isPending ? "On its way" : matters.isEmpty ? "All is well" : "Nothing needs fixing" }
    return count == 1 ? "One thing needs attention" : "\(count) things need attention"
  }

  private mutating func silent(_ subject: String, _ why: String) {
    matters.append(Matter(subject, "no answer, \(why)", "roost status"))
  }

  private mutating func judgeWorkers(_ snapshot: RoostSnapshot) {
    if case .silent(let why) = snapshot.supervisor { silent("roostd", why) }
    guard let status = snapshot.supervisor.value else { return }
    for worker in status.workers {
      switch StatusLevel(workerState: worker.state) {
      case .bad:
        let exit = worker.lastExit.map { ", \($0)" } ?? ""
        let again = worker.state == .failed ? ["roost restart \(worker.name)"] : []
        var matter = Matter(worker.name, "\(worker.state)\(exit)")
        matter.commands = ["roost why \(worker.name)"] + again
        matters.append(matter)
      case .pending: isPending = true
      case .good, .idle:
        if let busy = worker.busyMilliseconds, busy >= Self.quietMilliseconds {
          let text = "has work, and no progress for \(Amount.duration(milliseconds: busy))"
          matters.append(Matter(worker.name, text, "roost why \(worker.name)"))
        }
      }
    }
    if status.deadLetters > 0 {
      let text = "\(Amount.count(status.deadLetters, "message")) that workers have died over were set aside"
      let isShown = status.latestDeadLetters?.isEmpty == false
      matters.append(Matter("Dead letters", text, "roost dead-letters", isDetailed: isShown))
    }
  }

  private mutating func judgeStore(_ store: Told<StoreStatus>) {
    guard let status = store.value else { return }
    judge("Event store", StoreText.checks(status), "roost doctor")
  }

  /// A locked key signs nothing, which is easily forgotten after a restart. The page does not show the names of
  /// accounts.
  private mutating func judgeKeys(_ keys: Told<SignerAccounts>) {
    guard let accounts = keys.value else { return }
    if accounts.accounts.allSatisfy(\.isOfWorker), accounts.refused.isEmpty {
      matters.append(
        Matter(
          "Accounts", "there is no account yet: this makes one, takes one over, or reads along with one", "roost setup",
          isNote: true))
    }
    let locked = accounts.accounts.present.count(where: \.awaitsPassphrase)
    guard locked > 0 else { return }
    let all = Amount.count(accounts.accounts.count, "account")
    let (verb, whom) = locked == 1 ? ("is", "it") : ("are", "them")
    let text = "\(locked) of \(all) \(verb) locked, and nothing is signed for \(whom)"
    // If one account is locked, the command needs no name.
    let command = locked == 1 ? "roost key unlock" : "roost key unlock ACCOUNT"
    matters.append(Matter("Keys", text, command, isNote: true))
  }

  /// Checks that are good or pending for the doctor are left out here too.
  private mutating func judge(_ subject: String, _ checks: [DoctorResult.Check], _ command: String) {
    for check in checks where !check.isGood {
      matters.append(Matter(subject, check.text, command))
    }
  }
}
