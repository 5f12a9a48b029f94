import Bus
import Contracts
import DequeModule
import EventArchive
import EventIndex
import EventLoop
import Frames
import Nostr
import NostrContracts
import Observations
import Storage
import WorkerKit

/// An event for observers. Many are sent the same part, which is made once.
@EventLoopActor
final class AnnouncedEvent {
  let event: VerifiedEvent
  let seq: Int64?
  /// The member of the part that names the relay; empty if it names none.
  private let relay: [UInt8]
  private(set) lazy var part = event.json.withUnsafeBytes {
    var part = PartForm.observed.part(seq: seq, kind: event.indexed.kind, $0)
    if !relay.isEmpty, part.bytes.last == UInt8(ascii: "}") {
      part.bytes.removeLast()
      part.bytes += relay + [UInt8(ascii: "}")]
    }
    return part
  }
  /// The most bytes that its own part has around the event, beside those of every part.
  var namingByteCount: Int { relay.count }

  init(_ event: VerifiedEvent, _ seq: Int64?, relay: String? = nil) {
    self.event = event
    self.seq = seq
    self.relay = relay.map { Array(",\"relay\":".utf8) + JSONPayload.encode(JSONValue.string($0)) } ?? []
  }
}

// One `store.observe` under way. `ObservationMachine` decides; here are the events, the archive and the caller. One
// task performs the machine's steps, one after the other; what comes meanwhile, an event or an end, has actions that
// take no time.

/// Sends one caller what its filters match.
@EventLoopActor
final class ObservationSender {
  /// Observations of all callers at once: a relay's many clients have some each.
  static let maximum = 20_000
  /// Events looked at, and sent, for one block of the archive, and its bytes.
  private static let scanCount = 4_000
  private static let blockCount = 1_000
  private static let blockByteCount = QueryStream.blockByteMaximum

  private let request: BusRequest
  /// What is observed.
  let plan: ObservePlan
  /// Whether it takes what a newer event has replaced before it came.
  let takesSuperseded: Bool
  private let recipients: Recipients?
  private let form: PartForm
  private let reader: StoreReader
  private unowned let observers: Observers
  private let reads: ArchiveReads
  private let sender: EventSender
  private var machine: ObservationMachine
  /// Parts that wait; behind them the page that is being filled.
  private var waiting = Deque<BusPayload>()
  private var page: PageMaker
  /// The task, while it sleeps.
  private var sleeper: CheckedContinuation<Void, Never>?

  init(_ request: BusRequest, _ wanted: ObserveArguments, after afterSeq: Int64?, _ observers: Observers) {
    self.request = request
    plan = wanted.plan
    takesSuperseded = wanted.takesSuperseded
    recipients = wanted.recipients
    form = wanted.form
    reader = wanted.reader
    self.observers = observers
    reads = observers.reads
    sender = EventSender(request, wanted.form, reads)
    page = PageMaker(frameLimit: reads.frameLimit)
    machine = ObservationMachine(
      plan, after: afterSeq, announcedSeq: observers.announcedSeq, sightingEnd: observers.sightings.end,
      isPaged: wanted.form == .page, takesSuperseded: wanted.takesSuperseded, partByteMaximum: reads.partByteMaximum)
  }

  // MARK: What happens

  /// An event was announced that the filters match.
  func arrived(_ announced: AnnouncedEvent) {
    let event = ObservationMachine.Event(
      seq: announced.seq, relay: announced.event.relay,
      byteCount: announced.event.json.count + form.surroundingByteCount + announced.namingByteCount,
      isVersion: [.replaceable, .addressable].contains(KindClass(announced.event.indexed.kind)))
    var intake = machine.announced(event, relays: relays, waitingByteCountOfAll: observers.waitingByteCount)
    if intake == .sendNow {
      if request.sendNow(part: part(of: announced)) { return machine.sent(event) }
      intake = machine.foundNoRoom(for: event, waitingByteCountOfAll: observers.waitingByteCount)
    }
    switch intake {
    case .ignore: break
    case .leaveOut: reads.noteLeftOut(byteCount: event.byteCount, seq: event.seq)
    case .queue: queue(announced, event)
    case .wake: perform(.wake)
    case .sendNow: preconditionFailure("an event is sent at once or not at all")
    }
  }

  private func queue(_ announced: AnnouncedEvent, _ event: ObservationMachine.Event) {
    guard form == .page else {
      let part = part(of: announced)
      waiting.append(part)
      return queued(event, byteCount: part.bytes.count)
    }
    let kind = announced.event.indexed.kind
    let (whole, byteCount) = announced.event.json.withUnsafeBytes { json in
      reader.showing(json, kind: kind) { shown in
        // The bytes that are shown, because those of the page are subtracted when it is sent.
        (page.append(seq: event.seq, kind: kind, shown), shown.count + form.surroundingByteCount)
      }
    }
    queued(event, byteCount: byteCount)
    guard let whole else { return }
    waiting.append(whole)
    perform(machine.pageFilled())
  }

  private func queued(_ event: ObservationMachine.Event, byteCount: Int) {
    observers.waitingByteCount += byteCount
    perform(machine.queued(event, byteCount: byteCount))
  }

  /// The part of an event: the one that all are sent, unless this caller is shown less.
  private func part(of announced: AnnouncedEvent) -> BusPayload {
    let kind = announced.event.indexed.kind
    guard reader.withholdsContent(of: kind) else { return announced.part }
    return announced.event.json.withUnsafeBytes { json in
      reader.showing(json, kind: kind) { form.part(seq: announced.seq, kind: kind, $0) }
    }
  }

  /// The only relays that count; nil when all do. One that has sent nothing yet has no number.
  private var relays: Set<Int64>? {
    plan.isExclusive ? Set(plan.relays.compactMap { observers.relays.known($0) }) : nil
  }

  /// All is announced for now.
  func flush() { perform(machine.allAnnounced()) }

  /// The log of sightings has grown.
  func sighted() { perform(machine.sighted()) }

  /// The caller wants no more.
  func cancelled() { perform(machine.cancelled()) }

  /// The caller observes again under the same name.
  func replaced() { perform(machine.replaced()) }

  /// The store is to finish.
  func drain() { perform(machine.drained()) }

  private func perform(_ action: ObservationMachine.Action) {
    switch action {
    case .none: break
    case .wake:
      sleeper?.resume()
      sleeper = nil
    case .awaitAnnouncements: observers.isDue(self)
    case .sendParts: sendParts()
    case .sendPage:
      if let part = page.take() { waiting.append(part) }
      sendParts()
    }
  }

  private func sendParts() {
    while let part = waiting.first {
      guard request.sendNow(part: part) else { return perform(machine.foundNoRoom()) }
      waiting.removeFirst()
      took(part)
    }
  }

  private func took(_ part: BusPayload) {
    observers.waitingByteCount -= part.bytes.count
    machine.tookPart(byteCount: part.bytes.count)
  }

  // MARK: Steps

  /// Sends until an end; returns why.
  func run() async -> Refusal {
    var step = nextStep()
    while true {
      if case .end(let refusal) = step {
        // Nothing waits for the caller from here.
        observers.waitingByteCount -= machine.waitingByteCount
        return refusal
      }
      do throws(Refusal) {
        try await perform(step)
        step = nextStep()
      } catch { step = machine.stepFailed(error) }
    }
  }

  private func nextStep() -> ObservationMachine.Step {
    machine.stepEnded(announcedSeq: observers.announcedSeq, sightingEnd: observers.sightings.end)
  }

  private func perform(_ step: ObservationMachine.Step) async throws(Refusal) {
    switch step {
    case .sendStored(let seq): try await sendStored(upTo: seq)
    case .read(let seq, let end): try await read(after: seq, upTo: end)
    case .tellEnd(let end): try await sender.send(BusPayload(json: end))
    case .sendPart:
      guard let part = waiting.popFirst() ?? page.take() else { preconditionFailure("no part waits") }
      took(part)
      try await sender.send(part)
    case .readSightings(let place): try await readSightings(from: place)
    case .sleep: await withCheckedContinuation { sleeper = $0 }
    case .end: preconditionFailure("an end is no step of the task")
    }
  }

  /// Sends stored events, newest first. Events committed since then follow, by seq.
  private func sendStored(upTo seq: Int64) async throws(Refusal) {
    await reads.catchUp(for: plan.filters)
    let scope = QueryScope(filters: plan.filters, recipients: recipients, seenAt: relays, lastSeq: seq, now: Store.now)
    let stream = QueryStream(scope, reads)
    try await sender.send(stream) { machine.isWanted }
    machine.sentStored(
      isComplete: stream.isComplete, unsearched: reads.unsearched(plan.filters), leftOutCount: sender.leftOutCount)
  }

  private func send(_ block: EventBlock) async throws(Refusal) {
    for entry in block.entries where machine.isWanted { try await sender.send(block, entry) }
    try await sender.flush()
  }

  private func read(after seq: Int64, upTo end: Int64) async throws(Refusal) {
    let (archive, plan, recipients, relays) = (reads.archive, plan, recipients, relays)
    let (page, counting) = try await reads.read { () throws(StorageFault) in
      let page = try await archive.committed(
        after: seq, upTo: end, matching: plan.filters, for: recipients, limit: Self.blockCount,
        byteLimit: Self.blockByteCount, scanLimit: Self.scanCount, now: Store.now)
      guard plan.watchesSightings else { return (page, page.block) }
      var block = page.block
      let seen = try await archive.seen(block.entries.map(\.seq), at: relays)
      block.keep { seen.contains($0.seq) }
      return (page, block)
    }
    machine.read(upTo: page.lastSeq)
    try await send(counting)
  }

  /// Sends events that were stored before and count now.
  private func readSightings(from place: UInt64) async throws(Refusal) {
    let page = observers.sightings.page(from: place, count: ObservationMachine.sightingCount)
    let seqs = try machine.tookSightings(page, relays: relays)
    let (archive, filters, recipients) = (reads.archive, plan.filters, recipients)
    let block = try await reads.read { () throws(StorageFault) in
      try await archive.events(seqs, matching: filters, for: recipients, now: Store.now)
    }
    try await send(block)
  }
}
