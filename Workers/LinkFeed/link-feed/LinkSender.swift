import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import LinkAddresses
import Linkstr
import LinuxSystem
import Logging
import Nostr
import PersonAccounts
import Storage
import Wording
import WorkerKit
import WorkerLedger

// Sending. A rumor is made once and wrapped once for each recipient, the account itself among them; all of it is
// committed under the caller's token before the publish queue has anything.
//
//     token ─▶ rumor ─ signer.wrap, once for each recipient ─▶ committed ─ plan.publish ─▶ plan.published ─▶ answered
//                                                                 ▲                            │
//     next process, account unlocked again ───────────────────────┴── the same wraps ──────────┘
//
// `plan.publish` recognises a wrap by its id, so to give it one again does no harm, and answers how far it is.

/// Sends posts, replies and messages.
@EventLoopActor
final class LinkSender {
  /// A copy that has not ended, of an open account.
  struct Open {
    let vault: LinkVault
    var copy: LinkLedger.Copy
    var kept: KeptCopy
  }

  unowned let feed: LinkFeed
  private let log: Logger
  /// By the ids of wraps.
  var open: [String: Open] = [:]
  /// Wraps that were handed to a relay when they were called off: a relay may still say that it has them. At most
  /// ``openMaximum``; the next process does not know them.
  var handed: Set<String> = []
  /// Items that are being called off: none of their copies is given to the publish queue.
  var calledOff: Set<[UInt8]> = []
  /// How many calls are giving a wrap to the publish queue.
  private(set) var giving: [String: Int] = [:]
  /// Raised when a copy has come further.
  let hasChanged = Signal()
  /// Tokens that are being kept: a second call with one waits.
  private var claims: Set<[UInt8]> = []
  /// Accounts for which a session is being chosen: see ``choosing(_:_:)``.
  var choosing: Set<PublicKey> = []
  /// Accounts whose open copies are being given to the publish queue.
  private var resuming: Set<PublicKey> = []
  /// Accounts whose open copies are with the publish queue.
  private var resumed: Set<PublicKey> = []
  /// Items that create sessions, for which posts wait.
  private var heldBack: Set<[UInt8]> = []

  /// How long the signer has for one wrap, and the planner for one publication: it may look for the recipient's list.
  static let signMilliseconds: UInt32 = 10_000
  static let publishMilliseconds: UInt32 = 30_000
  /// Most calls that send at a time.
  private static let claimMaximum = 256
  /// Most copies that have not ended.
  static let openMaximum = 10_000

  init(_ feed: LinkFeed) { (self.feed, log) = (feed, feed.log) }

  /// Starts to serve.
  func start() {
    let worker = feed.worker
    worker.serve(LinkMethod.post) { [unowned self] (request, wanted) throws(Refusal) in try await post(request, wanted)
    }
    worker.serve(LinkMethod.reply) { [unowned self] (request, wanted) throws(Refusal) in
      try await reply(request, wanted)
    }
    worker.serve(LinkMethod.sendMessage) { [unowned self] (request, wanted) throws(Refusal) in
      try await message(request, wanted)
    }
    worker.persist("plan.published", ceilingMilliseconds: LinkFeed.retryMillisecondsMaximum, log) {
      () async throws(Refusal) in
      try await worker.bus.subscribe(PlanTopic.published)
      return true
    }
  }

  // MARK: Keeping

  /// How a caller wants it sent.
  @EventLoopActor
  struct Manner {
    let token: String
    let milliseconds: UInt64
    let givesUp: Bool
    let request: BusRequest

    /// A caller without a token is known by its request, which the hub delivers again as it was.
    init(
      _ request: BusRequest, _ content: [String?], _ token: String?, _ milliseconds: Int64?, _ givesUp: Bool?
    ) {
      let (caller, id, trace) = (request.caller, request.id, request.trace)
      // What is sent is part of it: a token that was used for something else sends this too.
      let text = content.map { part in part.map { "\($0.utf8.count):\($0)" } ?? "-" }.joined()
      self.token = (token ?? "request \(caller) \(id) \(trace)") + " \(request.method) " + text
      self.milliseconds = UInt64(max(0, milliseconds ?? LinksPost.waitMillisecondsDefault))
      self.givesUp = givesUp ?? false
      self.request = request
    }
  }

  func send(
    _ rumor: UnsignedEvent, to recipients: [PublicKey], _ vault: LinkVault, _ manner: Manner
  ) async throws(Refusal) -> SentLink {
    if rumor.kind == LinkPayload.rumorKind { feed.usesLinks(vault.key) }
    return try await send(vault, manner) { [self] (token) throws(Refusal) in
      try await keep([Made(try kept(rumor, vault), for: recipients)], token, vault)
    }
  }

  /// Sends what `make` makes and commits, unless the caller's token has something already.
  func send(
    _ vault: LinkVault, _ manner: Manner,
    _ make: @EventLoopActor (_ token: [UInt8]) async throws(Refusal) -> [LinkLedger.Copy]
  ) async throws(Refusal) -> SentLink {
    let deadline = EventLoop.process.now.advanced(milliseconds: manner.milliseconds)
    let token = vault.hash(ofToken: manner.token)
    while claims.contains(token) {
      guard await hasChanged.wait(until: deadline.advanced(milliseconds: 1_000)) else {
        throw Refusal(.unavailable, "this is being sent already", outcome: .unknown, retryAfterMilliseconds: 1_000)
      }
    }
    guard claims.count < Self.claimMaximum, open.count < Self.openMaximum else {
      throw Refusal(
        .full, "too much is being sent already", outcome: .notStarted, retryAfterMilliseconds: 1_000)
    }
    claims.insert(token)
    defer {
      claims.remove(token)
      hasChanged.raise()
    }
    var copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.copies(token: token, vault.account)
    }
    if copies.isEmpty { copies = try await make(token) }
    // Until then the hub holds back what the planner says, if the worker has died with this request before.
    manner.request.accept()
    guard let item = copies.last?.item else {
      throw Refusal(.noSuchAccount, "the account was forgotten meanwhile", outcome: .notStarted)
    }
    // A session that was made for the post comes before it.
    let creation = copies[0].item == item ? nil : copies[0].item
    var refusal: Refusal?
    if let creation { refusal = try await give(copies.filter { $0.item == creation }, vault, until: deadline) }
    if refusal == nil { refusal = try await give(copies.filter { $0.item == item }, vault, until: deadline) }
    if let refusal {
      let creations = try await creations(before: item, vault)
      calledOff.insert(item)
      defer { calledOff.remove(item) }
      try await takeBack(item, vault)
      await callOff(creations: creations, vault)
      throw refusal
    }
    await hasChanged.wait(until: deadline) { [self] in !isOpen(item) }
    if manner.givesUp, isOpen(item) { try await giveUp(item, vault, manner) }
    return try await sent(item, vault)
  }

  /// Whether something is on its way to another.
  func isOpen(_ item: [UInt8]) -> Bool { open.values.contains { $0.copy.item == item && !$0.copy.isOwn } }

  /// Something that is sent, before its wraps are made.
  struct Made {
    let rumor: KeptRumor
    let recipients: [PublicKey]

    init(_ rumor: KeptRumor, for recipients: [PublicKey]) { (self.rumor, self.recipients) = (rumor, recipients) }
  }

  /// A rumor that was made, as it is read again.
  func kept(_ rumor: UnsignedEvent, _ vault: LinkVault) throws(Refusal) -> KeptRumor {
    guard let kept = KeptRumor(rumor, for: vault.key) else {
      throw Refusal(.failed, "what was made cannot be read again", outcome: .notStarted)
    }
    return kept
  }

  /// Makes the wraps, and commits them with the items, in one transaction.
  func keep(
    _ made: [Made], _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    var (items, copies) = ([LinkLedger.Item](), [LinkLedger.Copy]())
    for one in made {
      let item = one.rumor.row(in: vault, noticeAt: 0, stage: 1)
      items.append(item)
      copies += try await wrapped(one, item, vault)
    }
    return try await keep(items, copies, token, vault)
  }

  private func wrapped(
    _ made: Made, _ item: LinkLedger.Item, _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    let draft = try JSONPayload.decode(JSONValue.self, from: made.rumor.event.json)
    let recipients = made.recipients
    var copies: [LinkLedger.Copy] = []
    for recipient in recipients {
      let wrapped = try await feed.worker.bus.request(
        SignerMethod.wrap, SignerWrap(account: "\(vault.key)", recipient: "\(recipient)", rumor: draft),
        ttlMilliseconds: Self.signMilliseconds)
      // `try?`: the signer has made it.
      guard let wrap = try? Event(json: wrapped.wrap.bytes) else {
        throw Refusal(.badPayload, "the signer's gift wrap cannot be read", outcome: .notStarted)
      }
      let sealed = vault.seal(
        KeptCopy(recipient: "\(recipient)", wrap: "\(wrap.id)", event: wrapped.wrap), "copy", item.id)
      copies.append(
        LinkLedger.Copy(item: item.id, isOwn: recipient == vault.key && recipients.count > 1, sealed: sealed))
    }
    return copies
  }

  func keep(
    _ items: [LinkLedger.Item], _ made: [LinkLedger.Copy], _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.keep(items, made, token: token, of: vault.account)
      self.feed.health.written()
      var copies: [LinkLedger.Copy] = []
      for item in items { copies += try await self.feed.ledger.copies(of: item.id, vault.account) }
      return copies
    }
  }

  // MARK: The publish queue

  /// Gives copies to the publish queue, until the deadline.
  ///
  /// - Returns: why no recipient can have it.
  private func give(
    _ copies: [LinkLedger.Copy], _ vault: LinkVault, until deadline: Instant
  ) async throws(Refusal) -> Refusal? {
    var refusal: Refusal?
    var isRefusedByAll = true
    // The recipients first: the copy to oneself is worth nothing without them.
    for copy in copies.sorted(by: { !$0.isOwn && $1.isOwn }) where copy.stage < 2 {
      if copy.isOwn, refusal != nil, isRefusedByAll { break }
      let reason = try await give(copy, vault, until: deadline)
      if copy.isOwn { continue }
      if let reason { refusal = refusal ?? reason } else { isRefusedByAll = false }
    }
    return isRefusedByAll ? refusal : nil
  }

  /// Gives one copy to the publish queue. What the planner does not know yet is asked again until the deadline, and
  /// then by the next `resume()`.
  private func give(
    _ copy: LinkLedger.Copy, _ vault: LinkVault, until deadline: Instant
  ) async throws(Refusal) -> Refusal? {
    guard let kept = vault.open(copy.sealed, as: KeptCopy.self, "copy", copy.item), let event = kept.event else {
      return nil
    }
    guard !calledOff.contains(copy.item) else { return nil }
    open[kept.wrap] = Open(vault: vault, copy: copy, kept: kept)
    giving[kept.wrap, default: 0] += 1
    defer {
      let left = (giving[kept.wrap] ?? 1) - 1
      giving[kept.wrap] = left > 0 ? left : nil
      hasChanged.raise()
    }
    let contacts = try await feed.contacts(vault)
    var wanted = PlanPublish(event: event)
    if let agreed = PublicKey(kept.recipient).flatMap({ contacts[$0]?.relays }), !agreed.isEmpty {
      wanted.agreedRelays = agreed
    }
    while !calledOff.contains(copy.item) {
      // A locked account keeps what waits.
      guard feed.accounts.isOpen(vault.key) else { return nil }
      switch try await creation(before: copy, vault) {
      case .there: open[kept.wrap]?.kept.message = kept.message
      case .gone:
        open[kept.wrap] = nil
        return nil
      case .open(let creations, let why):
        let message = "it waits until a relay has what creates its session" + (why.map { ": \($0)" } ?? "")
        open[kept.wrap]?.kept.message = message
        // It may have come further before this was noted.
        let count = heldBack.count
        heldBack.formUnion(creations)
        if heldBack.count > count { continue }
        let now = EventLoop.process.now
        guard now < deadline, !feed.worker.isDraining else { return nil }
        _ = await hasChanged.wait(until: min(deadline, now.advanced(milliseconds: Self.heldMilliseconds)))
        continue
      case .failed(let why):
        let message = "no relay has taken what creates its session" + (why.map { ": \($0)" } ?? "")
        await end(kept.wrap, message: message)
        return Refusal(.notSent, message, outcome: .notStarted)
      }
      do throws(Refusal) {
        let publication = try await feed.worker.bus.request(
          PlanMethod.publish, wanted, ttlMilliseconds: Self.publishMilliseconds)
        await follow(publication)
        return nil
      } catch {
        switch error.code {
        case .noRelays, .badRequest, .denied, .expiredEvent, .invalidEvent:
          await end(kept.wrap, message: error.message)
          return error
        default:
          guard EventLoop.process.now < deadline, !feed.worker.isDraining else {
            // Not the message, which may name the recipient.
            log.debug("a gift wrap waits", metadata: ["why": "\(error.code)"])
            resumeAgain(vault.key)
            return nil
          }
          await EventLoopActor.sleep(milliseconds: Self.againMilliseconds)
        }
      }
    }
    return nil
  }

  /// How long a post waits before it is looked again whether its session's creation has come further.
  private static let heldMilliseconds: UInt64 = 1_000
  /// How soon the planner is asked again.
  static let againMilliseconds: UInt64 = 250

  /// Workers have come or gone: what the planner told meanwhile may have been missed.
  func workersChanged() {
    resumed = []
    resume()
  }

  /// Gives the publish queue what a process before has left, of all open accounts.
  func resume() {
    for key in Set(open.values.map(\.vault.key)).union(resumed) where !feed.accounts.isOpen(key) {
      resumed.remove(key)
      for (id, one) in open where one.vault.key == key { open[id] = nil }
    }
    for key in feed.accounts.accounts.keys where feed.accounts.isOpen(key) && !resumed.contains(key) {
      guard resuming.insert(key).inserted else { continue }
      feed.worker.persist("sending what waits", ceilingMilliseconds: LinkFeed.retryMillisecondsMaximum, log) {
        [self] () async throws(Refusal) in
        guard feed.accounts.isOpen(key) else {
          resuming.remove(key)
          return true
        }
        try await resume(key)
        resuming.remove(key)
        return true
      }
    }
  }

  /// Gives the publish queue the open copies of an account once more.
  private func resumeAgain(_ key: PublicKey) {
    resumed.remove(key)
    resume()
  }

  private func resume(_ key: PublicKey) async throws(Refusal) {
    let vault = try await feed.vault(of: key)
    resumed.insert(key)
    let copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.openCopies(of: vault.account)
    }
    for copy in copies where feed.accounts.isOpen(key) {
      // It may have ended since, or been called off.
      let isOpen = try await feed.ledgered { () async throws(StorageFault) in
        try await self.feed.ledger.isOpen(copy)
      }
      if isOpen { _ = try await give(copy, vault, until: EventLoop.process.now) }
    }
    guard resumed.contains(key) else { throw Refusal(.unavailable, "the planner cannot say yet where something goes") }
  }

  // MARK: How far it is

  /// The planner says how far a publication is.
  func published(_ publication: Publication) {
    guard open[publication.id] != nil else { return }
    EventLoopActor.task { [self] in await follow(publication) }
  }

  func follow(_ publication: Publication) async {
    guard var one = open[publication.id] else { return }
    let relays = publication.targets.filter { $0.state == .confirmed }.map(\.relay)
    let stage: Int64 = !relays.isEmpty ? 2 : publication.state.isFinal ? 3 : 1
    one.kept.relays = relays
    one.kept.message = relays.isEmpty ? publication.targets.compactMap(\.message).first : nil
    // The last words are in memory until the stage changes: after a death the planner says them again.
    if stage == 1, one.copy.stage == 1 { open[publication.id]?.kept.message = one.kept.message }
    // Relays that take it later are the publish queue's affair.
    await set(stage, one)
  }

  private func end(_ wrap: String, message: String) async {
    guard var one = open[wrap] else { return }
    one.kept.message = message
    await set(3, one)
  }

  private func set(_ stage: Int64, _ one: Open) async {
    var one = one
    // A copy with its last stage is open until that is committed: callers read the ledger when it no longer is. One
    // that a relay was given when it was called off stays open: the relay may still say that it has it.
    let isHanded = handed.contains(one.kept.wrap)
    guard stage != one.copy.stage, one.copy.stage < 2 || (isHanded && stage == 2) else { return }
    if stage >= 2 { one.kept.event = nil }
    let sealed = one.vault.seal(one.kept, "copy", one.copy.item)
    let copy = one.copy
    one.copy.stage = stage
    open[one.kept.wrap] = one
    do throws(StorageFault) {
      try await feed.ledger.set(stage, sealed, of: copy, one.vault.account, now: WallClock.seconds)
      feed.health.written()
    } catch {
      feed.health.notWritten(error)
      // The ledger has the stage before: it is asked for again, since posts may wait for it.
      if stage >= 2 { resumeAgain(one.vault.key) }
    }
    if stage == 2 { handed.remove(one.kept.wrap) }
    if stage == 2 || (stage > 2 && !isHanded) { open[one.kept.wrap] = nil }
    hasChanged.raise()
    if stage >= 2, !copy.isOwn, heldBack.remove(copy.item) != nil { resumeAgain(one.vault.key) }
    guard !copy.isOwn, stage != 1 else { return }
    await feed.teller.changed(LinkChange(account: "\(one.vault.key)"))
  }
}
