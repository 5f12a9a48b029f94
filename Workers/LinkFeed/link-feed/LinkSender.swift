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
  private struct Open {
    let vault: LinkVault
    var copy: LinkLedger.Copy
    var kept: KeptCopy
  }

  unowned let feed: LinkFeed
  private let log: Logger
  /// By the ids of wraps.
  private var open: [String: Open] = [:]
  /// Wraps that were handed to a relay when they were called off: a relay may still say that it has them. At most
  /// ``openMaximum``; the next process does not know them.
  private var handed: Set<String> = []
  /// Raised when a copy has come further.
  private let hasChanged = Signal()
  /// Tokens that are being kept: a second call with one waits.
  private var claims: Set<[UInt8]> = []
  /// Accounts whose open copies are being given to the publish queue.
  private var resuming: Set<PublicKey> = []
  /// Accounts whose open copies are with the publish queue.
  private var resumed: Set<PublicKey> = []

  /// How long the signer has for one wrap, and the planner for one publication: it may look for the recipient's list.
  static let signMilliseconds: UInt32 = 10_000
  private static let publishMilliseconds: UInt32 = 30_000
  /// Most calls that send at a time.
  private static let claimMaximum = 256
  /// Most copies that have not ended.
  private static let openMaximum = 10_000

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
    }
  }

  func send(
    _ rumor: UnsignedEvent, to recipients: [PublicKey], _ vault: LinkVault, _ manner: Manner
  ) async throws(Refusal) -> SentLink {
    if rumor.kind == LinkPayload.rumorKind { feed.usesLinks(vault.key) }
    return try await send(vault, manner) { [self] (token) throws(Refusal) in
      try await keep(rumor, recipients, token, vault)
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
    let item = copies[0].item
    let refusal = try await give(copies, vault, until: deadline)
    if let refusal {
      try await takeBack(item, vault)
      throw refusal
    }
    await hasChanged.wait(until: deadline) { [self] in
      !open.values.contains { $0.copy.item == item && !$0.copy.isOwn }
    }
    if manner.givesUp, open.values.contains(where: { $0.copy.item == item && !$0.copy.isOwn }) {
      try await callOff(item, vault, manner)
    }
    return try await sent(item, vault)
  }

  /// Makes the wraps, and commits them with the item.
  private func keep(
    _ rumor: UnsignedEvent, _ recipients: [PublicKey], _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    guard let kept = KeptRumor(rumor, for: vault.key) else {
      throw Refusal(.failed, "what was made cannot be read again", outcome: .notStarted)
    }
    let item = kept.row(in: vault, noticeAt: 0, stage: 1)
    let draft = try JSONPayload.decode(JSONValue.self, from: rumor.json)
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
    return try await keep(item, copies, token, vault)
  }

  func keep(
    _ item: LinkLedger.Item, _ made: [LinkLedger.Copy], _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.keep(item, made, token: token, of: vault.account)
      self.feed.health.written()
      return try await self.feed.ledger.copies(of: item.id, vault.account)
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
    open[kept.wrap] = Open(vault: vault, copy: copy, kept: kept)
    let contacts = try await feed.contacts(vault)
    var wanted = PlanPublish(event: event)
    if let agreed = PublicKey(kept.recipient).flatMap({ contacts[$0]?.relays }), !agreed.isEmpty {
      wanted.agreedRelays = agreed
    }
    while true {
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
            resumed.remove(vault.key)
            resume()
            return nil
          }
          await EventLoopActor.sleep(milliseconds: Self.againMilliseconds)
        }
      }
    }
  }

  /// How often it is looked again whether a relay was given something and does not answer.
  private static let handedLookMaximum = 3
  /// How soon the planner is asked again.
  private static let againMilliseconds: UInt64 = 250

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

  private func resume(_ key: PublicKey) async throws(Refusal) {
    let vault = try await feed.vault(of: key)
    resumed.insert(key)
    let copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.openCopies(of: vault.account)
    }
    for copy in copies where feed.accounts.isOpen(key) {
      _ = try await give(copy, vault, until: EventLoop.process.now)
    }
    guard resumed.contains(key) else { throw Refusal(.unavailable, "the planner cannot say yet where something goes") }
  }

  // MARK: How far it is

  /// The planner says how far a publication is.
  func published(_ publication: Publication) {
    guard open[publication.id] != nil else { return }
    EventLoopActor.task { [self] in await follow(publication) }
  }

  private func follow(_ publication: Publication) async {
    guard var one = open[publication.id] else { return }
    let relays = publication.targets.filter { $0.state == .confirmed }.map(\.relay)
    let stage: Int64 = !relays.isEmpty ? 2 : publication.state.isFinal ? 3 : 1
    one.kept.relays = relays
    one.kept.message = relays.isEmpty ? publication.targets.compactMap(\.message).first : nil
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
      try await feed.ledger.set(stage, sealed, of: copy, one.vault.account)
      feed.health.written()
    } catch { feed.health.notWritten(error) }
    if stage == 2 { handed.remove(one.kept.wrap) }
    if stage == 2 || (stage > 2 && !isHanded) { open[one.kept.wrap] = nil }
    hasChanged.raise()
    guard !copy.isOwn, stage != 1 else { return }
    await feed.teller.changed(LinkChange(account: "\(one.vault.key)"))
  }

  // MARK: Answers

  private func takeBack(_ item: [UInt8], _ vault: LinkVault) async throws(Refusal) {
    for (id, one) in open where one.copy.item == item { open[id] = nil }
    try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.takeBack(item, vault.account)
    }
  }

  /// Calls off what no relay has. If one has it by then, it is sent; if one was given it and has not answered, it may
  /// have it, and the item is kept.
  private func callOff(_ item: [UInt8], _ vault: LinkVault, _ manner: Manner) async throws(Refusal) {
    let ids = open.filter { $0.value.copy.item == item }.map(\.key)
    var handedTo = try await handedOver(ids)
    // A relay that is only being dialled counts as given it: a moment shows whether it is.
    for _ in 0..<Self.handedLookMaximum where !handedTo.isEmpty {
      await EventLoopActor.sleep(milliseconds: Self.againMilliseconds)
      let still = try await handedOver(ids)
      handedTo = handedTo.filter { still[$0.key] == $0.value }
    }
    if handed.count < Self.openMaximum { handed.formUnion(handedTo.keys) }
    var isTaken = false
    for id in ids {
      guard let one = open[id] else { continue }
      do throws(Refusal) {
        let publication = try await feed.worker.bus.request(
          PlanMethod.cancel, PlanPublication(id: id), ttlMilliseconds: Self.publishMilliseconds)
        if !one.copy.isOwn, publication.targets.contains(where: { $0.state == .confirmed }) { isTaken = true }
        await follow(publication)
      } catch {
        // The publish queue never had it, or cannot be asked: then it may still go.
        guard error.code == .noSuchEvent else {
          isTaken = true
          continue
        }
      }
    }
    let copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.copies(of: item, vault.account)
    }
    guard !isTaken, !copies.contains(where: { $0.stage == 2 && !$0.isOwn }) else { return }
    if let relay = handedTo.values.min() {
      throw Refusal(
        .notSent, "it was called off, but \(relay) was given it and has not answered: it may have it", outcome: .unknown
      )
    }
    let obstacle = await feed.sending().flatMap { SendingObstacle($0) }
    try await takeBack(item, vault)
    let why = obstacle.map { "; \($0)" } ?? ""
    throw Refusal(
      .notSent, "no relay took it within \(manner.milliseconds / 1_000) s, and it was called off\(why)",
      outcome: .notStarted)
  }

  /// The wraps among these that a relay was given and has not answered, with the relay.
  private func handedOver(_ ids: [String]) async throws(Refusal) -> [String: String] {
    guard !ids.isEmpty else { return [:] }
    let answer = try await feed.worker.bus.ask(
      PlanMethod.publications, PlanPublications(ids: ids), ttlMilliseconds: Self.publishMilliseconds)
    var found: [String: String] = [:]
    while let publication = try await answer.nextPart() {
      if let target = publication.targets.first(where: { $0.state == .sent }) { found[publication.id] = target.relay }
    }
    return found
  }

  private func sent(_ item: [UInt8], _ vault: LinkVault) async throws(Refusal) -> SentLink {
    let (copies, found) = try await feed.ledgered { () async throws(StorageFault) in
      (
        try await self.feed.ledger.copies(of: item, vault.account),
        try await self.feed.ledger.item(item, of: vault.account)
      )
    }
    guard let row = found?.row, let rumor = vault.rumor(row) else {
      throw Refusal(.failed, "what was sent is no longer here", outcome: .unknown)
    }
    var remarks: [String] = []
    // What is open may be further than what is committed.
    let all = copies.compactMap { copy -> (isOwn: Bool, told: SentLink.Copy)? in
      guard let ledgered = vault.open(copy.sealed, as: KeptCopy.self, "copy", copy.item) else { return nil }
      let one = open[ledgered.wrap]
      let (stage, kept) = (SendingStage(ledgered: one?.copy.stage ?? copy.stage), one?.kept ?? ledgered)
      if copy.isOwn, stage == .failed, let message = kept.message { remarks.append("no copy to yourself: \(message)") }
      let told = SentLink.Copy(
        recipient: kept.recipient, wrap: kept.wrap, stage: stage, relays: kept.relays, message: kept.message)
      return (copy.isOwn, told)
    }
    let others = all.filter { !$0.isOwn }
    return SentLink(
      id: "\(rumor.id)", conversation: rumor.conversation,
      stage: SendingStage(of: (others.isEmpty ? all : others).map(\.told.stage)), copies: all.map(\.told),
      remarks: remarks)
  }
}

extension SendingStage {
  /// The stage over some copies, as the ledger has it of an item.
  init(of copies: [SendingStage]) {
    if copies.contains(.kept) {
      self = .kept
    } else if copies.contains(.queued) {
      self = .queued
    } else {
      self = Set(copies).count > 1 ? .partly : copies.first ?? .failed
    }
  }

  /// The stage by its number in the ledger.
  init(ledgered number: Int64) {
    self =
      switch number {
      case ...0: .kept
      case 1: .queued
      case 2: .sent
      case 4: .partly
      default: .failed
      }
  }
}
