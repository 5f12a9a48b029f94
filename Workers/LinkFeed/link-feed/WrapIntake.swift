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
//     pages of the store ─▶ line (bounded) ─▶ runs of 256 ─ signer.open, two at a time ─▶ filed in order
//
// A run is filed in one transaction with the seq of its last wrap. The next run is opened meanwhile: signer and disk
// work at the same time. While the account is locked nothing is read: its wraps wait in the store.
//
// Relays are asked by a second observation, whose events are thrown away: by then the store has them. It lasts as long
// as the account is open, and names the relays of the settings when the account uses links, since linkstr sends there.

/// Reads an account's gift wraps.
@EventLoopActor
final class WrapIntake {
  /// A wrap that waits to be opened.
  private struct Waiting {
    let seq: Int64
    let kind: UInt16
    let json: [UInt8]
  }

  /// Wraps that are being opened.
  private struct Run {
    let wraps: [Waiting]
    let task: Task<Result<[Opened], Refusal>, Never>
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
  private var line: [Waiting] = []
  private var isFiling = false
  private var room: [CheckedContinuation<Void, Never>] = []
  /// Why the round has ended: the observation is begun again after the last seq that was filed.
  private var failure: Refusal?
  private var storeAnswer: BusAnswer?
  private var relayAnswer: BusAnswer?

  /// Wraps that wait at most; the store is not read on while there are more.
  private static let lineMaximum = 1_024
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
    storeAnswer?.abandon(Refusal(.cancelled, "the account is no longer open"))
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
    var wanted = StoreObserve(filters: [JSONValue(of: filters[0])])
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
  private var filters: [Filter] {
    guard let letter = TagLetter("p") else { preconditionFailure("p is a letter") }
    let legacy = [EventKind.encryptedDirectMessage]
    return [
      Filter(kinds: [GiftWrap.kind], tags: [letter: [TagValue("\(key)")]]),
      Filter(kinds: legacy, tags: [letter: [TagValue("\(key)")]]),
      Filter(authors: [key], kinds: legacy),
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
    (line, failure) = ([], nil)
    var wanted = StoreObserve(filters: filters.map { JSONValue(of: $0) }, afterSeq: known.seq)
    wanted.policy = .cacheOnly
    wanted.pages = true
    let answer = try await feed.worker.bus.ask(StoreMethod.observe, wanted)
    storeAnswer = answer.answer
    defer { storeAnswer = nil }
    while let part = try await answer.nextPart(), !isOver {
      if let failure {
        answer.abandon(failure)
        throw failure
      }
      guard part.isRaw else {
        let end = try JSONPayload.decode(StoredEnd.self, from: part.bytes)
        guard end.seq >= known.seq else {
          log.warning("the store is another one: its gift wraps are read from the beginning")
          do throws(StorageFault) { try await feed.ledger.restart(vault.account) } catch {
            throw feed.health.refusal(error)
          }
          return answer.abandon(Refusal(.cancelled, "it is read from its beginning"))
        }
        continue
      }
      try take(part.bytes, vault)
      while line.count > Self.lineMaximum, failure == nil, !isOver {
        await withCheckedContinuation { room.append($0) }
      }
    }
    while isFiling { await withCheckedContinuation { room.append($0) } }
    if let failure { throw failure }
  }

  private func take(_ page: [UInt8], _ vault: LinkVault) throws(Refusal) {
    let records: [EventPage.Record]
    do throws(EventPage.Problem) { records = try EventPage.read(page) } catch {
      throw Refusal(.badPayload, error.description)
    }
    for record in records {
      guard let seq = record.seq else { continue }
      line.append(Waiting(seq: seq, kind: record.kind, json: Array(page[record.bytes])))
    }
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
      isFiling = false
      wake()
    }
    var runs: [Run] = []
    while failure == nil, !isOver, !line.isEmpty || !runs.isEmpty {
      while runs.count < Self.runMaximum, let run = nextRun(vault) { runs.append(run) }
      guard !runs.isEmpty else { return }
      let run = runs.removeFirst()
      do throws(Refusal) {
        let wraps = try await run.task.value.get()
        try await file(wraps, upTo: run.wraps[run.wraps.count - 1].seq, vault)
      } catch {
        failure = error
        line = []
        // The observation may wait for a further event: it is ended, and begun again.
        storeAnswer?.abandon(error)
      }
      wake()
    }
  }

  private func nextRun(_ vault: LinkVault) -> Run? {
    var (count, byteCount) = (0, 0)
    while count < min(line.count, WrapRun.countMaximum),
      byteCount + line[count].json.count <= Self.runByteMaximum || count == 0
    {
      byteCount += line[count].json.count
      count += 1
    }
    guard count > 0 else { return nil }
    let wraps = Array(line.prefix(count))
    line.removeFirst(count)
    let task = EventLoopActor.task { [self] () -> Result<[Opened], Refusal> in
      do throws(Refusal) { return .success(try await open(wraps, vault)) } catch { return .failure(error) }
    }
    return Run(wraps: wraps, task: task)
  }

  /// Has those wraps opened that were not opened before.
  private func open(_ wraps: [Waiting], _ vault: LinkVault) async throws(Refusal) -> [Opened] {
    var ids: [[UInt8]] = []
    var texts: [[UInt8]] = []
    var kinds: [UInt16] = []
    for wrap in wraps {
      // `try?`: the store could read it. One that this program cannot read is passed over.
      guard let id = wrap.json.withUnsafeBytes({ try? ScannedEvent($0).id }) else { continue }
      ids.append(vault.hash(ofWrap: id))
      texts.append(wrap.json)
      kinds.append(wrap.kind)
    }
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
    else { return Opened(id: id, outcome: Self.notKept) }
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
      return Opened(id: id, outcome: Self.notKept)
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
      else { return Opened(id: id, outcome: Self.notKept) }
      return Opened(id: id, rumor: rumor)
    }
  }

  /// The outcome of a wrap whose rumor is for another program, or breaks a rule of links, sessions or messages.
  private static let notKept: Int64 = 100

  /// Files a run. The rules of sessions are applied here, where runs are in their order.
  private func file(_ opened: [Opened], upTo seq: Int64, _ vault: LinkVault) async throws(Refusal) {
    let now = WallClock.seconds
    let noticeSince = now - Self.noticeSeconds
    let takenBack = try await takenBack(opened, vault)
    let hasSessions = opened.contains { $0.rumor?.isOfSession == true }
    var judgement = SessionJudgement()
    if hasSessions { try await feed.sessions.prepare(vault) }
    let wraps = opened.map { one -> LinkLedger.Wrap in
      guard let rumor = one.rumor else {
        return LinkLedger.Wrap(id: one.id, outcome: one.outcome == 0 ? Self.notKept : one.outcome)
      }
      var isSeen = true
      if rumor.isOfSession {
        guard let kept = feed.sessions.received(rumor, vault, &judgement) else {
          return LinkLedger.Wrap(id: one.id, outcome: Self.notKept)
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
    do throws(StorageFault) { new = try await feed.ledger.file(wraps, marks, upTo: seq, of: vault.account) } catch {
      // What was received in memory is not on the disk: it is read from there again.
      if hasSessions { feed.sessions.drop(key) }
      throw feed.health.refusal(error)
    }
    feed.health.written()
    guard !new.isEmpty || !marks.isEmpty else { return }
    if wraps.contains(where: { $0.item?.sort.family == .links }) { usesLinks() }
    await teller(vault)
  }

  /// Messages that their authors have taken back, among those that are in the ledger: they are unread no longer.
  private func takenBack(_ opened: [Opened], _ vault: LinkVault) async throws(Refusal) -> [LinkLedger.Mark] {
    var marks: [LinkLedger.Mark] = []
    for one in opened {
      guard case .message(let message)? = one.rumor?.content, case .deletion(let id) = message.body else { continue }
      let found = try await feed.ledgered { () async throws(StorageFault) in
        try await self.feed.ledger.item(vault.hash(ofItem: id), of: vault.account)
      }
      guard let row = found?.row, vault.rumor(row)?.event.pubkey == message.author else { continue }
      marks.append(LinkLedger.Mark(id: row.id, noticeAt: nil))
    }
    return marks
  }

  private func teller(_ vault: LinkVault) async { await feed.teller.tell(vault) }
}
