import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WorkerKit

// The answer to one REQ. `FeedMachine` decides; this class connects it with the store, the slots (see `QueryScheduler`;
// the code calls a slot a turn), the network and the client. One task performs the machine's waits, one after the
// other. Inputs that come meanwhile (`cancel()`, or another client that needs the slot) lead to actions without a wait.

/// One subscription, from the store to the client.
@EventLoopActor
final class Feed {
  /// The client of this subscription.
  @EventLoopActor
  protocol Reader: AnyObject {
    /// Sends these events of a page.
    func deliver(_ work: ClientWork, _ page: [UInt8], _ records: [EventPage.Record])
    /// All stored events have been sent.
    func storedEnd(_ work: ClientWork, isComplete: Bool?)
    /// Nothing more will be sent.
    func ended(_ work: ClientWork, _ refusal: Refusal)
    /// Whether the client has read enough of the output to get more.
    var hasRoom: Bool { get }
    /// Waits until `hasRoom`.
    func awaitRoom() async
    /// The connection's number.
    var number: UInt64 { get }
  }

  /// Events of each relay for a filter without `since`, if the client has not asked for the network in particular.
  private static let networkLimit = 500

  private typealias Answer = StreamAnswer<ObservedEvents, Nothing>

  private let work: ClientWork
  private let question: ClientQuery
  /// Whether the query also goes to the network.
  let network: NetworkPart
  private let bus: BusConnection
  private let desk: QueryScheduler
  private weak var reader: (any Reader)?
  private var machine: FeedMachine
  /// The machine's next wait.
  private var next: FeedMachine.Wait?
  private var answer: Answer?
  /// The part that has just arrived.
  private var part: ObservedEvents?
  /// The slot in which stored events are read, requested or granted.
  private var turn: QueryScheduler.Turn?
  private let began = EventLoop.process.now
  /// Follows the network's part of the answer.
  private var wait: FetchWait?

  init(
    _ work: ClientWork, _ question: ClientQuery, _ network: NetworkPart, _ bus: BusConnection, _ desk: QueryScheduler,
    for reader: any Reader
  ) {
    self.desk = desk
    self.work = work
    self.question = question
    self.network = network
    self.bus = bus
    self.reader = reader
    machine = FeedMachine(awaitsNetwork: network == .awaited)
    EventLoopActor.task { [self] in await run() }
  }

  /// Ends it without a message to the client.
  func cancel() { perform(machine.cancelled()) }

  // MARK: Waiting

  private func run() async {
    perform(machine.began(at: EventLoop.process.now))
    while let wait = next {
      next = nil
      perform(await input(after: wait))
    }
  }

  private func input(after wait: FeedMachine.Wait) async -> [FeedMachine.Action] {
    switch wait {
    case .room:
      // A client that has left has cancelled its feeds, or does so in this turn of the event loop.
      guard let reader else { return machine.cancelled() }
      await reader.awaitRoom()
      return machine.clientHasRoom(at: EventLoop.process.now)
    case .turn:
      guard let turn else { return machine.turnWithdrawn() }
      guard await desk.granting(turn) else { return machine.turnWithdrawn() }
      return machine.turnGranted(hasRoom: hasRoom)
    case .answer(let seq): return await ask(after: seq)
    case .part: return await read()
    case .pause(let milliseconds):
      await EventLoopActor.sleep(milliseconds: milliseconds)
      return machine.pauseEnded(at: EventLoop.process.now)
    }
  }

  private var hasRoom: Bool { reader?.hasRoom ?? true }

  private func ask(after seq: Int64?) async -> [FeedMachine.Action] {
    do throws(Refusal) {
      answer = try await bus.ask(
        StoreMethod.observe, encoded: BusPayload(json: wanted(after: seq), filters: question.filters))
      return machine.answerBegan()
    } catch { return answerEnded(error) }
  }

  private func wanted(after seq: Int64?) -> StoreObserve {
    var wanted = StoreObserve(filters: [], afterSeq: seq)
    wanted.policy = network == .none ? .cacheOnly : .cacheWithNetwork
    if network == .beside { wanted.networkLimit = Self.networkLimit }
    wanted.pages = true
    wanted.recipients = question.recipients.map(\.description)
    return wanted
  }

  private func read() async -> [FeedMachine.Action] {
    do throws(Refusal) {
      guard let next = try await answer?.nextPart() else { return answerEnded(nil) }
      part = next
      return machine.partArrived(isPage: next.isRaw, hasRoom: hasRoom)
    } catch { return answerEnded(error) }
  }

  private func answerEnded(_ refusal: Refusal?) -> [FeedMachine.Action] {
    (answer, part) = (nil, nil)
    return machine.answerEnded(refusal, at: EventLoop.process.now)
  }

  // MARK: Actions

  private func perform(_ actions: [FeedMachine.Action]) {
    for action in actions { perform(action) }
  }

  private func perform(_ action: FeedMachine.Action) {
    switch action {
    case .wait(let wait): next = wait
    case .askForTurn, .restTurn, .resumeTurn, .endTurn, .compareShare: performOnTurn(action)
    case .followNetwork: wait = FetchWait(wanted(after: nil), question.filters, bus)
    case .noteNetworkProgress: wait?.noteProgress()
    case .awaitNetwork:
      wait?.whenOver { [weak self] in
        guard let self else { return }
        perform(machine.networkEnded())
      }
    case .leaveNetwork: wait?.cancel()
    case .takePart: takePart()
    case .deliver(let records): if let part { reader?.deliver(work, part.bytes, records) }
    case .tellStoredEnd(let isComplete):
      // A client that waits for relays waits by design.
      if network != .awaited { desk.latency.measured(from: began, to: EventLoop.process.now) }
      reader?.storedEnd(work, isComplete: isComplete)
    case .tellEnd(let refusal): reader?.ended(work, refusal)
    case .cancelAnswer: answer?.cancel()
    case .abandonAnswer(let refusal):
      part = nil
      answer?.abandon(refusal)
    }
  }

  private func performOnTurn(_ action: FeedMachine.Action) {
    if case .askForTurn(let isLong) = action, let reader {
      turn = desk.ask(reader.number, question, isLong: isLong) { [weak self] in self?.turnWanted() }
    }
    guard let turn else { return }
    switch action {
    case .restTurn: if desk.rests(turn) { turnWanted() }
    case .resumeTurn: desk.works(turn)
    case .compareShare: if desk.isSpent(turn) { perform(machine.turnSpent()) }
    case .endTurn(let byteCount):
      self.turn = nil
      desk.end(turn, byteCount: byteCount)
    default: break
    }
  }

  private func turnWanted() { perform(machine.turnWanted()) }

  private func takePart() {
    guard let part else { return }
    // Free the memory: a subscription that waits for events keeps no part.
    defer { self.part = nil }
    do throws(Refusal) {
      guard part.isRaw else {
        return perform(machine.tookStoredEnd(try JSONPayload.decode(StoredEnd.self, from: part.bytes)))
      }
      let records: [EventPage.Record]
      do throws(EventPage.Problem) { records = try EventPage.read(part.bytes) } catch {
        throw Refusal(.badPayload, error.description)
      }
      perform(machine.tookPage(records, byteCount: part.bytes.count))
    } catch { perform(answerEnded(error)) }
  }
}
