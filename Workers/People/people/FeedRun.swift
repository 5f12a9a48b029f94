import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Feeds
import Frames
import Logging
import Nostr
import NostrContracts
import WorkerKit

// One feed or inbox. `FeedCourse` decides what passes; this class asks the store, and sends.
//
// A caller that does not read stops its own feed alone: the store's answer is given up after a moment, and asked for
// again from the same place when the caller has room. So unread events wait in the store, and not in this worker's
// window, which all feeds share.

/// One open feed or inbox.
@EventLoopActor
final class FeedRun {
  /// How parts are written.
  enum Form {
    case events, pages, items
  }

  let number: UInt64
  /// Whose feed or inbox it is.
  let account: PublicKey
  private let request: BusRequest
  private let bus: BusConnection
  private let network: FeedNetwork?
  private let opener: ListOpener
  private let form: Form
  /// How many stored events are wanted first; nil: the caller resumes.
  private let limit: Int?
  private let log: Logger
  private var course: FeedCourse
  private var answer: BusAnswer?
  private var isOver = false
  private var isStopping = false
  private var hasSentStoredEnd = false
  /// Events of the first page that were sent, in case the store dies before its end.
  private var paged: Set<EventID> = []
  private var lastState: FeedState?
  /// Whether the answer was given up on purpose, and is asked for again at once.
  private var isGivenUp = false
  private let parkTimer = LoopTimer()

  /// How long an unread part may hold the store's answer back.
  private static let parkMilliseconds: UInt64 = 100
  /// The longest wait after a failure of the store.
  private static let retryMillisecondsMaximum: UInt64 = 2_000
  /// When a caller is to ask again after this process.
  private static let returnMilliseconds: UInt32 = 500
  /// Bytes of a request to the store beside the authors.
  private static let requestByteCount = 4_096
  /// How many more events than wanted are read for the first page, because some may be muted.
  private static let spare = 4

  init(
    _ number: UInt64, _ request: BusRequest, _ worker: Worker, _ opener: ListOpener, _ network: FeedNetwork?,
    _ course: FeedCourse, of account: PublicKey, limit: Int?, _ form: Form, _ log: Logger
  ) {
    self.account = account
    (self.number, self.request, self.opener, self.network) = (number, request, opener, network)
    (self.course, self.limit, self.form, self.log) = (course, limit, form, log)
    bus = worker.bus
  }

  // MARK: Running

  /// Runs until the caller cancels.
  ///
  /// - Throws: why it ended.
  func run() async throws(Refusal) {
    request.onCancel = { [weak self] in self?.end() }
    request.accept()
    var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
    var isBegun = false
    while !isOver {
      let began = EventLoop.process.now
      do throws(Refusal) {
        if !isBegun {
          try await begin()
          isBegun = true
        }
        try await observe()
      } catch {
        if isOver { break }
        guard isGivenUp || Self.mayPass(error) else { throw error }
        log.debug("a feed's answer has ended", metadata: ["why": "\(error.message)"])
      }
      answer = nil
      guard !isGivenUp, !isOver else { continue }
      delay.lasted(milliseconds: EventLoop.process.now.milliseconds(since: began))
      await EventLoopActor.sleep(milliseconds: delay.next())
    }
    guard isStopping else { throw Refusal(.cancelled, "the feed was ended", outcome: .done) }
    throw Refusal(
      .unavailable, "the worker is stopping; ask again after the last seq received", outcome: .done,
      retryAfterMilliseconds: Self.returnMilliseconds)
  }

  /// Whether the store may be back soon.
  private static func mayPass(_ refusal: Refusal) -> Bool {
    [.workerDied, .unavailable, .gone, .disconnected, .notReading, .cancelled, .full].contains(refusal.code)
  }

  /// Ends it; `isStopping`: the caller is to ask the next process.
  func end(isStopping: Bool = false) {
    isOver = true
    self.isStopping = isStopping
    giveUp()
    network?.want(nil, for: number)
  }

  private func giveUp() {
    isGivenUp = true
    answer?.abandon(Refusal(.cancelled, "something else is observed"))
  }

  // MARK: Beginning

  private func begin() async throws(Refusal) {
    for event in try await query(course.lists.filters, limit: course.lists.filters.count).map(\.event) {
      _ = course.learned(event)
    }
    await openSealed()
    wantNetwork()
    try await sendState()
    guard let limit else { return }
    let isComplete = try await sendPage(limit)
    paged = []
    try await sendStoredEnd(StoredEnd(seq: course.position, isComplete: isComplete))
  }

  /// Sends the newest stored events.
  ///
  /// - Returns: whether these are all; nil: unknown.
  private func sendPage(_ limit: Int) async throws(Refusal) -> Bool? {
    guard limit > 0 else { return nil }
    var found: [(seq: Int64?, event: Event, json: [UInt8])] = []
    var isComplete = true
    let wanted = limit * Self.spare
    // Each part of a long list is asked for by itself, so what is newest of all is known only at the end.
    for filter in course.shownFilters(byteMaximum: byteMaximum) {
      let some = try await query([filter], limit: wanted)
      if some.count >= wanted { isComplete = false }
      found += some
    }
    found.sort { ($1.event.createdAt, $0.event.id) < ($0.event.createdAt, $1.event.id) }
    var count = 0
    for (seq, event, json) in found {
      guard count < limit else { return false }
      let verdict = course.paged(event, seq: seq)
      if case .leftOut = verdict { continue }
      count += 1
      guard paged.insert(event.id).inserted else { continue }
      try await send(parts([(seq, event.kind, json, verdict)]))
    }
    return isComplete
  }

  private func query(
    _ filters: [Filter], limit: Int
  ) async throws(Refusal) -> [(seq: Int64?, event: Event, json: [UInt8])] {
    let wanted = StoreQuery(filters: [], limit: limit, pages: true)
    let answer = try await bus.ask(StoreMethod.query, encoded: BusPayload(json: wanted, filters: filters))
    var events: [(seq: Int64?, event: Event, json: [UInt8])] = []
    while let page = try await answer.nextPart() {
      for record in try records(page.bytes) {
        let json = Array(page.bytes[record.bytes])
        // `try?`: the store has verified it; what cannot be read is not shown.
        if let event = try? Event(json: json) { events.append((record.seq, event, json)) }
      }
    }
    return events
  }

  private func records(_ page: [UInt8]) throws(Refusal) -> [EventPage.Record] {
    do throws(EventPage.Problem) { return try EventPage.read(page) } catch {
      throw Refusal(.badPayload, error.description)
    }
  }

  private var byteMaximum: Int { bus.welcome.frameLimit - Self.requestByteCount }

  private func wantNetwork() {
    switch course.subject {
    case .people(_, let kinds): network?.want(.people(course.lists.shown, kinds: kinds.sorted()), for: number)
    case .inbox: network?.want(course.shownFilters(byteMaximum: byteMaximum).first.map { .filter($0) }, for: number)
    }
  }

  // MARK: Lists

  /// Some accounts were unlocked.
  func accountsUnlocked() {
    guard !course.lists.sealed.isEmpty, !isOver else { return }
    EventLoopActor.task { [self] in
      let change = await openSealed()
      // `try?`: without a caller the feed is ended elsewhere.
      try? await sendState()
      listsChanged(change)
    }
  }

  @discardableResult
  private func openSealed() async -> FeedLists.Change {
    var change: FeedLists.Change = []
    for list in course.lists.sealed {
      let (hidden, privacy) = await opener.open(list)
      change.formUnion(course.opened(hidden, of: list.id, privacy))
    }
    return change
  }

  /// If other people are shown, everything is asked for again from this place on.
  private func listsChanged(_ change: FeedLists.Change) {
    guard change.contains(.people), !isOver else { return }
    wantNetwork()
    giveUp()
  }

  // MARK: Observing

  private func observe() async throws(Refusal) {
    isGivenUp = false
    var wanted = StoreObserve(filters: [], afterSeq: course.position)
    wanted.policy = .cacheOnly
    wanted.pages = true
    let filters = course.observedFilters(byteMaximum: byteMaximum)
    let answer = try await bus.ask(StoreMethod.observe, encoded: BusPayload(json: wanted, filters: filters))
    self.answer = answer.answer
    if isOver || isGivenUp { giveUp() }
    while let part = try await answer.nextPart(), !isOver {
      if part.isRaw {
        try await take(part.bytes)
      } else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        course.storedEnded(at: end.seq)
        if !hasSentStoredEnd { try await sendStoredEnd(StoredEnd(seq: course.position)) }
      }
    }
  }

  private func take(_ page: [UInt8]) async throws(Refusal) {
    var passed: [(seq: Int64?, kind: UInt16, json: [UInt8], verdict: FeedCourse.Verdict)] = []
    for record in try records(page) {
      let json = Array(page[record.bytes])
      // `try?`: as in `query`.
      guard let event = try? Event(json: json) else { continue }
      let (verdict, change) = course.received(event, seq: record.seq)
      if case .leftOut = verdict {} else { passed.append((record.seq, record.kind, json, verdict)) }
      guard course.lists.isVersion(event) else { continue }
      // What comes after a version of a list is judged by it, so its private entries are read before.
      try await send(parts(passed))
      passed = []
      let opened = await openSealed()
      try await sendState()
      listsChanged(change.union(opened))
      // The rest of the page comes again, with what the others have written.
      if isGivenUp { return }
    }
    try await send(parts(passed))
  }

  // MARK: Sending

  private func parts(
    _ events: [(seq: Int64?, kind: UInt16, json: [UInt8], verdict: FeedCourse.Verdict)]
  ) -> [BusPayload] {
    guard !events.isEmpty else { return [] }
    if form == .pages {
      var page: [UInt8] = []
      for event in events {
        event.json.withUnsafeBytes { EventPage.append(seq: event.seq, kind: event.kind, $0, to: &page) }
      }
      return [BusPayload(page, isRaw: true)]
    }
    return events.map { event in
      if case .found(let finding) = event.verdict {
        return BusPayload(json: finding.item(seq: event.seq ?? 0, event.json))
      }
      let seq = event.seq.map { "\"seq\":\($0)," } ?? ""
      return BusPayload(Array("{\(seq)\"event\":".utf8) + event.json + [UInt8(ascii: "}")])
    }
  }

  private func sendState() async throws(Refusal) {
    let state = course.lists.state
    guard state != lastState else { return }
    lastState = state
    try await send([BusPayload(json: state)])
  }

  private func sendStoredEnd(_ end: StoredEnd) async throws(Refusal) {
    hasSentStoredEnd = true
    try await send([BusPayload(json: end)])
  }

  private func send(_ parts: [BusPayload]) async throws(Refusal) {
    for part in parts where !request.sendNow(part: part) {
      parkTimer.set(afterMilliseconds: Self.parkMilliseconds) { [weak self] in self?.giveUp() }
      defer { parkTimer.cancel() }
      try await request.send(part: part)
    }
  }
}
