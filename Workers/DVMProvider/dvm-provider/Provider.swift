import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import JobProviding
import WorkerLedger
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import ProvidingLedger
import Storage
import UserPrograms
import WorkerKit

// The provider's shell: it connects the machine (`ProviderMachine`) with the ledger, the store's stream, the signer,
// and the work.
//
//    store.observe ─▶ RequestStream ─▶ ProviderMachine ─▶ ServingWriter ─▶ ledger
//                                          │  ▲             │ written
//                                          ▼  │             ▼
//                              work: built in, or ProgramRun      CustomerReplies ─▶ signer, then store or planner
//
// The machine decides which step follows which. Nothing is awaited between asking it and carrying out its actions.
//
// The provider looks at no event until the signer has said which key answers: without its key it knows neither which
// requests are for it nor which answers are its own.

/// Serves `dvm.*`, and jobs.
@EventLoopActor
final class Provider: RequestStream.Taker {
  let worker: Worker
  let bus: BusConnection
  let log = Logger(label: "serving")
  let configuration: ProviderConfiguration
  let directory: String
  let ledger: ProvidingLedger
  let writer: ServingWriter
  let identity: ProviderIdentity
  private(set) var desk: ProviderMachine?
  private(set) var answers: CustomerReplies?
  /// Running programs, by request.
  var runs: [EventID: ProgramRun] = [:]
  /// What they report while they work.
  var feedback: [EventID: FeedbackReader] = [:]
  var runNumber = 0
  /// Shared by the checks of all runs.
  let lookGate = LookGate()
  /// Folders of ended programs that could not be removed yet.
  var leftFolders: Set<String> = []
  private(set) var counts: [UInt16: (taken: UInt64, answered: UInt64, failed: UInt64)] = [:]
  /// Events that are not valid requests of their kind.
  private var unreadableCount: UInt64 = 0
  /// When this process began to count, seconds since 1970.
  let startedAt = WallClock.seconds
  private let contents: ServingContents
  /// What this start has removed of an account.
  let forgotten: ForgottenAtStart
  private var stream: RequestStream?
  private let sweepTimer = LoopTimer()
  private(set) var isDraining = false

  /// The ledger's file in the worker's directory.
  nonisolated static let fileName = "served-jobs.db"
  /// How far back to look for answers that no ledger knows, if no age of requests is set: further than any.
  private static let oldestMilliseconds: Int64 = 24 * 3_600_000
  /// How often old requests are removed.
  private static let sweepMilliseconds: UInt64 = 60_000
  /// Least seconds for which ended requests are kept: as long as any setting lets one be taken up.
  private static let keepSeconds: Int64 = 30 * 24 * 3_600 + ServingRules.aheadMaximum

  /// Opens the ledger in `directory`.
  ///
  /// - Throws: `unavailable` if waiting may help, else `failed`.
  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    self.directory = directory
    bus = worker.bus
    configuration = try ProviderConfiguration(worker)
    _ = try configuration.rules()
    let rescue: LedgerRescue?
    do throws(StorageFault) {
      let opened = try ProvidingLedger.openOrRescue(path: directory + "/" + Self.fileName, now: WallClock.seconds)
      (ledger, rescue) = (opened.0, opened.2)
      var known = opened.1
      forgotten = try ForgettingNote(in: directory).settle { account throws(StorageFault) in
        let count = try opened.0.forgetNow(account)
        known = try opened.0.contentsNow()
        return [AccountForgotten.Part("requests for jobs", count)]
      }
      contents = known
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    writer = ServingWriter(ledger, log)
    identity = ProviderIdentity(worker.bus, log, account: configuration.settings.account)
    rescue?.tell("the ledger of served jobs", log, effect: "earlier requests are no longer taken up")
  }

  /// Begins to serve.
  func start() {
    serve()
    writer.current = { [unowned self] id in
      guard let desk, let request = desk[id], let version = desk.version(of: id) else { return nil }
      return (request, version)
    }
    writer.onWritten = { [unowned self] in written($0) }
    worker.onDrain = { [unowned self] in drain() }
    worker.onEnd = { [unowned self] in end() }
    bus.onEvent = { [unowned self] event in identity.received(event) }
    identity.onAccounts = { [unowned self] accounts in desk?.accounts = accounts }
    // Left by a killed worker.
    leftFolders = [jobFolder]
    removeLeftFolders()
    removeLeftGroups()
    EventLoopActor.task { [self] in
      guard let key = await identity.find() else { return }
      let since = WallClock.seconds - configuration.settings.requestAgeMilliseconds / 1_000
      let answered = contents.seq == nil ? await answeredBefore(by: key, since: since) : []
      guard !isDraining else { return }
      begin(as: key, answered: answered)
    }
  }

  /// Where programs have their folders.
  var jobFolder: String { directory + "/jobs" }

  private func begin(as key: PublicKey, answered: Set<EventID>) {
    let rules: ServingRules
    // They were valid at the start.
    do throws(Refusal) { rules = try configuration.rules() } catch { return log.error("\(error.message)") }
    desk = ProviderMachine(
      rules, provider: key, accounts: identity.accounts, known: contents.known.union(answered),
      lastNumber: contents.lastNumber, notBefore: contents.notBefore, at: WallClock.seconds)
    answers = CustomerReplies(self, key)
    for request in contents.open {
      let expiration = (try? Event(json: request.request))?.expiration
      perform { $0.restored(request, expiration: expiration, at: $1) }
    }
    let stream = RequestStream(
      worker, log, filters: { Self.storeFilters(rules) }, after: place(for: rules, as: key), taker: self)
    self.stream = stream
    if configuration.settings.network { stream.askRelays { Self.networkFilters(rules, key) } }
    worker.onClockSet = { [unowned self] in clockSet() }
    Announcer(self, key).begin()
    sweep()
    bus.sendStatus(StatusReport(text: "answers as \(key.npub)"))
    tellOfLandlock()
  }

  /// Logs what the kernel's sandbox lacks, before the first stranger's request.
  private func tellOfLandlock() {
    let support = LandlockSupport.current
    guard configuration.servesStrangers, let complaint = support.complaint else { return }
    log.log(level: support.holdsStrangers ? .warning : .error, "\(complaint)")
  }

  /// As far back as requests are taken up, by the clock as it is now.
  private static func storeFilters(_ rules: ServingRules) -> [Filter] {
    let since = WallClock.seconds - rules.ageMaximum
    return [
      Filter(kinds: rules.services.keys.sorted(), since: since), Filter(kinds: [EventKind.deletion], since: since),
    ]
  }

  private static func networkFilters(_ rules: ServingRules, _ key: PublicKey) -> [Filter] {
    var filter = Filter(kinds: rules.services.keys.sorted(), since: WallClock.seconds - rules.ageMaximum)
    // In an open market a request need not name a provider.
    if !rules.takesOpenRequests, let letter = TagLetter("p") { filter.tags = [letter: [TagValue(key.description)]] }
    return [filter]
  }

  /// Requests that came under the wrong clock were misjudged or not seen, so the provider reads the stream again.
  /// Requests that it took up are known by their ids.
  private func clockSet() {
    desk?.clockSet(at: WallClock.seconds)
    stream?.lookAgain()
  }

  /// The seq after which to read the store's stream. If the rules have changed, the provider reads it again, as far
  /// back as requests are taken up: a request that was passed over because its kind or its customer was not served may
  /// still be wanted. The ids of requests that were taken up are kept for longer than that, so none is taken up twice.
  private func place(for rules: ServingRules, as key: PublicKey) -> Int64 {
    let mark = rules.mark(for: key)
    guard mark != contents.rulesMark else { return contents.seq ?? 0 }
    if contents.seq != nil { log.info("what is taken up has changed: requests are looked at once more") }
    writer.note(rules: mark, from: 0)
    return 0
  }

  private func drain() {
    isDraining = true
    stream?.end()
    sweepTimer.cancel()
  }

  /// The last step of the process. Running programs are ended; the next process finds their work begun.
  private func end() {
    for run in runs.values { run.stop("the provider is stopping") }
    writer.finish()
    do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
  }

  // MARK: The machine

  /// Reports something to the machine, and carries out its actions.
  func perform(_ step: (inout ProviderMachine, Int64) -> [ServingAction]) {
    guard var desk, !isDraining else { return }
    let actions = step(&desk, WallClock.seconds)
    self.desk = desk
    for action in actions {
      switch action {
      case .record(let id): writer.note(changed: id)
      case .run(let id): work(on: id)
      case .stop(let id): runs[id]?.stop("it was called off")
      case .compose(let id, let word): answers?.compose(id, word)
      case .publish(let id, let event): answers?.publish(id, event)
      case .lookUp(let ids): lookUp(ids)
      }
    }
    if let desk = self.desk, desk.isHolding, !desk.isAtWork { beginAnew() }
  }

  /// Ends the process, so that the next one has a sandbox around the files as they are now. Everything it knows is in
  /// the ledger.
  private func beginAnew() -> Never {
    log.notice("restarting, because files were replaced")
    end()
    bus.leave()
    // This code does not count as a crash, however often a person saves a program.
    exit(Worker.ExitCode.unavailable)
  }

  private func written(_ rows: [(request: ServedRequest, version: UInt64)]) {
    for (request, version) in rows {
      if request.state == .answered { counts[request.kind, default: (0, 0, 0)].answered += 1 }
      if request.state == .failed, request.isTold { counts[request.kind, default: (0, 0, 0)].failed += 1 }
      perform { $0.recorded(request.id, version: version, at: $1) }
    }
  }

  // MARK: What comes

  func take(_ event: Event) async {
    if event.kind == EventKind.deletion {
      // A deletion that names nothing cancels nothing.
      guard let deletion = try? DeletionRequest(event) else { return }
      return perform { $0.cancelled(deletion.ids, by: event.pubkey, at: $1) }
    }
    let request: JobRequest
    do throws(JobFault) { request = try JobRequest(event) } catch {
      unreadableCount += 1
      return
    }
    if desk?.rules.customers == .accounts { await identity.recognise(event.pubkey) }
    perform { desk, now in
      let actions = desk.received(event, recipients: request.terms.providers, at: now)
      if !actions.isEmpty { counts[event.kind, default: (0, 0, 0)].taken += 1 }
      return actions
    }
  }

  func taken(upTo seq: Int64) {
    // Requests that found no room are in memory only: while there are any, a start has to read the whole stream again.
    writer.note(seq: desk?.hasTurnedAway == true ? 0 : seq)
  }

  /// Fetches requests that found no room, and takes them once more.
  private func lookUp(_ ids: [EventID]) {
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let wanted = StoreQuery(filters: [JSONValue(of: Filter(ids: ids))], limit: ids.count, recipients: [])
        for event in try await query(wanted) { await take(event) }
        perform { $0.lookedUp(isWhole: true, at: $1) }
      } catch {
        log.debug("requests cannot be looked up again yet", metadata: ["why": "\(error.message)"])
        perform { $0.lookedUp(isWhole: false, at: $1) }
      }
    }
  }

  // MARK: Forgetting

  private func sweep() {
    perform { $0.timePassed(at: $1) }
    removeLeftFolders()
    removeLeftGroups()
    let age = desk?.rules.ageMaximum ?? 0
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        while !isDraining {
          // Only what is too old to be taken up again may be forgotten.
          let gone = try await ledger.sweep(
            before: WallClock.seconds - max(Self.keepSeconds, 2 * age + ServingRules.aheadMaximum))
          desk?.forgotten(gone)
          guard gone.count == ProvidingLedger.sweepCount else { break }
        }
      } catch {
        writer.health.leaveIfDamaged(error)
        log.warning("old requests are not removed", metadata: ["why": "\(error)"])
      }
      if !isDraining { sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() } }
    }
  }

  /// Requests that were not taken up, without those that had been taken up before.
  var passedOverCount: UInt64 {
    unreadableCount + (desk?.passedOver.filter { $0.key != .known }.values.reduce(0, +) ?? 0)
  }
}
