import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WorkerKit

// What one REQ is answered with. `FeedMachine` decides; here are the store, the turns (see `QueryScheduler`), the
// network and the client. One task performs the machine's waits, one after the other; what comes meanwhile, `cancel()`
// or another client's wish for the turn, has actions without a wait.

/// One subscription's way from the store to the client.
@EventLoopActor
final class Feed {
  /// The client that it feeds.
  @EventLoopActor
  protocol Reader: AnyObject {
    /// These events of a page are to be sent.
    func deliver(_ work: ClientWork, _ page: [UInt8], _ records: [EventPage.Record])
    /// All that was stored has been sent.
    func storedEnd(_ work: ClientWork, isComplete: Bool?)
    /// There will be nothing more.
    func ended(_ work: ClientWork, _ refusal: Refusal)
    /// Whether the client has read enough of what was sent for more.
    var hasRoom: Bool { get }
    /// Waits until it has.
    func awaitRoom() async
    /// Counts connections.
    var number: UInt64 { get }
  }

  private typealias Answer = StreamAnswer<ObservedEvents, Nothing>

  private let work: ClientWork
  private let question: ClientQuery
  /// Whether the network is asked as well.
  let isFetched: Bool
  private let bus: BusConnection
  private let desk: QueryScheduler
  private weak var reader: (any Reader)?
  private var machine: FeedMachine
  /// What the machine waits for next.
  private var next: FeedMachine.Wait?
  private var answer: Answer?
  /// The part that has just arrived.
  private var part: ObservedEvents?
  /// What is stored is brought only in this turn, asked for or granted.
  private var turn: QueryScheduler.Turn?
  /// The network's part of the answer.
  private var wait: FetchWait?

  init(
    _ work: ClientWork, _ question: ClientQuery, isFetched: Bool, _ bus: BusConnection, _ desk: QueryScheduler,
    for reader: any Reader
  ) {
    self.desk = desk
    self.work = work
    self.question = question
    self.isFetched = isFetched
    self.bus = bus
    self.reader = reader
    machine = FeedMachine(isFetched: isFetched)
    EventLoopActor.task { [self] in await run() }
  }

  /// Ends it without a word.
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
      // A client that is gone has cancelled its feeds, or does so in this turn of the loop.
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
    wanted.policy = isFetched ? .cacheWithNetwork : .cacheOnly
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
    case .tellStoredEnd(let isComplete): reader?.storedEnd(work, isComplete: isComplete)
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
    // A subscription that waits for events keeps none.
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
