import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import WorkerKit

// What one REQ is answered with: a `store.observe`, begun again by itself when the store was away.
//
//   stored ─ pages, newest first ─▶ end of what is stored ─ pages as they come ─▶ …
//
// Cut off among the stored events it asks again and passes over what it gave already; cut off later it goes on after
// the last seq. So a client sees one stream, whatever dies behind it.
//
// What is stored is brought in turns, which clients share (see QueryScheduler). A page is taken to a client that has
// room for it. One that does not read stops its own feeds: what is stored waits on the bus, a quarter of a MiB for each
// of few feeds, until another client waits for the turn; what comes is given back to the store, which has it. Both are
// asked for again later.

/// One subscription's way from the store to the client.
@EventLoopActor
final class Feed {
  /// Whom it feeds.
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

  private let work: ClientWork
  private let question: ClientQuery
  /// Whether the network is asked as well.
  let isFetched: Bool
  private let bus: BusConnection
  private weak var reader: (any Reader)?
  private var answer: BusAnswer?
  private var isOver = false
  /// The last seq given, once all that was stored has been.
  private var resumeSeq: Int64?
  /// Stored events given, so that none is given again when the store was away; beyond ``givenMaximum`` one may be.
  private var given: Set<Int64> = []
  private let desk: QueryScheduler
  /// What is stored is brought only in this turn, asked for or granted.
  private var turn: QueryScheduler.Turn?
  /// Whether the answer was given up for others, or for want of room.
  private var hasGivenWay = false
  /// Whether the store has been asked, and has not ended the answer.
  private var isAsking = false
  /// Whether it is waited for the client to read what is stored.
  private var isResting = false
  /// Bytes of events that were brought in this turn.
  private var broughtByteCount = 0
  /// Whether what is stored is more than a short turn brings.
  private var isLong = false
  /// The network's part of the answer, waited for before the end of what is stored is told.
  private var wait: FetchWait?

  /// How long the store may be away.
  private static let absenceMilliseconds: UInt64 = 60_000
  private static let retryMilliseconds: UInt64 = 250
  private static let givenMaximum = 200_000
  private static let unread = Refusal(.cancelled, "the client does not read", outcome: .done)
  private static let unwanted = Refusal(.cancelled, "the client wants no more", outcome: .done)

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
    EventLoopActor.task { [self] in await run() }
  }

  /// Ends it without a word.
  func cancel() {
    isOver = true
    wait?.cancel()
    giveUp(Self.unwanted)
  }

  /// Wants no more of the answer. Its turn is over when the store has ended it as well: until then it is on its way
  /// there, or worked on, and a client that asks again all the time would have many at once.
  private func giveUp(_ refusal: Refusal) {
    guard turn != nil, isAsking, !isResting else {
      answer?.abandon(refusal)
      return endTurn()
    }
    answer?.cancel()
  }

  private func endTurn() {
    guard let turn else { return }
    self.turn = nil
    desk.end(turn, byteCount: broughtByteCount)
  }

  /// Takes a turn when there is room for what it brings; false when nobody wants it any more.
  private func takeTurn() async -> Bool {
    while let reader, !isOver {
      await reader.awaitRoom()
      if isOver { return false }
      let turn = desk.ask(reader.number, question, isLong: isLong) { [weak self] in self?.giveWay() }
      self.turn = turn
      broughtByteCount = 0
      guard await desk.granting(turn), !isOver else { return false }
      if reader.hasRoom { return true }
      endTurn()
    }
    return false
  }

  /// Gives the answer up, to ask for the rest of it when the client has read.
  private func giveWay() {
    hasGivenWay = true
    giveUp(Self.unread)
  }

  /// Waits until the client has read enough. The turn rests meanwhile, or is given up.
  private func awaitRoom() async {
    guard reader?.hasRoom == false else { return }
    isResting = true
    if let turn, desk.rests(turn) { giveWay() }
    await reader?.awaitRoom()
    isResting = false
    if let turn { desk.works(turn) }
  }

  private func run() async {
    var lostAt = EventLoop.process.now
    while !isOver {
      let began = EventLoop.process.now
      let refusal = await observe()
      endTurn()
      if isOver { return }
      if answer != nil { lostAt = EventLoop.process.now }
      answer = nil
      guard let refusal else { continue }
      let isAway = refusal.isPassing || refusal.code == .unknownMethod
      guard isAway, began.milliseconds(since: lostAt) < Self.absenceMilliseconds else {
        isOver = true
        reader?.ended(work, refusal)
        return
      }
      await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
    }
  }

  /// Observes until it is cut off; returns by what, or nil when it is to be begun again at once.
  private func observe() async -> Refusal? {
    if resumeSeq == nil, await !takeTurn() { return Self.unwanted }
    hasGivenWay = false
    var wanted = StoreObserve(filters: [], afterSeq: resumeSeq)
    wanted.policy = isFetched ? .cacheWithNetwork : .cacheOnly
    wanted.pages = true
    wanted.recipients = question.recipients.map(\.description)
    isAsking = true
    defer { isAsking = false }
    do throws(Refusal) {
      let answer = try await bus.ask(
        StoreMethod.observe, encoded: BusPayload(json: wanted, filters: question.filters))
      self.answer = answer.answer
      if isOver { giveUp(Self.unwanted) }
      if isFetched, !isOver, resumeSeq == nil, wait == nil { wait = FetchWait(wanted, question.filters, bus) }
      while let part = try await answer.nextPart() {
        if isOver || hasGivenWay { continue }
        if part.isRaw, resumeSeq != nil, reader?.hasRoom == false {
          answer.abandon(Self.unread)
          await reader?.awaitRoom()
          return nil
        }
        try await take(part)
      }
    } catch {
      return hasGivenWay ? nil : error
    }
    return hasGivenWay ? nil : Refusal(.unavailable, "the store has ended the answer", outcome: .done)
  }

  private func take(_ payload: ObservedEvents) async throws(Refusal) {
    guard payload.isRaw else {
      let end = try JSONPayload.decode(StoredEnd.self, from: payload.bytes)
      let isFirst = resumeSeq == nil
      resumeSeq = max(resumeSeq ?? end.seq, end.seq)
      given = []
      endTurn()
      if isFirst { tellEnd(end) }
      return
    }
    await awaitRoom()
    if isOver || hasGivenWay { return }
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(payload.bytes) } catch {
      throw Refusal(.badPayload, error.description)
    }
    wait?.noteProgress()
    let new = records.filter(isNew)
    guard !new.isEmpty else { return }
    reader?.deliver(work, payload.bytes, new)
    broughtByteCount += payload.bytes.count
    if let turn, broughtByteCount >= QueryScheduler.shareByteCount, desk.isSpent(turn) {
      isLong = true
      giveWay()
    }
  }

  private func isNew(_ record: EventPage.Record) -> Bool {
    guard let seq = record.seq else { return true }
    guard let last = resumeSeq else {
      return given.count < Self.givenMaximum ? given.insert(seq).inserted : !given.contains(seq)
    }
    resumeSeq = max(last, seq)
    return true
  }

  private func tellEnd(_ end: StoredEnd) {
    guard let wait else {
      reader?.storedEnd(work, isComplete: end.isComplete)
      return
    }
    // The network may have more: nothing is said about completeness.
    wait.whenOver { [weak self] in
      guard let self, !isOver else { return }
      reader?.storedEnd(work, isComplete: nil)
    }
  }
}
