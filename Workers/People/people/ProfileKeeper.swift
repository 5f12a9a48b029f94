import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import Profiles
import WorkerKit

// people.profiles: what is known, what comes, and each change.
//
//     people.profiles ─▶ ProfileReaders ── due ─▶ ProfileMemory ── not there ─▶ store.query
//                │                                     ▲
//                └─▶ ProfileAsking ─▶ plan.want ─▶ relays ─▶ store ── store.observe, by seq
//
// Relays send to the store, and only what the store has committed is sent to callers. So there is one way in for a
// profile that a relay sends, that a client hands in, and that another worker fetched.

/// The people of a request who are read from the store.
@EventLoopActor
private final class ProfileLoading {
  /// Those who are to be read.
  var missing: [PublicKey] = []
  /// Those who were read, until the request takes them: the memory may not have room for all.
  var found: [PublicKey: StoredProfile] = [:]
  var isUnderWay = false
  var failure: Refusal?

  func take(_ key: PublicKey) -> StoredProfile? { found.removeValue(forKey: key) }
}

/// Keeps profiles, and serves those who want them.
@EventLoopActor
final class ProfileKeeper {
  let worker: Worker
  let bus: BusConnection
  let log: Logger
  private(set) var memory: ProfileMemory
  private var asking = ProfileAsking()
  private var readers = ProfileReaders()
  var claims = NameClaims()
  private let timer = LoopTimer()
  private var generator = SystemRandomNumberGenerator()
  /// Requests that have nothing to send at present.
  private var sleepers: [ProfileReaders.Reader: CheckedContinuation<Void, Never>] = [:]
  /// What requests have read from the store and not sent.
  private var loadings: [ProfileReaders.Reader: ProfileLoading] = [:]
  /// The last seq of the store that was seen. What was read before that would not be noticed to change.
  private var seq: Int64?
  private var seqWaiters: [CheckedContinuation<Void, Never>] = []
  /// People who are read from the store at present, with how many reads: a change of theirs counts meanwhile.
  private var readsUnderWay: [PublicKey: Int] = [:]

  /// The people whom the store is asked for first, so that something is sent soon.
  private static let firstBatch = 500
  /// The most people of one query of the store.
  private static let batchMaximum = PeopleProfiles.keyMaximum
  /// The longest wait after a failure of another worker.
  private static let retryMillisecondsMaximum: UInt64 = 2_000
  /// The most bytes of profiles that one look holds beside the memory; the people behind them are read again, fewer at
  /// a time. Most profiles have less than a kilobyte, and some 64.
  private static let heldByteMaximum = 32 << 20
  /// How long the store may be away before a request ends, in milliseconds.
  private static let storePatienceMilliseconds: UInt64 = 20_000
  /// How long relays have for one batch, in seconds: a relay that sends nothing for 30 s does not count.
  private static let wishSeconds = 60

  init(_ worker: Worker, _ log: Logger, memoryBytes: Int64) {
    (self.worker, bus, self.log) = (worker, worker.bus, log)
    memory = ProfileMemory(byteMaximum: Int(clamping: memoryBytes))
  }

  /// Starts to serve, and to follow the store.
  func start() {
    worker.serve(PeopleMethod.profiles) { [unowned self] (request, wanted) throws(Refusal) in
      try await profiles(request, wanted)
    }
    worker.serve(PeopleMethod.find) { [unowned self] (request, wanted) throws(Refusal) in
      try await find(request, wanted)
    }
    worker.serve(PeopleMethod.name) { [unowned self] (_, wanted) throws(Refusal) in try await name(wanted) }
    worker.persist("store.observe of profiles", ceilingMilliseconds: Self.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      try await follow()
      return false
    }
  }

  /// The setting has changed.
  func memoryIs(_ bytes: Int64) { memory.byteMaximum = Int(clamping: bytes) }

  /// The worker is about to end: callers ask the next one.
  func drain() {
    timer.cancel()
    for reader in sleepers.keys { wake(reader) }
    for waiter in seqWaiters { waiter.resume() }
    seqWaiters = []
  }

  // MARK: The store's changes

  /// Kind 0, and what removes it: deletions (NIP-09) and requests to vanish (NIP-62).
  private static let kinds = [EventKind.metadata, EventKind.deletion, EventKind.vanish]

  private func follow() async throws(Refusal) {
    var filter = Filter(kinds: Self.kinds)
    if seq == nil { filter.limit = 0 }
    var wanted = StoreObserve(filters: [JSONValue(of: filter)], afterSeq: seq)
    (wanted.policy, wanted.pages) = (.cacheOnly, true)
    let answer = try await bus.ask(StoreMethod.observe, wanted)
    while let part = try await answer.nextPart() {
      if part.isRaw {
        do throws(EventPage.Problem) {
          for record in try EventPage.read(part.bytes) {
            committed(Array(part.bytes[record.bytes]))
            seqIs(record.seq ?? 0)
          }
        } catch { throw Refusal(.badPayload, error.description) }
      } else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        if let seq, end.seq < seq {
          log.warning("the store has fewer events than before", metadata: ["seq": "\(end.seq)", "before": "\(seq)"])
          memory.forgetAll()
          self.seq = nil
        }
        seqIs(end.seq)
      }
    }
  }

  private func seqIs(_ new: Int64) {
    seq = max(seq ?? 0, new)
    for waiter in seqWaiters { waiter.resume() }
    seqWaiters = []
  }

  private func committed(_ json: [UInt8]) {
    let event: Event
    do throws(EventFault) { event = try Event(json: json) } catch {
      log.error("an event of the store cannot be read", metadata: ["why": "\(error)"])
      return
    }
    let key = event.pubkey
    guard memory.contains(key) || readers.watches(key) || readsUnderWay[key] != nil else { return }
    if event.kind == EventKind.metadata {
      guard memory.learned(StoredProfile(event), of: key) else { return }
    } else {
      // What is left of the author is read again.
      memory.forget(key)
    }
    changed(key)
  }

  /// Something else is to be sent of a person.
  func changed(_ key: PublicKey) {
    for reader in readers.changed(key) {
      // What was read before is older.
      _ = loadings[reader]?.take(key)
      wake(reader)
    }
  }

  // MARK: Reading

  /// Profiles of people, from memory or else from the store: each of them is in the result, up to
  /// ``heldByteMaximum`` of those that are not in memory, and the first in any case.
  func read(_ keys: [PublicKey]) async throws(Refusal) -> [PublicKey: StoredProfile] {
    var found: [PublicKey: StoredProfile] = [:]
    var missing: [PublicKey] = []
    for key in keys {
      if let profile = memory.find(key) { found[key] = profile } else { missing.append(key) }
    }
    var rest = missing[...]
    while !rest.isEmpty {
      let batch = Array(rest.prefix(Self.batchMaximum))
      rest = rest.dropFirst(batch.count)
      for (key, profile) in try await load(batch) { found[key] = profile }
    }
    return found
  }

  /// Reads people from the store, and waits for a store that is away.
  private func load(_ keys: [PublicKey]) async throws(Refusal) -> [PublicKey: StoredProfile] {
    for key in keys { readsUnderWay[key, default: 0] += 1 }
    defer {
      for key in keys {
        let count = (readsUnderWay[key] ?? 1) - 1
        readsUnderWay[key] = count > 0 ? count : nil
      }
    }
    var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
    let began = EventLoop.process.now
    while true {
      do throws(Refusal) {
        if seq == nil { await withCheckedContinuation { seqWaiters.append($0) } }
        try checkEnding()
        var found: [PublicKey: StoredProfile] = [:]
        var present: Set<PublicKey> = []
        var byteCount = 0
        try await query(Filter(authors: keys, kinds: [EventKind.metadata])) { event in
          let profile = StoredProfile(event)
          memory.learned(profile, of: event.pubkey)
          present.insert(event.pubkey)
          byteCount += profile.cost
          guard byteCount <= Self.heldByteMaximum || found.isEmpty else { return }
          // A newer one may have come meanwhile.
          found[event.pubkey] = memory.find(event.pubkey) ?? profile
        }
        for key in keys where !present.contains(key) {
          let nothing = StoredProfile(absent: key)
          memory.learned(nothing, of: key)
          found[key] = memory.find(key) ?? nothing
        }
        return found
      } catch {
        guard EventLoop.process.now.milliseconds(since: began) < Self.storePatienceMilliseconds, !worker.isDraining
        else { throw error }
      }
      await EventLoopActor.sleep(milliseconds: delay.next())
    }
  }

  /// Stored events of a filter.
  func query(_ filter: Filter, _ body: @EventLoopActor (Event) -> Void) async throws(Refusal) {
    var wanted = StoreQuery(filters: [])
    wanted.pages = true
    let answer = try await bus.ask(StoreMethod.query, encoded: BusPayload(json: wanted, filters: [filter]))
    while let part = try await answer.nextPart() {
      do throws(EventPage.Problem) {
        for record in try EventPage.read(part.bytes) {
          do throws(EventFault) { body(try Event(json: Array(part.bytes[record.bytes]))) } catch {
            log.error("an event of the store cannot be read", metadata: ["why": "\(error)"])
          }
        }
      } catch { throw Refusal(.badPayload, error.description) }
    }
  }

  /// - Throws: `unavailable` when this worker is about to end.
  func checkEnding() throws(Refusal) {
    if worker.isDraining { throw Refusal(.unavailable, "this worker is about to end", outcome: .notStarted) }
  }

  // MARK: Serving

  private func profiles(_ request: BusRequest, _ wanted: PeopleProfiles) async throws(Refusal) -> Nothing? {
    let keys = try Self.keys(wanted.keys)
    let (pending, actions) = try begin(keys, wanted)
    if pending.isEmpty, wanted.live != true, keys.allSatisfy({ memory.contains($0) }) {
      // The common case of a program that draws a page: nothing to wait for, and nothing to keep.
      try await send(keys.compactMap { key in memory.find(key).map { (key, $0) } }, to: request)
      try await send(ProfilesAsked(count: 0), to: request)
      return Nothing()
    }
    let reader = readers.opened(keys, isLive: wanted.live == true)
    readers.pending(pending, of: reader)
    let loading = ProfileLoading()
    loadings[reader] = loading
    request.accept()
    request.onCancel = { [unowned self] in wake(reader) }
    defer {
      readers.closed(reader)
      loadings[reader] = nil
      loading.missing = []
      wake(reader)
    }
    perform(actions)
    while true {
      if request.isCancelled { throw Refusal(.cancelled, "cancelled by the caller", outcome: .done) }
      if let failure = loading.failure { throw failure }
      try checkEnding()
      // People whom the store is asked for are not due, and the request does not end before they are sent.
      if loading.isUnderWay, !readers.hasDue(reader) {
        await withCheckedContinuation { sleepers[reader] = $0 }
        continue
      }
      switch readers.next(reader, maximum: Self.batchMaximum) {
      case .read(let keys):
        var found: [(PublicKey, StoredProfile)] = []
        for key in keys {
          guard let profile = memory.find(key) ?? loading.take(key) else {
            loading.missing.append(key)
            continue
          }
          guard
            readers.tells(
              reader, of: key, isPresent: profile.isPresent, version: profile.version(claim: claim(profile, of: key)))
          else { continue }
          found.append((key, profile))
        }
        load(loading, for: reader)
        try await send(found, to: request)
      case .asked(let count, let failed, let reason):
        try await send(
          ProfilesAsked(count: count, failed: failed == 0 ? nil : failed, reason: failed == 0 ? nil : reason),
          to: request)
      case .end: return Nothing()
      case .wait: await withCheckedContinuation { sleepers[reader] = $0 }
      }
    }
  }

  /// Reads a request's people from the store, beside the sending of what comes meanwhile: a store that takes what
  /// relays send needs a while for each query.
  private func load(_ loading: ProfileLoading, for reader: ProfileReaders.Reader) {
    guard !loading.isUnderWay, !loading.missing.isEmpty else { return }
    loading.isUnderWay = true
    EventLoopActor.task { [self] in
      var size = Self.firstBatch
      while !loading.missing.isEmpty, loading.failure == nil {
        let batch = Array(loading.missing.prefix(size))
        loading.missing.removeFirst(batch.count)
        size = Self.batchMaximum
        do throws(Refusal) { loading.found.merge(try await load(batch)) { $1 } } catch { loading.failure = error }
        readers.again(batch, of: reader)
        wake(reader)
      }
      loading.isUnderWay = false
      wake(reader)
    }
  }

  /// The people of a request, each once.
  private static func keys(_ texts: [String]) throws(Refusal) -> [PublicKey] {
    var keys: [PublicKey] = []
    keys.reserveCapacity(texts.count)
    var seen: Set<PublicKey> = []
    seen.reserveCapacity(texts.count)
    for (place, text) in texts.enumerated() {
      guard let key = PublicKey(text) else {
        throw Refusal(
          .badRequest, "'keys[\(place)]' is no key: 64 lower-case hexadecimal digits are expected",
          outcome: .notStarted)
      }
      if seen.insert(key).inserted { keys.append(key) }
    }
    return keys
  }

  /// Whom relays are asked for because of a request.
  private func begin(
    _ keys: [PublicKey], _ wanted: PeopleProfiles
  ) throws(Refusal) -> (pending: [PublicKey], actions: [ProfileAsking.Action]) {
    guard readers.hasRoom(for: keys.count) else {
      throw Refusal(
        .full, "\(readers.count) requests for \(readers.keyCount) people are open already", outcome: .notStarted)
    }
    guard wanted.policy != .cacheOnly else { return ([], []) }
    guard asking.hasRoom(for: keys.count) else {
      throw Refusal(
        .full, "relays are to be asked for \(asking.openCount) people already", outcome: .notStarted,
        retryAfterMilliseconds: 1_000)
    }
    let (milliseconds, isLong) = UInt64(max(0, wanted.maxAge ?? 0)).multipliedReportingOverflow(by: 1_000)
    return asking.wanted(keys, maxAgeMilliseconds: isLong ? .max : milliseconds, at: EventLoop.process.now)
  }

  /// Sends profiles in pages, while the caller takes them.
  private func send(_ profiles: [(key: PublicKey, profile: StoredProfile)], to request: BusRequest)
    async throws(Refusal)
  {
    let frameMaximum = bus.welcome.frameLimit / 2
    let target = min(ProfilePage.byteTarget, frameMaximum)
    var page = Self.pageHead
    var count = 0
    for (key, profile) in profiles {
      let start = page.count
      if count > 0 { page.append(UInt8(ascii: ",")) }
      append(key, profile, to: &page)
      if page.count - start > frameMaximum {
        page.removeSubrange(start...)
        if count > 0 { page.append(UInt8(ascii: ",")) }
        append(key, profile.withoutTexts(of: key), to: &page)
      }
      count += 1
      if page.count >= target {
        try await finish(page, request)
        (page, count) = (Self.pageHead, 0)
      }
    }
    if count > 0 { try await finish(page, request) }
  }

  private static let pageHead = Array("{\"profiles\":[".utf8)

  private func append(_ key: PublicKey, _ profile: StoredProfile, to page: inout [UInt8]) {
    let now = EventLoop.process.now
    let askedAt = asking.history[key].map { WallClock.seconds - Int64(clamping: now.milliseconds(since: $0) / 1_000) }
    profile.append(key, askedAt: askedAt, claim: claim(profile, of: key), to: &page)
  }

  /// What is known of the name that a profile claims.
  private func claim(_ profile: StoredProfile, of key: PublicKey) -> ClaimVerdict? {
    profile.claimedName.flatMap { claims.claim($0, by: key, at: EventLoop.process.now)?.verdict }
  }

  private func finish(_ page: [UInt8], _ request: BusRequest) async throws(Refusal) {
    let payload = BusPayload(page + Array("]}".utf8))
    if !request.sendNow(part: payload) { try await request.send(part: payload) }
  }

  private func send(_ asked: ProfilesAsked, to request: BusRequest) async throws(Refusal) {
    try await request.send(ProfilePage(profiles: [], asked: asked), of: PeopleMethod.profiles)
  }

  private func wake(_ reader: ProfileReaders.Reader) { sleepers.removeValue(forKey: reader)?.resume() }

  // MARK: Asking relays

  private func perform(_ actions: [ProfileAsking.Action]) {
    for action in actions {
      switch action {
      case .want(let number, let keys): EventLoopActor.task { [self] in await want(number, keys) }
      case .setTimer(let moment):
        timer.set(at: moment) { [unowned self] in perform(asking.timerFired(at: EventLoop.process.now)) }
      case .asked(let keys, let failure):
        // What relays had is committed: so a person who is still missing has none, and that is read once more, since
        // the last events may not have come here yet.
        for key in keys where memory.find(key)?.isPresent == false { memory.forget(key) }
        for reader in readers.asked(keys, failure: failure) { wake(reader) }
      }
    }
  }

  private func want(_ number: UInt64, _ keys: [PublicKey]) async {
    do throws(Refusal) {
      var wanted = PlanWant(filters: [], depth: .newest, urgency: .lookUp)
      wanted.seconds = Self.wishSeconds
      let filter = Filter(authors: keys, kinds: [EventKind.metadata])
      let answer = try await bus.ask(PlanMethod.want, encoded: BusPayload(json: wanted, filters: [filter]))
      while try await answer.nextPart() != nil {}
      perform(asking.ended(number, at: EventLoop.process.now))
    } catch {
      log.debug("relays were not asked for profiles", metadata: ["why": "\(error.message)"])
      perform(asking.failed(number, error.message, at: EventLoop.process.now, using: &generator))
    }
  }
}
