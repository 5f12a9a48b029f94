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

  func accountsAre(_ accounts: [SignerAccount]) {
    publishing?.accountsOpened(Set(accounts.filter { $0.state == .unlocked }.compactMap { PublicKey($0.publicKey) }))
    let known = accounts.compactMap { account in PublicKey(account.publicKey).map { (name: account.name, key: $0) } }
    let before = directory.accounts.map { "\($0.name) \($0.key)" }
    guard directory.unsettled != nil || before != known.map({ "\($0.name) \($0.key)" }) else { return }
    directory.accountsAre(known)
    let keys = Set(known.map(\.key.description))
    if keys != lists.accounts { wishLists(of: keys, butOf: Set(accounts.filter(\.isOfWorker).map(\.publicKey))) }
    update()
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
