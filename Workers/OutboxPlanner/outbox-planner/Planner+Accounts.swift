import Addresses
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
import Storage

// Our own accounts: their keys, from the signer, and the lists that they have published, requested from relays and read
// from the store.

extension Planner {
  /// The kinds that an account publishes about itself.
  private static let ownKinds: [UInt16] = [
    EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.blockedRelays,
    EventKind.directMessageRelays,
  ]

  /// Looks for an account that was made a moment ago, before the planner takes this author for a stranger.
  ///
  /// - Parameter author: nil when the only account is meant.
  func recognise(_ author: PublicKey?) async {
    func isKnown() -> Bool { author.map { directory.account($0) != nil } ?? (directory.personalAccounts.count == 1) }
    if isKnown() { return }
    if let author, accounts.isStranger(author) { return }
    await accounts.askAfresh()
    let deadline = now.advanced(milliseconds: Self.listsMilliseconds)
    await hasChanged.wait(until: deadline) { !isKnown() || directory.unsettled == nil || isDraining }
    if let author, !isKnown() { accounts.noteStranger(author) }
  }

  /// How long to wait for a new account's lists.
  private static let listsMilliseconds: UInt64 = 1_000

  func accountsAre(_ told: [SignerAccount]) {
    // For a left account nothing is asked.
    let accounts = told.present
    usedAccount = accounts.first { $0.isUsed == true }.flatMap { PublicKey($0.publicKey) }
    publishing?.forgetting = Set(told.filter { $0.isForgetting == true }.compactMap { PublicKey($0.publicKey) })
    let opened = Set(accounts.filter { $0.state == .unlocked }.compactMap { PublicKey($0.publicKey) })
    publishing?.accountsOpened(opened)
    if sealedLists.keys.contains(where: opened.contains) { EventLoopActor.task { [self] in await openBlocked() } }
    let known = accounts.compactMap { account in PublicKey(account.publicKey).map { (name: account.name, key: $0) } }
    let before = directory.accounts.map { "\($0.name) \($0.key)" }
    let readOnly = Set(accounts.filter { $0.isReadOnly == true }.compactMap { PublicKey($0.publicKey) })
    guard
      directory.unsettled != nil || readOnly != directory.readOnly || before != known.map({ "\($0.name) \($0.key)" })
    else { return }
    directory.accountsAre(known, readOnly: readOnly)
    let keys = Set(known.map(\.key.description))
    if keys != lists.accounts { wishLists(of: keys, butOf: Set(accounts.filter(\.isOfWorker).map(\.publicKey))) }
    update()
  }

  /// Forgets an account, which is left (`account.forget`).
  func forget(_ wanted: AccountForget) async throws(Refusal) -> AccountForgotten {
    guard let account = PublicKey(wanted.account) else {
      throw Refusal(.badRequest, "'account' is no public key", outcome: .notStarted)
    }
    guard directory.account(account) == nil else {
      throw Refusal(.badRequest, "the account is not left: its things would be asked for again", outcome: .notStarted)
    }
    guard let publishing else {
      throw Refusal(
        .unavailable, "the ledger of publications is not open yet", outcome: .notStarted, retryAfterMilliseconds: 500)
    }
    sealedLists[account] = nil
    let others = Set(wanted.others.compactMap { PublicKey($0) })
    var parts = try await publishing.forget(account, others: others)
    // What was learned of people whom no other account reads is learned again if it is ever needed.
    let known = others.union(directory.wantedAuthors)
    let before = directory.beliefs
    let kept = before.filter { belief in belief.person.isEmpty || PublicKey(belief.person).map(known.contains) ?? false
    }
    directory.recall(kept)
    await keepBeliefs()
    do throws(StorageFault) { try await beliefs?.scrub() } catch {
      throw Refusal(error.mayPass ? .unavailable : .failed, error.description)
    }
    parts.append(AccountForgotten.Part("notes on where it and its people write", before.count - kept.count))
    return AccountForgotten(parts)
  }

  /// Each account's own kinds are an interest of their own, so that another account does not change it. There is no
  /// interest for a worker's account: its lists were made here, and no relay needs to know of them.
  private func wishLists(of keys: Set<String>, butOf workers: Set<String>) {
    for key in lists.accounts.subtracting(keys) { end(Self.wishKey(key)) }
    for text in keys.subtracting(lists.accounts).subtracting(workers).sorted() {
      guard let key = PublicKey(text) else { continue }
      let wish = Interest(own: text, [Filter(authors: [key], kinds: Self.ownKinds)], named: directory.indexers)
      begin(wish)
    }
    lists.read(of: keys)
  }

  private static func wishKey(_ key: String) -> String { Interest.ownPrefix + key }

  // MARK: Reading them

  /// Takes a part of the store's answer about the lists of these accounts.
  func learn(_ payload: ObservedEvents, _ keys: [PublicKey]) {
    do throws(Refusal) {
      // `try?`: the end of the stored events has no event.
      guard let part = try? JSONPayload.decode(ObservedEvent.self, from: payload.bytes) else {
        EventLoopActor.task { [self] in
          await openBlocked()
          directory.lookedUp(keys)
          update()
        }
        return
      }
      let event: Event
      do throws(EventFault) { event = try Event(json: part.event.bytes) } catch {
        throw Refusal(.badPayload, "\(error)")
      }
      guard directory.learn(event) else { return }
      if event.kind == EventKind.blockedRelays { sealedLists[event.pubkey] = event.content.isEmpty ? nil : event }
      update()
      // Before all stored lists are here, a newer version may follow.
      if directory.unsettled == nil { EventLoopActor.task { [self] in await openBlocked() } }
    } catch {
      log.error("an event of the store cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Has the signer open the private entries of the accounts' lists of blocked relays. Those of a locked account wait
  /// until it is unlocked.
  private func openBlocked() async {
    for (account, list) in sealedLists {
      var relays: [RelayURL] = []
      do throws(Refusal) {
        let event = try JSONPayload.decode(JSONValue.self, from: list.json)
        let method = list.content.contains("?iv=") ? SignerMethod.nip04Decrypt : SignerMethod.nip44Decrypt
        let wanted = SignerCipher(account: "\(account)", peer: "\(account)", contentOf: event)
        let opened = try await bus.request(method, wanted, ttlMilliseconds: Self.openMilliseconds)
        let tags = try JSONPayload.decode([[String]].self, from: Array(opened.text.utf8))
        for tag in tags where tag.first == "relay" && tag.count > 1 && relays.count < RelaySet.countMaximum {
          // An entry that is no relay's address blocks nothing.
          if let relay = try? RelayURL(tag[1]) { relays.append(relay) }
        }
      } catch {
        log.notice(
          "the private part of a list of blocked relays is not read",
          metadata: ["of": "\(account)", "why": "\(error.message)"])
        // A text that cannot be read stays so; whatever else it is, it may pass.
        if ![.badPayload, .badRequest].contains(error.code) { continue }
      }
      guard sealedLists[account]?.id == list.id else { continue }
      sealedLists[account] = nil
      directory.learnBlocked(relays, by: account, of: list.id)
    }
    update()
  }

  /// How long the signer may take to open a list.
  private static let openMilliseconds: UInt32 = 2_000

  /// Looks in the store for the list of relays where a person receives private messages.
  func lookUpMessageRelays(of person: PublicKey) async throws(Refusal) {
    let filter = Filter(authors: [person], kinds: [EventKind.directMessageRelays], limit: 1)
    let answer = try await bus.ask(StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]))
    while let part = try await answer.nextPart() {
      guard let event = try? Event(json: part.bytes) else { continue }  // The store has verified it.
      _ = directory.learn(event)
    }
  }
}
