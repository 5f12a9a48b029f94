import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import LinkLedger
import Linkstr
import LinuxSystem
import Nostr
import PersonAccounts
import Storage
import WorkerKit

// How a call that sends ends: with what became of each copy, or with nothing left of what it made.

extension LinkSender {
  func takeBack(_ item: [UInt8], _ vault: LinkVault) async throws(Refusal) {
    for (id, one) in open where one.copy.item == item { open[id] = nil }
    let found = try await feed.ledgered { () async throws(StorageFault) in
      let found = try await self.feed.ledger.item(item, of: vault.account)
      let wraps = try await self.feed.ledger.copies(of: item, vault.account).filter(\.isOwn)
        .compactMap { vault.open($0.sealed, as: KeptCopy.self, "copy", item).flatMap { EventID($0.wrap) } }
      try await self.feed.ledger.takeBack(item, wraps: wraps.map { vault.hash(ofWrap: $0) }, vault.account)
      return found
    }
    if let rumor = found.flatMap({ vault.rumor($0.row) }), rumor.isOfSession { feed.sessions.takeBack(rumor, vault) }
  }

  /// Calls off what creates a session and was made for posts that are not sent, unless another post is in it.
  func callOff(creations: [[UInt8]], _ vault: LinkVault) async {
    for creation in creations { await callOff(creation: creation, vault) }
  }

  private func callOff(creation: [UInt8], _ vault: LinkVault) async {
    // `try?`: a session without posts that stays takes the next post.
    _ = try? await choosing(vault.key) { [self] () async throws(Refusal) in
      let isUsed = try await feed.ledgered { () async throws(StorageFault) in
        guard let row = try await self.feed.ledger.item(creation, of: vault.account)?.row else { return true }
        return try await !self.feed.ledger.roots(in: row.conversation, of: vault.account, before: .end, limit: 1)
          .isEmpty
      }
      if !isUsed { _ = try await callOff(creation, vault) }
    }
  }

  func giveUp(
    _ item: [UInt8], _ vault: LinkVault, _ manner: Manner
  ) async throws(Refusal) {
    let creations = try await creations(before: item, vault)
    switch try await callOff(item, vault) {
    case .taken: return
    case .handed(let relay):
      throw Refusal(
        .notSent, "it was called off, but \(relay) was given it and has not answered: it may have it", outcome: .unknown
      )
    case .calledOff: break
    }
    await callOff(creations: creations, vault)
    let obstacle = await feed.sending().flatMap { SendingObstacle($0) }
    let why = obstacle.map { "; \($0)" } ?? ""
    throw Refusal(
      .notSent, "no relay took it within \(manner.milliseconds / 1_000) s, and it was called off\(why)",
      outcome: .notStarted)
  }

  /// What became of something that was called off.
  private enum CalledOff {
    /// It is sent: a relay has it, or may still be given it.
    case taken
    /// A relay was given it and has not answered: it may have it, and the item is kept.
    case handed(String)
    /// Nothing is left of it.
    case calledOff
  }

  /// How often it is looked again whether a relay was given something and does not answer.
  private static let handedLookMaximum = 3

  /// Calls off what no relay has.
  private func callOff(_ item: [UInt8], _ vault: LinkVault) async throws(Refusal) -> CalledOff {
    let ids = open.filter { $0.value.copy.item == item }.map(\.key)
    calledOff.insert(item)
    defer { calledOff.remove(item) }
    // A call that is just giving it to the publish queue would do so after it was called off.
    let patience = EventLoop.process.now.advanced(milliseconds: UInt64(Self.publishMilliseconds))
    guard await hasChanged.wait(until: patience, for: { [self] in ids.allSatisfy { giving[$0] == nil } }) else {
      return .taken
    }
    var handedTo = try await handedOver(ids)
    // A relay that has just gone counts as open: a moment shows it.
    for _ in 0..<Self.handedLookMaximum where !handedTo.isEmpty {
      await EventLoopActor.sleep(milliseconds: Self.againMilliseconds)
      let still = try await handedOver(ids)
      handedTo = handedTo.reduce(into: [:]) { kept, one in
        let both = one.value.intersection(still[one.key] ?? [])
        if !both.isEmpty { kept[one.key] = both }
      }
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
    guard !isTaken, !copies.contains(where: { $0.stage == 2 && !$0.isOwn }) else { return .taken }
    if let relay = handedTo.values.joined().min() { return .handed(relay) }
    try await takeBack(item, vault)
    return .calledOff
  }

  /// The wraps among these that relays were given and have not answered, with the relays.
  private func handedOver(_ ids: [String]) async throws(Refusal) -> [String: Set<String>] {
    guard !ids.isEmpty else { return [:] }
    let answer = try await feed.worker.bus.ask(
      PlanMethod.publications, PlanPublications(ids: ids), ttlMilliseconds: Self.publishMilliseconds)
    var found: [String: Set<String>] = [:]
    while let publication = try await answer.nextPart() {
      let relays = Set(publication.targets.filter { $0.state == .sent }.map(\.relay))
      if !relays.isEmpty { found[publication.id] = relays }
    }
    guard !found.isEmpty else { return found }
    // A relay that is only being dialled counts as given it in the publish queue.
    let relays = try await feed.worker.bus.request(
      PlanMethod.relays, NoArguments(), ttlMilliseconds: Self.publishMilliseconds
    ).relays
    let dialled = relays.filter { $0.state.map { $0.state != .open } ?? false }.map(\.relay)
    return found.mapValues { $0.subtracting(dialled) }.filter { !$0.value.isEmpty }
  }

  func sent(_ item: [UInt8], _ vault: LinkVault) async throws(Refusal) -> SentLink {
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
    let all = copies.compactMap { copy -> (isOwn: Bool, told: SentLink.Copy)? in
      guard let told = told(copy, vault) else { return nil }
      if copy.isOwn, told.stage == .failed, let message = told.message {
        remarks.append("no copy to yourself: \(message)")
      }
      return (copy.isOwn, told)
    }
    let others = all.filter { !$0.isOwn }
    var sent = SentLink(
      id: "\(rumor.id)", conversation: rumor.conversation,
      stage: SendingStage(of: (others.isEmpty ? all : others).map(\.told.stage)), copies: all.map(\.told),
      remarks: remarks)
    if rumor.isOfSession, feed.accounts.isOpen(vault.key) {
      try await feed.sessions.prepare(vault)
      sent.session = feed.sessions.session(rumor.conversation, of: vault.key)?.name
    }
    return sent
  }

  /// A copy as callers get it; nil: its row was damaged.
  func told(_ copy: LinkLedger.Copy, _ vault: LinkVault) -> SentLink.Copy? {
    guard let ledgered = vault.open(copy.sealed, as: KeptCopy.self, "copy", copy.item) else { return nil }
    // What is open may be further than what is committed.
    let one = open[ledgered.wrap]
    let kept = one?.kept ?? ledgered
    return SentLink.Copy(
      recipient: kept.recipient, wrap: kept.wrap, stage: SendingStage(ledgered: one?.copy.stage ?? copy.stage),
      relays: kept.relays, message: kept.message)
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
