internal import Addresses
public import Contracts
public import Cryptography
internal import Nostr

// Where authors write, and where Roost reads. This first form uses the lists of our own accounts and the relays that
// the user configured. Of other people it uses only the relays where they receive private messages.

extension RelayDirectory {
  /// The relays for publishing an event of this author: those of its own list (NIP-65), if it is one of our accounts,
  /// then configured and added relays with `writes`. Relays that the account blocks (NIP-51) are left out.
  ///
  /// While no account exists, configured relays are left out too: nothing is published before there is an account.
  public func writes(by author: PublicKey?) -> [RelayChoice] { plannedWrites(by: author).choices }

  /// The default relays for reading: configured and added relays with `reads`, and the relays that our accounts name
  /// for reading. In the order of their URLs.
  public func reads() -> [RelayChoice] { plannedReads().choices }

  // MARK: Writing

  func plannedWrites(by author: PublicKey?) -> EventRoute {
    let account = author.flatMap { self.account($0) }
    var chosen = ChoiceList()
    var skipped = ChoiceList()
    for url in account?.relayList?.writeRelays.prefix(Self.accountRelayMaximum) ?? [] {
      chosen.add(choice(url, "\(account?.name ?? "")'s list", account: author, isForeign: false))
    }
    for (url, why) in userRelays(\.writes, \.writes, planned: \.writes) {
      if accounts.isEmpty, added[url] == nil {
        skipped.add(
          choice(url, "nothing is published to configured relays before there is an account", isForeign: false))
      } else if let account, account.blocked.contains(url), !account.listed.contains(url) {
        skipped.add(choice(url, "blocked by \(account.name)'s list (kind 10006)", isForeign: false))
      } else {
        chosen.add(choice(url, why, account: account?.key, isForeign: false))
      }
    }
    return withoutHome(EventRoute(choices: chosen.choices, skipped: skipped.choices))
  }

  // MARK: Reading

  func plannedReads() -> EventRoute {
    var chosen = ChoiceList()
    var skipped = ChoiceList()
    for (url, why) in userRelays(\.reads, \.reads, planned: nil) {
      if let blocker = blocker(of: url) {
        skipped.add(choice(url, "blocked by \(blocker.name)'s list (kind 10006)", isForeign: false))
      } else {
        chosen.add(choice(url, why, account: reader(at: url), isForeign: false))
      }
    }
    for account in accounts {
      for url in account.relayList?.readRelays.prefix(Self.accountRelayMaximum) ?? [] {
        chosen.add(choice(url, "\(account.name)'s list", account: account.key, isForeign: false))
      }
    }
    let choices = chosen.choices.sorted { $0.url.text < $1.url.text }
    return withoutHome(EventRoute(choices: choices, skipped: skipped.choices))
  }

  /// The account that authenticates when a relay demands it from a reader: the account that lists the relay; at a relay
  /// that the user chose, the first account; elsewhere none.
  func reader(at url: RelayURL) -> PublicKey? {
    if let account = accounts.first(where: { $0.listed.contains(url) || $0.messageList?.relays.contains(url) == true })
    {
      return account.key
    }
    return isOwn(url) ? accounts.first?.key : nil
  }

  // MARK: Parts

  /// Relays that the user chose, in the order of their URLs, with the reason.
  ///
  /// - Parameter isPlanned: the flag that counts for a connector that has not reported; nil: its relays are left out.
  private func userRelays(
    _ isWanted: KeyPath<RelayStates.Relay, Bool>, _ isAddedFor: KeyPath<Added, Bool>,
    planned isPlanned: KeyPath<ConfiguredConnector, Bool>?
  ) -> [(url: RelayURL, why: String)] {
    var reasons: [RelayURL: String] = [:]
    for (url, name) in configured {
      let isMeant =
        if let group = groups[name] {
          group.relays[url]?[keyPath: isWanted] ?? false
        } else if let isPlanned, let connector = planned[name] {
          connector[keyPath: isPlanned]
        } else { false }
      if isMeant { reasons[url] = "configured" }
    }
    for (url, relay) in added where reasons[url] == nil && relay[keyPath: isAddedFor] { reasons[url] = "added" }
    return reasons.sorted { $0.key.text < $1.key.text }.map { ($0.key, $0.value) }
  }

  /// Whether the user configured or added the relay.
  func isOwn(_ url: RelayURL) -> Bool { configured[url] != nil || added[url] != nil }

  /// The account whose list blocks a relay; nil when none blocks it, or when any account has it in its own relay list.
  func blocker(of url: RelayURL) -> PlanAccount? {
    if accounts.contains(where: { $0.listed.contains(url) }) { return nil }
    return accounts.first { $0.blocked.contains(url) }
  }

  /// The route without this Roost's own relay, which moves to the skipped ones.
  func withoutHome(_ route: EventRoute) -> EventRoute {
    var route = route
    route.skipped += route.choices.filter { isHome($0.url) }.map {
      choice($0.url, OwnAddresses.reason, isForeign: $0.isForeign)
    }
    route.choices.removeAll { isHome($0.url) }
    return route
  }

  /// Why another Roost of the same owner is not used as a relay.
  static let peerReason = "it is another Roost of yours, which the mirror keeps the same"

  /// Why a relay is never used, whichever list names it; nil when nothing forbids it.
  func objection(to url: RelayURL) -> String? {
    if isHome(url) { return OwnAddresses.reason }
    if isPeer(url) { return Self.peerReason }
    return blocker(of: url).map { "blocked by \($0.name)'s list (kind 10006)" }
  }

  /// A choice. The caller says whether only others name the relay; an account of which only the public key is here is
  /// another. A relay that the user chose is never foreign.
  func choice(
    _ url: RelayURL, _ why: String, people: [PublicKey] = [], account: PublicKey? = nil, isForeign: Bool
  ) -> RelayChoice {
    let isForeign = isForeign || account.map(readOnly.contains) == true
    return RelayChoice(
      url, why: [why], people: people, account: account,
      // A connector dials a foreign relay at no private address.
      isForeign: isForeign && !isOwn(url) && (url.isPublic || !allowsPrivate),
      connector: connector(of: url), isOutside: !isConfigured(url))
  }

  // MARK: Listing

  /// All known relays with their sources, as in `plan.relays`, by URL.
  public func list() -> [PlanRelayList.Relay] {
    var sources: [RelayURL: [String]] = [:]
    var reads: Set<RelayURL> = []
    var writes: Set<RelayURL> = []
    func note(_ url: RelayURL, _ source: String, _ isRead: Bool, _ isWritten: Bool) {
      sources[url, default: []].append(source)
      if isRead { reads.insert(url) }
      if isWritten { writes.insert(url) }
    }
    for (url, name) in configured {
      let relay = groups[name]?.relays[url]
      note(
        url, "supervisor.conf [worker.\(name)]", relay?.reads ?? planned[name]?.reads ?? false,
        relay?.writes ?? planned[name]?.writes ?? false)
    }
    for relay in added.values { note(relay.url, "added", relay.reads, relay.writes) }
    for account in accounts {
      for entry in account.relayList?.entries ?? [] {
        note(entry.relay, "\(account.name)'s list", entry.reads, entry.writes)
      }
      for url in account.messageList?.relays ?? [] { note(url, "\(account.name)'s dm-list", false, false) }
    }
    return sources.keys.sorted { $0.text < $1.text }.map { url in
      PlanRelayList.Relay(
        relay: url.text, sources: sources[url] ?? [], reads: reads.contains(url), writes: writes.contains(url),
        connector: connector(of: url), state: state(of: url))
    }
  }
}
