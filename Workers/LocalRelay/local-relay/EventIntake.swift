import Bus
import ClientSession
import Clocks
import Contracts
import EventLoop
import FairSharing
import Frames
import Logging

// Sends the clients' events onward: to the store in runs, or one by one to the publish queue.
//
// A run is a batch: it takes the events that arrived while the run before it was in flight, from each client in turn. A
// single event goes at once. In a flood, many events share a frame, a transaction and an answer, and a client with one
// event does not wait behind clients with thousands. Two runs are in flight at a time, so that the store verifies one
// while it writes the other.
//
// If the store or the planner dies with an event in flight, the event is offered again. A worker that has it already
// says so, and the client gets the final outcome. Until then the client waits, as for a slow disk, and reading from it
// pauses when much waits.

/// Takes the events of all clients, and reports the outcome of each event to its client.
@EventLoopActor
final class EventIntake {
  /// A client that has sent an event.
  @EventLoopActor
  protocol Owner: AnyObject {
    /// The connection's number.
    var number: UInt64 { get }
    /// The outcome of an event is known.
    func settled(_ work: ClientWork, _ outcome: EventOutcome)
    /// Where an event goes by what is known now; nil when the client no longer waits for it.
    func destination(of work: ClientWork) -> EventDestination?
  }

  private struct Piece {
    let owner: any Owner
    let work: ClientWork
    let bytes: [UInt8]
    /// The `houseNumber` when the event was judged.
    let houseNumber: UInt64
    let destination: EventDestination
    let takenAt: Instant
    var note = ""

    /// Whether another Roost of the same owner sends it.
    var isShared: Bool { if case .shared = destination { true } else { false } }

    /// How it is stored. An event of an account goes to the store only with a note that says why it is not published.
    var method: Method<OfferedEvents, OfferOutcomes> {
      if case .shared(let isOwn) = destination { return isOwn ? StoreMethod.offer : StoreMethod.offerPeer }
      return note.isEmpty ? StoreMethod.offerForeign : StoreMethod.offer
    }
  }

  /// Most runs in flight.
  private static let runMaximum = 2
  /// Most bytes of a run; one larger event goes alone.
  private static let runByteCount = 256 << 10
  /// Most publications in flight.
  private static let publishMaximum = 128
  /// Waiting bytes above which reading from clients pauses.
  static let byteCountMaximum = 32 << 20
  /// Waiting bytes that each client may have in any case.
  static let littleByteCount = 16 << 10
  /// Most attempts at a request whose failures are temporary, and the pause between two attempts.
  private static let attemptMaximum = 40
  private static let retryMilliseconds: UInt64 = 250
  /// After this time there is no further attempt: a failed attempt may take long itself, and a client waits.
  private static let patienceMilliseconds: UInt64 = 30_000

  /// How long clients waited for their answers (OK).
  private(set) var latency = LatencyHistogram()
  private let bus: BusConnection
  private let log: Logger
  private var waiting = FairQueue<Piece>()
  private var publishing = FairQueue<Piece>()
  private var runCount = 0
  private var publishCount = 0
  private var isFlushDue = false
  private var waitingByteCount = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// Counts the changes of the known accounts, to find events that were judged before a change.
  private var houseNumber: UInt64 = 0

  init(_ bus: BusConnection, _ log: Logger) {
    self.bus = bus
    self.log = log
  }

  /// Whether reading pauses for clients with more than `littleByteCount` waiting.
  var isFull: Bool { waitingByteCount >= Self.byteCountMaximum }

  /// Waits until at most half of the bytes wait.
  func awaitRoom() async {
    guard isFull else { return }
    await withCheckedContinuation { waiters.append($0) }
  }

  /// Takes an event.
  func take(_ work: ClientWork, of owner: any Owner, _ bytes: [UInt8], to destination: EventDestination) {
    waitingByteCount += bytes.count
    let piece = Piece(
      owner: owner, work: work, bytes: bytes, houseNumber: houseNumber, destination: destination,
      takenAt: EventLoop.process.now)
    switch destination {
    case .store, .shared: waiting.append(piece, of: owner.number)
    case .world: publishing.append(piece, of: owner.number)
    }
    guard !isFlushDue else { return }
    isFlushDue = true
    // Events that arrive in the same turn of the event loop share the run.
    EventLoopActor.task { [self] in
      isFlushDue = false
      flush()
    }
  }

  /// The known accounts have changed.
  func houseChanged() { houseNumber += 1 }

  private func flush() {
    while runCount < Self.runMaximum, !waiting.isEmpty { send(nextRun()) }
    while publishCount < Self.publishMaximum, let piece = publishing.popFirst() { publish(piece) }
  }

  private func settle(_ piece: Piece, _ outcome: EventOutcome) {
    waitingByteCount -= piece.bytes.count
    latency.measured(from: piece.takenAt, to: EventLoop.process.now)
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
    // A run is own, shared or foreign: own events are kept, and the store removes foreign ones first to make room.
    while let next = waiting.first, pieces.count < OfferRun.countMaximum,
      pieces.first.map({ $0.method.name == next.method.name }) ?? true
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
    let method = pieces.first?.method ?? StoreMethod.offerForeign
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

  /// Whether an event was judged as foreign, but must be published because its author is known as an account by now.
  /// The signer announces a new account before any client can use it, and the bus keeps the order: when the store's
  /// answer to an event of that account arrives, this relay already knows the account.
  private func isLate(_ piece: Piece) -> Bool {
    !piece.isShared && piece.houseNumber != houseNumber && piece.note.isEmpty
      && piece.owner.destination(of: piece.work) == .world
  }

  // MARK: To relays

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
    // Each unfollow removes an entry from a list, and a client cannot be asked to confirm it.
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

  /// Why no worker publishes events, and whether that is intended: no planner is configured. It is not intended if a
  /// configured planner is stopped or has failed. Nil when a planner is there, or is about to return.
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

  /// Stores an event that is not published, so that clients of this relay find it.
  private func keep(_ piece: Piece, _ why: String) {
    var kept = piece
    kept.note = "kept here, and sent nowhere: \(why)"
    waiting.append(kept, of: piece.owner.number)
  }

  /// Repeats a request while its failures are temporary: for ten seconds, longer if the failures take time.
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
  /// The store's outcome, in the form for the client.
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
