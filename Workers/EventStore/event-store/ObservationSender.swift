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
  private(set) lazy var part = event.json.withUnsafeBytes {
    PartForm.observed.part(seq: seq, kind: event.indexed.kind, $0)
  }

  init(_ event: VerifiedEvent, _ seq: Int64?) {
    self.event = event
    self.seq = seq
  }
}

// One `store.observe` under way.
//
//   stored ─ the query's events ─▶ behind ─ reads on by seq ─▶ level ─ takes what is announced ─┐
//                                    ▲                                                         │
//                                    └──────────────── more waits than is kept ────────────────┘
//
// While it is behind, it reads announced events from the archive later. So it holds a bounded number of events, however
// slow its caller is, and misses none. Ephemeral events, which the archive does not have, wait while there is room.
//
// A caller that takes pages is sent a page when it is full, or when all events of a transaction are announced.
//
// Under `network-only`, and where only some relays count, an event that was stored long ago is news when such a relay
// sends it. Those events are in the log of sightings, in which each sender has a place, and which it reads when nothing
// else waits.

/// Sends one caller what its filters match.
@EventLoopActor
final class ObservationSender {
  /// Observations of all callers at once: a relay's many clients have some each.
  static let maximum = 20_000
  /// Events that wait for a caller; beyond it the sender reads them from the archive.
  static let waitingMaximum = 256
  /// Bytes of those, and of all that wait for all callers.
  static let waitingByteMaximum = 1 << 20
  static let waitingByteMaximumOfAll = 64 << 20
  /// Events looked at, and sent, for one block of the archive, and its bytes.
  static let scanCount = 4_000
  static let blockCount = 1_000
  static let blockByteCount = QueryStream.blockByteMaximum
  /// Sightings read at once.
  static let sightingCount = 200
  /// Sent sightings remembered; beyond it they are forgotten, and an event may come twice.
  static let sightedMaximum = 4_096

  private let request: BusRequest
  /// What is observed.
  let plan: ObservePlan
  private let recipients: Recipients?
  private let form: PartForm
  private let reader: StoreReader
  private unowned let observers: Observers
  private let reads: ArchiveReads
  private let sender: EventSender
  private let afterSeq: Int64?
  /// All up to this seq is sent, or waits.
  private var cursor: Int64
  private var isBehind = true
  private var isSending = true
  /// The sender has read the sightings before this place.
  private var sightingPlace: UInt64
  /// Stored events that were sent as sightings, so that a second relay's copy is not.
  private var sightedSeqs: Set<Int64> = []
  /// Parts that wait; behind them the page that is being filled.
  private var waiting = Deque<BusPayload>()
  private var page: PageMaker
  private var waitingCount = 0
  private var waitingByteCount = 0 {
    didSet { observers.waitingByteCount += waitingByteCount - oldValue }
  }
  private var isDue = false
  private var ending: Refusal?
  private var isComplete: Bool?
  /// Seqs that a search among the filters has not looked at.
  private var unsearched: Int64?
  private var sleeper: CheckedContinuation<Void, Never>?

  init(_ request: BusRequest, _ wanted: ObserveArguments, after afterSeq: Int64?, _ observers: Observers) {
    self.request = request
    plan = wanted.plan
    recipients = wanted.recipients
    form = wanted.form
    reader = wanted.reader
    self.afterSeq = afterSeq
    self.observers = observers
    reads = observers.reads
    sender = EventSender(request, wanted.form, reads)
    page = PageMaker(frameLimit: reads.frameLimit)
    sightingPlace = observers.sightings.end
    cursor = afterSeq ?? observers.announcedSeq
  }

  // MARK: What happens

  /// An event was announced that the filters match.
  func arrived(_ announced: AnnouncedEvent) {
    guard counts(announced.event.relay) else { return }
    if let seq = announced.seq {
      guard !isBehind, seq > cursor else { return }
    }
    let byteCount = announced.event.json.count + form.surroundingByteCount
    guard reads.fits(byteCount, announced.seq) else {
      if let seq = announced.seq { cursor = seq }
      return
    }
    if form == .observed, !isSending, waiting.isEmpty, request.sendNow(part: part(of: announced)) {
      if let seq = announced.seq { cursor = seq }
      return
    }
    guard hasRoom(for: byteCount) else {
      // The sender reads it from the archive instead, also when it sleeps because nothing waits.
      if announced.seq != nil {
        isBehind = true
        wake()
      }
      return
    }
    wait(announced)
    if let seq = announced.seq { cursor = seq }
  }

  /// Whether one more event may wait. A transaction's page is as good as sent, so there only bytes count.
  private func hasRoom(for byteCount: Int) -> Bool {
    (form == .page || waitingCount < Self.waitingMaximum)
      && waitingByteCount + byteCount <= Self.waitingByteMaximum
      && observers.waitingByteCount + byteCount <= Self.waitingByteMaximumOfAll
  }

  private func wait(_ announced: AnnouncedEvent) {
    waitingCount += 1
    guard form == .page else {
      let part = part(of: announced)
      waitingByteCount += part.bytes.count
      waiting.append(part)
      return wake()
    }
    let event = announced.event
    let kind = event.indexed.kind
    let whole = event.json.withUnsafeBytes { json in
      reader.showing(json, kind: kind) { shown in
        // The bytes that are shown, because those of the page are subtracted when it is sent.
        waitingByteCount += shown.count + form.surroundingByteCount
        return page.append(seq: announced.seq, kind: kind, shown)
      }
    }
    if let whole {
      waiting.append(whole)
      sendWaiting()
    }
    guard !isDue else { return }
    isDue = true
    observers.isDue(self)
  }

  /// The part of an event: the one that all are sent, unless this caller is shown less.
  private func part(of announced: AnnouncedEvent) -> BusPayload {
    let kind = announced.event.indexed.kind
    guard reader.withholdsContent(of: kind) else { return announced.part }
    return announced.event.json.withUnsafeBytes { json in
      reader.showing(json, kind: kind) { form.part(seq: announced.seq, kind: kind, $0) }
    }
  }

  /// All is announced for now: sends the page as it is.
  func flush() {
    isDue = false
    // A sender that is busy takes the page when its turn comes, with what has come until then.
    guard !isSending else { return }
    if let part = page.take() { waiting.append(part) }
    sendWaiting()
  }

  /// Sends as much as there is room for now; the rest waits.
  private func sendWaiting() {
    guard !isSending else { return }
    while let part = waiting.first, request.sendNow(part: part) {
      waiting.removeFirst()
      didTake(part)
    }
    if !waiting.isEmpty { wake() }
  }

  private func takeWaiting() -> BusPayload? {
    guard let part = waiting.popFirst() ?? page.take() else { return nil }
    didTake(part)
    return part
  }

  private func didTake(_ part: BusPayload) {
    // The number of events in a page is not known.
    waitingCount = waiting.isEmpty ? 0 : max(0, waitingCount - 1)
    waitingByteCount -= part.bytes.count
  }

  /// The sender is released: nothing waits for its caller.
  func forget() { waitingByteCount = 0 }

  /// Whether an event counts that came from this relay.
  private func counts(_ relay: Int64?) -> Bool {
    if let relays { return relay.map(relays.contains) ?? false }
    return plan.readsStored || relay != nil
  }

  /// The numbers of the only relays that count; nil when all do. One that has sent nothing yet has no number.
  private var relays: Set<Int64>? {
    plan.isExclusive ? Set(plan.relays.compactMap { observers.relays.known($0) }) : nil
  }

  /// The log of sightings has grown.
  func sighted() { wake() }

  /// The caller wants no more.
  func cancelled() { end(Refusal(.cancelled, "cancelled by the caller", outcome: .done)) }

  /// The caller observes again under the same name.
  func replaced() { end(Refusal(.replaced, "observed anew under the same id", outcome: .done)) }

  /// The store is to finish: the caller comes again, with the last seq it has.
  func drain() {
    end(
      Refusal(
        .unavailable, "the event store is stopping; observe again after the last seq received", outcome: .done,
        retryAfterMilliseconds: 500))
  }

  private func end(_ refusal: Refusal) {
    if ending == nil { ending = refusal }
    wake()
  }

  private func wake() {
    sleeper?.resume()
    sleeper = nil
  }

  // MARK: Sending

  /// Sends until an end; returns why.
  func run() async -> Refusal {
    do throws(Refusal) {
      if afterSeq == nil, plan.readsStored { try await sendStored() }
      let end = observers.announcedSeq
      while cursor < end, ending == nil { try await readOn(upTo: end) }
      if ending == nil {
        let told = StoredEnd(seq: max(end, cursor), isComplete: isComplete, unsearched: unsearched)
        try await sender.send(BusPayload(json: told))
      }
      while ending == nil {
        if let part = takeWaiting() {
          try await sender.send(part)
        } else if isBehind {
          try await readOn(upTo: observers.announcedSeq)
          // Nothing is awaited between this look and the next announcement.
          if cursor >= observers.announcedSeq { isBehind = false }
        } else if plan.watchesSightings, sightingPlace < observers.sightings.end {
          try await readSightings()
        } else {
          await sleep()
        }
      }
    } catch {
      return ending ?? error
    }
    return ending ?? Refusal(.cancelled, "nobody waits for this answer any more", outcome: .done)
  }

  private func sleep() async {
    isSending = false
    await withCheckedContinuation { sleeper = $0 }
    isSending = true
  }

  /// Sends stored events, newest first. Events committed since then follow, by seq.
  private func sendStored() async throws(Refusal) {
    await reads.catchUp(for: plan.filters)
    let scope = QueryScope(
      filters: plan.filters, recipients: recipients, seenAt: relays, lastSeq: cursor, now: Store.now)
    let stream = QueryStream(scope, reads)
    try await sender.send(stream) { ending == nil }
    unsearched = reads.unsearched(plan.filters)
    isComplete = unsearched == nil && sender.leftOutCount == 0 ? stream.isComplete : nil
  }

  private func send(_ block: EventBlock) async throws(Refusal) {
    for entry in block.entries where ending == nil { try await sender.send(block, entry) }
    try await sender.flush()
  }

  private func readOn(upTo end: Int64) async throws(Refusal) {
    guard cursor < end else { return }
    let (archive, plan, recipients, relays, cursor) = (reads.archive, plan, recipients, relays, cursor)
    let (page, counting) = try await reads.read { () throws(StorageFault) in
      let page = try await archive.committed(
        after: cursor, upTo: end, matching: plan.filters, for: recipients, limit: Self.blockCount,
        byteLimit: Self.blockByteCount, scanLimit: Self.scanCount, now: Store.now)
      guard plan.watchesSightings else { return (page, page.block) }
      var block = page.block
      let seen = try await archive.seen(block.entries.map(\.seq), at: relays)
      block.keep { seen.contains($0.seq) }
      return (page, block)
    }
    self.cursor = page.lastSeq
    try await send(counting)
  }

  /// Sends events that were stored before and count now.
  private func readSightings() async throws(Refusal) {
    guard let page = observers.sightings.page(from: sightingPlace, count: Self.sightingCount) else {
      throw Refusal(
        .missed, "relays sent more events that were stored already than are kept for an observer; observe again",
        outcome: .done)
    }
    sightingPlace += UInt64(page.count)
    let wanted = page.filter { counts($0.relay) && ($0.isNew || !plan.readsStored) }.map(\.seq)
    let seqs = wanted.filter { sightedSeqs.insert($0).inserted }
    if sightedSeqs.count > Self.sightedMaximum { sightedSeqs = [] }
    let (archive, filters, recipients) = (reads.archive, plan.filters, recipients)
    let block = try await reads.read { () throws(StorageFault) in
      try await archive.events(seqs, matching: filters, for: recipients, now: Store.now)
    }
    try await send(block)
  }
}
