import Bus
import Contracts
import Cryptography
import EventArchive
import EventIndex
import EventLoop
import Frames
import Nostr
import Reconciliation
import Storage
import WorkerKit

// The rules are in `Reconciliation`. A session is a `store.reconcile.open` that stays open.

/// Serves `store.reconcile.*`: reconciliation with the stored events (NIP-77).
@EventLoopActor
final class ReconcileService {
  private let reads: ArchiveReads
  private let requests: ReconcileRequests
  /// One session's records are read after the other's: each may take as much memory as is left for all.
  private let slot = ReadSlots(count: 1)

  init(_ worker: Worker, _ reads: ArchiveReads) {
    self.reads = reads
    var limits = ReconcileSessions.Limits()
    limits.perCaller = ReconcileOpen.callerMaximum
    limits.count = ReconcileOpen.sessionMaximum
    limits.records = ReconcileOpen.recordMaximum
    limits.idleMilliseconds = ReconcileOpen.idleMilliseconds
    requests = ReconcileRequests(limits)
    worker.serve(StoreMethod.openReconcile, open)
    worker.serve(StoreMethod.nextReconcile, proceed)
    worker.serve(StoreMethod.closeReconcile, close)
  }

  // MARK: store.reconcile.open

  private func open(
    _ request: BusRequest, _ wanted: ReconcileOpen, _ filter: Filter
  ) async throws(Refusal) -> ReconcileEnd? {
    guard let message = Hexadecimal.decode(wanted.message.utf8) else {
      throw Refusal(.badRequest, "'message' is not lower-case hexadecimal digits", outcome: .notStarted)
    }
    // Before anything is read for it.
    _ = try Self.answer(to: message, from: Reconciler(ReconcileRecords([])))
    guard let number = requests.sessions.begin(caller: request.caller.rawValue, now: EventLoop.process.now) else {
      throw Refusal(
        .full, "\(requests.sessions.count) reconciliations are under way already", outcome: .notStarted,
        retryAfterMilliseconds: ReconcileRequests.fullRetryMilliseconds)
    }
    do throws(Refusal) {
      request.accept()
      await reads.catchUp(for: [filter])
      let recipients = ArchiveReads.recipients(wanted.recipients, for: request)
      let reconciler = try await begin(number, filter, recipients, request)
      let answer = try Self.answer(to: message, from: reconciler)
      try await request.send(
        ReconcileMessage(session: Int64(number), bytes: answer), of: StoreMethod.openReconcile)
      return nil
    } catch {
      requests.forget(number)
      throw error
    }
  }

  /// The state of a session when its records are read.
  private enum Opening {
    case open(Reconciler)
    /// More match than there is room for.
    case tooMany(room: Int)
    /// Its caller has cancelled it, or the store is stopping.
    case ended
  }

  /// Reads what the filter matches now, and opens the session with it.
  ///
  /// - Throws: `too-many`, `full`, `cancelled`, `unavailable`, or why the archive cannot be read.
  private func begin(
    _ number: UInt64, _ filter: Filter, _ recipients: Recipients?, _ request: BusRequest
  ) async throws(Refusal) -> Reconciler {
    // The session is open before the next one looks how much room there is.
    let opening = try await slot.read { () throws(Refusal) -> Opening in
      request.isCancelled ? .ended : try await open(number, filter, recipients)
    }
    switch opening {
    case .tooMany(let room): throw Self.tooMany(room: room)
    case .open(let reconciler) where !request.isCancelled:
      requests.opened(number, request)
      return reconciler
    case .open, .ended: throw request.isCancelled ? ReconcileRequests.cancelled : ReconcileRequests.stopping
    }
  }

  private func open(
    _ number: UInt64, _ filter: Filter, _ recipients: Recipients?
  ) async throws(Refusal) -> Opening {
    let room = requests.sessions.room
    let records = try await reads.read { [reads] () throws(StorageFault) in
      try await reads.archive.records(filter, for: recipients, maximum: room, now: Store.now)
    }
    guard let records else { return .tooMany(room: room) }
    let reconciler = Reconciler(records)
    return requests.sessions.opened(number, reconciler, now: EventLoop.process.now) ? .open(reconciler) : .ended
  }

  static func tooMany(room: Int) -> Refusal {
    if room == ReconcileOpen.recordMaximum {
      return Refusal(
        .tooMany, "the filter matches more than \(room) events: ask for less at once, by time", outcome: .notStarted)
    }
    return Refusal(
      .full, "other reconciliations leave room for \(room) events, and the filter matches more", outcome: .notStarted,
      retryAfterMilliseconds: ReconcileRequests.fullRetryMilliseconds)
  }

  // MARK: store.reconcile.next, store.reconcile.close

  private func proceed(_ request: BusRequest, _ message: ReconcileMessage) throws(Refusal) -> ReconcileMessage? {
    let reconciler = try taken(message.session, by: request)
    return ReconcileMessage(session: message.session, bytes: try Self.answer(to: message.bytes, from: reconciler))
  }

  private func close(_ request: BusRequest, _ wanted: ReconcileClose) throws(Refusal) -> Nothing? {
    let reconciler = try taken(wanted.session, by: request)
    let opening = requests[UInt64(wanted.session)]
    requests.forget(UInt64(wanted.session))
    opening?.respond(to: StoreMethod.openReconcile, ReconcileEnd(records: reconciler.records.count))
    return Nothing()
  }

  private func taken(_ session: Int64, by request: BusRequest) throws(Refusal) -> Reconciler {
    let reconciler = UInt64(exactly: session).flatMap {
      requests.sessions.take($0, caller: request.caller.rawValue, now: EventLoop.process.now)
    }
    if let reconciler { return reconciler }
    throw Refusal(.noSuchSession, "you have no session \(session): it has ended, or never began", outcome: .notStarted)
  }

  private static func answer(to message: [UInt8], from reconciler: Reconciler) throws(Refusal) -> [UInt8] {
    try ReconcileRequests.read(message) { message throws(ReconcileFault) in try reconciler.answer(to: message) }
  }

  /// The store is to finish.
  func drain() { requests.drain() }
}
