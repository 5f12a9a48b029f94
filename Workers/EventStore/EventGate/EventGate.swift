internal import Clocks
public import Contracts
internal import DequeModule
public import EventArchive
internal import Nostr

// The path of an event from its bytes to its commit, without the loop, the threads and the disk.
//
//    received ─ lane ─ take ─┬─ its id is remembered ──────────────────┬─ in order ─ batch ─ commit ─ announce, answer
//                            ├─ its id is being verified: it follows ──┤
//                            └─ job: looked up; if new, verified ──────┘
//
// Order. Events of a lane are written in the order in which they came. Their checks may end in another order: then each
// waits for those before it. Events of different lanes have no order among each other.
//
// Each id from relays and files is verified once. While a copy is being verified, further copies follow it: they wait
// for the outcome. If the copy is valid, they are duplicates; if it is forged, the next of them is verified. Only the
// ids of valid events are remembered, so a forged copy hides nothing.
//
// An event that a caller of this machine hands in (`store.publish`, `store.offer`) is verified even if its id is known,
// because the caller must get a verdict on the exact bytes that it sent. Such an event is not looked up first:
// `ArchiveWriter.store` finds out whether it is stored already, as it does for every event that reaches it.
//
// Bounds. A submission's credit comes back with its answer, so the senders' credit bounds what waits. `jobMaximum` jobs
// of `checkMaximum` events, and one more job of local events, bound the checks that are under way; `batchMaximum`
// bounds a transaction, and `RecentIDs` the ids that are remembered.
//
// Rejected: one queue ordered by priority. A flood in the first lane would stop the others. So each lane has a share of
// every job.
//
// The actions of an input are appended to the caller's array: the store performs those of several inputs together.

/// The gate: lanes, checks, batches. A value without I/O.
public struct EventGate: Sendable {
  /// Counters since the start.
  public struct Counters: Sendable, Hashable {
    /// Events that were checked with their signature, and all that a check found invalid.
    public var verified: UInt64 = 0
    /// Events of sampled relays that were taken without a check of the signature.
    public var unchecked: UInt64 = 0
    /// Events whose id was known, or was being verified, when they came.
    public var duplicates: UInt64 = 0
    /// Events refused as invalid.
    public var invalid: UInt64 = 0
  }

  /// Counters since the start.
  public private(set) var counters = Counters()
  /// Which signatures are checked, and what relays have shown of themselves.
  public var trust: RelayTrust
  /// Events that are not answered yet, by lane (`Lane.rawValue`).
  public internal(set) var waiting = [0, 0, 0]

  /// Most events of one job.
  public static let checkMaximum = 32
  /// Most jobs under way.
  public static let jobMaximum = 4
  /// Most further jobs, which take local events only, so that a local event never waits for events of relays.
  public static let localJobMaximum = 1
  /// Most entries of one transaction.
  public static let batchMaximum = 1_000
  /// Places of a transaction that a lane leaves free for each lane behind it.
  static let batchReserve = 100
  /// Most events of the other lanes in a transaction with local events. It must be short, because a publisher waits.
  static let besideLocalMaximum = 100

  struct Submission: Sendable {
    let lane: Lane
    let run: [UInt8]
    let events: [IncomingEvent]
    let rank: RetentionRank
    let hasNotes: Bool
    var next = 0
    var open: Int
    var result: GateResult

    /// Whether a caller of this machine handed it in (`store.publish`, `store.offer`, `store.offer.foreign`) and waits
    /// for the outcome. An import is not local.
    var isLocal: Bool { rank != .ordinary }
  }

  enum Resolution: Sendable {
    case known(seq: Int64)
    case metEphemeral
    case valid(VerifiedEvent)
    case invalid(String)
    case note(ArchiveNote)
  }

  struct Item: Sendable {
    let submission: UInt64
    let index: Int
    var id: EventID?
    var resolution: Resolution?
    /// Whether it is local: verified by itself, whatever is known of its id.
    var isAlone = false
  }

  /// An id that is being verified, or is verified and not written yet.
  struct Pending: Sendable {
    var verified: VerifiedEvent?
    var followers: [UInt64] = []
    var holders = 1
  }

  var submissions: [UInt64: Submission] = [:]
  private var lanes: [Deque<UInt64>] = [[], [], []]
  var order: [Deque<UInt64>] = [[], [], []]
  var items: [UInt64: Item] = [:]
  var pending: [EventID: Pending] = [:]
  /// Followers of a copy that was forged: these are checked next.
  private var promoted = Deque<UInt64>()
  var writing: [(item: UInt64, isEntry: Bool)]?
  private var jobCount = 0
  /// How often events were removed. A look-up that began at a lower count may name an event that is gone.
  var removalCount: UInt64 = 0
  private var nextItem: UInt64 = 1
  private var nextSubmission: UInt64 = 1
  var recent: RecentIDs<Int64>
  var recentEphemeral: RecentIDs<Void>
  private let eventByteCountMaximum: Int

  /// A gate that has met nothing.
  ///
  /// - Parameters:
  ///   - recentCapacity: how many ids are remembered at least; half as many of ephemeral events.
  ///   - trust: which signatures are checked; by default all.
  ///   - eventByteCountMaximum: an event with more bytes is invalid.
  public init(
    recentCapacity: Int = 32_768, trust: RelayTrust = RelayTrust(seed: 0),
    eventByteCountMaximum: Int = EventLimit.byteCountMaximum()
  ) {
    self.trust = trust
    self.eventByteCountMaximum = eventByteCountMaximum
    recent = RecentIDs(capacity: recentCapacity)
    recentEphemeral = RecentIDs(capacity: max(1, recentCapacity / 2))
  }

  /// Whether nothing waits and nothing is on its way.
  public var isIdle: Bool { submissions.isEmpty && items.isEmpty }

  // MARK: Coming in

  /// A run of events and notes has come. Its answer, or its refusal, comes as an action.
  ///
  /// - Parameters:
  ///   - run: the bytes of the events.
  ///   - events: the events, in order.
  ///   - lane: which of the three they wait in.
  ///   - rank: when they are removed, if the store needs room; `ordinary` for events of relays and files.
  ///   - tellsEach: whether the answer has an outcome for each event (``GateResult/outcomes``).
  ///   - actions: gets the answer of a run that is empty.
  /// - Returns: the submission's number, by which it is answered.
  public mutating func received(
    _ run: [UInt8], _ events: [IncomingEvent], _ lane: Lane, rank: RetentionRank = .ordinary, tellsEach: Bool = false,
    _ actions: inout [GateAction]
  ) -> UInt64 {
    let number = nextSubmission
    nextSubmission += 1
    guard !events.isEmpty else {
      actions.append(.answer(number, tellsEach ? GateResult(outcomeCount: 0) : GateResult()))
      return number
    }
    submissions[number] = Submission(
      lane: lane, run: run, events: events, rank: rank, hasNotes: events.contains { $0.note != nil },
      open: events.count, result: tellsEach ? GateResult(outcomeCount: events.count) : GateResult())
    lanes[lane.rawValue].append(number)
    waiting[lane.rawValue] += events.count
    return number
  }

  /// The next job for a thread; nil when no event waits for one, or enough are under way.
  public mutating func nextJob() -> GateJob? {
    guard jobCount < Self.jobMaximum + Self.localJobMaximum else { return nil }
    var checks: [GateJob.Check] = []
    if jobCount >= Self.jobMaximum {
      take(.local, upTo: Lane.local.share, &checks)
    } else {
      while checks.count < Self.checkMaximum, let number = promoted.popFirst() { append(number, to: &checks) }
      for lane in Lane.allCases { take(lane, upTo: checks.count + lane.share, &checks) }
      for lane in Lane.allCases { take(lane, upTo: Self.checkMaximum, &checks) }
    }
    guard !checks.isEmpty else { return nil }
    jobCount += 1
    return GateJob(checks: checks, removalCount: removalCount, isAloneInGate: items.count == 1)
  }

  private mutating func take(_ lane: Lane, upTo end: Int, _ checks: inout [GateJob.Check]) {
    while checks.count < min(end, Self.checkMaximum), let number = lanes[lane.rawValue].first {
      guard let index = submissions[number]?.next, index < submissions[number]?.events.count ?? 0 else {
        lanes[lane.rawValue].removeFirst()
        continue
      }
      submissions[number]?.next += 1
      meet(Item(submission: number, index: index), lane, &checks)
    }
  }

  /// Looks at one event for the first time.
  private mutating func meet(_ item: Item, _ lane: Lane, _ checks: inout [GateJob.Check]) {
    let number = nextItem
    nextItem += 1
    var item = item
    order[lane.rawValue].append(number)
    if let note = submissions[item.submission]?.events[item.index].note {
      item.resolution = .note(note)
      items[number] = item
      return
    }
    if let seq = submissions[item.submission]?.events[item.index].seq {
      item.resolution = .known(seq: seq)
      items[number] = item
      return
    }
    let glance = glance(at: item)
    guard case .success(let id) = glance else {
      if case .failure(let fault) = glance { item.resolution = .invalid("\(fault)") }
      counters.invalid += 1
      items[number] = item
      return
    }
    item.id = id
    if submissions[item.submission]?.isLocal == true {
      item.isAlone = true
      items[number] = item
      append(number, to: &checks)
      return
    }
    // An event of a file, which no relay sent, is not taken as known from memory. Its job compares it with the stored
    // event, which may have expired or be damaged.
    if incomingRelay(of: item) != nil, let seq = recent.value(of: id) {
      item.resolution = .known(seq: seq)
    } else if recentEphemeral.value(of: id) != nil {
      item.resolution = .metEphemeral
    } else if let verified = pending[id]?.verified {
      pending[id]?.holders += 1
      item.resolution = .valid(verified)
    } else if pending[id] != nil {
      pending[id]?.holders += 1
      pending[id]?.followers.append(number)
    } else {
      pending[id] = Pending()
      items[number] = item
      append(number, to: &checks)
      return
    }
    counters.duplicates += 1
    items[number] = item
  }

  private func incomingRelay(of item: Item) -> Int64? { submissions[item.submission]?.events[item.index].relay }

  private func glance(at item: Item) -> Result<EventID, any Error> {
    guard let submission = submissions[item.submission] else {
      preconditionFailure("its submission was just looked at")
    }
    let range = submission.events[item.index].bytes
    guard range.count <= eventByteCountMaximum else {
      return .failure(EventFault.tooLarge(byteCount: range.count, maximum: eventByteCountMaximum))
    }
    return submission.run.withUnsafeBytes { run in
      do throws(EventGlanceFault) {
        return .success(try EventGlance(UnsafeRawBufferPointer(rebasing: run[range])).id)
      } catch { return .failure(error) }
    }
  }

  private mutating func append(_ number: UInt64, to checks: inout [GateJob.Check]) {
    let item = items[known: number]
    guard let id = item.id else { preconditionFailure("an event without an id is not checked") }
    guard let submission = submissions[item.submission] else {
      // Its submission was refused while it waited here. The next copy of the id is checked in its place.
      items[number]?.resolution = .invalid("given up")
      if !item.isAlone { leave(id, promoting: true) }
      return
    }
    let incoming = submission.events[item.index]
    checks.append(
      GateJob.Check(
        item: number, id: id, run: submission.run, bytes: incoming.bytes, relay: incoming.relay,
        checksSignature: submission.lane == .local || trust.checksNext(of: incoming.relay), isAlone: item.isAlone))
  }

  // MARK: Checked

  /// A job is done.
  public mutating func finished(_ job: GateJob, _ findings: [GateJob.Finding], _ actions: inout [GateAction]) {
    precondition(findings.count == job.checks.count, "each check has a finding")
    jobCount -= 1
    for (check, finding) in zip(job.checks, findings) {
      actions += trust.found(finding, of: check.relay).map { .report($0) }
      switch finding {
      case .known(let seq):
        counters.duplicates += 1
        if job.removalCount == removalCount { recent.insert(check.id, seq) }
        resolve(check.item, .known(seq: seq))
        if check.isAlone { continue }
        for follower in pending[check.id]?.followers ?? [] { resolve(follower, .known(seq: seq)) }
        pending[check.id] = nil
      case .valid(let event):
        if event.isSignatureChecked { counters.verified += 1 } else { counters.unchecked += 1 }
        resolve(check.item, .valid(event))
        if check.isAlone { continue }
        for follower in pending[check.id]?.followers ?? [] { resolve(follower, .valid(event)) }
        pending[check.id]?.verified = event
        pending[check.id]?.followers = []
      case .invalid(let fault):
        counters.verified += 1
        counters.invalid += 1
        resolve(check.item, .invalid("\(fault)"))
        if !check.isAlone { leave(check.id, promoting: true) }
      }
    }
  }

  private mutating func resolve(_ number: UInt64, _ resolution: Resolution) {
    items[known: number].resolution = resolution
  }

  /// One copy of an id has its outcome, or is found invalid. With `promoting`, the next follower is checked.
  mutating func leave(_ id: EventID, promoting: Bool = false) {
    guard var entry = pending[id] else { return }
    entry.holders -= 1
    if promoting, !entry.followers.isEmpty { promoted.append(entry.followers.removeFirst()) }
    pending[id] = entry.holders > 0 ? entry : nil
  }
}
