import Bus
import ClientSession
import Clocks
import Contracts
import EventLoop
import FairSharing
import Frames
import Logging

// Where clients' events go: to the store in runs, or one by one to the publish queue.
//
// A run is what has come while the one before it was on its way, of all clients together and of each in turn: alone, an
// event goes at once; in a flood many share a frame, a transaction and an answer, and who brings one event does not
// wait behind those who bring thousands. Two runs are on their way at a time, so that the store verifies one while it
// writes the other.
//
// Events are offered again when whoever had them died: a store or a planner that has them already says so, and the
// client is told what is true in the end. Until then it waits, as it would for a slow disk, and it is read no further
// when much waits.

/// Takes events of all clients, and tells each what became of its own.
@EventLoopActor
final class EventIntake {
  /// Whoever has brought an event.
  @EventLoopActor
  protocol Owner: AnyObject {
    /// Counts connections.
    var number: UInt64 { get }
    /// It is known what became of it.
    func settled(_ work: ClientWork, _ outcome: EventOutcome)
    /// Where an event goes by what is known now; nil when nobody waits for it any more.
    func destination(of work: ClientWork) -> EventDestination?
  }

  private struct Piece {
    let owner: any Owner
    let work: ClientWork
    let bytes: [UInt8]
    /// Which of the houses it was judged by.
    let houseNumber: UInt64
    var note = ""

    /// Whether no account signed it. What an account signed comes here only with a note why it is not sent.
    var isForeign: Bool { note.isEmpty }
  }

  /// Runs on their way at a time.
  private static let runMaximum = 2
  /// Bytes of a run; one larger event goes alone.
  private static let runByteCount = 256 << 10
  /// Publishes on their way at a time.
  private static let publishMaximum = 128
  /// Bytes that wait here from which on clients are read no further.
  static let byteCountMaximum = 32 << 20
  /// Bytes that one client may have waiting in any case.
  static let littleByteCount = 16 << 10
  /// How often what had nobody to take it is offered again, and how long is waited before.
  private static let attemptMaximum = 40
  private static let retryMilliseconds: UInt64 = 250
  /// After how long it is not offered again: whoever refuses may have taken his time for it, and a client waits.
  private static let patienceMilliseconds: UInt64 = 30_000

  private let bus: BusConnection
  private let log: Logger
  private var waiting = FairQueue<Piece>()
  private var publishing = FairQueue<Piece>()
  private var runCount = 0
  private var publishCount = 0
  private var isFlushDue = false
  private var waitingByteCount = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// Counts who was who, for events that were judged too early.
  private var houseNumber: UInt64 = 0

  init(_ bus: BusConnection, _ log: Logger) {
    self.bus = bus
    self.log = log
  }

  /// Whether clients of whom more than a little waits are to be read no further for now.
  var isFull: Bool { waitingByteCount >= Self.byteCountMaximum }

  /// Waits until half of it is free.
  func awaitRoom() async {
    guard isFull else { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  /// Takes an event.
  func take(_ work: ClientWork, of owner: any Owner, _ bytes: [UInt8], to destination: EventDestination) {
    waitingByteCount += bytes.count
    let piece = Piece(owner: owner, work: work, bytes: bytes, houseNumber: houseNumber)
    switch destination {
    case .store: waiting.append(piece, of: owner.number)
    case .world: publishing.append(piece, of: owner.number)
    }
    guard !isFlushDue else { return }
    isFlushDue = true
    // What this turn of the loop still brings goes with it.
    EventLoopActor.task { [self] in
      isFlushDue = false
      flush()
    }
  }

  /// Other accounts than before are known.
  func houseChanged() { houseNumber += 1 }

  private func flush() {
    while runCount < Self.runMaximum, !waiting.isEmpty { send(nextRun()) }
    while publishCount < Self.publishMaximum, let piece = publishing.popFirst() { publish(piece) }
  }

  private func settle(_ piece: Piece, _ outcome: EventOutcome) {
    waitingByteCount -= piece.bytes.count
    piece.owner.settled(piece.work, outcome)
    guard !waiters.isEmpty, waitingByteCount <= Self.byteCountMaximum / 2 else { return }
    let due = waiters
    waiters = []
    for waiter in due { waiter.resume() }
  }

  // MARK: To the store

  private func nextRun() -> [Piece] {
    var pieces: [Piece] = []
    var byteCount = 0
    // What was meant for the world is kept; what strangers signed goes first when the store makes room.
    while let next = waiting.first, pieces.count < OfferRun.countMaximum,
      pieces.first.map({ $0.isForeign == next.isForeign }) ?? true
    {
      byteCount += next.bytes.count + OfferRun.headerByteCount
      guard pieces.isEmpty || byteCount <= Self.runByteCount else { break }
      pieces.append(next)
      _ = waiting.popFirst()
    }
    return pieces
  }

  private func send(_ pieces: [Piece]) {
    runCount += 1
    EventLoopActor.task { [self] in
      await offer(pieces)
      runCount -= 1
      flush()
    }
  }

  private func offer(_ pieces: [Piece]) async {
    var run: [UInt8] = []
    for piece in pieces { OfferRun.append(piece.bytes, to: &run) }
    let offered = OfferedEvents(run)
    let method = pieces.first?.isForeign == true ? StoreMethod.offerForeign : StoreMethod.offer
    let result = await repeated { () async throws(Refusal) in try await self.bus.request(method, offered) }
    do throws(Refusal) {
      let bytes = try result.get().bytes
      let outcomes: [OfferOutcome]
      do throws(OfferRun.Problem) { outcomes = try OfferOutcome.read(bytes) } catch {
        throw Refusal(.badPayload, "\(error)")
      }
      guard outcomes.count == pieces.count else {
        throw Refusal(.badPayload, "the store has answered for \(outcomes.count) of \(pieces.count) events")
      }
      for (piece, outcome) in zip(pieces, outcomes) {
        guard outcome.isHere, isLate(piece) else {
          settle(piece, EventOutcome(outcome, note: piece.note))
          continue
        }
        publishing.append(piece, of: piece.owner.number)
      }
    } catch {
      log.warning("events were not taken", metadata: ["count": "\(pieces.count)", "why": "\(error.message)"])
      for piece in pieces { settle(piece, .failed(error.message)) }
    }
  }

  /// Whether an event was taken for a stranger's, and it has become known meanwhile that it is for the world. The
  /// signer tells of a new account before anybody else can, and the bus keeps the order: by the store's answer to an
  /// event of that account, this relay has heard of it.
  private func isLate(_ piece: Piece) -> Bool {
    piece.houseNumber != houseNumber && piece.note.isEmpty && piece.owner.destination(of: piece.work) == .world
  }

  // MARK: To the world

  private func publish(_ piece: Piece) {
    publishCount += 1
    EventLoopActor.task { [self] in
      await askToPublish(piece)
      publishCount -= 1
      flush()
    }
  }

  private func askToPublish(_ piece: Piece) async {
    if let why = await absence() {
      return why.isMeant ? keep(piece, why.words) : settle(piece, .failed(why.words))
    }
    // Every unfollow takes an entry from a list, and a client cannot be asked whether it means that.
    let wanted = PlanPublish(event: RawJSON(piece.bytes), replace: true)
    let result = await repeated { () async throws(Refusal) in try await self.bus.request(PlanMethod.publish, wanted) }
    switch result {
    case .success: settle(piece, .taken(note: ""))
    case .failure(let refusal):
      switch refusal.code {
      case .noRelays, .unknownMethod:
        keep(piece, refusal.message)
      case .superseded: settle(piece, .superseded)
      case .deletedEvent: settle(piece, .deleted)
      case .expiredEvent: settle(piece, .expired)
      case .invalidEvent: settle(piece, .invalid(refusal.message))
      default: settle(piece, .failed(refusal.message))
      }
    }
  }

  /// Why nobody sends events to relays, and whether that is meant: no planner is configured; else one is, and is
  /// stopped or has failed. Nil when there is one, or is about to be again.
  private func absence() async -> (words: String, isMeant: Bool)? {
    func isPlanner(_ role: String) -> Bool { role == Role.outboxPlanner.name }
    if bus.registry.members.contains(where: { isPlanner($0.role) }) { return nil }
    do throws(Refusal) {
      let workers = try await bus.request(SupervisorMethod.status, StatusRequest()).workers
      guard let planner = workers.first(where: { isPlanner($0.role) }) else {
        return ("no outbox-planner runs here", true)
      }
      return ("the \(planner.name) is \(planner.state)", false)
    } catch {
      return (error.message, false)
    }
  }

  /// Keeps what goes nowhere: a client that asks for it here finds it.
  private func keep(_ piece: Piece, _ why: String) {
    var kept = piece
    kept.note = "kept here, and sent nowhere: \(why)"
    waiting.append(kept, of: piece.owner.number)
  }

  /// Asks again while there is nobody to answer, for ten seconds; longer if the answers take time.
  private func repeated<Answer>(
    _ body: @EventLoopActor () async throws(Refusal) -> Answer
  ) async -> Result<Answer, Refusal> {
    var attempts = 0
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.patienceMilliseconds)
    while true {
      do throws(Refusal) { return .success(try await body()) } catch {
        attempts += 1
        guard error.isPassing, attempts < Self.attemptMaximum, EventLoop.process.now < deadline else {
          return .failure(error)
        }
        await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
      }
    }
  }
}

extension OfferOutcome {
  /// Whether the store has the event, or has passed it on.
  fileprivate var isHere: Bool {
    switch self {
    case .stored, .mended, .ephemeral, .duplicate, .ephemeralAgain: true
    case .superseded, .deleted, .vanished, .expired, .invalid: false
    }
  }
}

extension EventOutcome {
  /// What the store has said, as a client is told.
  init(_ outcome: OfferOutcome, note: String) {
    switch outcome {
    case .stored, .mended, .ephemeral: self = .taken(note: note)
    case .duplicate, .ephemeralAgain: self = note.isEmpty ? .duplicate : .taken(note: note)
    case .superseded: self = .superseded
    case .deleted, .vanished: self = .deleted
    case .expired: self = .expired
    case .invalid(let reason): self = .invalid(reason)
    }
  }
}
