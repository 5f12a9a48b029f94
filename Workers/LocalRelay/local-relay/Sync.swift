import Bus
import ClientSession
import Contracts
import Cryptography
import DequeModule
import EventLoop
import Frames
import Nostr
import WorkerKit

// One reconciliation of a client with the store (NIP-77). The store keeps its side while the request that opened it is
// open. Messages alternate, because each answers the one before.

/// A client's NEG-OPEN, until its NEG-CLOSE.
@EventLoopActor
final class Sync {
  /// The client of this reconciliation.
  @EventLoopActor
  protocol Reader: AnyObject {
    /// The connection's number.
    var number: UInt64 { get }
    /// The store's next message.
    func reconciled(_ work: ClientWork, _ message: [UInt8])
    /// The reconciliation has ended; the client gets the reason.
    func reconciliationEnded(_ work: ClientWork, _ reason: RelayReason, recordCountMaximum: Int?)
  }

  /// Most messages of a client that wait for the store. A client that sends more does not wait for answers, and its
  /// reconciliation ends.
  private static let waitingMaximum = 4

  private let work: ClientWork
  private let bus: BusConnection
  private let desk: QueryScheduler
  /// The slot, held until the store has read the events to reconcile.
  private var turn: QueryScheduler.Turn?
  private weak var reader: (any Reader)?
  private var answer: BusAnswer?
  private var session: Int64?
  private var waiting = Deque<[UInt8]>()
  private var isAsking = false
  /// Whether the opening request is in flight.
  private var isOpening = false
  private var isOver = false

  init(
    _ work: ClientWork, _ question: ClientQuery, _ first: [UInt8], _ bus: BusConnection, _ desk: QueryScheduler,
    for reader: any Reader
  ) {
    self.work = work
    self.bus = bus
    self.desk = desk
    self.reader = reader
    turn = desk.ask(reader.number, question)
    EventLoopActor.task { [self] in await run(question, first) }
  }

  /// Ends it without a message to the client.
  func cancel() {
    isOver = true
    // If the store has the request, the slot ends only when the store has ended it too: see `Feed`.
    if turn != nil, isOpening {
      answer?.cancel()
    } else {
      endTurn()
      answer?.abandon(Refusal(.cancelled, "the client wants no more", outcome: .done))
    }
  }

  /// Takes the client's next message.
  func received(_ message: [UInt8]) {
    guard waiting.count < Self.waitingMaximum else {
      return end(RelayReason("blocked: \(Self.waitingMaximum) messages wait for an answer already"))
    }
    waiting.append(message)
    proceed()
  }

  private func endTurn() {
    if let turn { desk.end(turn) }
    turn = nil
  }

  private func run(_ question: ClientQuery, _ first: [UInt8]) async {
    guard let filter = question.filters.first else { preconditionFailure("a NEG-OPEN has one filter") }
    guard let turn, await desk.granting(turn), !isOver else { return }
    let wanted = ReconcileOpen(
      filter: .object([:]), message: String(decoding: Hexadecimal.encode(first), as: UTF8.self),
      recipients: question.recipients.map(\.description))
    isOpening = true
    defer {
      isOpening = false
      endTurn()
    }
    do throws(Refusal) {
      let answer = try await bus.ask(
        StoreMethod.openReconcile, encoded: BusPayload(json: wanted, filter: filter))
      self.answer = answer.answer
      if isOver { answer.cancel() }
      while let message = try await answer.nextPart() {
        if isOver { continue }
        session = message.session
        endTurn()
        reader?.reconciled(work, message.bytes)
        proceed()
      }
    } catch {
      end(error)
    }
    // Abandoned, so that parts that still arrive return their credit.
    answer?.abandon(Refusal(.cancelled, "nothing more is read", outcome: .done))
  }

  /// Sends the next message when the one before was answered.
  private func proceed() {
    guard !isAsking, !isOver, let session, let next = waiting.popFirst() else { return }
    isAsking = true
    EventLoopActor.task { [self] in
      let message = ReconcileMessage(session: session, bytes: next)
      do throws(Refusal) {
        let answer = try await bus.request(StoreMethod.nextReconcile, message)
        isAsking = false
        guard !isOver else { return }
        reader?.reconciled(work, answer.bytes)
        proceed()
      } catch {
        isAsking = false
        end(error)
      }
    }
  }

  private func end(_ refusal: Refusal) {
    let maximum = refusal.code == .tooMany ? ReconcileOpen.recordMaximum : nil
    let word =
      switch refusal.code {
      case .tooMany, .full: "blocked"
      case .idle, .noSuchSession, .unavailable, .workerDied, .gone: "closed"
      case .badPayload, .badRequest: "invalid"
      default: "error"
      }
    end(RelayReason("\(word): \(refusal.message)"), recordCountMaximum: maximum)
  }

  private func end(_ reason: RelayReason, recordCountMaximum: Int? = nil) {
    guard !isOver else { return }
    cancel()
    reader?.reconciliationEnded(work, reason, recordCountMaximum: recordCountMaximum)
  }
}
