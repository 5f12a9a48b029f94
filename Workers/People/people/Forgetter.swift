import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Forgetting
import Frames
import LinuxSystem
import Logging
import PeopleLedger
import Storage
import WorkerKit
import WorkerLedger

// Forgets accounts, step by step (`ForgettingPlan`). Each step is noted when it is done, so the process may die
// anywhere: the next one reads the notes and continues, whether or not a caller is there. A step that was done and not
// noted is done again, which removes nothing.

/// Serves `people.forget`.
@EventLoopActor
final class Forgetter {
  /// What callers see of one account: the steps so far, and the end.
  @EventLoopActor
  private final class Run {
    var steps: [ForgetStep] = []
    var result: Result<PeopleForgotten, Refusal>?
    var callerCount = 0
    let changed = Signal()
  }

  private let worker: Worker
  private let ledger: PeopleLedger
  private let health: LedgerHealth
  private let log = Logger(label: "people")
  private var runs: [PublicKey: Run] = [:]
  /// Removes what other parts of this worker have of an account in memory.
  var onForgotten: (@EventLoopActor (PublicKey) async -> Void)?

  /// Callers of one account.
  fileprivate nonisolated static let callerMaximum = 64
  /// Accounts whose forgetting is in memory: under way, or ended since the start.
  private static let runMaximum = 256
  /// The longest wait between two attempts at a step.
  private static let retryMillisecondsMaximum: UInt64 = 5_000
  /// How long a worker may take for its step: a store reads and removes millions of events.
  private static let stepMilliseconds: UInt32 = 3_600_000
  /// How long the signer and the supervisor may take.
  private static let answerMilliseconds: UInt32 = 10_000
  /// Relays that are named.
  private static let relayMaximum = SourceRelays.relayMaximum

  init(_ worker: Worker, _ ledger: PeopleLedger, _ health: LedgerHealth) {
    (self.worker, self.ledger, self.health) = (worker, ledger, health)
  }

  /// Serves, and continues what the process before has begun.
  func start() {
    worker.serve(PeopleMethod.forget, forget)
    worker.persist("accounts to forget", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      for account in try await reading({ () throws(StorageFault) in try await ledger.forgotten() }) { begin(account) }
      return true
    }
  }

  private func reading<Value>(_ body: () async throws(StorageFault) -> Value) async throws(Refusal) -> Value {
    do throws(StorageFault) { return try await body() } catch { throw health.refusal(error) }
  }

  // MARK: Callers

  private func forget(_ request: BusRequest, _ wanted: PeopleForget) async throws(Refusal) -> PeopleForgotten? {
    guard let account = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    // What was forgotten before is here again.
    if let ended = runs[account], ended.result != nil, try await state(of: account) != .gone, runs[account] === ended {
      runs[account] = nil
    }
    if runs[account] == nil,
      try await reading({ () throws(StorageFault) in try await ledger.forgotten() }).contains(account)
    {
      // An earlier process has begun, and may have removed the key already.
      begin(account)
    } else if runs[account] == nil {
      switch try await state(of: account) {
      case .leaving: break
      case .kept:
        throw Refusal(
          .badRequest, "the account is not left to be forgotten: signer.leave with 'isForgetting' comes first",
          outcome: .notStarted)
      case .gone: throw Refusal(.noSuchAccount, "there is no such account", outcome: .notStarted)
      }
      if runs.count >= Self.runMaximum { runs = runs.filter { $0.value.result == nil } }
      guard runs.count < Self.runMaximum else {
        throw Refusal(.full, "\(runs.count) accounts are being forgotten", outcome: .notStarted)
      }
      try await reading { () throws(StorageFault) in
        try await ledger.beginForgetting(account, at: WallClock.seconds)
      }
      begin(account)
    }
    guard let run = runs[account] else { return nil }
    guard run.callerCount < Self.callerMaximum else {
      throw Refusal(.full, "\(run.callerCount) callers wait for this account already", outcome: .notStarted)
    }
    run.callerCount += 1
    defer { run.callerCount -= 1 }
    request.accept()
    var told = 0
    while true {
      while told < run.steps.count {
        told += 1
        try await request.send(run.steps[told - 1], of: PeopleMethod.forget)
      }
      if let result = run.result { return try result.get() }
      guard !request.isCancelled, !worker.isDraining else {
        throw Refusal(
          .unavailable, "people is stopping; the account is forgotten without this call too", outcome: .done)
      }
      _ = await run.changed.wait(until: EventLoop.process.now.advanced(milliseconds: Self.lookMilliseconds))
    }
  }

  /// How often a caller is looked after.
  private static let lookMilliseconds: UInt64 = 1_000

  // MARK: The steps

  private func begin(_ account: PublicKey) {
    guard runs[account] == nil else { return }
    let run = Run()
    runs[account] = run
    EventLoopActor.task { [self] in
      await recall(account, run)
      var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
      while run.result == nil, !worker.isDraining {
        var step = ForgettingStep.end
        do throws(Refusal) {
          step = try await next(account)
          guard try await perform(step, account, run) else { continue }
          delay.reset()
        } catch {
          tell(run, ForgetStep(step.name ?? "signer", isDone: false, remark: error.message))
          await EventLoopActor.sleep(milliseconds: delay.next())
        }
      }
    }
  }

  /// Shows callers what an earlier process has done.
  private func recall(_ account: PublicKey, _ run: Run) async {
    // `try?`: the steps themselves read the ledger again, and say what is wrong with it.
    for row in (try? await ledger.forgettingSteps(of: account)) ?? [] where row.isDone {
      run.steps.append(Self.told(row))
    }
  }

  private static func told(_ row: PeopleLedger.ForgettingStepRow) -> ForgetStep {
    // `try?`: this worker wrote it; without it the step is done all the same.
    let answer = try? JSONPayload.decode(AccountForgotten.self, from: row.report)
    return ForgetStep(row.step, isDone: true, gone: answer?.gone ?? [], remark: answer?.remark)
  }

  private func next(_ account: PublicKey) async throws(Refusal) -> ForgettingStep {
    let rows = try await reading { () throws(StorageFault) in try await ledger.forgettingSteps(of: account) }
    let done = Set(rows.filter(\.isDone).map(\.step))
    return ForgettingPlan.next(try await state(of: account), done: done, workers: try await workers())
  }

  private func state(of account: PublicKey) async throws(Refusal) -> ForgottenState {
    let known = try await accounts()
    guard let found = known.accounts.first(where: { $0.publicKey == account.description }) else {
      // A key that is refused might be this one.
      guard let refused = known.refused.first else { return .gone }
      throw Refusal(.unavailable, "a key cannot be read: \(refused.sentence)", outcome: .notStarted)
    }
    return found.isForgetting == true ? .leaving : .kept
  }

  private func accounts() async throws(Refusal) -> SignerAccounts {
    try await worker.bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.answerMilliseconds)
  }

  private func workers() async throws(Refusal) -> [ForgettingWorker] {
    let status = try await worker.bus.request(
      SupervisorMethod.status, StatusRequest(), ttlMilliseconds: Self.answerMilliseconds)
    return status.workers.map { worker in
      ForgettingWorker(
        name: worker.name, role: worker.role, isReady: worker.state == .ready || worker.state == .attached,
        isOff: worker.state == .stopped && worker.generation == 0)
    }
  }

  /// Performs a step. Returns whether anything was done; it has waited otherwise.
  private func perform(_ step: ForgettingStep, _ account: PublicKey, _ run: Run) async throws(Refusal) -> Bool {
    switch step {
    case .giveUp:
      try await reading { () throws(StorageFault) in try await ledger.endForgetting(account) }
      end(account, run, .failure(Refusal(.cancelled, "the account was brought back; what was removed stays removed")))
    case .awaitWorker(let name):
      tell(run, ForgetStep(name, isDone: false, remark: "it does not run; 'roost start \(name)' starts it"))
      await EventLoopActor.sleep(milliseconds: Self.lookMilliseconds)
      return false
    case .relays:
      let relays = try await relays(of: account)
      try await note("relays", report: JSONPayload.encode(relays), isDone: true, account)
      tell(run, ForgetStep("relays", isDone: true))
    case .worker(let name, let role): return try await ask(name, role, account, run)
    case .people:
      await onForgotten?(account)
      let count = try await reading { () throws(StorageFault) in try await ledger.forget(account) }
      let parts = [AccountForgotten.Part("versions of its lists", count)]
      try await finish("people", AccountForgotten(parts), account, run)
    case .key:
      let name = try await accounts().accounts.first { $0.publicKey == account.description }?.name
      if let name {
        _ = try await worker.bus.request(
          SignerMethod.remove, SignerRemove(name: name, publicKey: account.description),
          ttlMilliseconds: Self.answerMilliseconds)
      }
      try await finish("key", AccountForgotten([]), account, run)
    case .end:
      let report = try await report(of: account)
      try await reading { () throws(StorageFault) in try await ledger.endForgetting(account) }
      log.notice("an account is forgotten")
      end(account, run, .success(report))
    }
    return true
  }

  private func ask(_ name: String, _ role: String, _ account: PublicKey, _ run: Run) async throws(Refusal) -> Bool {
    let rows = try await reading { () throws(StorageFault) in try await ledger.forgettingSteps(of: account) }
    let others = try await accounts().accounts.filter { !$0.isOfWorker && $0.publicKey != account.description }
    // The mirror was asked first.
    let kept = rows.lazy.compactMap { row -> [JSONValue]? in
      // `try?`: the report of the relays has another form.
      (try? JSONPayload.decode(AccountForgotten.self, from: row.report))?.keep
    }.first
    let wanted = AccountForget(account: account.description, others: others.map(\.publicKey), keep: kept)
    let answer = try await worker.bus.request(
      AccountMethod.forget, of: name, wanted, ttlMilliseconds: Self.stepMilliseconds)
    var sum = answer
    if let row = rows.first(where: { $0.step == name }),
      let before = try? JSONPayload.decode(AccountForgotten.self, from: row.report)  // `try?`: this worker wrote it.
    {
      sum.gone = ForgettingPlan.sum(before.gone + answer.gone)
    }
    guard ForgettingPlan.isComplete(role, answer) else {
      try await note(name, report: JSONPayload.encode(sum), isDone: false, account)
      await EventLoopActor.sleep(milliseconds: ForgettingPlan.settleMilliseconds)
      return true
    }
    try await finish(name, sum, account, run)
    return true
  }

  private func note(_ step: String, report: [UInt8], isDone: Bool, _ account: PublicKey) async throws(Refusal) {
    try await reading { () throws(StorageFault) in
      try await ledger.note(
        PeopleLedger.ForgettingStepRow(step, isDone: isDone, report: report), of: account, at: WallClock.milliseconds)
    }
  }

  private func finish(
    _ step: String, _ answer: AccountForgotten, _ account: PublicKey, _ run: Run
  ) async throws(Refusal) {
    try await note(step, report: JSONPayload.encode(answer), isDone: true, account)
    tell(run, ForgetStep(step, isDone: true, gone: answer.gone, remark: answer.remark))
  }

  /// The relays that have events of an account, by what they have sent and by what they have taken.
  private func relays(of account: PublicKey) async throws(Refusal) -> [SourceRelays.Relay] {
    var counts: [String: Int] = [:]
    let sources = try await worker.bus.request(
      StoreMethod.sources, StoreSources(authors: [account.description]), ttlMilliseconds: Self.stepMilliseconds)
    for source in sources.relays { counts[source.relay] = source.events }
    var taken: [String: Int] = [:]
    let answer = try await worker.bus.ask(PlanMethod.publications, PlanPublications())
    while let publication = try await answer.nextPart() {
      guard publication.author == account.description else { continue }
      for target in publication.targets where target.state == .confirmed { taken[target.relay, default: 0] += 1 }
    }
    // What a relay has taken from here it may have sent, too.
    counts.merge(taken) { max($0, $1) }
    let relays = counts.map { SourceRelays.Relay(relay: $0.key, events: $0.value) }
      .sorted { ($1.events, $0.relay) < ($0.events, $1.relay) }
    return Array(relays.prefix(Self.relayMaximum))
  }

  /// Everything, for the callers of now: nothing of it is kept.
  private func report(of account: PublicKey) async throws(Refusal) -> PeopleForgotten {
    let rows = try await reading { () throws(StorageFault) in try await ledger.forgettingSteps(of: account) }
    // `try?`: this worker wrote them.
    let relays = rows.first { $0.step == "relays" }.flatMap {
      try? JSONPayload.decode([SourceRelays.Relay].self, from: $0.report)
    }
    let steps = rows.filter { $0.step != "relays" }.map(Self.told)
    var remarks = steps.compactMap { step in step.remark.map { "\(step.step): \($0)" } }
    let off = ForgettingPlan.passedOver(try await workers())
    if !off.isEmpty {
      remarks.append(
        "\(off.joined(separator: ", ")) \(off.count == 1 ? "is" : "are") off, and not asked: what ran before may still "
          + "name the account in its directory")
    }
    return PeopleForgotten(gone: ForgettingPlan.sum(steps.flatMap(\.gone)), remarks: remarks, relays: relays ?? [])
  }

  private func tell(_ run: Run, _ step: ForgetStep) {
    // The same wait is shown once.
    guard run.steps.last != step, step.isDone || run.steps.count < Self.stepMaximum else { return }
    run.steps.append(step)
    run.changed.raise()
  }

  /// Steps that are kept for callers; beyond that only those that are done are shown.
  private static let stepMaximum = 200

  private func end(_ account: PublicKey, _ run: Run, _ result: Result<PeopleForgotten, Refusal>) {
    run.result = result
    run.changed.raise()
    // A caller that comes late finds it, until the next start.
    if case .failure = result { runs[account] = nil }
  }
}
