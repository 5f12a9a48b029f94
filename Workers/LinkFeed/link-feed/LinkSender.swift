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

  private unowned let feed: LinkFeed
  private let log: Logger
  /// By the ids of wraps.
  private var open: [String: Open] = [:]
  /// Raised when a copy has come further.
  private let hasChanged = Signal()
  /// Tokens that are being kept: a second call with one waits.
  private var claims: Set<[UInt8]> = []
  /// Accounts whose open copies are being given to the publish queue.
  private var resuming: Set<PublicKey> = []
  /// Accounts whose open copies are with the publish queue.
  private var resumed: Set<PublicKey> = []

  /// How long the signer has for one wrap, and the planner for one publication: it may look for the recipient's list.
  private static let signMilliseconds: UInt32 = 10_000
  private static let publishMilliseconds: UInt32 = 30_000
  /// Most calls that send at a time.
  private static let claimMaximum = 256
  /// Most copies of one account that have not ended.
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

  // MARK: What is sent

  private func post(_ request: BusRequest, _ wanted: LinksPost) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    let peer = try await peer(wanted.to, vault)
    let draft: LinkDraft
    let url: LinkURL
    do throws(LinkURLFault) { url = try LinkURL(wanted.url) } catch {
      let shown = VisibleText.make(String(wanted.url.prefix(Self.shownMaximum)))
      throw Refusal(.badRequest, "'\(shown)' cannot be sent: \(error)", outcome: .notStarted)
    }
    do throws(LinkFault) {
      var random = SystemRandomNumberGenerator()
      draft = try LinkDraft.post(
        url, note: wanted.note, to: peer, by: vault.key, at: WallClock.seconds, using: &random)
    } catch { throw Self.bad(error) }
    return try await send(
      draft.rumor, to: draft.recipients, vault,
      Manner(request, wanted.token, wanted.waitMilliseconds, wanted.givesUp))
  }

  private func reply(_ request: BusRequest, _ wanted: LinksReply) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    guard let root = EventID(wanted.post) else {
      throw Refusal(.badRequest, "'post' is no id of a post: 64 hexadecimal digits are expected", outcome: .notStarted)
    }
    let peer = try await peer(ofPost: root, vault)
    let draft: LinkDraft
    do throws(LinkFault) {
      draft = try LinkDraft.reply(wanted.text, to: root, with: peer, by: vault.key, at: WallClock.seconds)
    } catch { throw Self.bad(error) }
    return try await send(
      draft.rumor, to: draft.recipients, vault,
      Manner(request, wanted.token, wanted.waitMilliseconds, wanted.givesUp))
  }

  private func message(_ request: BusRequest, _ wanted: MessagesSend) async throws(Refusal) -> SentLink {
    let vault = try await feed.vault(wanted.account)
    var others: Set<PublicKey> = []
    for text in wanted.to {
      for member in try await members(text, vault) where member != vault.key { others.insert(member) }
    }
    guard wanted.legacy != true else {
      throw Refusal(.badRequest, "messages of kind 4 are not sent by this version", outcome: .notStarted)
    }
    let answered = try wanted.replyTo.map { text throws(Refusal) in
      guard let id = EventID(text) else {
        throw Refusal(.badRequest, "'replyTo' is no id of a message", outcome: .notStarted)
      }
      return id
    }
    let rumor = PrivateMessage.rumor(
      wanted.text, to: others.isEmpty ? [vault.key] : others.sorted(), subject: wanted.subject, answering: answered,
      by: vault.key, at: WallClock.seconds)
    return try await send(
      rumor, to: (others.union([vault.key])).sorted(), vault,
      Manner(request, wanted.token, wanted.waitMilliseconds, wanted.givesUp))
  }

  /// The members of the conversation that a text names, besides the account.
  private func members(_ text: String, _ vault: LinkVault) async throws(Refusal) -> [PublicKey] {
    if let found = try await feed.conversation(text, vault), !found.members.isEmpty {
      return found.members.compactMap { PublicKey($0) }
    }
    return [try await feed.person(text, vault)]
  }

  private func peer(_ text: String, _ vault: LinkVault) async throws(Refusal) -> PublicKey {
    let members = try await members(text, vault)
    guard members.count == 1 else {
      throw Refusal(.badRequest, "'\(text)' has several members; a link goes to one contact", outcome: .notStarted)
    }
    return members[0]
  }

  private func peer(ofPost id: EventID, _ vault: LinkVault) async throws(Refusal) -> PublicKey {
    let found = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.item(vault.hash(ofItem: id), of: vault.account)
    }
    guard let row = found?.row, row.sort == .post, let rumor = vault.rumor(row) else {
      throw Refusal(
        .noSuchPost, "there is no post \(id); 'roost links show' shows the posts of a contact", outcome: .notStarted)
    }
    let members = rumor.members(besides: vault.key)
    if case .link(let item) = rumor.content, case .session = item.body {
      throw Refusal(.badRequest, "posts of a session take no replies", outcome: .notStarted)
    }
    return members.first ?? vault.key
  }

  private static func bad(_ fault: LinkFault) -> Refusal {
    Refusal(.badRequest, "it cannot be sent: \(fault)", outcome: .notStarted)
  }

  /// Characters of a link that a refusal repeats.
  private static let shownMaximum = 100

  // MARK: Keeping

  /// How a caller wants it sent.
  @EventLoopActor
  private struct Manner {
    let token: String
    let milliseconds: UInt64
    let givesUp: Bool

    /// A caller without a token is known by its request, which the hub delivers again as it was.
    init(_ request: BusRequest, _ token: String?, _ milliseconds: Int64?, _ givesUp: Bool?) {
      let (caller, id, trace) = (request.caller, request.id, request.trace)
      self.token = token ?? "request \(caller) \(id) \(trace)"
      self.milliseconds = UInt64(max(0, milliseconds ?? LinksPost.waitMillisecondsDefault))
      self.givesUp = givesUp ?? false
    }
  }

  private func send(
    _ rumor: UnsignedEvent, to recipients: [PublicKey], _ vault: LinkVault, _ manner: Manner
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
    if copies.isEmpty { copies = try await keep(rumor, recipients, token, vault) }
    let item = copies[0].item
    if rumor.kind == LinkPayload.rumorKind { feed.usesLinks(vault.key) }
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
    let made = copies
    return try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.keep(item, made, token: token, of: vault.account)
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
            log.notice("a gift wrap waits", metadata: ["why": "\(error.message)"])
            resumed.remove(vault.key)
            return nil
          }
          await EventLoopActor.sleep(milliseconds: Self.againMilliseconds)
        }
      }
    }
  }

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
    // A copy with its last stage is open until that is committed: callers read the ledger when it no longer is.
    guard one.copy.stage < 2, stage != one.copy.stage else { return }
    if stage >= 2 { one.kept.event = nil }
    let sealed = one.vault.seal(one.kept, "copy", one.copy.item)
    let copy = one.copy
    one.copy.stage = stage
    open[one.kept.wrap] = one
    do throws(StorageFault) {
      try await feed.ledger.set(stage, sealed, of: copy, one.vault.account)
    } catch { feed.health.notWritten(error) }
    if stage >= 2 { open[one.kept.wrap] = nil }
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

  /// Calls off what no relay has. If one has it by then, it is sent.
  private func callOff(_ item: [UInt8], _ vault: LinkVault, _ manner: Manner) async throws(Refusal) {
    var isTaken = false
    for (id, one) in open where one.copy.item == item {
      do throws(Refusal) {
        let publication = try await feed.worker.bus.request(
          PlanMethod.cancel, PlanPublication(id: id), ttlMilliseconds: Self.publishMilliseconds)
        if !one.copy.isOwn, publication.targets.contains(where: { $0.state == .confirmed }) { isTaken = true }
        await follow(publication)
      } catch {
        // The publish queue never had it, or cannot be asked: then it may still go.
        guard error.code == .noSuchEvent else { isTaken = true; continue }
      }
    }
    let copies = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.copies(of: item, vault.account)
    }
    guard !isTaken, !copies.contains(where: { $0.stage == 2 && !$0.isOwn }) else { return }
    let obstacle = await feed.sending().flatMap { SendingObstacle($0) }
    try await takeBack(item, vault)
    let why = obstacle.map { "; \($0)" } ?? ""
    throw Refusal(
      .notSent, "no relay took it within \(manner.milliseconds / 1_000) s, and it was called off\(why)",
      outcome: .notStarted)
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
    let told = copies.compactMap { copy -> SentLink.Copy? in
      guard let kept = vault.open(copy.sealed, as: KeptCopy.self, "copy", copy.item) else { return nil }
      let stage = SendingStage(ledgered: copy.stage)
      if copy.isOwn, stage == .failed, let message = kept.message { remarks.append("no copy to yourself: \(message)") }
      return SentLink.Copy(
        recipient: kept.recipient, wrap: kept.wrap, stage: stage, relays: kept.relays, message: kept.message)
    }
    return SentLink(
      id: "\(rumor.id)", conversation: rumor.conversation, stage: SendingStage(ledgered: row.stage - 1), copies: told,
      remarks: remarks)
  }
}

extension SendingStage {
  /// The stage by its number in the ledger.
  init(ledgered number: Int64) {
    self =
      switch number {
      case ...0: .kept
      case 1: .queued
      case 2: .sent
      default: .failed
      }
  }
}
