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
import OutboxRouting

// Our own accounts: who they are, from the signer; what they have published about themselves, wished at relays and read
// from the store as it comes.

extension Planner {
  /// How often the signer is asked again, should its topic have said something that was not heard.
  private static let accountMilliseconds: UInt64 = 30_000
  /// How long the signer may take.
  private static let signerMilliseconds: UInt32 = 5_000
  /// What an account publishes about itself.
  private static let ownKinds: [UInt16] = [
    EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.blockedRelays,
    EventKind.directMessageRelays,
  ]
  private static let listKinds: [UInt16] = [
    EventKind.relayList, EventKind.blockedRelays, EventKind.directMessageRelays,
  ]

  func askAccounts() {
    accountTimer.set(afterMilliseconds: Self.accountMilliseconds) { [unowned self] in askAccounts() }
    guard !isAskingAccounts else { return }
    let signers = bus.registry.members.filter { $0.role == Role.signer.name }
    guard hasSigner || signers.contains(where: \.isReady) else {
      // None is to run, and none was attached: there is no account.
      return accountsAre([])
    }
    let settled = startedAt.advanced(milliseconds: Self.settlingMilliseconds)
    // Right after a start it may be only late.
    if now < settled, signers.isEmpty {
      return accountTimer.set(at: settled) { [unowned self] in askAccounts() }
    }
    isAskingAccounts = true
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        let answer = try await bus.request(
          SignerMethod.accounts, NoArguments(), ttlMilliseconds: Self.signerMilliseconds)
        accountsAre(answer.accounts)
      } catch  where error.reason == .notConfigured {
        // Nobody holds keys here, and so there is no account. One that was stopped, or has failed, may be back.
        accountsAre([])
      } catch {
        log.debug("the signer does not say which accounts there are", metadata: ["why": "\(error.message)"])
      }
      isAskingAccounts = false
      let waiters = accountWaiters
      accountWaiters = []
      for waiter in waiters { waiter.resume() }
    }
  }

  /// Makes sure that an account made a moment ago is known, before it is said that this author is none.
  ///
  /// - Parameter author: nil when it is to be the only account.
  func recognise(_ author: PublicKey?) async {
    func isKnown() -> Bool { author.map { directory.account($0) != nil } ?? (directory.personalAccounts.count == 1) }
    if isKnown() { return }
    // Strangers' events may come by the thousand.
    if let author, let asked = strangersAskedAt[author], now.milliseconds(since: asked) < Self.strangerMilliseconds {
      return
    }
    // An answer on its way may be from before.
    if isAskingAccounts { await withCheckedContinuation { accountWaiters.append($0) } }
    askAccounts()
    if isAskingAccounts { await withCheckedContinuation { accountWaiters.append($0) } }
    let deadline = now.advanced(milliseconds: Self.strangerMilliseconds)
    await hasChanged.wait(until: deadline) { !isKnown() || directory.unsettled == nil || isDraining }
    guard let author, !isKnown() else { return }
    if strangersAskedAt.count >= Self.strangerMaximum { strangersAskedAt = [:] }
    strangersAskedAt[author] = now
  }

  /// How long an author whom the signer does not know stays a stranger, and how long a new account's lists are waited
  /// for.
  private static let strangerMilliseconds: UInt64 = 1_000
  /// Strangers remembered; then all are forgotten, and asked about again.
  private static let strangerMaximum = 1_024

  func accountsAre(_ accounts: [SignerAccount]) {
    publishing?.accountsOpened(Set(accounts.filter { $0.state == .unlocked }.compactMap { PublicKey($0.publicKey) }))
    let known = accounts.compactMap { account in PublicKey(account.publicKey).map { (name: account.name, key: $0) } }
    let before = directory.accounts.map { "\($0.name) \($0.key)" }
    guard directory.unsettled != nil || before != known.map({ "\($0.name) \($0.key)" }) else { return }
    directory.accountsAre(known)
    let keys = Set(known.map(\.key.description))
    if keys != accountKeys { wishLists(of: keys, butOf: Set(accounts.filter(\.isOfWorker).map(\.publicKey))) }
    update()
  }

  /// Each account's own kinds are wished by themselves, so that another account changes nothing of it. No relay is
  /// asked what a worker says of itself: it was made here, and nobody else has to hear of it.
  private func wishLists(of keys: Set<String>, butOf workers: Set<String>) {
    for key in accountKeys.subtracting(keys) { wishes.ended(Self.wishKey(key), at: now, wall: WallClock.seconds) }
    for text in keys.subtracting(accountKeys).subtracting(workers).sorted() {
      guard let key = PublicKey(text) else { continue }
      let wish = Interest(own: text, [Filter(authors: [key], kinds: Self.ownKinds)])
      wishes.wished(wish, in: directory, at: now, wall: WallClock.seconds)
    }
    accountKeys = keys
    readLists()
  }

  private static func wishKey(_ key: String) -> String { Interest.ownPrefix + key }

  // MARK: Reading them

  /// Reads the accounts' lists from the store, those there are and those that come.
  private func readLists() {
    listAnswer?.abandon(Refusal(.cancelled, "other accounts are read"))
    listAnswer = nil
    let authors = accountKeys.sorted()
    listAuthors = authors
    guard !authors.isEmpty else { return }
    persist("store.observe of the accounts' lists") { [self] () async throws(Refusal) in
      guard listAuthors == authors else { return true }
      let keys = authors.compactMap { PublicKey($0) }
      var wanted = StoreObserve(filters: [JSONValue(of: Filter(authors: keys, kinds: Self.listKinds))])
      wanted.policy = .cacheOnly
      let answer = try await bus.ask(StoreMethod.observe, wanted)
      guard listAuthors == authors else {
        answer.abandon(Refusal(.cancelled, "other accounts are read"))
        return true
      }
      listAnswer = answer.answer
      while let part = try await answer.nextPart(), listAuthors == authors { learn(part, keys) }
      return false
    }
  }

  private func learn(_ payload: ObservedEvents, _ keys: [PublicKey]) {
    do throws(Refusal) {
      let part = try JSONPayload.decode(JSONValue.self, from: payload.bytes)
      guard let value = part["event"] else {
        directory.lookedUp(keys)
        return update()
      }
      let event: Event
      do throws(EventFault) { event = try Event(json: JSONPayload.encode(value)) } catch {
        throw Refusal(.badPayload, "\(error)")
      }
      if directory.learn(event) { update() }
    } catch {
      log.error("an event of the store cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Looks in the store for where somebody receives private messages.
  func lookUpMessageRelays(of person: PublicKey) async throws(Refusal) {
    let filter = Filter(authors: [person], kinds: [EventKind.directMessageRelays], limit: 1)
    let answer = try await bus.ask(StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]))
    while let part = try await answer.nextPart() {
      guard let event = try? Event(json: part.bytes) else { continue }  // The store has verified it.
      _ = directory.learn(event)
    }
  }
}
