import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import Nostr
import Profiles
import WorkerKit

// people.find: those whom the accounts follow, then those in memory, then what the store's index of words finds.
//
// The store finds whole words; in memory any letters are found. So of people whom an account follows and of those who
// were shown lately two letters are enough, and of all others a word.

extension ProfileKeeper {
  /// The most profiles that the store's index is asked for.
  private static let searchMaximum = 500

  func find(_ request: BusRequest, _ wanted: PeopleFind) async throws(Refusal) -> StoreCount? {
    let letters = SoughtLetters(wanted.text)
    guard !letters.isEmpty else {
      throw Refusal(
        .badRequest,
        "'text' has no letters to search for, only signs; a word, or npub1 and some characters, is searched",
        outcome: .notStarted)
    }
    var people = RankedPeople()
    var found: [PublicKey: StoredProfile] = [:]
    let petnames = try await follows(of: wanted.account)
    let followed = try await read(petnames.keys.sorted())
    for (key, profile) in followed {
      var names = profile.names
      names.add(petnames[key] ?? nil, .petname)
      guard let match = letters.match(key, names) else { continue }
      people.add(.init(key, match, isFollowed: true))
      found[key] = profile
    }
    var others: [(PublicKey, StoredProfile)] = []
    memory.forEach { key, profile in
      guard followed[key] == nil, letters.match(key, profile.names) != nil else { return }
      others.append((key, profile))
    }
    for profile in try await searched(wanted.text, letters) where followed[profile.key] == nil {
      others.append((profile.key, profile.profile))
    }
    for (key, profile) in others {
      people.add(.init(key, letters.match(key, profile.names) ?? (.profile, .word), isFollowed: false))
      found[key] = profile
    }
    // A whole key that was typed is meant, whatever is known of it. `try?`: most letters are no key.
    if let key = try? PublicKey(spelled: wanted.text), found[key] == nil {
      people.add(.init(key, (.key, .exact), isFollowed: petnames.keys.contains(key)))
      found[key] = try await read([key])[key]
    }
    let best = people.best(wanted.limit ?? PeopleFind.limitDefault).compactMap { match in
      found[match.key].map { Self.person(match, $0, petname: petnames[match.key] ?? nil) }
    }
    var rest = best[...]
    while !rest.isEmpty {
      try await request.send(
        FoundPeople(people: Array(rest.prefix(FoundPeople.countMaximum))), of: PeopleMethod.find)
      rest = rest.dropFirst(FoundPeople.countMaximum)
    }
    return StoreCount(count: best.count)
  }

  private static func person(
    _ match: RankedPeople.Match, _ profile: StoredProfile, petname: String?
  ) -> FoundPerson {
    let value = profile.value(of: match.key)
    var person = FoundPerson(
      pubkey: match.key.description, shownName: value.shownName, isFollowed: match.isFollowed, field: match.field,
      way: match.way)
    (person.petname, person.nip05) = (petname, value.nip05)
    return person
  }

  /// Whom accounts follow, with their petnames.
  private func follows(of account: String?) async throws(Refusal) -> [PublicKey: String?] {
    var keys: [PublicKey] = []
    if let account, let key = PublicKey(account) {
      keys = [key]
    } else {
      do throws(Refusal) {
        let all = try await bus.request(SignerMethod.accounts, NoArguments(), ttlMilliseconds: 5_000).accounts
        let meant = all.filter { !$0.isOfWorker && (account == nil || $0.name == account) }
        keys = meant.compactMap { PublicKey($0.publicKey) }
      } catch {
        // Without a signer no account is known, and the others can be found.
        guard account != nil else { return [:] }
        throw error
      }
      if keys.isEmpty, let account {
        throw Refusal(.noSuchAccount, "there is no account '\(account)'", outcome: .notStarted)
      }
    }
    guard !keys.isEmpty else { return [:] }
    var petnames: [PublicKey: String?] = [:]
    try await query(Filter(authors: keys, kinds: [EventKind.follows])) { event in
      // `try?`: it throws for another kind only.
      for follow in (try? FollowList(event))?.follows ?? [] where petnames[follow.pubkey] ?? nil == nil {
        petnames.updateValue(follow.petname, forKey: follow.pubkey)
      }
    }
    return petnames
  }

  /// What the store's index of words finds among profiles.
  private func searched(
    _ text: String, _ letters: SoughtLetters
  ) async throws(Refusal) -> [(key: PublicKey, profile: StoredProfile)] {
    guard letters.hasWords else { return [] }
    // Letters are meant here, and no quotes, exclusions or extensions (NIP-50).
    let words = text.split { $0.isWhitespace || "\"-:".contains($0) }.joined(separator: " ")
    var filter = Filter(kinds: [EventKind.metadata], limit: Self.searchMaximum)
    filter.search = words
    var found: [(key: PublicKey, profile: StoredProfile)] = []
    try await query(filter) { found.append(($0.pubkey, StoredProfile($0))) }
    return found
  }
}
