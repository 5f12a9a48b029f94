import Addresses
import Bus
import Contracts
import Cryptography
import EventArchive
import EventGate
import EventLoop
import Frames
import Nostr
import NostrContracts
import Reconciliation
import Storage
import WorkerKit

// Reconciliations that this store asks for, with relays (NIP-77). A session is a `store.reconcile.begin` that stays
// open. It has bounds of its own, so that clients of a local relay do not keep the connectors from reconciling.
//
//     begin ─▶ records are read ─▶ messages … ─ the difference is known ─▶ sightings are written ─▶ answered
//
// What both sides have is written as seen at the relay when the difference is known, and not before: until then nothing
// is known of the ranges that are left. A session counts until all of it is written, because its records are kept so
// long.

/// Serves `store.reconcile.begin` and `store.reconcile.received`.
@EventLoopActor
final class ReconcileAskingService {
  /// Called with stored events that a relay has too. The continuation is resumed when they are written.
  var onSightings: (@EventLoopActor ([IncomingEvent], CheckedContinuation<Refusal?, Never>) -> Void)?

  private let reads: ArchiveReads
  private let relays: RelayNumbers
  private let requests: ReconcileRequests
  /// The sessions that take messages, or whose sightings are being written.
  private var open: [UInt64: Session] = [:]
  /// One session's records are read after the other's, as in ``ReconcileService``.
  private let slot = ReadSlots(count: 1)

  private struct Session {
    let request: BusRequest
    let relay: String
    /// Whether the events that the relay lacks are named.
    let namesAbsent: Bool
    var side: AskingSide
  }

  /// Events that are written as seen at once: between two such batches events of relays are written.
  private static let sightingMaximum = 500

  init(_ worker: Worker, _ reads: ArchiveReads, _ relays: RelayNumbers) {
    self.reads = reads
    self.relays = relays
    var limits = ReconcileSessions.Limits()
    limits.perCaller = ReconcileBegin.callerMaximum
    limits.count = ReconcileBegin.sessionMaximum
    limits.records = ReconcileOpen.recordMaximum
    limits.allRecords = ReconcileOpen.recordMaximum
    limits.idleMilliseconds = ReconcileOpen.idleMilliseconds
    requests = ReconcileRequests(limits)
    requests.onEnd = { [unowned self] in open[$0] = nil }
    worker.serve(StoreMethod.beginReconcile, begin)
    worker.serve(StoreMethod.receivedReconcile, received)
  }

  // MARK: store.reconcile.begin

  private func begin(
    _ request: BusRequest, _ wanted: ReconcileBegin, _ filter: Filter
  ) async throws(Refusal) -> ReconcileFound? {
    let relay = try Self.canonical(wanted.relay)
    guard let number = requests.sessions.begin(caller: request.caller.rawValue, now: EventLoop.process.now) else {
      throw Refusal(
        .full, "\(requests.sessions.count) reconciliations with relays are under way already", outcome: .notStarted,
        retryAfterMilliseconds: ReconcileRequests.fullRetryMilliseconds)
    }
    do throws(Refusal) {
      request.accept()
      await reads.catchUp(for: [filter])
      let maximum = wanted.messageByteMaximum ?? ReconcileBegin.messageByteRange.upperBound
      let reconciler = try await slot.read { () throws(Refusal) -> Reconciler in
        guard !request.isCancelled else { throw ReconcileRequests.cancelled }
        return try await read(number, filter, messageByteMaximum: maximum)
      }
      guard !request.isCancelled else { throw ReconcileRequests.cancelled }
      open[number] = Session(
        request: request, relay: relay, namesAbsent: wanted.namesAbsent ?? false, side: AskingSide(reconciler))
      requests.opened(number, request)
      try await request.send(
        ReconcileMessage(session: Int64(number), bytes: reconciler.initiate()), of: StoreMethod.beginReconcile)
      return nil
    } catch {
      requests.forget(number)
      throw error
    }
  }

  private static func canonical(_ text: String) throws(Refusal) -> String {
    do throws(RelayURLFault) { return try RelayURL(text).text } catch {
      throw Refusal(.badRequest, "'relay': \(error)", outcome: .notStarted)
    }
  }

  /// Reads what the filter matches now, and opens the session with it.
  private func read(
    _ number: UInt64, _ filter: Filter, messageByteMaximum: Int
  ) async throws(Refusal) -> Reconciler {
    let room = requests.sessions.room
    let records = try await reads.read { [reads] () throws(StorageFault) in
      try await reads.archive.records(filter, maximum: room, now: Store.now)
    }
    guard let records else { throw ReconcileService.tooMany(room: room) }
    let reconciler = Reconciler(records, messageByteMaximum: messageByteMaximum)
    guard requests.sessions.opened(number, reconciler, now: EventLoop.process.now) else {
      throw ReconcileRequests.stopping
    }
    return reconciler
  }

  // MARK: store.reconcile.received

  private func received(
    _ request: BusRequest, _ message: ReconcileMessage
  ) async throws(Refusal) -> ReconcileMessage? {
    let number = UInt64(exactly: message.session)
    guard let number, open[number]?.side.isOver == false,
      requests.sessions.take(number, caller: request.caller.rawValue, now: EventLoop.process.now) != nil
    else {
      throw Refusal(
        .noSuchSession, "you have no session \(message.session): it has ended, or never began", outcome: .notStarted)
    }
    let step = try step(number, message.bytes)
    let absent = open[number].map { $0.namesAbsent ? $0.side.newlyAbsent : [] } ?? []
    if step.next == nil { writeSightings(number) }
    for (side, ids) in [(DifferentEvents.Side.store, step.needs), (.relay, absent)] {
      for start in stride(from: 0, to: ids.count, by: DifferentEvents.countMaximum) {
        let some = ids[start..<min(start + DifferentEvents.countMaximum, ids.count)]
        try await request.send(
          DifferentEvents(lackingSide: side, ids: some), of: StoreMethod.receivedReconcile)
      }
    }
    return ReconcileMessage(session: message.session, bytes: step.next ?? [])
  }

  private func step(_ number: UInt64, _ message: [UInt8]) throws(Refusal) -> Reconciler.Step {
    try ReconcileRequests.read(message) { message throws(ReconcileFault) in
      guard let step = try open[number]?.side.received(message) else {
        preconditionFailure("the session was just looked at")
      }
      return step
    }
  }

  // MARK: Sightings

  /// Writes what both sides have as seen at the relay, one batch after the other, and answers the request.
  private func writeSightings(_ number: UInt64) {
    guard let session = open[number] else { return }
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        var start: Int? = 0
        while let next = start, open[number] != nil {
          start = try await writeSightings(of: session, from: next)
          _ = requests.sessions.take(number, caller: session.request.caller.rawValue, now: EventLoop.process.now)
        }
        guard open[number] != nil else { return }
        requests.forget(number)
        session.request.respond(
          to: StoreMethod.beginReconcile,
          ReconcileFound(records: session.side.reconciler.records.count, common: session.side.commonCount))
      } catch {
        requests.end(number, error)
      }
    }
  }

  /// - Returns: where the next batch begins; nil behind the last one.
  private func writeSightings(of session: Session, from start: Int) async throws(Refusal) -> Int? {
    let (ids, next) = session.side.common(from: start, count: Self.sightingMaximum)
    // With no number left, the archive does not record what came from the relay.
    guard let relay = relays.number(of: session.relay), let onSightings else { return nil }
    let unseen = try await reads.read { [reads] () throws(StorageFault) in
      try await reads.archive.unseen(ids, at: relay)
    }
    guard !unseen.isEmpty else { return next }
    let now = Store.now
    let found = unseen.enumerated().map { IncomingEvent(record: $0, stored: $1, relay: relay, foundAt: now) }
    let refusal = await withCheckedContinuation { onSightings(found, $0) }
    if let refusal { throw refusal }
    return next
  }

  /// The store is to finish.
  func drain() { requests.drain() }
}
