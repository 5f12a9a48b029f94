import Bus
import Clocks
import Contracts
import EventArchive
import EventGate
import EventIndex
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import Observations
import Storage
import WorkerKit

// The event-store: the gate's machine with its threads, its database and its callers.
//
// Everything turns in `pump`: jobs go to the thread pool, batches to the database's writer, and each end of one calls
// it again. Between two batches the writer does one slice of what must be done at some time (`Store+Chores`).
//
// When the database cannot be written, those who wait are refused, and the next to come is the next attempt. When it is
// found to be damaged, this process ends, and the next one puts the file aside and saves what it can (`ArchiveRescue`).

/// Serves `store.*`.
@EventLoopActor
final class Store {
  let worker: Worker
  let archive: EventArchive
  let log = Logger(label: "store")
  let reads = ReadSlots()
  /// Of these, those for counts, each of which reads all it counts in one go.
  let counts = ReadSlots(count: 2)
  var live = LiveFilters<UInt64>()
  var observations: [UInt64: ObservationSender] = [:]
  var nextObservation: UInt64 = 1
  /// Observations that have events to send when all is announced that is to be announced now.
  var dueObservations: [ObservationSender] = []
  /// Bytes of events that wait for all observers.
  var waitingByteCount = 0
  /// What is observed, for the planner.
  var observes = ObserveTable(generation: Int64(UInt64.random(in: 1..<1 << 53)))
  var isTellingObserves = false
  var endsToTell = EndsToTell()
  var marks: ObserveMarks
  var reconciliations = Reconciliations()
  var observedNames = ObservedNames()
  private(set) var sightings = SightingLog()
  /// Observations that read them; while there are none, none are written down.
  var sightingWatcherCount = 0
  /// All up to this seq has been announced.
  private(set) var announcedSeq: Int64
  var gate: EventGate
  private(set) var fault: StorageFault?
  private(set) var transactionCount: UInt64 = 0

  var relays: RelayNumbers
  /// Relays found out whose distrust is not yet written down.
  var unwrittenDistrust: Set<Int64> = []
  /// Whether something of theirs may wait to be checked.
  var isRecheckDue = true
  private var requests: [UInt64: Waiting] = [:]
  private let keys = ParsedKeyCache()
  private var faultedAt = EventLoop.process.now
  // Of `Store+Chores`.
  var isWriting = false
  var isSweepDue = true
  var isChoreNext = false
  var choresInRow = 0
  var retention = ArchiveRetention()
  var gauge = RetentionGauge()
  var evictedCount: UInt64 = 0
  /// What was told last of the room.
  var room = RetentionGauge.Room.below
  /// The status line that was sent last.
  var lastStatus = ""
  /// When the last events came.
  var arrivedAt = EventLoop.process.now
  let quietTimer = LoopTimer()
  let sweepTimer = LoopTimer()
  let retryTimer = LoopTimer()
  let scrubTimer = LoopTimer()
  var isScrubDue = false

  /// The file was found damaged in use: the next start, which is at once, saves what it can (EX_IOERR).
  static let damagedExitCode: Int32 = 74

  /// What an answer is owed for.
  private enum Waiting {
    case run(BusRequest, Run)
    case event(BusRequest)
    case offer(BusRequest)
    case notes(BusRequest)
    /// That a relay is distrusted is written down.
    case distrust(Int64)

    var request: BusRequest? {
      switch self {
      case .run(let request, _), .event(let request), .offer(let request), .notes(let request): request
      case .distrust: nil
      }
    }
  }

  init(_ worker: Worker, _ archive: EventArchive, _ rescue: ArchiveRescue?) throws(Refusal) {
    self.worker = worker
    self.archive = archive
    do throws(StorageFault) {
      relays = RelayNumbers(try archive.relaysNow())
      marks = ObserveMarks(try archive.marksNow())
      gate = EventGate(
        trust: RelayTrust(seed: UInt64.random(in: .min ... .max), distrusted: try archive.distrustedNow()),
        eventByteCountMaximum: EventLimit.byteCountMaximum(frameLimit: worker.bus.welcome.frameLimit))
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    announcedSeq = archive.lastSeq
    reportLosses(rescue)
    try adoptSettings()
    tellStatus()
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    serve()
    worker.onDrain = { [unowned self] in
      for observation in observations.values { observation.drain() }
      drainReconciliations()
    }
    // So that all of it is in the one file, as whoever copies the file expects.
    worker.onEnd = { [archive, log] in
      do throws(StorageFault) { try archive.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    scheduleSweep()
    scheduleScrub()
    pump()
  }

  private func serve() {
    worker.serve(StoreMethod.ingest) { [unowned self] (request, _) throws(Refusal) in try ingest(request, .live) }
    worker.serve(StoreMethod.import) { [unowned self] (request, _) throws(Refusal) in try ingest(request, .bulk) }
    worker.serve(StoreMethod.publish) { [unowned self] (request, _) throws(Refusal) in try publish(request) }
    worker.serve(StoreMethod.offer) { [unowned self] (request, _) throws(Refusal) in try offer(request, .kept) }
    worker.serve(StoreMethod.offerForeign) { [unowned self] (request, _) throws(Refusal) in try offer(request, .foreign)
    }
    worker.serve(StoreMethod.query, query)
    worker.serve(StoreMethod.count, count)
    worker.serve(StoreMethod.observe, observe)
    worker.serve(StoreMethod.acknowledge, acknowledge)
    worker.serve(StoreMethod.fetched, fetched)
    worker.serve(StoreMethod.listObserves) { [unowned self] (request, _) throws(Refusal) in
      try await listObserves(request)
    }
    worker.serve(StoreMethod.coverage, coverage)
    worker.serve(StoreMethod.seen) { [unowned self] (_, wanted) throws(Refusal) in try await seen(wanted) }
    worker.serve(StoreMethod.status) { [unowned self] (_, _) in status }
    serveReconciliations()
  }

  /// Seconds since 1970.
  nonisolated static var now: Int64 { WallClock.seconds }

  // MARK: Coming in

  private func ingest(_ request: BusRequest, _ lane: Lane) throws(Refusal) -> IngestResult? {
    let run = try Run(request.payload, &relays, now: Self.now)
    let number = gate.submit(request.payload.bytes, run.events, lane)
    arrivedAt = EventLoop.process.now
    requests[number] = .run(request, run)
    pump()
    return nil
  }

  private func publish(_ request: BusRequest) throws(Refusal) -> PublishResult? {
    let bytes = request.payload.bytes
    try checkSize(bytes.count)
    let event = IncomingEvent(record: 0, bytes: bytes.indices, relay: nil, receivedAt: Self.now)
    arrivedAt = EventLoop.process.now
    requests[gate.submit(bytes, [event], .local, rank: .kept)] = .event(request)
    pump()
    return nil
  }

  private func offer(_ request: BusRequest, _ rank: RetentionRank) throws(Refusal) -> OfferOutcomes? {
    let events = try Self.offered(request.payload)
    arrivedAt = EventLoop.process.now
    let number = gate.submit(request.payload.bytes, events, .local, rank: rank, tellsEach: true)
    requests[number] = .offer(request)
    pump()
    return nil
  }

  /// Writes notes down; whoever asked for it is answered when they are committed.
  func write(_ notes: [ArchiveNote], answering request: BusRequest?) {
    let number = gate.submit([], notes.map { IncomingEvent(record: 0, $0) }, .local)
    requests[number] = request.map { .notes($0) }
    pump()
  }

  /// Writes down that a relay is distrusted; what it brought is checked from then on.
  func writeDistrust(of relay: Int64) {
    let note = IncomingEvent(record: 0, .distrusted(relay: relay, at: Self.now))
    requests[gate.submit([], [note], .local)] = .distrust(relay)
    pump()
  }

  /// Starts what can be started, and answers what can be answered.
  func pump() {
    while let job = gate.nextJob() { check(job) }
    if !isWriting { write() }
    for action in gate.takeActions() { perform(action) }
    for observation in dueObservations { observation.flush() }
    dueObservations.removeAll(keepingCapacity: true)
    awaitQuiet()
  }

  private func check(_ job: GateJob) {
    if job.isBrief { return gate.finished(job, Self.findings(of: job, archive, keys)) }
    EventLoopActor.task { [self] in
      let (archive, keys) = (archive, keys)
      let findings = await EventLoopActor.onThreadPool { Self.findings(of: job, archive, keys) }
      gate.finished(job, findings)
      pump()
    }
  }

  private nonisolated static func findings(
    of job: GateJob, _ archive: EventArchive, _ keys: ParsedKeyCache
  ) -> [GateJob.Finding] {
    job.run(
      lookUp: { ids in
        // If it cannot be read they are verified, and the writer says what is wrong.
        do throws(StorageFault) { return try archive.seqsNow(of: ids) } catch { return [] }
      },
      stored: { seqs in
        do throws(StorageFault) { return try archive.storedNow(seqs) } catch { return [:] }
      }, now: Self.now, keys: keys)
  }

  // MARK: Writing

  private func write() {
    let chore = retryTimer.isSet ? nil : nextChore
    if isChoreNext, let chore { return perform(chore) }
    guard let batch = gate.nextBatch(now: Self.now) else {
      if let chore { perform(chore) }
      return
    }
    isWriting = true
    isChoreNext = true
    choresInRow = 0
    EventLoopActor.task { [self] in
      let new = relays.unwritten
      do throws(StorageFault) {
        if batch.entries.isEmpty, !batch.isSynced {
          gate.committed(ArchiveCommit(outcomes: [], lastSeq: archive.lastSeq))
        } else {
          let commit = try await archive.write(
            batch.entries, relays: new, now: Self.now, isSynced: batch.isSynced)
          relays.wrote(new)
          gate.committed(commit)
          if sightingWatcherCount > 0 { note(batch.entries, commit) }
          transactionCount += 1
          recovered()
        }
      } catch {
        failed(error)
        gate.failed()
      }
      isWriting = false
      pump()
    }
  }

  /// A transaction was committed. Near the edge of a full disk some are and some are not: that is no recovery yet.
  func recovered() {
    guard fault != nil, EventLoop.process.now.milliseconds(since: faultedAt) >= Self.retryMilliseconds else { return }
    fault = nil
    log.notice("the event database can be written again")
    tellStatus()
  }

  /// The database could not be read or written.
  func failed(_ fault: StorageFault) {
    if fault.kind == .corrupt {
      archive.markDamaged()
      log.critical("\(fault.description): starting again to save what can be read")
      exit(Self.damagedExitCode)
    }
    if self.fault?.kind != fault.kind { log.error("\(fault.description)") }
    self.fault = fault
    faultedAt = EventLoop.process.now
    tellStatus()
  }

  /// A fault in a caller's words.
  func refusal(_ fault: StorageFault) -> Refusal {
    Refusal(
      fault.kind == .full ? .diskFull : .failed, fault.description, outcome: .notStarted,
      retryAfterMilliseconds: fault.kind == .full ? 5_000 : nil)
  }

  // MARK: Going out

  private func perform(_ action: GateAction) {
    switch action {
    case .announce(let event, let seq): announce(event, seq)
    case .answer(let number, let result):
      guard let waiting = requests.removeValue(forKey: number) else { return }
      switch waiting {
      case .run(let request, let run):
        request.respond(to: StoreMethod.ingest, run.report(result, seq: archive.lastSeq))
        tellEnds(of: run)
      case .event(let request): answer(request, result)
      case .offer(let request): request.respond(to: StoreMethod.offer, Self.told(result))
      case .notes(let request): request.respond()
      case .distrust:
        isRecheckDue = true
        if !isWriting { write() }
      }
    case .refuse(let number):
      guard let waiting = requests.removeValue(forKey: number), let fault else { return }
      if case .distrust(let relay) = waiting { unwrittenDistrust.insert(relay) }
      waiting.request?.refuse(refusal(fault))
    case .mended(let id, let seq):
      log.error(
        "a stored event was damaged, and is mended by a copy that came", metadata: ["id": "\(id)", "seq": "\(seq)"])
    case .report(let report): tell(report)
    }
  }

  private func announce(_ event: VerifiedEvent, _ seq: Int64?) {
    if let seq { announcedSeq = max(announcedSeq, seq) }
    let listeners = live.listeners(for: event.indexed) { SearchedText(json: event.json) }
    guard !listeners.isEmpty else { return }
    let announced = AnnouncedEvent(event, seq)
    for listener in listeners { observations[listener]?.arrived(announced) }
  }

  /// Tells those to whom it counts what relays have sent that was stored before.
  private func note(_ entries: [ArchiveEntry], _ commit: ArchiveCommit) {
    let end = sightings.end
    for (entry, outcome) in zip(entries, commit.outcomes) {
      guard case .duplicate(let seq) = outcome, let relay = entry.relay else { continue }
      let isNew = commit.newSightings.contains(SeenPlace(seq: seq, relay: relay))
      sightings.append(Sighting(seq: seq, relay: relay, isNew: isNew))
    }
    guard sightings.end > end else { return }
    for observation in observations.values where observation.plan.watchesSightings { observation.sighted() }
  }

  private func answer(_ request: BusRequest, _ result: GateResult) {
    let id = result.lastID.map { "\($0)" } ?? ""
    switch result.last {
    case .archived(.stored(let seq)):
      request.respond(to: StoreMethod.publish, PublishResult(id: id, seq: seq, isNew: true))
    case .archived(.duplicate(let seq)):
      request.respond(to: StoreMethod.publish, PublishResult(id: id, seq: seq, isNew: false))
    case .archived(.mended(let seq)):
      request.respond(to: StoreMethod.publish, PublishResult(id: id, seq: seq, isNew: false, isMended: true))
    case .ephemeral(let isNew): request.respond(to: StoreMethod.publish, PublishResult(id: id, seq: nil, isNew: isNew))
    case .archived(.superseded):
      request.refuse(
        Refusal(
          .superseded, "a newer event is in the place of \(id), or one of the same second with a lower id (NIP-01)",
          outcome: .notStarted))
    case .archived(.deleted):
      request.refuse(Refusal(.deletedEvent, "its author has deleted \(id)", outcome: .notStarted))
    case .archived(.vanished):
      request.refuse(
        Refusal(
          .deletedEvent, "its author has vanished: all before was to be forgotten (NIP-62), and \(id) with it",
          outcome: .notStarted))
    case .archived(.expired):
      request.refuse(Refusal(.expiredEvent, "the time of \(id) is over (NIP-40)", outcome: .notStarted))
    case .invalid(let reason): request.refuse(Refusal(.invalidEvent, reason, outcome: .notStarted))
    case .archived(.noted), nil: preconditionFailure("a submission of one event has an outcome")
    }
  }
}
