import Addresses
import Bus
import Contracts
import EventArchive
import EventGate
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import Observations
import Storage
import WorkerKit

// The event-store: the gate's machine with its threads, its database and its callers.
//
// `pump` starts everything that can start: jobs go to the thread pool, batches to the database's writer, and the end of
// each calls it again. Between two batches the writer does one chore (`ChoreRunner`).

/// Serves `store.*`: takes events in through the gate. What it does besides is in the types of its members.
@EventLoopActor
final class Store {
  let worker: Worker
  let archive: EventArchive
  let log = Logger(label: "store")
  let health: StoreHealth
  let relays: RelayNumbers
  let observers: Observers
  let chores: ChoreRunner
  private(set) var gate: EventGate
  var statusLine = StatusLine()

  private let reads: ArchiveReads
  private let bounds: BoundService
  private let forgetting: ForgetService
  private let reconciliations: ReconcileService
  private let askedReconciliations: ReconcileAskingService
  private let covered: CoveredTopic
  private let keys = ParsedKeyCache()
  /// What waits for answers of the gate, by submission.
  private var requests: [UInt64: GateRequest] = [:]
  /// Actions of the gate that are not performed yet.
  private var actions: [GateAction] = []
  /// Relays whose distrust could not be written.
  private var unwrittenDistrust: Set<Int64> = []

  init(_ worker: Worker, _ archive: EventArchive, _ rescue: ArchiveRescue?) throws(Refusal) {
    self.worker = worker
    self.archive = archive
    health = StoreHealth(archive, log)
    reads = ArchiveReads(archive, health, worker.bus, log)
    do throws(StorageFault) {
      relays = RelayNumbers(try archive.relaysNow())
      observers = Observers(worker, reads, relays, ObserveMarks(try archive.marksNow()))
      gate = EventGate(
        trust: RelayTrust(seed: UInt64.random(in: .min ... .max), distrusted: try archive.distrustedNow()),
        eventByteCountMaximum: EventLimit.byteCountMaximum(frameLimit: worker.bus.welcome.frameLimit))
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    reconciliations = ReconcileService(worker, reads)
    askedReconciliations = ReconcileAskingService(worker, reads, relays)
    covered = CoveredTopic(worker.bus)
    chores = ChoreRunner(archive, health, log)
    bounds = BoundService(worker, reads, chores)
    forgetting = ForgetService(worker, reads, chores)
    reportLosses(rescue)
    try adoptSettings()
    tellStatus()
    health.onChange = { [unowned self] in tellStatus() }
    askedReconciliations.onSightings = { [unowned self] in submit([], $0, .bulk, for: .sightings($1)) }
    observers.onNotes = { [unowned self] in write($0, for: .notes($1)) }
    chores.onDue = { [unowned self] in pump() }
    chores.onSweep = { [unowned self] in retry() }
    chores.onStatus = { [unowned self] in tellStatus() }
    chores.onRemoval = { [unowned self] ids in if let ids { gate.removed(ids) } else { gate.removedUnknown() } }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    serve()
    worker.onDrain = { [unowned self] in
      observers.drain()
      reconciliations.drain()
      askedReconciliations.drain()
    }
    // So that all of it is in the one file, as a program that copies the file expects.
    worker.onEnd = { [archive, log] in
      do throws(StorageFault) { try archive.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    pump()
  }

  private func serve() {
    worker.serve(StoreMethod.ingest) { [unowned self] (request, _) throws(Refusal) in try ingest(request, .live) }
    worker.serve(StoreMethod.import) { [unowned self] (request, _) throws(Refusal) in try ingest(request, .bulk) }
    worker.serve(StoreMethod.publish) { [unowned self] (request, _) throws(Refusal) in try publish(request) }
    worker.serve(StoreMethod.offer) { [unowned self] (request, _) throws(Refusal) in try offer(request, .kept) }
    worker.serve(StoreMethod.offerForeign) { [unowned self] (request, _) throws(Refusal) in try offer(request, .foreign)
    }
    worker.serve(StoreMethod.offerPeer) { [unowned self] (request, _) throws(Refusal) in try offer(request, .ordinary) }
    worker.serve(StoreMethod.status) { [unowned self] (_, _) in status }
    reads.serve(worker)
  }

  /// Seconds since 1970.
  nonisolated static var now: Int64 { WallClock.seconds }

  // MARK: Settings

  private func settingsChanged() {
    do throws(Refusal) {
      try adoptSettings()
      pump()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func adoptSettings() throws(Refusal) {
    let settings = try worker.settings(of: StoreSettings.self)
    var sampled: Set<Int64> = []
    for text in settings.verification == .sample ? settings.sampleRelays : [] {
      do throws(RelayURLFault) {
        if let number = relays.number(of: try RelayURL(text).text) { sampled.insert(number) }
      } catch { throw Refusal(.failed, "sample-relays: \(error)") }
    }
    let rate = Double(settings.sampleRate) / 100
    gate.trust.sample(sampled, SamplingSettings(rate: rate, floor: min(rate, Double(settings.sampleFloor) / 100)))
    try chores.adopt(settings)
    let byteCount = settings.recentEventsBytes
    if archive.recentByteCount != byteCount { archive.recentByteCount = byteCount }
  }

  // MARK: Coming in

  private func ingest(_ request: BusRequest, _ lane: Lane) throws(Refusal) -> IngestResult? {
    let run = try Run(request.payload, relays, now: Self.now)
    submit(request.payload.bytes, run.events, lane, for: .run(request, run))
    return nil
  }

  private func publish(_ request: BusRequest) throws(Refusal) -> PublishResult? {
    let bytes = request.payload.bytes
    // A larger event could be stored, and then not be sent everywhere.
    let maximum = EventLimit.byteCountMaximum(frameLimit: worker.bus.welcome.frameLimit)
    guard bytes.count <= maximum else {
      throw Refusal(
        .badRequest, "\(EventFault.tooLarge(byteCount: bytes.count, maximum: maximum))", outcome: .notStarted)
    }
    let event = IncomingEvent(record: 0, bytes: bytes.indices, relay: nil, receivedAt: Self.now)
    submit(bytes, [event], .local, rank: .kept, for: .event(request))
    return nil
  }

  private func offer(_ request: BusRequest, _ rank: RetentionRank) throws(Refusal) -> OfferOutcomes? {
    guard request.payload.isRaw else {
      throw Refusal(.badPayload, "a run of events is RAW, not JSON", outcome: .notStarted)
    }
    let places: [Range<Int>]
    do throws(OfferRun.Problem) { places = try OfferRun.read(request.payload.bytes) } catch {
      throw Refusal(.badPayload, error.description, outcome: .notStarted)
    }
    let now = Self.now
    let events = places.enumerated().map { IncomingEvent(record: $0, bytes: $1, relay: nil, receivedAt: now) }
    submit(request.payload.bytes, events, .local, rank: rank, tellsEach: true, for: .offer(request))
    return nil
  }

  private func submit(
    _ run: [UInt8], _ events: [IncomingEvent], _ lane: Lane, rank: RetentionRank = .ordinary, tellsEach: Bool = false,
    for request: GateRequest
  ) {
    chores.schedule.eventsArrived(at: EventLoop.process.now)
    requests[gate.received(run, events, lane, rank: rank, tellsEach: tellsEach, &actions)] = request
    pump()
  }

  /// Writes notes; the request is answered when they are committed.
  private func write(_ notes: [ArchiveNote], for request: GateRequest) {
    requests[gate.received([], notes.map { IncomingEvent(record: 0, $0) }, .local, &actions)] = request
    pump()
  }

  /// Writes that a relay is distrusted; from then on its unchecked events are checked.
  private func writeDistrust(of relay: Int64) {
    write([.distrusted(relay: relay, at: Self.now)], for: .distrust(relay: relay))
  }

  /// What has failed before may succeed now.
  private func retry() {
    for relay in unwrittenDistrust { writeDistrust(of: relay) }
    unwrittenDistrust = []
    // A damaged file that was put aside may have been removed.
    tellStatus()
  }

  // MARK: Checking

  /// Starts what can be started, and answers what can be answered.
  private func pump() {
    while let job = gate.nextJob() { check(job) }
    if !chores.schedule.isBusy { write() }
    let performed = actions
    actions = []
    for action in performed { perform(action) }
    observers.flush()
    chores.awaitQuiet(isGateIdle: gate.isIdle)
  }

  private func check(_ job: GateJob) {
    if job.isBrief { return gate.finished(job, Self.findings(of: job, archive, keys), &actions) }
    EventLoopActor.task { [self] in
      let (archive, keys) = (archive, keys)
      let findings = await EventLoopActor.onThreadPool { Self.findings(of: job, archive, keys) }
      gate.finished(job, findings, &actions)
      pump()
    }
  }

  private nonisolated static func findings(
    of job: GateJob, _ archive: EventArchive, _ keys: ParsedKeyCache
  ) -> [GateJob.Finding] {
    job.run(
      lookUp: { ids in
        // When they cannot be read, the events are verified, and the writer meets the fault.
        do throws(StorageFault) { return try archive.seqsNow(of: ids) } catch { return [] }
      },
      stored: { seqs in
        do throws(StorageFault) { return try archive.storedNow(seqs) } catch { return [:] }
      }, now: Self.now, keys: keys)
  }

  // MARK: Writing

  private func write() {
    let chore = chores.next(isGateIdle: gate.isIdle)
    if let chore, chores.schedule.isChoreNext { return chores.run(chore) }
    guard let batch = gate.nextBatch(now: Self.now, &actions) else {
      if let chore { chores.run(chore) }
      return
    }
    chores.schedule.batchBegan()
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        let commit = try await commit(batch)
        gate.committed(commit, &actions)
      } catch {
        health.failed(error)
        gate.failed(&actions)
      }
      chores.schedule.ended()
      pump()
    }
  }

  private func commit(_ batch: GateBatch) async throws(StorageFault) -> ArchiveCommit {
    guard !batch.entries.isEmpty || batch.isSynced else {
      return ArchiveCommit(outcomes: [], lastSeq: archive.lastSeq)
    }
    let new = relays.unwritten
    let commit = try await archive.write(batch.entries, relays: new, now: Self.now, isSynced: batch.isSynced)
    relays.wrote(new)
    observers.committed(batch.entries, commit)
    chores.schedule.transactionCommitted()
    health.recovered()
    return commit
  }

  // MARK: Going out

  private func perform(_ action: GateAction) {
    switch action {
    case .announce(let event, let seq): observers.announce(event, seq)
    case .announceSuperseded(let event): observers.announceSuperseded(event)
    case .answer(let number, let result):
      guard let request = requests.removeValue(forKey: number) else { return }
      request.answer(result, lastSeq: archive.lastSeq)
      switch request {
      case .run(_, let run): covered.publish(run.ends)
      case .distrust:
        chores.schedule.relayDistrusted()
        if !chores.schedule.isBusy { write() }
      case .event, .offer, .notes, .sightings: break
      }
    case .refuse(let number):
      guard let request = requests.removeValue(forKey: number), let fault = health.fault else { return }
      if case .distrust(let relay) = request { unwrittenDistrust.insert(relay) }
      request.refuse(health.refusal(fault))
    case .mended(let id, let seq):
      log.error(
        "a stored event was damaged, and is mended by a copy that came", metadata: ["id": "\(id)", "seq": "\(seq)"])
    case .report(let report): tell(report)
    }
  }

  /// Logs what a relay has sent, once for each step.
  private func tell(_ report: TrustReport) {
    switch report {
    case .distrusted(let relay):
      log.error(
        "a relay sent what no author signed: from now on all it sends is checked, and so is what was taken unchecked",
        metadata: ["relay": "\(relays.url(of: relay) ?? "\(relay)")"])
      tellStatus()
      writeDistrust(of: relay)
    case .forgeries(let relay, let count):
      log.warning(
        "a relay sends what no author signed",
        metadata: ["relay": "\(relays.url(of: relay) ?? "\(relay)")", "events": "\(count)"])
    }
  }
}
