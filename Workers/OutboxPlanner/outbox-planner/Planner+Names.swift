import Addresses
import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import NostrContracts
import OutboxRouting

// Names (NIP-05): where people write of whom no list can be found. Only people whom an account follows are looked up:
// the server of a name is a host that a stranger chose.

extension Planner {
  /// Weeks of which it is asked whether a relay had anything of a person.
  private static let usefulSeconds: Int64 = 28 * 86_400
  /// How long to wait for the rate of look-ups, at most.
  private static let nameWaitMilliseconds: UInt64 = 60_000

  /// Looks up the names that are due, one after the other, once the lists have been looked for.
  func lookUpNames() {
    guard areNamesDue, !areNamesAsked, !isEarly, !isDraining, lookUps.isEmpty, now >= arrivalEnd else {
      return
    }
    areNamesDue = false
    let people = directory.dueNames(at: WallClock.seconds)
    guard !people.isEmpty else { return }
    areNamesAsked = true
    directory.namesWereAsked(people, at: WallClock.seconds)
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        try await judgeNamedRelays(of: people)
        for (person, name) in try await claimedNames(of: people) where !isDraining { await resolve(name, of: person) }
      } catch {
        log.notice("names are not looked up", metadata: ["why": "\(error.message)"])
      }
      areNamesAsked = false
    }
  }

  /// The names in these people's profiles, which the store has or relays send.
  private func claimedNames(
    of people: [PublicKey]
  ) async throws(Refusal) -> [(person: PublicKey, name: InternetIdentifier)] {
    var profiles = try await storedProfiles(of: people)
    let missing = people.filter { profiles[$0] == nil }
    if !missing.isEmpty {
      await findPublished(of: missing, kinds: [EventKind.metadata], named: lookUpRelays) { false }
      try await profiles.merge(storedProfiles(of: missing)) { _, new in new }
    }
    return people.compactMap { person in
      profiles[person]?.nip05.flatMap { InternetIdentifier($0) }.map { (person, $0) }
    }
  }

  private func storedProfiles(of people: [PublicKey]) async throws(Refusal) -> [PublicKey: Profile] {
    let filter = Filter(authors: people, kinds: [EventKind.metadata])
    let answer = try await bus.ask(StoreMethod.query, StoreQuery(filters: [JSONValue(of: filter)]))
    var profiles: [PublicKey: Profile] = [:]
    while let part = try await answer.nextPart() {
      // `try?`: the store has verified the event; its content is whatever its author wrote.
      if let event = try? Event(json: part.bytes), let profile = try? Profile(event) {
        profiles[event.pubkey] = profile
      }
    }
    return profiles
  }

  private func resolve(_ name: InternetIdentifier, of person: PublicKey) async {
    // That may be minutes after the look-up was due: a list may have come, or the person be followed no longer.
    while !isDraining, directory.needsName(person) {
      do throws(Refusal) {
        let found = try await bus.request(RelayMethod.resolveName, NameResolve(name: "\(name)"))
        // Another's key: the person only claims the name.
        guard found.pubkey == person.description else { return }
        // `try?`: the connector has written these URLs itself.
        let relays = found.relays.compactMap { try? RelayURL($0) }.map { ForeignRelayURL($0) }
        directory.named(person, relays, at: found.fetchedAt)
        return update()
      } catch {
        guard error.code == .rateLimited else {
          return log.debug("a name leads nowhere", metadata: ["of": "\(person)", "why": "\(error.message)"])
        }
        let wait = UInt64(error.retryAfterMilliseconds ?? 0)
        await EventLoopActor.sleep(milliseconds: min(max(wait, 100), Self.nameWaitMilliseconds))
      }
    }
  }

  /// Has it counted which relays that names lead to had something of these people.
  private func judgeNamedRelays(of people: [PublicKey]) async throws(Refusal) {
    let named = people.filter { !directory.book.namedRelays(of: $0).isEmpty }
    guard !named.isEmpty else { return }
    let until = WallClock.seconds
    let wanted = StoreDelivery(
      authors: named.map(\.description), kinds: [EventKind.textNote], since: until - Self.usefulSeconds, until: until)
    let answer = try await bus.ask(StoreMethod.delivery, wanted)
    var reports: [(person: PublicKey, relay: RelayURL, held: Int, known: Int)] = []
    while let part = try await answer.nextPart() {
      guard let person = PublicKey(part.author) else { continue }
      for relay in part.relays {
        // `try?`: the store has these URLs from our own connectors.
        guard let url = try? RelayURL(relay.relay) else { continue }
        reports.append((person, url, relay.held ?? 0, relay.known))
      }
    }
    directory.delivered(reports, at: until)
  }
}
