import Bus
import ClientSession
import Contracts
import Cryptography
import DequeModule
import EventLoop
import Frames
import Nostr
import WorkerKit

// One reconciliation of a client's with the store (NIP-77). The store keeps its side of it for as long as the request
// that opened it stands; messages go to and fro one at a time, since each answers the one before.

/// A client's NEG-OPEN, until its NEG-CLOSE.
@EventLoopActor
final class Sync {
  /// Whose it is.
  @EventLoopActor
  protocol Reader: AnyObject {
    /// Counts connections.
    var number: UInt64 { get }
    /// The store's next message.
    func reconciled(_ work: ClientWork, _ message: [UInt8])
    /// It is over, and the client is to be told why.
    func reconciliationEnded(_ work: ClientWork, _ reason: RelayReason, recordCountMaximum: Int?)
  }

  /// Messages of a client that wait for the store; whoever sends more does not wait for answers.
  private static let waitingMaximum = 4

  private let work: ClientWork
  private let bus: BusConnection
  private let desk: QueryScheduler
  /// Until the store has read what is to be reconciled.
  private var turn: QueryScheduler.Turn?
  private weak var reader: (any Reader)?
  private var answer: BusAnswer?
  private var session: Int64?
  private var waiting = Deque<[UInt8]>()
  private var isAsking = false
  /// Whether the store has been asked, and has not ended its first answer.
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

  /// Ends it without a word.
  func cancel() {
    isOver = true
    // Its turn is over when the store has ended it as well: see `Feed`.
    if turn != nil, isOpening {
      answer?.cancel()
    } else {
      endTurn()
      answer?.abandon(Refusal(.cancelled, "the client wants no more", outcome: .done))
    }
  }

  /// The client's next message came.
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
    // Nothing more is read of it: what may still come gives its credit back.
    answer?.abandon(Refusal(.cancelled, "nothing more is read", outcome: .done))
  }

  /// Sends the next message, when the one before is answered.
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
