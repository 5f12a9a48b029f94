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

// Reconciliation with what is stored (NIP-77). The rules are in `Reconciliation`; here they meet the bus and the
// archive. A session is a request that stays open; its number is the book's.

/// The sessions, their requests, and the timer of those nobody continues with.
@EventLoopActor
struct Reconciliations {
  var book: ReconcileSessions
  fileprivate var requests: [UInt64: BusRequest] = [:]
  /// One is read after the other: each may take as much memory as is left for all.
  fileprivate let reads = ReadSlots(count: 1)
  fileprivate let timer = LoopTimer()

  init() {
    var limits = ReconcileSessions.Limits()
    limits.perCaller = ReconcileOpen.callerMaximum
    limits.count = ReconcileOpen.sessionMaximum
    limits.records = ReconcileOpen.recordMaximum
    limits.idleMilliseconds = ReconcileOpen.idleMilliseconds
    book = ReconcileSessions(limits: limits)
  }
}

extension Store {
  func serveReconciliations() {
    worker.serve(StoreMethod.openReconcile, openReconciliation)
    worker.serve(StoreMethod.nextReconcile, continueReconciliation)
    worker.serve(StoreMethod.closeReconcile, closeReconciliation)
  }

  // MARK: store.reconcile.open

  private func openReconciliation(
    _ request: BusRequest, _ wanted: ReconcileOpen, _ filter: Filter
  ) async throws(Refusal) -> ReconcileEnd? {
    guard let message = Hexadecimal.decode(wanted.message.utf8) else {
      throw Refusal(.badRequest, "'message' is not lower-case hexadecimal digits", outcome: .notStarted)
    }
    // Before anything is read for it.
    _ = try Self.answer(to: message, from: Reconciler(ReconcileRecords([])))
    guard let number = reconciliations.book.begin(caller: request.caller.rawValue, now: EventLoop.process.now) else {
      throw Refusal(
        .full, "\(reconciliations.book.count) reconciliations are under way already", outcome: .notStarted,
        retryAfterMilliseconds: Self.fullRetryMilliseconds)
    }
    do throws(Refusal) {
      request.accept()
      await catchUp(for: [filter])
      let reconciler = try await begin(number, filter, Self.recipients(wanted.recipients, for: request), request)
      let answer = try Self.answer(to: message, from: reconciler)
      try await request.send(
        ReconcileMessage(session: Int64(number), bytes: answer), of: StoreMethod.openReconcile)
      return nil
    } catch {
      forget(number)
      throw error
    }
  }

  /// When asking again may find room.
  private static let fullRetryMilliseconds: UInt32 = 5_000

  /// What has become of a session when its records were read.
  private enum Opening {
    case open(Reconciler)
    /// More match than there is room for.
    case tooMany(room: Int)
    /// Nobody waits for it any more, or the store is stopping.
    case ended
  }

  /// Reads what the filter matches now, and opens the session with it.
  ///
  /// - Throws: `too-many`, `full`, `cancelled`, `unavailable`, or why it cannot be read.
  private func begin(
    _ number: UInt64, _ filter: Filter, _ recipients: Recipients?, _ request: BusRequest
  ) async throws(Refusal) -> Reconciler {
    let opening: Opening
    do throws(StorageFault) {
      // Opened before the next one looks how much room there is.
      opening = try await reconciliations.reads.read { () throws(StorageFault) in
        request.isCancelled ? .ended : try await open(number, filter, recipients)
      }
    } catch {
      failed(error)
      throw refusal(error)
    }
    switch opening {
    case .tooMany(let room): throw Self.tooMany(room: room)
    case .open(let reconciler) where !request.isCancelled:
      reconciliations.requests[number] = request
      request.onCancel = { [unowned self] in end(number, Self.cancelled) }
      setIdleTimer()
      return reconciler
    case .open, .ended: throw request.isCancelled ? Self.cancelled : Self.stopping
    }
  }

  private func open(
    _ number: UInt64, _ filter: Filter, _ recipients: Recipients?
  ) async throws(StorageFault) -> Opening {
    let (archive, room) = (archive, reconciliations.book.room)
    let records = try await reads.read { () throws(StorageFault) in
      try await archive.records(filter, for: recipients, maximum: room, now: Self.now)
    }
    guard let records else { return .tooMany(room: room) }
    let reconciler = Reconciler(records)
    return reconciliations.book.opened(number, reconciler, now: EventLoop.process.now) ? .open(reconciler) : .ended
  }

  private static let cancelled = Refusal(.cancelled, "cancelled by the caller", outcome: .done)
  private static let stopping = Refusal(
    .unavailable, "the event store is stopping", outcome: .done, retryAfterMilliseconds: fullRetryMilliseconds)

  private static func tooMany(room: Int) -> Refusal {
    if room == ReconcileOpen.recordMaximum {
      return Refusal(
        .tooMany, "the filter matches more than \(room) events: ask for less at once, by time", outcome: .notStarted)
    }
    return Refusal(
      .full, "other reconciliations leave room for \(room) events, and the filter matches more", outcome: .notStarted,
      retryAfterMilliseconds: fullRetryMilliseconds)
  }

  // MARK: store.reconcile.next, store.reconcile.close

  private func continueReconciliation(
    _ request: BusRequest, _ message: ReconcileMessage
  ) throws(Refusal) -> ReconcileMessage? {
    let reconciler = try taken(message.session, by: request)
    return ReconcileMessage(session: message.session, bytes: try Self.answer(to: message.bytes, from: reconciler))
  }

  private func closeReconciliation(_ request: BusRequest, _ wanted: ReconcileClose) throws(Refusal) -> Nothing? {
    let reconciler = try taken(wanted.session, by: request)
    let opening = reconciliations.requests[UInt64(wanted.session)]
    forget(UInt64(wanted.session))
    opening?.respond(to: StoreMethod.openReconcile, ReconcileEnd(records: reconciler.records.count))
    return Nothing()
  }

  private func taken(_ session: Int64, by request: BusRequest) throws(Refusal) -> Reconciler {
    let reconciler = UInt64(exactly: session).flatMap {
      reconciliations.book.take($0, caller: request.caller.rawValue, now: EventLoop.process.now)
    }
    if let reconciler { return reconciler }
    throw Refusal(.noSuchSession, "you have no session \(session): it has ended, or never began", outcome: .notStarted)
  }

  private static func answer(to message: [UInt8], from reconciler: Reconciler) throws(Refusal) -> [UInt8] {
    guard message.count <= ReconcileOpen.messageByteMaximum else {
      throw Refusal(
        .badPayload, "the message has \(message.count) bytes; \(ReconcileOpen.messageByteMaximum) are taken at most",
        outcome: .notStarted)
    }
    do throws(ReconcileFault) { return try reconciler.answer(to: message) } catch {
      throw Refusal(.badPayload, "the message cannot be read: \(error)", outcome: .notStarted)
    }
  }

  // MARK: Ends

  /// The store is told to finish.
  func drainReconciliations() {
    for number in reconciliations.book.numbers { end(number, Self.stopping) }
  }

  private func end(_ number: UInt64, _ refusal: Refusal) {
    let request = reconciliations.requests[number]
    forget(number)
    request?.refuse(refusal)
  }

  private func forget(_ number: UInt64) {
    reconciliations.requests[number] = nil
    reconciliations.book.end(number)
  }

  private func setIdleTimer() {
    guard !reconciliations.timer.isSet, let deadline = reconciliations.book.nextDeadline else { return }
    reconciliations.timer.set(at: deadline) { [unowned self] in
      let seconds = reconciliations.book.limits.idleMilliseconds / 1_000
      for number in reconciliations.book.idle(now: EventLoop.process.now) {
        end(number, Refusal(.idle, "no message has come for \(seconds) s", outcome: .done))
      }
      setIdleTimer()
    }
  }
}
