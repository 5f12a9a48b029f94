import Bus
import Contracts
import DequeModule
import EventArchive
import EventLoop
import Frames
import Nostr
import Observing
import Storage

/// One event as an observer is sent it: `{"seq":n,"event":{…}}`, put together around the event's own bytes.
struct ObservedPart {
  let seq: Int64?
  let payload: BusPayload

  /// Most bytes around the event: `{"seq":9223372036854775807,"event":}` and a little.
  static let headByteCount = 40

  init(seq: Int64?, json: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + Self.headByteCount)
    bytes.append(contentsOf: seq.map { "{\"seq\":\($0),\"event\":" }?.utf8 ?? "{\"event\":".utf8)
    bytes.append(contentsOf: json)
    bytes.append(UInt8(ascii: "}"))
    self.seq = seq
    payload = BusPayload(bytes)
  }
}

// One `store.observe` under way.
//
//   stored ─ the query's events ─▶ behind ─ reads on by seq ─▶ level ─ takes what is announced ─┐
//                                    ▲                                                         │
//                                    └──────────────── more waits than is kept ────────────────┘
//
// While it is behind, what is announced is left to the archive, which has it. So an observer holds a bounded number of
// events, whatever its caller does, and misses none; ephemeral ones, which no archive has, are kept for him as far as
// there is room.
//
// Under `network-only`, and where only some relays count, an event that was stored long ago is news when such a relay
// sends it. Those come from the store's log of sightings, in which each observation has a place, whenever nothing else
// waits.

/// Sends one caller what its filters match.
@EventLoopActor
final class Observation {
  /// Observations of all callers at once.
  static let maximum = 4_096
  /// Events that wait for a caller before the archive keeps them for him.
  static let waitingMaximum = 256
  /// Bytes of those.
  static let waitingByteMaximum = 1 << 20
  /// Events looked at, and sent, for one page of the archive.
  static let scanCount = 4_000
  static let pageCount = 200
  /// Sent sightings remembered; beyond it they are forgotten, and an event may come twice.
  static let sightedMaximum = 4_096

  private let request: BusRequest
  /// What is observed.
  let plan: ObservePlan
  private unowned let store: Store
  private let afterSeq: Int64?
  /// All up to this seq is sent, or waits to be.
  private var cursor: Int64
  private var isBehind = true
  private var isSending = true
  /// Sightings before this place have been looked at.
  private var sightingPlace: UInt64
  /// Stored events that were sent as sightings, so that a second relay's copy is not.
  private var sightedSeqs: Set<Int64> = []
  private var waiting = Deque<BusPayload>()
  private var waitingByteCount = 0
  private var ending: Refusal?
  /// What a search among the filters has not looked at.
  private var unsearched: Int64?
  private var sleeper: CheckedContinuation<Void, Never>?

  init(_ request: BusRequest, _ plan: ObservePlan, after afterSeq: Int64?, _ store: Store) {
    self.request = request
    self.plan = plan
    self.afterSeq = afterSeq
    self.store = store
    sightingPlace = store.sightings.end
    cursor = afterSeq ?? store.announcedSeq
  }

  // MARK: What happens

  /// An event was announced that the filters match; from a relay, or nil.
  func arrived(_ part: ObservedPart, from relay: Int64?) {
    guard counts(relay) else { return }
    if let seq = part.seq {
      guard !isBehind, seq > cursor else { return }
    }
    guard store.fits(part.payload, part.seq) else {
      if let seq = part.seq { cursor = seq }
      return
    }
    if !isSending, waiting.isEmpty, request.sendNow(part: part.payload) {
      if let seq = part.seq { cursor = seq }
      return
    }
    let byteCount = waitingByteCount + part.payload.bytes.count
    guard waiting.count < Self.waitingMaximum, byteCount <= Self.waitingByteMaximum else {
      if part.seq != nil { isBehind = true }
      return
    }
    waiting.append(part.payload)
    waitingByteCount = byteCount
    if let seq = part.seq { cursor = seq }
    wake()
  }

  /// Whether an event counts that came from there.
  private func counts(_ relay: Int64?) -> Bool {
    if let relays { return relay.map(relays.contains) ?? false }
    return plan.readsStored || relay != nil
  }

  /// The numbers of the only relays that count; nil when all do. One that has sent nothing yet has no number.
  private var relays: Set<Int64>? {
    plan.isExclusive ? Set(plan.relays.compactMap { store.relays.known($0) }) : nil
  }

  /// The log of sightings has grown.
  func sighted() { wake() }

  /// The caller wants no more.
  func cancelled() { end(Refusal(.cancelled, "cancelled by the caller", outcome: .done)) }

  /// The caller observes anew under the same name.
  func replaced() { end(Refusal(.replaced, "observed anew under the same id", outcome: .done)) }

  /// The store is told to finish: the caller comes again, with the last seq it has.
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

  /// Sends until it is ended; returns why.
  func run() async -> Refusal {
    do {
      if afterSeq == nil, plan.readsStored { try await sendStored() }
      let end = store.announcedSeq
      while cursor < end, ending == nil { try await readOn(upTo: end) }
      if ending == nil { try await send(BusPayload(json: StoredEnd(seq: max(end, cursor), unsearched: unsearched))) }
      while ending == nil {
        if let part = waiting.popFirst() {
          waitingByteCount -= part.bytes.count
          try await send(part)
        } else if isBehind {
          try await readOn(upTo: store.announcedSeq)
          // Nothing is awaited between this look and the next announcement.
          if cursor >= store.announcedSeq { isBehind = false }
        } else if plan.watchesSightings, sightingPlace < store.sightings.end {
          try await readSightings()
        } else {
          await sleep()
        }
      }
    } catch let fault as StorageFault {
      store.failed(fault)
      return store.refusal(fault)
    } catch let refusal as Refusal {
      return ending ?? refusal
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
    return ending ?? Refusal(.cancelled, "nobody waits for this answer any more", outcome: .done)
  }

  private func sleep() async {
    isSending = false
    await withCheckedContinuation { sleeper = $0 }
    isSending = true
  }

  private func send(_ event: StoredEvent) async throws(Refusal) {
    let part = ObservedPart(seq: event.seq, json: event.json)
    if store.fits(part.payload, part.seq) { try await send(part.payload) }
  }

  private func send(_ part: BusPayload) async throws(Refusal) {
    if !request.sendNow(part: part) { try await request.send(part: part) }
  }

  /// What is stored, newest first. Events committed since it began come afterwards, by their seq.
  private func sendStored() async throws {
    let boundary = cursor
    await store.catchUp(for: plan.filters)
    let stream = QueryStream(plan.filters, store.archive, store.reads, seenAt: relays, now: Store.now)
    while ending == nil, let event = try await stream.next() {
      if event.seq <= boundary { try await send(event) }
    }
    unsearched = store.unsearched(plan.filters)
  }

  private func readOn(upTo end: Int64) async throws {
    guard cursor < end else { return }
    let (archive, plan, relays, cursor) = (store.archive, plan, relays, cursor)
    let (page, counting) = try await store.reads.read { () throws(StorageFault) in
      let page = try await archive.committed(
        after: cursor, upTo: end, matching: plan.filters, limit: Self.pageCount, scanLimit: Self.scanCount,
        now: Store.now)
      return (page, plan.watchesSightings ? try await archive.seen(page.events, at: relays) : page.events)
    }
    self.cursor = page.lastSeq
    for event in counting where ending == nil { try await send(event) }
  }

  /// Sends what was stored before and counts now.
  private func readSightings() async throws {
    guard let page = store.sightings.page(from: sightingPlace, count: Self.pageCount) else {
      throw Refusal(
        .missed, "relays sent more events that were stored already than are kept for an observer; observe again",
        outcome: .done)
    }
    sightingPlace += UInt64(page.count)
    let wanted = page.filter { counts($0.relay) && ($0.isNew || !plan.readsStored) }.map(\.seq)
    let seqs = wanted.filter { sightedSeqs.insert($0).inserted }
    if sightedSeqs.count > Self.sightedMaximum { sightedSeqs = [] }
    let (archive, filters) = (store.archive, plan.filters)
    let events = try await store.reads.read { () throws(StorageFault) in
      try await archive.events(seqs, matching: filters, now: Store.now)
    }
    for event in events where ending == nil { try await send(event) }
  }
}
