internal import Addresses
public import Cryptography
public import Nostr

// Where else an event of ours goes: to the relays where the people whom it names read what others write to them
// (NIP-65), and, for what others look our accounts up by, to the indexers.

extension RelayDirectory {
  /// Most relays of the named people for one event, beside the author's own.
  static let inboxMaximum = 6
  /// Most of them for one person.
  static let inboxMaximumOfPerson = 2
  /// An event that names as many people as this goes to no inbox but that of the person whom it answers: that is a list
  /// or spam, or a conversation that has become a crowd.
  static let crowdCount = 10
  /// Left-out inboxes that a route tells.
  private static let skippedInboxMaximum = 16

  /// The kinds that others look for at indexers: profile, follows, relays, relays for direct messages.
  static let indexedKinds: Set<UInt16> = [
    EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.directMessageRelays,
  ]

  /// The people whose inboxes an event goes to: those that its tags `p` name, if it is by an account of a person and is
  /// no list. Of ten people or more only the one whom it answers, if it answers anyone.
  public func addressees(of event: UnsignedEvent) -> [PublicKey] {
    guard autopilot, personalAccounts.contains(where: { $0.key == event.pubkey }) else { return [] }
    switch KindClass(event.kind) {
    case .replaceable, .ephemeral: return []
    case .regular, .addressable: break
    }
    guard event.kind != EventKind.report, !ListEntries.areLists(ofKind: event.kind) else { return [] }
    var people: [PublicKey] = []
    for tag in event.tags where tag.first == "p" && tag.count > 1 {
      guard let person = PublicKey(tag[1]), person != event.pubkey, !people.contains(person) else { continue }
      people.append(person)
    }
    guard people.count >= Self.crowdCount else { return people }
    return answered(by: event).map { people.contains($0) ? [$0] : [] } ?? []
  }

  /// The author of what an event answers: of a text as its tag says (NIP-10), of a comment the first person (NIP-22).
  private func answered(by event: UnsignedEvent) -> PublicKey? {
    switch event.kind {
    case EventKind.textNote: ThreadPlace(tags: event.tags).parent?.author
    case EventKind.comment: event.firstValue(of: "p").flatMap { PublicKey($0) }
    default: nil
    }
  }

  /// Those of these people whose relay lists (kind 10002) are not known.
  public func unlisted(_ people: [PublicKey]) -> [PublicKey] {
    people.filter { account($0) == nil && book.reads(of: $0, where: { _ in true }) == nil }
  }

  /// Adds the inboxes of the people whom an event names, after the author's own relays. A relay that is among these
  /// already counts for its person.
  func addInboxes(to route: inout EventRoute, _ event: UnsignedEvent) {
    let author = account(event.pubkey)?.key
    var inboxes: [(person: PublicKey, relays: [RelayURL])] = []
    for person in addressees(of: event) {
      let account = account(person)
      let listed =
        account?.relayList.map { $0.readRelays.isEmpty ? $0.writeRelays : $0.readRelays }
        ?? book.reads(of: person, where: { _ in true }) ?? []
      var usable: [RelayURL] = []
      for url in listed.prefix(AuthorBook.relayMaximum) {
        guard let reason = objection(toOthers: url) else {
          usable.append(url)
          continue
        }
        guard route.skipped.count < Self.skippedInboxMaximum else { continue }
        route.skipped.append(choice(url, reason, people: [person], isForeign: true))
      }
      inboxes.append((person, usable))
    }
    var used = Set(route.choices.map(\.url))
    var added = 0
    for round in 1...Self.inboxMaximumOfPerson {
      for inbox in inboxes where inbox.relays.count(where: used.contains) < round {
        guard added < Self.inboxMaximum else { break }
        // A relay where several of them read serves them all.
        func weight(_ url: RelayURL) -> Int { inboxes.count { $0.relays.contains(url) } }
        var best: RelayURL?
        for url in inbox.relays where !used.contains(url) {
          if best.map({ weight(url) > weight($0) }) ?? true { best = url }
        }
        guard let best else { continue }
        used.insert(best)
        added += 1
        let people = inboxes.filter { $0.relays.contains(best) }.map(\.person)
        let who = people.count == 1 ? "\(account(people[0])?.name ?? people[0].npub)'s" : "\(people.count) people's"
        route.choices.append(choice(best, "\(who) list, for reading", people: people, account: author, isForeign: true))
      }
    }
  }

  /// Adds the indexers for what others look an account up by. No account authenticates there.
  func addIndexers(to route: inout EventRoute, _ event: UnsignedEvent) {
    guard autopilot, Self.indexedKinds.contains(event.kind), !event.isProtected,
      personalAccounts.contains(where: { $0.key == event.pubkey })
    else { return }
    for url in indexers where !route.choices.contains(where: { $0.url == url }) {
      if let reason = objection(to: url) {
        route.skipped.append(choice(url, reason, isForeign: false))
      } else {
        route.choices.append(choice(url, "indexer", isForeign: false))
      }
    }
  }
}
