import Bus
import Contracts
import CopyLedger
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Mirroring
import Nostr
import NostrContracts
import Storage
import WorkerKit

// Keeps other Roosts of the same owner the same as this one, in what the accounts' interests name.
//
//     for each account: for each interest: relay.compare ─▶ what is there and not here comes
//                       plan.exchange ◀─▶ relay.publications   what each has published, the other knows
//                       plan.copy ─▶ what is here and not there goes
//
// Publications are exchanged between the two directions. So the other knows of an event that goes whether it was
// published, and to which relays: without that, copies of an event whose publisher named its relays would go to others.
// Of what came that is not known for a moment: this is written down (`openSince`), and no round of copies begins
// meanwhile.

/// Compares with the other Roosts of the same owner.
@EventLoopActor
final class PeerKeeper {
  private let worker: Worker
  private unowned let copies: CopyKeeper
  private unowned let bounds: BoundKeeper
  private let log = Logger(label: "mirror")
  /// The interests of an account, at this moment.
  var interests: (PublicKey) -> [MirrorInterest] = { _ in [] }
  private var peers: [String] = []
  private var schedules: [String: PeerSchedule] = [:]
  private var statuses: [String: PeerStatus] = [:]
  /// What was sent to each peer since the start.
  private var sentEvents: [String: SentEvents] = [:]
  /// The accounts, each with a URL, whose publications are being exchanged.
  private var exchanging: Set<String> = []
  private var isDraining = false
  private let timer = LoopTimer()

  /// The longest time between two looks at what is due.
  private static let lookMilliseconds: UInt64 = 10_000
  /// How long the other has for an answer about publications.
  private static let exchangeMilliseconds: UInt32 = 60_000
  /// Copies wait for what a peer has published for so long; then the peer is taken for lost.
  private static let openSeconds: Int64 = 7 * 86_400
  /// How often that which waits for its turn looks.
  private static let turnMilliseconds: UInt64 = 100
  /// The most messages of one exchange: more than two ledgers can fill.
  private static let exchangeMaximum = 2_000
  /// Attempts at a run of events.
  private static let attemptMaximum = 3

  init(_ worker: Worker, _ copies: CopyKeeper, _ bounds: BoundKeeper) {
    (self.worker, self.copies, self.bounds) = (worker, copies, bounds)
    worker.serve(MirrorMethod.sync, sync)
  }

  // MARK: Settings and accounts

  func settingsAre(_ settings: MirrorSettings) {
    peers = settings.peers
    for peer in peers where schedules[peer] == nil {
      schedules[peer] = PeerSchedule(at: WallClock.seconds)
      statuses[peer] = PeerStatus(peer: peer)
    }
    look()
  }

  /// Other accounts, or other interests of theirs: all is compared again.
  func accountsChanged() {
    for peer in peers where schedules[peer]?.isRunning == false {
      schedules[peer] = PeerSchedule(at: WallClock.seconds)
    }
    look()
  }

  func drain() {
    isDraining = true
    timer.cancel()
  }

  /// Begins the comparisons that are due.
  private func look() {
    guard !isDraining, !peers.isEmpty else { return timer.cancel() }
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in look() }
    guard !copies.accounts.isEmpty else { return }
    for peer in peers where schedules[peer]?.isDue(at: WallClock.seconds) == true {
      EventLoopActor.task { [self] in await compare(peer, isAsked: false) }
    }
  }

  /// Whether a comparison is under way.
  var isComparing: Bool { schedules.values.contains(where: \.isRunning) }

  // MARK: mirror.status, mirror.sync

  func status() -> [PeerStatus] {
    peers.compactMap { peer in
      guard var status = statuses[peer], let schedule = schedules[peer] else { return nil }
      status.isRunning = schedule.isRunning
      status.nextAt = schedule.isRunning ? nil : schedule.nextAt
      return status
    }
  }

  private func sync(_ request: BusRequest, _ wanted: MirrorSync) async throws(Refusal) -> StoreCount? {
    let chosen = peers.filter { wanted.peer == nil || PeerPath.url(of: $0) == wanted.peer.flatMap(PeerPath.url) }
    guard !chosen.isEmpty else {
      let words = peers.isEmpty ? "no other Roost is named: 'peers' in [worker.mirror]" : "it is not among 'peers'"
      throw Refusal(.noSuchRelay, words, outcome: .notStarted)
    }
    request.accept()
    var count = 0
    for peer in chosen {
      // A comparison under way may have passed what the caller means.
      while schedules[peer]?.isRunning == true, !request.isCancelled, !isDraining {
        await EventLoopActor.sleep(milliseconds: Self.turnMilliseconds)
      }
      guard !request.isCancelled, !isDraining else { break }
      await compare(peer, isAsked: true)
      guard let status = status().first(where: { $0.peer == peer }) else { continue }
      count += status.fetched + status.sent
      try await request.send(status, of: MirrorMethod.sync)
    }
    return StoreCount(count: count)
  }

  // MARK: One comparison

  private func compare(_ peer: String, isAsked: Bool) async {
    guard let url = PeerPath.url(of: peer), schedules[peer]?.isRunning == false else { return }
    let since = schedules[peer]?.began(at: WallClock.seconds, isAsked: isAsked) ?? nil
    var status = PeerStatus(peer: peer)
    (status.sameAt, status.learned) = (statuses[peer]?.sameAt, statuses[peer]?.learned ?? 0)
    statuses[peer] = status
    var (isSame, left) = (true, 0)
    for account in copies.accounts {
      do throws(Refusal) {
        left += try await compare(account, since: since, peer, url)
      } catch {
        isSame = false
        statuses[peer]?.reason = "\(account.name): \(error.message)"
        log.info(
          "another Roost is not the same yet",
          metadata: ["peer": "\(peer)", "account": "\(account.name)", "why": "\(error.message)"])
      }
    }
    let now = WallClock.seconds
    if isSame, left > 0 {
      statuses[peer]?.reason =
        "\(Amount.count(left, "event")) did not stay there: each was taken \(SentEvents.sentMaximum) times"
    } else if isSame {
      statuses[peer]?.sameAt = now
    }
    schedules[peer]?.ended(isSame: isSame, at: now)
  }

  /// - Returns: how many events are not sent there, since they did not stay.
  private func compare(
    _ account: MirrorAccount, since oldest: Int64?, _ peer: String, _ url: String
  ) async throws(Refusal) -> Int {
    guard !isDraining else { throw Self.draining }
    let key = account.key
    // Before anything comes: if the other is away, nothing will.
    try await exchange(account, url)
    let since = try await opened(key, url)
    var absent: [EventID] = []
    for interest in interests(key) { absent += try await compare(interest, as: key, since: oldest, peer, url) }
    try await exchange(account, url)
    try await copies.writing { () throws(StorageFault) in try await copies.ledger.close(key, url, since: since) }
    return try await send(absent, as: key, peer, url)
  }

  private static let draining = Refusal(.unavailable, "the mirror is stopping")

  private func opened(_ key: PublicKey, _ url: String) async throws(Refusal) -> Int64 {
    var since: Int64 = 0
    try await copies.writing { () throws(StorageFault) in
      since = try await copies.ledger.open(key, url, at: WallClock.seconds)
    }
    return since
  }

  /// Has what is there and not here fetched.
  ///
  /// - Returns: what is here and not there.
  private func compare(
    _ interest: MirrorInterest, as account: PublicKey, since: Int64?, _ peer: String, _ url: String
  ) async throws(Refusal) -> [EventID] {
    guard await bounds.recall() else { throw Refusal(.unavailable, "the bounds are not known") }
    let now = WallClock.seconds
    var absent: [EventID] = []
    // The newest first, so that a class that becomes full on the way has what fits.
    for window in PeerSchedule.windows(since: since, at: now) {
      guard !bounds.stuck.contains(interest.kept) else {
        throw Refusal(.full, "\(interest.kept) is over its bound, and nothing of it can be removed")
      }
      let floor = bounds.bounds.floor(of: interest.kept)?.since
      for filter in interest.fetched(since: floor, at: now) {
        var bare = filter
        (bare.since, bare.until) = (nil, nil)
        let first = max(window.lowerBound, filter.since ?? 0)
        let last = min(window.upperBound, filter.until ?? .max)
        guard first <= last else { continue }
        absent += try await compare(bare, first...last, as: account, peer, url)
      }
      bounds.touch(interest.kept)
      await bounds.look(at: interest.kept)
    }
    return absent
  }

  private func compare(
    _ filter: Filter, _ times: ClosedRange<Int64>, as account: PublicKey, _ peer: String, _ url: String
  ) async throws(Refusal) -> [EventID] {
    let wanted = RelayReconcile(
      relay: url, filter: JSONValue(of: filter), since: times.lowerBound, until: times.upperBound,
      account: "\(account)")
    let answer = try await worker.bus.ask(RelayMethod.compare, wanted)
    var absent: [EventID] = []
    while let item = try await answer.next() {
      switch item {
      case .part(let part): absent += part.ids
      case .end(let result):
        statuses[peer]?.fetched += Int(clamping: result.counts.fetched)
        guard result.end == .complete else {
          throw Refusal(.failed, result.reason ?? "the comparison did not come to its end")
        }
      }
    }
    return absent
  }

  // MARK: Publications

  /// Before copies are sent: learns what was published at peers whose events are here already.
  ///
  /// - Throws: if that cannot be learned now.
  func learnPublications(of account: MirrorAccount) async throws(Refusal) {
    for peer in peers {
      guard let url = PeerPath.url(of: peer) else { continue }
      let known = try await copies.reading { () throws(StorageFault) in try await copies.ledger.peer(account.key, url) }
      let isRunning = schedules[peer]?.isRunning ?? false
      guard let since = known.openSince, isRunning || since > WallClock.seconds - Self.openSeconds else { continue }
      do throws(Refusal) { try await exchange(account, url) } catch {
        throw Refusal(error.code, "what was published at \(peer) is not known yet: \(error.message)")
      }
      // A comparison that is running has opened it again, or closes it itself.
      guard !isRunning else { continue }
      try await copies.writing { () throws(StorageFault) in
        try await copies.ledger.close(account.key, url, since: since)
      }
    }
  }

  /// Tells the other what was published here, and learns what was published there, until both know all.
  ///
  /// - Throws: also if the other's answers do not come to an end.
  private func exchange(_ account: MirrorAccount, _ url: String) async throws(Refusal) {
    let key = account.key
    // One at a time: each reads how far it is, and writes that at the end.
    let name = "\(key) \(url)"
    while exchanging.contains(name), !isDraining {
      await EventLoopActor.sleep(milliseconds: Self.turnMilliseconds)
    }
    exchanging.insert(name)
    defer { exchanging.remove(name) }
    var known = try await copies.reading { () throws(StorageFault) in try await copies.ledger.peer(key, url) }
    let now = WallClock.seconds
    let isWhole = now - known.wholeAt >= PeerSchedule.publicationSeconds || known.wholeAt > now
    if isWhole { (known.told, known.learned) = (0, 0) }
    for _ in 0..<Self.exchangeMaximum where !isDraining {
      let own = try await worker.bus.request(
        PlanMethod.exchange, PublicationExchange(account: "\(key)", after: known.told))
      let question = PublicationExchange(account: "\(key)", after: known.learned, publications: own.publications)
      let theirs = try await worker.bus.request(
        RelayMethod.publications, RelayPublications(relay: url, question),
        ttlMilliseconds: Self.exchangeMilliseconds)
      guard theirs.next >= 0, theirs.isComplete || theirs.next > known.learned,
        theirs.publications.count <= PublicationExchange.countMaximum
      else { throw Refusal(.failed, "what it says of its publications makes no sense") }
      if !theirs.publications.isEmpty {
        _ = try await worker.bus.request(
          PlanMethod.exchange,
          PublicationExchange(account: "\(key)", after: own.next, publications: theirs.publications))
        for peer in peers where PeerPath.url(of: peer) == url { statuses[peer]?.learned += theirs.publications.count }
      }
      (known.told, known.learned) = (own.next, theirs.next)
      let isOver = own.isComplete && theirs.isComplete
      if isOver, isWhole { known.wholeAt = now }
      try await copies.writing { [known] () throws(StorageFault) in
        try await copies.ledger.advance(key, url, to: known)
      }
      if isOver { return }
    }
    throw Refusal(.failed, "the exchange of publications was not finished; it continues the next time")
  }

  // MARK: Sending

  /// Sends what the other lacks. What it refuses has a reason there: its author has deleted it, or its time is over.
  ///
  /// - Returns: how many events are not sent, since they did not stay there.
  private func send(
    _ absent: [EventID], as account: PublicKey, _ peer: String, _ url: String
  ) async throws(Refusal) -> Int {
    let sent = sentEvents[url] ?? SentEvents()
    // An event may be of several interests.
    let all = Set(absent)
    let ids = all.filter { sent.mayBeSent($0) }.sorted().map { "\($0)" }
    for start in stride(from: 0, to: ids.count, by: PlanCopy.idMaximum) {
      var run = Array(ids[start..<min(start + PlanCopy.idMaximum, ids.count)])
      var attempt = 0
      while !run.isEmpty {
        attempt += 1
        guard !isDraining else { throw Self.draining }
        let answer = try await worker.bus.request(
          PlanMethod.copy, PlanCopy(relay: url, ids: run, account: "\(account)"))
        statuses[peer]?.sent += answer.outcomes.count { $0.state == .held }
        for outcome in answer.outcomes {
          if let id = EventID(outcome.id) { sentEvents[url, default: SentEvents()].noted(id, outcome.state) }
        }
        run = answer.outcomes.filter { $0.state == .failed }.map(\.id)
        guard attempt < Self.attemptMaximum || run.isEmpty else {
          throw Refusal(.failed, answer.outcomes.compactMap(\.message).first ?? "a run of events was not taken")
        }
      }
    }
    return all.count { sent.didNotStay($0) }
  }
}
