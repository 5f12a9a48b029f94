import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import Storage
import WorkerKit
import WorkerLedger

// The gift wraps of one account, from the store in the order of their seq.
//
//     pages of the store ─▶ WrapLine (bounded) ─▶ runs of 256 ─ signer.open, two at a time ─▶ filed in order
//
// A run is filed in one transaction with the seq of its last wrap. The next run is opened meanwhile: signer and disk
// work at the same time. While the account is locked nothing is read: its wraps wait in the store.
//
// When more wraps come than can be opened, what comes now is read by another observation too, and overtakes:
// `WrapLine` has the order. A wrap that was opened so is passed over when the store is read to it.
//
// Relays are asked by a second observation, whose events are thrown away: by then the store has them. It lasts as long
// as the account is open, and names the relays of the settings when the account uses links, since linkstr sends there.

/// Reads an account's gift wraps.
@EventLoopActor
final class WrapIntake {
  /// Wraps that are being opened.
  private struct Run {
    let ids: [[UInt8]]
    let seq: Int64?
    let task: Task<Result<[Opened], Refusal>, Never>
  }

  /// A wrap that is being opened, and the hash of its id.
  private struct Sealed {
    let id: [UInt8]
    let wrap: WrapLine.Waiting
  }

  /// What was in a wrap.
  private struct Opened {
    let id: [UInt8]
    var outcome: Int64 = 0
    var rumor: KeptRumor?
  }

  private unowned let feed: LinkFeed
  private let key: PublicKey
  private let name: String
  private let log: Logger
  private var isOver = false
  private var doesUseLinks = false
  private var line = WrapLine()
  /// Wraps of the runs that are being opened.
  private var opening: Set<[UInt8]> = []
  /// All wraps up to this seq of the store are filed.
  private var filedSeq: Int64 = 0
  /// All wraps up to this seq are filed, or wait.
  private var readSeq: Int64 = 0
  private var isFiling = false
  private var room: [CheckedContinuation<Void, Never>] = []
  /// Why the round has ended: the observation is begun again after the last seq that was filed.
  private var failure: Refusal?
  private var storeAnswer: BusAnswer?
  private var arrivalAnswer: BusAnswer?
  private var doesReadArrivals = false
  private var relayAnswer: BusAnswer?

  /// Bytes of a run at most: a frame has room for them.
  private static let runByteMaximum = 700_000
  /// Runs that are being opened at a time.
  private static let runMaximum = 2
  /// How long the signer has for a run.
  private static let openMilliseconds: UInt32 = 60_000
  /// Notices are for what is newer than this, by its author's clock: a first reading of years brings none.
  private static let noticeSeconds: Int64 = 86_400

  init(_ feed: LinkFeed, _ key: PublicKey, named name: String) {
    (self.feed, self.key, self.name, log) = (feed, key, name, feed.log)
    feed.worker.persist("reading gift wraps", ceilingMilliseconds: LinkFeed.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      if !isOver { try await read() }
      return isOver
    }
    feed.worker.persist("asking relays for gift wraps", ceilingMilliseconds: LinkFeed.retryMillisecondsMaximum, log) {
      [self] () async throws(Refusal) in
      if !isOver { try await askRelays() }
      return isOver
    }
  }

  /// Reads no more.
  func end() {
    isOver = true
    askAgain()
    let refusal = Refusal(.cancelled, "the account is no longer open")
    storeAnswer?.abandon(refusal)
    arrivalAnswer?.abandon(refusal)
    wake()
  }

  /// Asks relays again, because which ones are asked has changed.
  func askAgain() { relayAnswer?.abandon(Refusal(.cancelled, "it is asked again")) }

  /// The account uses links from now on.
  func usesLinks() {
    guard !doesUseLinks else { return }
    doesUseLinks = true
    askAgain()
  }

  // MARK: Relays

  private func askRelays() async throws(Refusal) {
    let vault = try await feed.vault(of: key)
    if !doesUseLinks { doesUseLinks = try await known(vault).usesLinks }
    let isAskingForLinks = doesUseLinks
    var wanted = StoreObserve(filters: [JSONValue(of: filters()[0])])
    wanted.policy = .networkOnly
    if isAskingForLinks, !feed.settings.relays.isEmpty { wanted.relays = feed.settings.relays }
    let answer = try await feed.worker.bus.ask(StoreMethod.observe, wanted)
    guard !isOver, isAskingForLinks == doesUseLinks else {
      return answer.abandon(Refusal(.cancelled, "it is asked again"))
    }
    relayAnswer = answer.answer
    defer { relayAnswer = nil }
    while try await answer.nextPart() != nil {}
  }

  /// Gift wraps to the account; and its messages of kind 4, which the mirror fetches with all that names the account.
  /// Of what is stored at most so many.
  private func filters(limit: Int? = nil) -> [Filter] {
    guard let letter = TagLetter("p") else { preconditionFailure("p is a letter") }
    let legacy = [EventKind.encryptedDirectMessage]
    return [
      Filter(kinds: [GiftWrap.kind], tags: [letter: [TagValue("\(key)")]], limit: limit),
      Filter(kinds: legacy, tags: [letter: [TagValue("\(key)")]], limit: limit),
      Filter(authors: [key], kinds: legacy, limit: limit),
    ]
  }

  private func known(_ vault: LinkVault) async throws(Refusal) -> LinkLedger.Account {
    do throws(StorageFault) { return try await feed.ledger.account(key) } catch { throw feed.health.refusal(error) }
  }

  // MARK: The store

  private func read() async throws(Refusal) {
    let vault = try await feed.vault(of: key)
    let known = try await known(vault)
    await teller(vault)
    (line, failure, filedSeq, readSeq) = (WrapLine(), nil, known.seq, known.seq)
    while !isOver {
      guard try await readOn(vault) else { break }
      // Parts that are not taken would hold up those of every other answer, and so what comes now. So the answer was
      // given up, and another one begins behind what waits.
      while line.isHalfFull, failure == nil, !isOver { await withCheckedContinuation { room.append($0) } }
      if let failure { throw failure }
    }
    while isFiling { await withCheckedContinuation { room.append($0) } }
    if let failure { throw failure }
  }

  /// Reads the store behind what was read.
  ///
  /// - Returns: whether it was given up because the line is full.
  private func readOn(_ vault: LinkVault) async throws(Refusal) -> Bool {
    let begin = readSeq
    let answer = try await observe(filters(), after: begin)
    storeAnswer = answer.answer
    defer { storeAnswer = nil }
    while let part = try await answer.nextPart(), !isOver {
      if let failure {
        answer.abandon(failure)
        throw failure
      }
      guard part.isRaw else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        guard end.seq >= begin else {
          log.warning("the store is another one: its gift wraps are read from the beginning")
          do throws(StorageFault) { try await feed.ledger.restart(vault.account) } catch {
            throw feed.health.refusal(error)
          }
          let refusal = Refusal(.cancelled, "it is read from its beginning")
          answer.abandon(refusal)
          throw refusal
        }
        continue
      }
      for wrap in try Self.wraps(part.bytes, of: answer) {
        line.append(wrap)
        readSeq = max(readSeq, wrap.seq)
      }
      fileSoon(vault)
      guard line.isFull else { continue }
      readArrivals(vault)
      answer.abandon(Refusal(.cancelled, "enough gift wraps wait"))
      return true
    }
    return false
  }

  private func observe(
    _ filters: [Filter], after seq: Int64? = nil
  ) async throws(Refusal) -> StreamAnswer<ObservedEvents, Nothing> {
    var wanted = StoreObserve(filters: filters.map { JSONValue(of: $0) }, afterSeq: seq)
    wanted.policy = .cacheOnly
    wanted.pages = true
    return try await feed.worker.bus.ask(StoreMethod.observe, wanted)
  }

  /// Reads what comes from now on too, until the store is read to it. If this fails, it comes by seq alone.
  private func readArrivals(_ vault: LinkVault) {
    guard !doesReadArrivals, !isOver else { return }
    doesReadArrivals = true
    log.debug("gift wraps come faster than they are opened: the newest overtake")
    EventLoopActor.task { [self] in
      defer { (doesReadArrivals, arrivalAnswer) = (false, nil) }
      do throws(Refusal) {
        let answer = try await observe(filters(limit: 0))
        guard !isOver else { return answer.abandon(Refusal(.cancelled, "the account is no longer open")) }
        arrivalAnswer = answer.answer
        // Nothing is awaited here but parts: they are taken at once, and only the newest are kept.
        while let part = try await answer.nextPart() {
          guard part.isRaw else { continue }
          line.arrived(try Self.wraps(part.bytes, of: answer))
          fileSoon(vault)
        }
      } catch { log.debug("what comes is read by seq alone", metadata: ["why": "\(error.code)"]) }
    }
  }

  private func endArrivals() { arrivalAnswer?.abandon(Refusal(.cancelled, "the store is read to what comes")) }

  /// The wraps of a page; an answer whose page cannot be read is given up.
  private static func wraps(
    _ page: [UInt8], of answer: StreamAnswer<ObservedEvents, Nothing>
  ) throws(Refusal) -> [WrapLine.Waiting] {
    do throws(EventPage.Problem) {
      return try EventPage.read(page).compactMap { record in
        record.seq.map { WrapLine.Waiting(seq: $0, kind: record.kind, json: Array(page[record.bytes])) }
      }
    } catch {
      let refusal = Refusal(.badPayload, error.description)
      answer.abandon(refusal)
      throw refusal
    }
  }

  private func fileSoon(_ vault: LinkVault) {
    guard !isFiling, !line.isEmpty else { return }
    isFiling = true
    EventLoopActor.task { [self] in await fileLine(vault) }
  }

  private func wake() {
    let waiting = room
    room = []
    for waiter in waiting { waiter.resume() }
  }

  // MARK: Opening and filing

  private func fileLine(_ vault: LinkVault) async {
    defer {
      (isFiling, opening) = (false, [])
      wake()
    }
    var runs: [Run] = []
    while failure == nil, !isOver, !line.isEmpty || !runs.isEmpty {
      while runs.count < Self.runMaximum, let run = nextRun(vault) { runs.append(run) }
      guard !runs.isEmpty else { return }
      let run = runs.removeFirst()
      do throws(Refusal) {
        let wraps = try await run.task.value.get()
        // Who creates a session is decided by what comes first, so creations do not overtake.
        try await file(run.seq == nil ? wraps.filter { $0.rumor?.isCreation != true } : wraps, upTo: run.seq, vault)
        opening.subtract(run.ids)
        if let seq = run.seq { filedSeq = max(filedSeq, seq) }
      } catch {
        failure = error
        line = WrapLine()
        // The observation may wait for a further event: it is ended, and begun again.
        storeAnswer?.abandon(error)
        arrivalAnswer?.abandon(error)
      }
      if doesReadArrivals, runs.isEmpty, line.isLevel(at: filedSeq) { endArrivals() }
      wake()
    }
  }

  private func nextRun(_ vault: LinkVault) -> Run? {
    guard let run = line.nextRun(count: WrapRun.countMaximum, byteCount: Self.runByteMaximum) else { return nil }
    // One that a run of the backlog before this has is filed with that one, and so before this one. One that an arrival
    // has may be filed by neither, so the backlog opens it again: of those filed before, nothing is filed twice.
    let isBacklog = run.seq != nil
    let wraps = run.wraps.compactMap { wrap -> Sealed? in
      // `try?`: the store could read it. One that this program cannot read is passed over.
      guard let id = wrap.json.withUnsafeBytes({ try? ScannedEvent($0).id }) else { return nil }
      let sealed = Sealed(id: vault.hash(ofWrap: id), wrap: wrap)
      if isBacklog { return opening.insert(sealed.id).inserted ? sealed : nil }
      return opening.contains(sealed.id) ? nil : sealed
    }
    let task = EventLoopActor.task { [self] () -> Result<[Opened], Refusal> in
      do throws(Refusal) { return .success(try await open(wraps, vault)) } catch { return .failure(error) }
    }
    return Run(ids: isBacklog ? wraps.map(\.id) : [], seq: run.seq, task: task)
  }

  /// Has those wraps opened that were not opened before.
  private func open(_ wraps: [Sealed], _ vault: LinkVault) async throws(Refusal) -> [Opened] {
    let (ids, texts, kinds) = (wraps.map(\.id), wraps.map(\.wrap.json), wraps.map(\.wrap.kind))
    let places: [Int]
    do throws(StorageFault) { places = try await feed.ledger.unknown(ids, of: vault.account) } catch {
      throw feed.health.refusal(error)
    }
    var found: [Opened] = []
    for place in places where kinds[place] != GiftWrap.kind {
      found.append(try await decrypted(ids[place], texts[place]))
    }
    let wrapped = places.filter { kinds[$0] == GiftWrap.kind }
    guard !wrapped.isEmpty else { return found }
    let run = WrapRun(account: key, wraps: wrapped.map { texts[$0] })
    let answer = try await patiently { [self] () async throws(Refusal) in
      try await feed.worker.bus.request(
        SignerMethod.open, WrapRunBytes(run.encode()), ttlMilliseconds: Self.openMilliseconds)
    }
    let outcomes: [WrapOutcome]
    do throws(WrapRun.Problem) { outcomes = try WrapOutcomes.decode(answer.bytes).list } catch {
      throw Refusal(.badPayload, "the signer's outcomes cannot be read: \(error)")
    }
    guard outcomes.count == wrapped.count else {
      throw Refusal(.badPayload, "the signer has \(outcomes.count) outcomes of \(wrapped.count) gift wraps")
    }
    return found + zip(wrapped, outcomes).map { place, outcome in opened(ids[place], outcome) }
  }

  /// A message of kind 4. The store has verified its signature.
  private func decrypted(_ id: [UInt8], _ json: [UInt8]) async throws(Refusal) -> Opened {
    // `try?`: the store could read it.
    guard let event = try? Event(json: json),
      let recipient = event.firstValue(of: "p").flatMap({ PublicKey($0.lowercased()) })
    else { return Opened(id: id, outcome: LinkLedger.Wrap.notKept) }
    let peer = event.pubkey == key ? recipient : event.pubkey
    let wanted = SignerCipher(
      account: "\(key)", peer: "\(peer)", contentOf: try JSONPayload.decode(JSONValue.self, from: json))
    do throws(Refusal) {
      let text = try await patiently { [self] () async throws(Refusal) in
        try await feed.worker.bus.request(
          SignerMethod.nip04Decrypt, wanted, ttlMilliseconds: Self.openMilliseconds
        ).text
      }
      return Opened(id: id, rumor: KeptRumor(legacy: event, text: text, for: key))
    } catch {
      // It does not decrypt, and never will.
      guard error.code == .badRequest else { throw error }
      return Opened(id: id, outcome: LinkLedger.Wrap.notKept)
    }
  }

  /// Asks the signer, and again as long as it says that it has too much to do.
  private func patiently<Value: Sendable>(
    _ ask: @EventLoopActor () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    while true {
      do throws(Refusal) { return try await ask() } catch {
        guard error.code == .rateLimited || error.code == .full, !isOver else { throw error }
        await EventLoopActor.sleep(milliseconds: UInt64(error.retryAfterMilliseconds ?? Self.rateMilliseconds))
      }
    }
  }

  /// How long to wait when the signer has too much to do, unless it says.
  private static let rateMilliseconds: UInt32 = 100

  /// What was in a wrap. A refusal holds for good: the same wrap is refused again, whenever it comes.
  private func opened(_ id: [UInt8], _ outcome: WrapOutcome) -> Opened {
    switch outcome {
    case .refused(let refusal):
      log.debug("a gift wrap is refused", metadata: ["why": "\(refusal.code)"])
      return Opened(id: id, outcome: Int64(refusal.code.rawValue))
    case .opened(let opened):
      // `try?`: the signer could read it.
      guard let event = try? UnsignedEvent(json: opened.rumor), event.pubkey == opened.author,
        let rumor = KeptRumor(event, for: key)
      else { return Opened(id: id, outcome: LinkLedger.Wrap.notKept) }
      return Opened(id: id, rumor: rumor)
    }
  }

  /// Files a run. The rules of sessions are applied here, where runs are in their order.
  private func file(_ opened: [Opened], upTo seq: Int64?, _ vault: LinkVault) async throws(Refusal) {
    let now = WallClock.seconds
    let noticeSince = now - Self.noticeSeconds
    let takenBack = try await takenBack(opened, vault)
    let hasSessions = opened.contains { $0.rumor?.isOfSession == true }
    var judgement = SessionJudgement()
    if hasSessions { try await feed.sessions.prepare(vault) }
    let wraps = opened.map { one -> LinkLedger.Wrap in
      guard let rumor = one.rumor else {
        return LinkLedger.Wrap(id: one.id, outcome: one.outcome == 0 ? LinkLedger.Wrap.notKept : one.outcome)
      }
      var isSeen = true
      if rumor.isOfSession {
        guard let kept = feed.sessions.received(rumor, vault, &judgement) else {
          return LinkLedger.Wrap(id: one.id, outcome: LinkLedger.Wrap.notKept)
        }
        isSeen = kept
      }
      let isNew = rumor.event.createdAt > noticeSince
      return LinkLedger.Wrap(
        id: one.id, outcome: 0, item: rumor.row(in: vault, isSeen: isSeen, noticeAt: isNew ? now : 0))
    }
    let marks =
      takenBack
      + judgement.shown.map {
        LinkLedger.Mark(id: vault.hash(ofItem: $0), noticeAt: now, noticeSince: noticeSince)
      } + judgement.hidden.map { LinkLedger.Mark(id: vault.hash(ofItem: $0), noticeAt: nil) }
    let new: Set<[UInt8]>
    do throws(StorageFault) { new = try await feed.ledger.file(wraps, marks, upTo: seq ?? 0, of: vault.account) } catch
    {
      // What was received in memory is not on the disk: it is read from there again.
      if hasSessions { feed.sessions.drop(key) }
      feed.health.notWritten(error)
      throw feed.health.refusal(error)
    }
    feed.health.written()
    guard !new.isEmpty || !marks.isEmpty else { return }
    if wraps.contains(where: { $0.item?.sort.family == .links }) { usesLinks() }
    await teller(vault)
  }

  /// Messages of a run, or of the ledger, that their authors have taken back: they are unread no longer. The newest may
  /// overtake, so a deletion can come before its message.
  private func takenBack(_ opened: [Opened], _ vault: LinkVault) async throws(Refusal) -> [LinkLedger.Mark] {
    let messages = opened.compactMap(\.rumor).filter { $0.message != nil }
    guard !messages.isEmpty else { return [] }
    var authors: [EventID: PublicKey] = [:]
    for message in messages { authors[message.id] = message.event.pubkey }
    var marks: [LinkLedger.Mark] = []
    func mark(_ id: EventID) { marks.append(LinkLedger.Mark(id: vault.hash(ofItem: id), noticeAt: nil)) }
    for message in messages {
      guard case .deletion(let id)? = message.message?.body else { continue }
      var author = authors[id]
      if author == nil {
        let found = try await feed.ledgered { () async throws(StorageFault) in
          try await self.feed.ledger.item(vault.hash(ofItem: id), of: vault.account)
        }
        author = found.flatMap { vault.rumor($0.row)?.event.pubkey }
      }
      if author == message.event.pubkey { mark(id) }
    }
    let shown = messages.filter { $0.sort.isRoot }
    let deletions = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.deletions(
        of: shown.map { vault.hash(ofThread: $0.root, in: $0.conversation) }, of: vault.account,
        limit: Self.deletionMaximum)
    }
    for (message, rows) in zip(shown, deletions)
    where rows.contains(where: { vault.rumor($0)?.event.pubkey == message.event.pubkey }) { mark(message.id) }
    return marks
  }

  /// Deletions of one message that are looked at: others than its author may send them, who have no say.
  private static let deletionMaximum = 100

  private func teller(_ vault: LinkVault) async { await feed.teller.tell(vault) }
}
