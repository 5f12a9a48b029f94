public import Addresses
internal import Contracts
public import Cryptography
public import Nostr

// The routes of events and filters. An event's class decides, because a private message at the wrong relay reveals its
// sender and recipient, and cannot be taken back:
//
//     gift wraps (1059, 21059)   the recipient's list for direct messages (kind 10050); without one nowhere, unless the
//                                user has agreed to relays for this recipient (`agreedRoute`)
//     deletions of gift wraps    the relays where their author gets them: elsewhere they would tell of messages
//     messages without a wrap    nowhere: they would be readable (13, 14, 15); nor answers to a challenge (22242)
//     protected (NIP-70)         as others, but only where their author, an account of ours, has authenticated
//     an account's new list      as all others, and first to the relays that it names for writing (kind 10002)
//     what an account is found by (0, 3, 10002, 10050)   as all others, and to the indexers
//     all others                 their author's relays for writing, and those of the user's own choice; then the relays
//                                for reading of the people whom they name, unless that is a crowd

extension RelayDirectory {
  /// The relays for an event.
  ///
  /// - Parameters:
  ///   - event: signed or unsigned; its kind, author and tags decide.
  ///   - named: the caller's choice: only these relays are used, except those that the author blocks.
  ///   - foreign: further relays, which others name. Private addresses among them are left out, and gift wraps go to
  ///     none of them.
  public func plan(
    _ event: UnsignedEvent, named: [RelayURL]? = nil, foreign: [ForeignRelayURL] = []
  ) -> EventRoute {
    var route: EventRoute
    switch event.kind {
    case EventKind.giftWrap, EventKind.ephemeralGiftWrap: route = wrapRoute(event, named)
    case EventKind.seal, EventKind.privateMessage, EventKind.privateFile:
      return .none("kind \(event.kind) is sent in a gift wrap only (NIP-59), never by itself")
    case EventKind.relayAuthentication:
      return .none("kind 22242 answers a relay's challenge (NIP-42) and is not published")
    case EventKind.deletion where named == nil && deletesOwnWraps(event): route = wrapDeletionRoute(event)
    default:
      route = named.map { namedRoute($0, event) } ?? plannedWrites(of: event)
      if named == nil, !route.choices.isEmpty {
        addInboxes(to: &route, event)
        addIndexers(to: &route, event)
      }
      add(foreign, to: &route, event)
    }
    route = withoutHome(route)
    if event.isProtected, route.problem == nil { protect(&route, event) }
    route.choices = Array(route.choices.prefix(PlanPublish.relayMaximum))
    if route.choices.isEmpty, route.problem == nil { route.problem = noWriteRelay(route) }
    if route.problem != nil { route.choices = [] }
    return route
  }

  /// The relays for an event, or why no relay is used.
  public func route(
    _ event: UnsignedEvent, named: [RelayURL]? = nil, foreign: [ForeignRelayURL] = []
  ) -> Result<[RelayChoice], NoRoute> {
    let route = plan(event, named: named, foreign: foreign)
    return route.problem.map { .failure($0) } ?? .success(route.choices)
  }

  /// The relays for a signed event, or why no relay is used.
  public func route(
    _ event: Event, named: [RelayURL]? = nil, foreign: [ForeignRelayURL] = []
  ) -> Result<[RelayChoice], NoRoute> {
    route(event.unsigned, named: named, foreign: foreign)
  }

  private func noWriteRelay(_ route: EventRoute) -> NoRoute {
    if let reason = route.skipped.first?.reason { return NoRoute("every relay is left out: \(reason)") }
    return NoRoute("no relay to write to is known: name relays, or add one ('roost relay add')")
  }

  private func namedRoute(_ named: [RelayURL], _ event: UnsignedEvent) -> EventRoute {
    var chosen = ChoiceList()
    var skipped = ChoiceList()
    let account = account(event.pubkey)
    for url in named {
      if let account, account.blocked.contains(url), !account.listed.contains(url) {
        skipped.add(choice(url, "blocked by \(account.name)'s list (kind 10006)", isForeign: false))
      } else {
        chosen.add(choice(url, RelayChoice.isNamed, account: account?.key, isForeign: false))
      }
    }
    return EventRoute(choices: chosen.choices, skipped: skipped.choices)
  }

  /// The relays for an event for which the caller names none. A new relay list also goes to the relays it names:
  /// readers look for its author there from now on.
  private func plannedWrites(of event: UnsignedEvent) -> EventRoute {
    let planned = plannedWrites(by: event.pubkey)
    // `try?`: the kind was checked, and a wrong kind is the only error here.
    guard let account = account(event.pubkey), event.kind == EventKind.relayList, let list = try? RelayList(event)
    else {
      return planned
    }
    var chosen = ChoiceList()
    for url in list.writeRelays.prefix(Self.accountRelayMaximum) {
      chosen.add(choice(url, "\(account.name)'s new list", account: account.key, isForeign: false))
    }
    for choice in planned.choices { chosen.add(choice) }
    let skipped = planned.skipped.filter { skipped in !chosen.choices.contains { $0.url == skipped.url } }
    return EventRoute(choices: chosen.choices, skipped: skipped)
  }

  /// Adds relays that others name, after the author's and the user's own.
  private func add(_ foreign: [ForeignRelayURL], to route: inout EventRoute, _ event: UnsignedEvent) {
    var chosen = ChoiceList()
    for choice in route.choices { chosen.add(choice) }
    for relay in foreign {
      let choice = choice(relay.url, "named by others", account: account(event.pubkey)?.key, isForeign: true)
      if let reason = objection(to: choice) {
        route.skipped.append(self.choice(relay.url, reason, isForeign: true))
      } else {
        chosen.add(choice)
      }
    }
    route.choices = chosen.choices
  }

  private func protect(_ route: inout EventRoute, _ event: UnsignedEvent) {
    guard account(event.pubkey) != nil else {
      route.problem = NoRoute(
        "it is protected (NIP-70), and its author \(event.pubkey.npub) is no account here that could authenticate")
      return
    }
    for index in route.choices.indices {
      route.choices[index].isProtected = true
      route.choices[index].account = event.pubkey
    }
  }

  // MARK: Gift wraps

  private func wrapRoute(_ event: UnsignedEvent, _ named: [RelayURL]?) -> EventRoute {
    let recipients = event.tags.filter { $0.first == "p" }.map { PublicKey($0.count > 1 ? $0[1] : "") }
    guard recipients.count == 1, let recipient = recipients[0] else {
      return .none("a gift wrap has one tag \"p\", which names its recipient; this one has \(recipients.count)")
    }
    let ownRecipient = account(recipient)
    let who = ownRecipient?.name ?? recipient.npub
    guard let list = directMessageRelays(of: recipient), !list.isEmpty else {
      let reason = "\(who) has no list of relays for direct messages (kind 10050)"
      return EventRoute(problem: NoRoute(reason, missingList: ownRecipient == nil ? recipient : nil))
    }
    if let other = named?.first(where: { !list.contains($0) }) {
      return .none("\(other) is not in \(who)'s list of relays for direct messages (kind 10050)")
    }
    var chosen = ChoiceList()
    var skipped = ChoiceList()
    for url in list where named?.contains(url) ?? true {
      // A key made for this wrap alone signs it. If the sender's account authenticated, the relay would learn the
      // sender of the message. So only a recipient that is our own account authenticates.
      let choice = choice(
        url, "dm-list of \(who)", people: [recipient], account: ownRecipient?.key, isForeign: ownRecipient == nil)
      if let reason = strictObjection(to: url) ?? objection(to: choice) {
        skipped.add(self.choice(url, reason, people: [recipient], isForeign: ownRecipient == nil))
      } else {
        chosen.add(choice)
      }
    }
    return EventRoute(choices: chosen.choices, skipped: skipped.choices)
  }

  /// The relays for a gift wrap to a person without a list of relays for it: those that the sender has agreed to for
  /// this person. The user chose them, so a private address may be among them. No account authenticates there.
  public func agreedRoute(to recipient: PublicKey, _ agreed: [RelayURL]) -> Result<[RelayChoice], NoRoute> {
    let choices = agreed.filter { strictObjection(to: $0) == nil }
      .map { choice($0, "agreed for \(recipient.npub)", people: [recipient], isForeign: false) }
    guard choices.isEmpty else { return .success(choices) }
    let reason = agreed.first.flatMap { strictObjection(to: $0) } ?? "none is named"
    return .failure(NoRoute("no relay that was agreed to for \(recipient.npub) is used: \(reason)"))
  }

  /// Whether an account with a list of relays for direct messages deletes gift wraps, and nothing else.
  private func deletesOwnWraps(_ event: UnsignedEvent) -> Bool {
    EventKind.areGiftWraps(event.tags.filter { $0.first == "k" && $0.count > 1 }.map { $0[1] })
      && account(event.pubkey) != nil && directMessageRelays(of: event.pubkey)?.isEmpty == false
  }

  private func wrapDeletionRoute(_ event: UnsignedEvent) -> EventRoute {
    var chosen = ChoiceList()
    var skipped = ChoiceList()
    let name = account(event.pubkey)?.name ?? event.pubkey.npub
    for url in directMessageRelays(of: event.pubkey) ?? [] {
      let choice = choice(url, "dm-list of \(name)", account: event.pubkey, isForeign: false)
      if let reason = objection(to: choice) {
        skipped.add(self.choice(url, reason, isForeign: false))
      } else {
        chosen.add(choice)
      }
    }
    return EventRoute(choices: chosen.choices, skipped: skipped.choices)
  }

  /// Why a relay of a list is not used; nil when it is used.
  private func objection(to choice: RelayChoice) -> String? {
    choice.isForeign ? objection(toOthers: choice.url) : objection(to: choice.url)
  }

  // MARK: Filters

  /// The relays for filters: for the people whom they name, those chosen by ``selectRelays(at:)``; for all else, those
  /// of ``reads()``; and `named`. Gift wraps to our own accounts are requested at the relays of the accounts' lists for
  /// direct messages, and nowhere else if such a list is known.
  ///
  /// - Parameters:
  ///   - filters: those that match nothing are left out.
  ///   - named: further relays.
  ///   - foreign: further relays, which only others name.
  ///   - isExclusive: only `named` and `foreign` are used.
  public func route(
    _ filters: [Filter], named: [RelayURL] = [], foreign: [RelayURL] = [], isExclusive: Bool = false
  ) -> FilterRoute {
    let filters = filters.filter { !$0.matchesNothing }
    var route = FilterRoute()
    var asked = Asked()
    func ask(_ choice: RelayChoice, _ some: [Filter]) {
      for (receiver, filters) in Dictionary(grouping: some, by: { receiver(of: $0, at: choice.url) }) {
        asked.add(choice, filters, as: receiver)
      }
    }
    for url in named {
      if let reason = objection(to: url) {
        route.skipped.append(choice(url, reason, isForeign: false))
      } else {
        let isIndexer = indexers.contains(url)
        let account = isIndexer ? nil : reader(at: url)
        ask(choice(url, isIndexer ? "indexer" : RelayChoice.isNamed, account: account, isForeign: false), filters)
      }
    }
    for url in foreign {
      if let reason = objection(toOthers: url) {
        route.skipped.append(choice(url, reason, isForeign: true))
      } else {
        ask(choice(url, "named by others", isForeign: true), filters)
      }
    }
    if !isExclusive {
      let reads = plannedReads()
      let elsewhere = filters.filter { !isAskedAtMessageRelaysOnly($0) }
      for stop in split(elsewhere, reads.choices) { ask(stop.choice, stop.filters) }
      for stop in messageStops(filters) { ask(stop.choice, stop.filters) }
      route.skipped += reads.skipped
    }
    route.stops = asked.stops
    if route.stops.isEmpty { route.problem = noReadRelay(filters, route) }
    return route
  }

  /// The account that authenticates for a filter at a relay, if the filter asks only for gift wraps to that account and
  /// the account receives them there. A relay that hides them from strangers hides them from our other accounts too.
  /// Nil for any other filter.
  private func receiver(of filter: Filter, at url: RelayURL) -> PublicKey? {
    guard filter.kinds?.allSatisfy(EventKind.giftWraps.contains) == true,
      let recipients = filter.tags[Self.recipientTag], recipients.count == 1,
      let key = PublicKey(recipients[0].description), let account = account(key),
      directMessageRelays(of: account.key)?.contains(url) == true
    else { return nil }
    return account.key
  }

  private func noReadRelay(_ filters: [Filter], _ route: FilterRoute) -> NoRoute {
    if filters.isEmpty { return NoRoute("no event can match these filters") }
    if let reason = route.skipped.first?.reason { return NoRoute("every relay is left out: \(reason)") }
    return NoRoute("no relay to read from is known: name relays, or add one ('roost relay add')")
  }

  /// The parts of these filters that ask for gift wraps to our accounts, at the relays where the accounts receive them.
  private func messageStops(_ filters: [Filter]) -> [FilterRoute.Stop] {
    var stops: [FilterRoute.Stop] = []
    for account in accounts {
      guard let relays = directMessageRelays(of: account.key) else { continue }
      let narrowed = filters.compactMap { wraps(in: $0, to: account) }
      guard !narrowed.isEmpty else { continue }
      for url in relays where objection(to: url) == nil {
        stops.append(
          FilterRoute.Stop(
            choice(
              url, "dm-list of \(account.name)", people: [account.key], account: account.key, isForeign: false),
            narrowed))
      }
    }
    return stops
  }

  /// The part of a filter that asks for gift wraps to one account; nil when the filter does not name the account.
  private func wraps(in filter: Filter, to account: PlanAccount) -> Filter? {
    guard let kinds = filter.kinds?.filter(EventKind.giftWraps.contains), !kinds.isEmpty,
      filter.tags[Self.recipientTag]?.contains(TagValue(account.key.description)) == true
    else { return nil }
    var narrowed = filter
    narrowed.kinds = kinds
    narrowed.tags[Self.recipientTag] = [TagValue(account.key.description)]
    return narrowed
  }

  /// Whether a filter asks only for gift wraps to accounts whose lists are known.
  private func isAskedAtMessageRelaysOnly(_ filter: Filter) -> Bool {
    guard let kinds = filter.kinds, let recipients = filter.tags[Self.recipientTag] else { return false }
    return kinds.allSatisfy(EventKind.giftWraps.contains)
      && recipients.allSatisfy { value in
        PublicKey(value.description).flatMap { account($0)?.messageList }?.relays.isEmpty == false
      }
  }

  static let recipientTag: TagLetter = {
    guard let letter = TagLetter(UInt8(ascii: "p")) else { preconditionFailure("p is a letter") }
    return letter
  }()
}

extension EventRoute {
  /// No relay, with the reason.
  static func none(_ reason: String) -> EventRoute { EventRoute(problem: NoRoute(reason)) }
}

/// The filters for each relay: one stop for each relay, and one more for each account that must authenticate for its
/// own filters.
private struct Asked {
  private struct Place: Hashable {
    let relay: RelayURL
    let receiver: PublicKey?
  }

  private var places: [Place: FilterRoute.Stop] = [:]

  /// Adds filters to a relay, each filter once.
  ///
  /// - Parameter receiver: the account that authenticates for these filters; nil: the account of the choice.
  mutating func add(_ choice: RelayChoice, _ filters: [Filter], as receiver: PublicKey?) {
    var stop = FilterRoute.Stop(choice, filters)
    stop.choice.account = receiver ?? choice.account
    let place = Place(relay: choice.url, receiver: receiver)
    places[place] = places[place].map { Self.together($0, stop) } ?? stop
  }

  /// In the order of their URLs.
  var stops: [FilterRoute.Stop] {
    var stops: [Place: FilterRoute.Stop] = [:]
    for (place, stop) in places.sorted(by: { $0.key.receiver == nil && $1.key.receiver != nil }) {
      // If the common stop authenticates with the same account, these filters join it.
      let common = Place(relay: place.relay, receiver: nil)
      let isSame = stops[common]?.choice.account == stop.choice.account
      let key = isSame ? common : place
      stops[key] = stops[key].map { Self.together($0, stop) } ?? stop
    }
    return stops.values.sorted {
      ($0.choice.url.text, $0.choice.account?.description ?? "") < (
        $1.choice.url.text, $1.choice.account?.description ?? ""
      )
    }
  }

  private static func together(_ first: FilterRoute.Stop, _ second: FilterRoute.Stop) -> FilterRoute.Stop {
    var both = ChoiceList()
    both.add(first.choice)
    both.add(second.choice)
    return FilterRoute.Stop(both.choices[0], first.filters + second.filters.filter { !first.filters.contains($0) })
  }
}
