import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import Linkstr
import Nostr
import Storage
import WorkerKit

// Contacts are rows of this machine: nothing of them is published. A contact is known by its key, so none is there
// twice, and by its name, so no two have one name.

/// Serves the contacts of accounts.
@EventLoopActor
final class ContactShelf {
  private unowned let feed: LinkFeed

  init(_ feed: LinkFeed) { self.feed = feed }

  /// Starts to serve.
  func start() {
    feed.worker.serve(LinkMethod.contacts) { [unowned self] (request, wanted) throws(Refusal) in
      let contacts = try await feed.contacts(try await feed.vault(wanted.account)).values
      for contact in contacts.sorted(by: {
        (LinkFeed.folded($0.name), $0.publicKey) < (LinkFeed.folded($1.name), $1.publicKey)
      }) {
        try await request.send(contact, of: LinkMethod.contacts)
      }
      return StoreCount(count: contacts.count)
    }
    feed.worker.serve(LinkMethod.contact) { [unowned self] (_, wanted) throws(Refusal) in try await change(wanted) }
  }

  private func change(_ wanted: LinksContact) async throws(Refusal) -> LinkContact {
    let vault = try await feed.vault(wanted.account)
    let key = try await feed.person(wanted.publicKey, vault)
    let relays = try Self.relays(wanted.relays)
    // Read after everything that waits, so that nothing is between this look and the change in memory.
    let contacts = try await feed.contacts(vault)
    let known = contacts[key]
    guard wanted.remove != true else {
      guard let known else { throw Self.unknown(key) }
      try await keep(nil, key, vault)
      return known
    }
    guard let name = wanted.name.flatMap(LinkPayload.trimmed) ?? known?.name else {
      throw Refusal(
        .badRequest, "\(key.npub) is no contact yet: 'name' says what you call this person", outcome: .notStarted)
    }
    if let objection = Self.objection(to: name) { throw Refusal(.badRequest, objection, outcome: .notStarted) }
    guard known != nil || contacts.count < LinkContact.countMaximum else {
      throw Refusal(.full, "there are \(contacts.count) contacts already", outcome: .notStarted)
    }
    let folded = LinkFeed.folded(name)
    if let other = contacts.first(where: { $0.key != key && LinkFeed.folded($0.value.name) == folded }) {
      throw Refusal(
        .nameTaken, "the contact \(other.key.npub) has the name '\(other.value.name)' already", outcome: .notStarted)
    }
    var contact = LinkContact(publicKey: "\(key)", name: name, relays: relays ?? known?.relays ?? [])
    contact.sessions = (wanted.sessions ?? known?.sessions) == true ? true : nil
    if contact != known { try await keep(contact, key, vault) }
    return contact
  }

  /// Why a name cannot be a contact's: it is a way to write a key.
  private static func objection(to name: String) -> String? {
    let isEntity = ["npub1", "nprofile1", "nsec1", "note1", "nostr:"].contains { name.lowercased().hasPrefix($0) }
    let isKey = name.utf8.count == 64 && name.allSatisfy(\.isHexDigit)
    guard isEntity || isKey || name.contains("@") else { return nil }
    return "a name cannot be a key or an address: it would be taken for that"
  }

  private func keep(_ contact: LinkContact?, _ key: PublicKey, _ vault: LinkVault) async throws(Refusal) {
    let sealed = contact.map { vault.seal(contact: $0) }
    try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.keep(contact: sealed, vault.hash(ofContact: key), of: vault.account)
    }
    feed.changed(contact, key, of: vault.key)
    feed.usesLinks(vault.key)
    await feed.teller.changed(LinkChange(account: "\(vault.key)"))
  }

  private static func relays(_ texts: [String]?) throws(Refusal) -> [String]? {
    guard let texts else { return nil }
    var relays: [String] = []
    for text in texts {
      do throws(RelayURLFault) {
        let relay = try RelayURL(text).text
        if !relays.contains(relay) { relays.append(relay) }
      } catch { throw Refusal(.badRequest, "'relays': \(error)", outcome: .notStarted) }
    }
    return relays
  }

  private static func unknown(_ key: PublicKey) -> Refusal {
    Refusal(.noSuchConversation, "\(key.npub) is no contact", outcome: .notStarted)
  }
}
