import Bus
import Contracts
import Cryptography
import DataKeys
import EventLoop
import Frames
import LinkLedger
import Linkstr
import LinuxSystem
import Logging
import Nostr
import PersonAccounts
import Storage
import WorkerKit
import WorkerLedger
import Wording

// Links and messages go this way:
//
//     store ─ gift wraps, by seq ─▶ WrapIntake ─ signer.open ─▶ LinkLedger ─▶ notices, LinkShelf ─▶ callers
//     callers ─▶ LinkSender ─ signer.wrap ─▶ LinkLedger ─ plan.publish ─▶ publish queue ─▶ relays
//
// Nothing is remembered that the ledger has not: a death at any moment leaves a wrap filed or to be filed again, and a
// copy sent or to be sent again.

/// Serves `links.*` and `messages.*`.
@EventLoopActor
final class LinkFeed {
  let worker: Worker
  let ledger: LinkLedger
  let accounts: AccountBook
  let dataKeys: DataKeys
  let log = Logger(label: "links")
  private(set) lazy var health = LedgerHealth("the ledger of links", log) { [ledger] in ledger.markDamaged() }
  private(set) lazy var teller = NoticeTeller(self)
  private(set) lazy var sender = LinkSender(self)
  private(set) lazy var sessions = SessionBook(self)
  private lazy var shelf = LinkShelf(self)
  private lazy var addresses = ContactShelf(self)
  private var intakes: [PublicKey: WrapIntake] = [:]
  private(set) var settings: LinkFeedSettings
  /// Contacts of open accounts, in memory while the account is open.
  private var contacts: [PublicKey: [PublicKey: LinkContact]] = [:]

  private let sweepTimer = LoopTimer()

  /// How often copies that have ended are looked for, and how long they are kept: as long a token sends nothing again.
  private static let (sweepMilliseconds, keepSeconds): (UInt64, Int64) = (60_000, 30 * 86_400)
  /// The longest wait after a failure of another worker.
  static let retryMillisecondsMaximum: UInt64 = 10_000

  init(_ worker: Worker, directory: String) throws(Refusal) {
    self.worker = worker
    settings = try worker.settings(of: LinkFeedSettings.self)
    do throws(StorageFault) {
      ledger = try LinkLedger(directory: directory, now: WallClock.seconds)
    } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    ledger.rescue?.tell("the ledger of links", log)
    accounts = AccountBook(worker, log)
    dataKeys = DataKeys(worker.bus, Self.texts(ledger))
  }

  private static func texts(_ ledger: LinkLedger) -> DataKeys.Texts {
    DataKeys.Texts(
      reading: { account throws(StorageFault) in try await ledger.dataKeyText(of: account) },
      keeping: { account, text throws(StorageFault) in try await ledger.keep(dataKeyText: text, of: account) })
  }

  /// Starts to serve.
  func start() {
    worker.serve(AccountMethod.forget) { [unowned self] (_, wanted) throws(Refusal) in try await forget(wanted) }
    worker.serve(LinkMethod.status) { [unowned self] (_, _) throws(Refusal) in try await status() }
    worker.bus.onEvent = { [unowned self] in received($0) }
    worker.bus.onRegistry = { [unowned self] _ in
      accounts.ask()
      sender.workersChanged()
    }
    worker.onDrain = { [unowned self] in
      accounts.drain()
      sweepTimer.cancel()
      for intake in intakes.values { intake.end() }
    }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onEnd = { [unowned self] in
      do throws(StorageFault) { try ledger.close() } catch { log.error("cannot close", metadata: ["why": "\(error)"]) }
    }
    accounts.onChange.append { [unowned self] in accountsChanged() }
    shelf.start()
    addresses.start()
    sender.start()
    accounts.start()
    sweep()
  }

  /// Removes copies that ended long ago.
  private func sweep() {
    EventLoopActor.task { [self] in
      do throws(StorageFault) {
        while !worker.isDraining {
          let count = try await ledger.sweep(before: WallClock.seconds - Self.keepSeconds)
          guard count == LinkLedger.sweepCount else { break }
        }
      } catch {
        health.leaveIfDamaged(error)
        log.warning("old copies are not removed", metadata: ["why": "\(error)"])
      }
      if !worker.isDraining {
        sweepTimer.set(afterMilliseconds: Self.sweepMilliseconds) { [unowned self] in sweep() }
      }
    }
  }

  private func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) {
        dataKeys.accountsAre(changes.accounts)
        accounts.received(changes.accounts)
      }
      if let publication = try event.value(of: PlanTopic.published) { sender.published(publication) }
    } catch {
      log.error("an event of a topic cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  // MARK: Accounts

  private func accountsChanged() {
    for (key, intake) in intakes where !accounts.isOpen(key) {
      intake.end()
      (intakes[key], contacts[key]) = (nil, nil)
      sessions.drop(key)
      // The topic may have been missed.
      dataKeys.drop(key)
    }
    for (key, account) in accounts.accounts where account.state == .unlocked && intakes[key] == nil {
      guard !worker.isDraining else { return }
      intakes[key] = WrapIntake(self, key, named: account.name)
    }
    sender.resume()
  }

  /// What of an account is found and sealed with its data key.
  ///
  /// - Throws: `locked`, with what to type.
  func vault(of key: PublicKey) async throws(Refusal) -> LinkVault {
    let dataKey = try await dataKeys.key(of: key)
    do throws(StorageFault) { return LinkVault(try await ledger.account(key).number, key, dataKey) } catch {
      throw health.refusal(error)
    }
  }

  /// The account that a request names, with its vault.
  func vault(_ account: String?) async throws(Refusal) -> LinkVault {
    try await vault(of: try await accounts.account(account).key)
  }

  /// The contacts of an account.
  func contacts(_ vault: LinkVault) async throws(Refusal) -> [PublicKey: LinkContact] {
    if let known = contacts[vault.key] { return known }
    let sealed: [[UInt8]]
    do throws(StorageFault) { sealed = try await ledger.contacts(of: vault.account) } catch {
      throw health.refusal(error)
    }
    var found: [PublicKey: LinkContact] = [:]
    for contact in sealed.compactMap(vault.contact) {
      if let key = PublicKey(contact.publicKey) { found[key] = contact }
    }
    if accounts.isOpen(vault.key) { contacts[vault.key] = found }
    return found
  }

  /// Whether a key is a contact of an account whose contacts are in memory.
  func isContact(_ key: PublicKey, of account: PublicKey) -> Bool { contacts[account]?[key] != nil }

  /// A contact has changed, or is gone.
  func changed(_ contact: LinkContact?, _ key: PublicKey, of account: PublicKey) { contacts[account]?[key] = contact }

  /// The account uses links from now on: the relays of the settings are asked too.
  func usesLinks(_ account: PublicKey) { intakes[account]?.usesLinks() }

  // MARK: What a text names

  /// Runs an operation of the ledger; a fault becomes a refusal.
  func ledgered<Value: Sendable>(
    _ body: @EventLoopActor () async throws(StorageFault) -> Value
  ) async throws(Refusal) -> Value {
    do throws(StorageFault) {
      let value = try await body()
      return value
    } catch {
      health.notWritten(error)
      throw health.refusal(error)
    }
  }

  /// The conversation with this id; nil: it has no row.
  func conversation(_ id: String, _ vault: LinkVault) async throws(Refusal) -> KeptConversation? {
    let hash = vault.hash(ofConversation: id)
    let sealed = try await ledgered { () async throws(StorageFault) in
      try await self.ledger.conversation(hash, of: vault.account)
    }
    return sealed.flatMap { vault.open($0, as: KeptConversation.self, "conversation", hash) }
  }

  /// The conversation that a text names by its id. A contact's name comes first: who makes a session chooses its id.
  func conversation(named text: String, _ vault: LinkVault) async throws(Refusal) -> KeptConversation? {
    let name = Self.folded(text)
    if try await contacts(vault).values.contains(where: { Self.folded($0.name) == name }) { return nil }
    return try await conversation(text, vault)
  }

  /// The key that a text names: `npub`, 64 hexadecimal digits, or the name of a contact.
  func person(_ text: String, _ vault: LinkVault) async throws(Refusal) -> PublicKey {
    // A key is a key, also where a contact is called so.
    let fault: EntityFault
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch { fault = error }
    let named = try await contacts(vault).filter { Self.folded($0.value.name) == Self.folded(text) }
    if let key = named.first?.key { return key }
    if case .secret = fault {
      throw Refusal(.badRequest, "that is a secret key; a contact is named by npub1…", outcome: .notStarted)
    }
    let shown = VisibleText.make(String(text.prefix(Self.shownMaximum)))
    throw Refusal(
      .noSuchConversation,
      "'\(shown)' is no contact, no key (npub1…, 64 hexadecimal digits) and no conversation: "
        + "'roost links contacts' shows the contacts", outcome: .notStarted)
  }

  /// A name as names are compared: white space around it and the case of letters do not count.
  static func folded(_ name: String) -> String { (LinkPayload.trimmed(name) ?? "").lowercased() }

  /// Characters of a name that a refusal repeats.
  private static let shownMaximum = 100

  private func settingsChanged() {
    do throws(Refusal) {
      settings = try worker.settings(of: LinkFeedSettings.self)
      for intake in intakes.values { intake.askAgain() }
    } catch { log.error("the new settings are not taken", metadata: ["why": "\(error.message)"]) }
  }

  private func forget(_ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    guard let key = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
    }
    intakes.removeValue(forKey: key)?.end()
    contacts[key] = nil
    sessions.drop(key)
    dataKeys.drop(key)
    do throws(StorageFault) {
      let count = try await ledger.forget(key)
      return AccountForgotten(count == 0 ? [] : [.init("links and messages", count)])
    } catch { throw health.refusal(error) }
  }

  // MARK: Status

  private func status() async throws(Refusal) -> LinksStatus {
    // A process that has just begun has no accounts yet. `try?`: without the signer the rest is said.
    try? await accounts.whenKnown()
    var rows: [LinksStatus.Account] = []
    for (key, account) in accounts.accounts.sorted(by: { $0.value.name < $1.value.name })
    where account.isReadOnly != true {
      do throws(StorageFault) {
        let known = try await ledger.account(key)
        let counts = try await ledger.counts(known.number)
        rows.append(
          LinksStatus.Account(
            name: account.name, publicKey: account.publicKey, isOpen: account.state == .unlocked,
            usesLinks: known.usesLinks, wraps: counts.wraps, refused: counts.refused, unsent: counts.unsent))
      } catch { throw health.refusal(error) }
    }
    return LinksStatus(sending: await sending(), accounts: rows, fault: health.fault?.description)
  }

  /// Whether something can be sent now; nil while the planner does not answer.
  func sending() async -> SendingState? {
    // `try?`: without the planner nothing is known of it.
    try? await worker.bus.request(PlanMethod.status, NoArguments(), ttlMilliseconds: Self.statusMilliseconds).sending
  }

  private static let statusMilliseconds: UInt32 = 2_000
}
