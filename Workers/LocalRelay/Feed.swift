import Bus
import ClientSession
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import Observing

// What one REQ is answered with: a `store.observe`, begun again by itself when the store was away.
//
//   stored ─ pages, newest first ─▶ end of what is stored ─ pages as they come ─▶ …
//
// Cut off among the stored events it asks anew and passes over what it gave already; cut off later it goes on after the
// last seq. So a client sees one stream, whatever dies behind it.
//
// It takes the next page when the client has room for it: a client that does not read stops its own feeds, and the
// store reads on for it later.

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
    /// Waits until the client has read what was sent, as far as that is needed.
    func awaitRoom() async
  }

  private let work: ClientWork
  private let question: ClientQuestion
  /// Whether the network is asked as well.
  let isFetched: Bool
  private let bus: BusConnection
  private unowned let reader: any Reader
  private var answer: BusAnswer?
  private var isOver = false
  /// The last seq given, once all that was stored has been.
  private var resumeSeq: Int64?
  private var given: Set<Int64> = []
  /// The network's part of the answer, waited for before the end of what is stored is told.
  private var wait: FetchWait?

  /// How long the store may be away.
  private static let absenceMilliseconds: UInt64 = 60_000
  private static let retryMilliseconds: UInt64 = 250

  init(_ work: ClientWork, _ question: ClientQuestion, isFetched: Bool, _ bus: BusConnection, for reader: any Reader) {
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
    answer?.abandon(Refusal(.cancelled, "the client wants no more", outcome: .done))
  }

  private func run() async {
    var lostAt = EventLoop.process.now
    while !isOver {
      let began = EventLoop.process.now
      let refusal = await observe()
      if isOver { return }
      if answer != nil { lostAt = EventLoop.process.now }
      answer = nil
      let isAway = refusal.isPassing || refusal.code == .unknownMethod
      guard isAway, began.milliseconds(since: lostAt) < Self.absenceMilliseconds else {
        isOver = true
        return reader.ended(work, refusal)
      }
      await EventLoopActor.sleep(milliseconds: Self.retryMilliseconds)
    }
  }

  /// Observes until it is cut off; returns by what.
  private func observe() async -> Refusal {
    var wanted = StoreObserve(filters: question.filters.map { JSONValue(of: $0) }, afterSeq: resumeSeq)
    wanted.policy = isFetched ? .cacheWithNetwork : .cacheOnly
    wanted.pages = true
    wanted.recipients = question.recipients.map(\.description)
    do throws(Refusal) {
      let answer = try await bus.ask("store.observe", BusPayload(json: wanted))
      guard !isOver else {
        answer.abandon(Refusal(.cancelled, "the client wants no more", outcome: .done))
        return Refusal(.cancelled, "the client wants no more", outcome: .done)
      }
      self.answer = answer
      if isFetched, resumeSeq == nil, wait == nil { wait = FetchWait(wanted, bus) }
      while let part = try await answer.nextPart(), !isOver { try await take(part.payload) }
    } catch {
      return error
    }
    return Refusal(.unavailable, "the store has ended the answer", outcome: .done)
  }

  private func take(_ payload: BusPayload) async throws(Refusal) {
    guard payload.isRaw else {
      let end = try payload.decoded(as: StoredEnd.self)
      let isFirst = resumeSeq == nil
      resumeSeq = max(resumeSeq ?? end.seq, end.seq)
      given = []
      if isFirst { tellEnd(end) }
      return
    }
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(payload.bytes) } catch {
      throw Refusal(.badPayload, error.description)
    }
    let new = records.filter(isNew)
    if !new.isEmpty { reader.deliver(work, payload.bytes, new) }
    await reader.awaitRoom()
  }

  private func isNew(_ record: EventPage.Record) -> Bool {
    guard let seq = record.seq else { return true }
    guard let last = resumeSeq else { return given.insert(seq).inserted }
    resumeSeq = max(last, seq)
    return true
  }

  private func tellEnd(_ end: StoredEnd) {
    guard let wait else { return reader.storedEnd(work, isComplete: end.isComplete) }
    // The network may have more: nothing is said about completeness.
    wait.whenOver { [weak self] in
      guard let self, !isOver else { return }
      reader.storedEnd(work, isComplete: nil)
    }
  }
}
