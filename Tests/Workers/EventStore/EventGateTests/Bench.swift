import Contracts
import Cryptography
import EventArchive
import EventGate
import Nostr
import Testing

/// A gate with an archive that is a list, and every step in the test's hand.
struct Bench {
  var gate: EventGate
  /// Actions of the gate that are not performed yet.
  private var actions: [GateAction] = []
  let keys = ParsedKeyCache()
  /// Ids in the order of their commits.
  private(set) var committed: [EventID] = []
  private(set) var seqs: [EventID: Int64] = [:]
  private(set) var announced: [EventID] = []
  /// Notes, with the number of events committed before each.
  private(set) var notes: [(note: ArchiveNote, behind: Int)] = []
  private(set) var superseded: [EventID] = []
  private(set) var supersededRelays: [Int64?] = []
  /// Events in whose place a newer one is.
  var late: Set<EventID> = []
  private(set) var announcedRelays: [Int64?] = []
  private(set) var announcedSeqs: [Int64?] = []
  private(set) var answers: [UInt64: GateResult] = [:]
  private(set) var refused: [UInt64] = []
  private(set) var reports: [TrustReport] = []
  /// Committed without a look at the signature.
  private(set) var unchecked: Set<EventID> = []
  private(set) var batchSizes: [Int] = []
  /// Of each batch, whether it had to be on the disk before its answers.
  private(set) var synced: [Bool] = []
  /// What became of the bytes of a seq, where they are not those that were stored.
  var damaged: [Int64: [UInt8]] = [:]
  private(set) var mended: [EventID] = []
  var lastSeq: Int64 = 0
  var now: Int64 = 1_000

  init(recentCapacity: Int = 1_000, trust: RelayTrust = RelayTrust(seed: 0)) {
    gate = EventGate(recentCapacity: recentCapacity, trust: trust)
  }

  @discardableResult
  mutating func submit(
    _ events: [[UInt8]], _ lane: Lane, relay: Int64? = nil, rank: RetentionRank = .ordinary, tellsEach: Bool = false
  ) -> UInt64 {
    var (run, incoming): ([UInt8], [IncomingEvent]) = ([], [])
    for (index, event) in events.enumerated() {
      incoming.append(
        IncomingEvent(record: index, bytes: run.count..<run.count + event.count, relay: relay, receivedAt: 7))
      run += event
    }
    return gate.received(run, incoming, lane, rank: rank, tellsEach: tellsEach, &actions)
  }

  /// Submits events with a note behind each so many of them.
  @discardableResult
  mutating func submit(_ events: [[UInt8]], notedEvery count: Int, _ note: ArchiveNote, _ lane: Lane) -> UInt64 {
    var (run, incoming): ([UInt8], [IncomingEvent]) = ([], [])
    for (index, event) in events.enumerated() {
      let bytes = run.count..<run.count + event.count
      incoming.append(IncomingEvent(record: incoming.count, bytes: bytes, relay: 1, receivedAt: 7))
      run += event
      if (index + 1) % count == 0 { incoming.append(IncomingEvent(record: incoming.count, note)) }
    }
    return gate.received(run, incoming, lane, &actions)
  }

  /// The process ends and begins again: the archive stays.
  mutating func restart() {
    gate = EventGate()
    answers = [:]
  }

  /// Runs a job to its end.
  mutating func finish(_ job: GateJob) {
    let seqs = seqs
    let damaged = damaged
    finish(
      job,
      job.run(
        lookUp: { $0.map { seqs[$0] } }, stored: { seqs in damaged.filter { seqs.contains($0.key) } }, now: now,
        keys: keys))
  }

  /// Ends a job with these findings.
  mutating func finish(_ job: GateJob, _ findings: [GateJob.Finding]) { gate.finished(job, findings, &actions) }

  /// What the next transaction writes.
  mutating func nextBatch() -> GateBatch? { gate.nextBatch(now: now, &actions) }

  /// Writes what is ready; false when nothing is.
  mutating func write(fails: Bool = false) -> Bool {
    guard let batch = nextBatch() else {
      take()
      return false
    }
    batchSizes.append(batch.entries.count)
    synced.append(batch.isSynced)
    if fails { gate.failed(&actions) } else { gate.committed(commit(batch), &actions) }
    take()
    return true
  }

  private mutating func commit(_ batch: GateBatch) -> ArchiveCommit {
    let outcomes = batch.entries.map { entry -> StoreOutcome in
      switch entry {
      case .seen(let seq, _, _, _): return .duplicate(seq: seq)
      case .note(let note):
        notes.append((note, behind: committed.count))
        return .noted
      case .event(let event):
        if let end = event.expiration, end <= now { return .expired }
        if late.contains(event.indexed.id) { return .superseded }
        if let seq = seqs[event.indexed.id] {
          return damaged.removeValue(forKey: seq) == nil ? .duplicate(seq: seq) : .mended(seq: seq)
        }
        lastSeq += 1
        seqs[event.indexed.id] = lastSeq
        committed.append(event.indexed.id)
        if !event.isSignatureChecked { unchecked.insert(event.indexed.id) }
        return .stored(seq: lastSeq)
      }
    }
    return ArchiveCommit(outcomes: outcomes, lastSeq: lastSeq)
  }

  /// Forgets an event, as retention or an expiry would.
  mutating func remove(_ id: EventID) {
    seqs[id] = nil
    gate.removed([id])
  }

  /// Performs the gate's actions.
  mutating func take() {
    for action in actions {
      switch action {
      case .announce(let event, let seq):
        announced.append(event.indexed.id)
        announcedSeqs.append(seq)
        announcedRelays.append(event.relay)
      case .announceSuperseded(let event):
        superseded.append(event.indexed.id)
        supersededRelays.append(event.relay)
      case .answer(let number, let result):
        #expect(answers[number] == nil, "answered twice")
        answers[number] = result
      case .mended(let id, _): mended.append(id)
      case .report(let report): reports.append(report)
      case .refuse(let number): refused.append(number)
      }
    }
    actions = []
  }

  /// Runs and writes until nothing is left to do.
  mutating func run() {
    var moved = true
    while moved {
      moved = false
      while let job = gate.nextJob() {
        finish(job)
        moved = true
      }
      while write() { moved = true }
    }
  }
}

/// Events of a few authors.
enum Made {
  static let authors = (0..<4).map { _ in SecretKey.generate() }

  static func event(_ number: Int, kind: UInt16 = 1, tags: [[String]] = []) -> Event {
    let author = authors[number % authors.count]
    return UnsignedEvent(
      pubkey: author.publicKey, createdAt: Int64(number), kind: kind, tags: tags, content: "event \(number)"
    ).signed(by: author)
  }

  static func json(_ number: Int, kind: UInt16 = 1) -> [UInt8] { event(number, kind: kind).json }

  /// The same id, and another text: what a forger sends to hide the event.
  static func forged(_ event: Event) -> [UInt8] {
    Array(String(decoding: event.json, as: UTF8.self).replacing(event.content, with: "forged").utf8)
  }

  /// The right id, and a signature that is another event's.
  static func missigned(_ number: Int, kind: UInt16 = 1) -> (id: EventID, json: [UInt8]) {
    let (event, other) = (event(number, kind: kind), event(number + 1))
    let text = String(decoding: event.json, as: UTF8.self).replacing("\(event.signature)", with: "\(other.signature)")
    return (event.id, Array(text.utf8))
  }
}
