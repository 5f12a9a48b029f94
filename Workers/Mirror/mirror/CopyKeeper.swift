import Addresses
import Bus
import Contracts
import CopyLedger
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import Storage
import WorkerKit
import WorkerLedger

// Keeps what accounts wrote alive: each relay is compared with it, and sent what it lacks.
//
//     due ─▶ own events ─▶ for each relay: compare ─▶ ledger ─▶ plan.copy, run by run ─▶ ledger ─▶ round over
//
// The ledger has what each relay lacks before anything is sent, and the outcome of each run after it. So a death in
// between sends a run twice at most, and a relay knows an event that it has by its id.

/// Compares relays with what accounts wrote, and has sent what they lack.
@EventLoopActor
final class CopyKeeper {
  let worker: Worker
  let ledger: CopyLedger
  let log = Logger(label: "mirror")
  private(set) var settings = MirrorSettings()
  private(set) var accounts: [MirrorAccount] = []
  /// The keys of all accounts whose rows stay: also of those that are left, for which nothing is done.
  private var kept: [PublicKey] = []
  private(set) var running: Set<PublicKey> = []
  private(set) var schedules: [PublicKey: CopySchedule] = [:]
  private(set) lazy var health = LedgerHealth("the ledger of copies", log) { [ledger] in ledger.markDamaged() }
  /// Whether what an account wrote was fetched, so that what it has deleted elsewhere is known.
  var isFetched: (PublicKey) -> Bool = { _ in false }
  /// Learns what was published at other Roosts of the same owner whose events are here.
  var learnPublications: (MirrorAccount) async throws(Refusal) -> Void = { _ in }
  /// While the ledger cannot be written: when the next round may begin, seconds since 1970.
  private var pausedUntil: Int64?
  private var isDraining = false
  private let timer = LoopTimer()

  /// The longest time between two looks at what is due.
  private static let lookMilliseconds: UInt64 = 30_000
  /// Relays of one account that are compared at a time.
  private static let relaysAtOnce = 8
  /// A relay is sent so many events first. If it refuses them all, it refuses their author.
  private static let firstCount = 16

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    do throws(StorageFault) {
      ledger = try CopyLedger(directory: directory, now: WallClock.seconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    ledger.rescue?.tell("the ledger of copies", log)
    settings = try worker.settings(of: MirrorSettings.self)
    worker.serve(MirrorMethod.scrub, scrub)
    worker.serve(MirrorMethod.copies, copies)
  }

  func settingsChanged() throws(Refusal) {
    settings = try worker.settings(of: MirrorSettings.self)
    for key in schedules.keys { schedules[key]?.scrubSeconds = settings.scrubMilliseconds / 1_000 }
    look()
  }

  func accountsAre(_ accounts: [MirrorAccount], kept: [PublicKey]) {
    let hadAccounts = !self.kept.isEmpty
    self.accounts = accounts
    self.kept = kept
    for account in accounts where schedules[account.key] == nil {
      schedules[account.key] = CopySchedule(scrubSeconds: settings.scrubMilliseconds / 1_000)
    }
    look()
    // Before the first account the signer may not have read its keys yet.
    if hadAccounts || !kept.isEmpty { forgetOthers() }
  }

  /// Forgets what is written down of accounts that were removed.
  private func forgetOthers() {
    EventLoopActor.task { [self] in
      do throws(StorageFault) { try await ledger.keep(kept) } catch { health.notWritten(error) }
    }
  }

  /// Removes everything that is written down of an account, and every trace of it in the file.
  ///
  /// - Returns: how many rows were removed.
  func forget(_ account: PublicKey) async throws(Refusal) -> Int {
    schedules[account] = nil
    guard !running.contains(account) else {
      throw Refusal(
        .unavailable, "relays are being compared for it; that ends with the relay of now", outcome: .notStarted,
        retryAfterMilliseconds: 500)
    }
    let apart = try await apart(butOf: account)
    return try await reading { () throws(StorageFault) in try await ledger.forget(account, apart: apart) }
  }

  /// Of the events that are set apart, those that the store has and that another author wrote.
  private func apart(butOf account: PublicKey) async throws(Refusal) -> Set<EventID> {
    let ids = try await reading { () throws(StorageFault) in try await ledger.apart() }.sorted()
    var others: Set<EventID> = []
    for start in stride(from: 0, to: ids.count, by: Self.idMaximum) {
      let some = Array(ids[start..<min(start + Self.idMaximum, ids.count)])
      let wanted = StoreQuery(filters: [JSONValue(of: Filter(ids: some))])
      let answer = try await worker.bus.ask(StoreMethod.query, wanted)
      while let part = try await answer.nextPart() {
        // `try?`: the store has verified it.
        if let event = try? Event(json: part.bytes), event.pubkey != account { others.insert(event.id) }
      }
    }
    return others
  }

  /// Ids in one question.
  private static let idMaximum = 500

  private func isRemoved(_ account: MirrorAccount) -> Bool { !accounts.contains { $0.key == account.key } }

  func drain() {
    isDraining = true
    timer.cancel()
  }

  func end() {
    do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  // MARK: When

  /// Begins the rounds that are due.
  func look() {
    guard !isDraining else { return }
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in look() }
    let wall = WallClock.seconds
    // Relays are not compared again and again for what cannot be written down.
    if let pausedUntil, wall < pausedUntil, pausedUntil <= wall + CopySchedule.retrySeconds { return }
    pausedUntil = nil
    for account in accounts where isFetched(account.key) && !running.contains(account.key) {
      EventLoopActor.task { [self] in await beginIfDue(account) }
    }
  }

  private func beginIfDue(_ account: MirrorAccount) async {
    do throws(Refusal) {
      let targets = try await targets(account)
      let last = try await reading { () throws(StorageFault) in try await ledger.round(account.key) }
      let areNew = !targets.isEmpty && last?.targets != targets
      guard let schedule = schedules[account.key], !targets.isEmpty else { return }
      let next = schedule.nextAt(endedAt: last?.endedAt, areNew: areNew, at: WallClock.seconds)
      let isWhole = next.map { $0 <= WallClock.seconds } ?? false
      let relays = isWhole ? targets : schedule.retried(at: WallClock.seconds).filter(targets.contains)
      guard !relays.isEmpty else { return }
      _ = try await round(account, at: relays, isWhole: isWhole) { _ in }
    } catch {
      if health.fault != nil { pausedUntil = WallClock.seconds + CopySchedule.retrySeconds }
      log.info("relays are not compared", metadata: ["account": "\(account.name)", "why": "\(error.message)"])
    }
  }

  func reading<Value>(_ body: () async throws(StorageFault) -> Value) async throws(Refusal) -> Value {
    do throws(StorageFault) { return try await body() } catch { throw health.refusal(error) }
  }

  func writing(_ body: () async throws(StorageFault) -> Void) async throws(Refusal) {
    do throws(StorageFault) {
      try await body()
      health.written()
    } catch {
      health.notWritten(error)
      throw health.refusal(error)
    }
  }

  // MARK: A round

  /// The relays that are to have what an account wrote.
  func targets(_ account: MirrorAccount) async throws(Refusal) -> [String] {
    let note = JSONValue.object(["kind": .integer(1), "pubkey": .string("\(account.key)"), "tags": .array([])])
    let route = try await worker.bus.request(PlanMethod.route, PlanRoute(event: note), ttlMilliseconds: 10_000)
    // `roostd` has checked these URLs.
    let named = settings.copyRelays.compactMap { try? RelayURL($0).text }
    return CopyRules.targets(route.stops.map(\.relay), named, wanted: settings.copies)
  }

  /// Compares relays with what an account wrote, and sends what they lack.
  ///
  /// - Parameters:
  ///   - isWhole: whether these are all relays that are to have it.
  ///   - onRelay: called when a relay's turn is over.
  /// - Returns: how many copies relays have taken.
  func round(
    _ account: MirrorAccount, at relays: [String], isWhole: Bool,
    onRelay: @escaping @EventLoopActor (CopyStatus.Relay) async throws(Refusal) -> Void
  ) async throws(Refusal) -> Int {
    guard running.insert(account.key).inserted else {
      throw Refusal(.full, "the relays of \(account.name) are being compared already", outcome: .notStarted)
    }
    defer {
      running.remove(account.key)
      // What this round has written down of it meanwhile goes too.
      if isRemoved(account) { forgetOthers() }
    }
    let own = try await ownEvents(account) { () throws(Refusal) in
      try await learnPublications(account)
      return try await learnApart()
    }
    guard !own.isEmpty else { return 0 }
    var (taken, failed) = (0, [String]())
    var waiting = relays[...]
    while !waiting.isEmpty, !isDraining, !isRemoved(account) {
      let tasks = waiting.prefix(Self.relaysAtOnce).map { relay in
        EventLoopActor.task { [self] in (relay, await turn(account, relay, own)) }
      }
      waiting = waiting.dropFirst(Self.relaysAtOnce)
      for task in tasks {
        let (relay, result) = await task.value
        switch result {
        case .success(let count): taken += count
        case .failure(let refusal):
          failed.append(relay)
          try await writing { () throws(StorageFault) in
            try await ledger.note(account.key, relay, refusal.message)
          }
        }
        let place = try await reading { () throws(StorageFault) in try await ledger.places(account.key) }
          .first { $0.relay == relay }
        if let place { try await onRelay(CopyStatus.Relay(place)) }
      }
    }
    let known = try await reading { () throws(StorageFault) in try await ledger.round(account.key) }
    let all = isWhole ? relays : known?.targets ?? []
    let endedAt = isWhole && !isDraining ? WallClock.seconds : known?.endedAt
    if let endedAt {
      try await writing { () throws(StorageFault) in
        try await ledger.ended(
          account.key, CopyLedger.Round(endedAt: endedAt, eventCount: own.count, targets: all))
      }
    }
    if !isDraining { schedules[account.key]?.ended(relays, failed: failed, at: WallClock.seconds) }
    return taken
  }

  /// One relay.
  private func turn(
    _ account: MirrorAccount, _ relay: String, _ own: [EventID: CopiedEvent]
  ) async -> Result<Int, Refusal> {
    do throws(Refusal) {
      let absent = try await absent(account, relay, own)
      let rows = absent.compactMap { id in
        own[id].map { CopyLedger.Absence(event: id, createdAt: $0.createdAt, isDeletion: $0.isDeletion) }
      }
      try await writing { () throws(StorageFault) in
        try await ledger.compared(account.key, relay, absent: rows, at: WallClock.seconds)
      }
      return .success(try await send(account, relay))
    } catch {
      return .failure(error)
    }
  }

  /// Sends what a relay lacks, run by run.
  private func send(_ account: MirrorAccount, _ relay: String) async throws(Refusal) -> Int {
    var taken = 0
    // What was not taken in this turn waits for the next.
    var failed: [EventID: String] = [:]
    while !isDraining, !isRemoved(account) {
      let open = try await reading { [failed] () throws(StorageFault) in
        try await ledger.open(account.key, relay, limit: PlanCopy.idMaximum + failed.count)
      }
      let size = taken == 0 ? Self.firstCount : PlanCopy.idMaximum
      let run = Array(open.filter { failed[$0] == nil }.prefix(size))
      guard !run.isEmpty else { break }
      let answer = try await worker.bus.request(PlanMethod.copy, PlanCopy(relay: relay, ids: run.map { "\($0)" }))
      let outcomes = answer.outcomes.compactMap { outcome in
        EventID(outcome.id).map { (event: $0, state: outcome.state.lack, reason: outcome.message) }
      }
      for outcome in outcomes where outcome.state == .open { failed[outcome.event] = outcome.reason ?? "" }
      try await writing { () throws(StorageFault) in
        try await ledger.settled(account.key, relay, outcomes, at: WallClock.seconds)
      }
      let count = outcomes.count { $0.state == .taken }
      taken += count
      if count > 0 { continue }
      let reason = answer.outcomes.compactMap(\.message).first ?? "no reason was given"
      // A relay that takes nothing of a whole run is not asked for more of this now.
      if run.count >= Self.firstCount, outcomes.allSatisfy({ $0.state == .open }) { break }
      guard run.count >= Self.firstCount, outcomes.allSatisfy({ $0.state == .refused }) else { continue }
      try await writing { () throws(StorageFault) in
        try await ledger.leave(
          account.key, relay, "the relay has refused \(run.count) others: \(reason)", at: WallClock.seconds)
      }
    }
    guard let reason = failed.values.first else { return taken }
    let words = "\(Amount.count(failed.count, "event")) not taken: \(reason)"
    guard taken > 0 else { throw Refusal(.failed, words) }
    // Single events wait for the next round.
    try await writing { () throws(StorageFault) in try await ledger.note(account.key, relay, words) }
    return taken
  }
}

extension CopyOutcomes.Outcome.State {
  /// Nil: it need not be sent.
  fileprivate var lack: CopyLedger.Lack.State? {
    switch self {
    case .held: .taken
    case .refused: .refused
    case .failed: .open
    case .gone: nil
    }
  }
}

extension CopyStatus.Relay {
  init(_ place: CopyLedger.Place) {
    self.init(
      relay: place.relay, comparedAt: place.comparedAt, open: place.counts[.open] ?? 0,
      taken: place.counts[.taken] ?? 0, refused: place.counts[.refused] ?? 0, left: place.counts[.left] ?? 0,
      reason: place.reason ?? place.leftReason)
  }
}
