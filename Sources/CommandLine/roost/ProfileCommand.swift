internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import Rendering
internal import RoostClient

/// `roost profile`
struct ProfileGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile", abstract: "Shows a person, or changes one's own profile.",
    subcommands: [ProfileCommand.self, ProfileEdit.self], defaultSubcommand: ProfileCommand.self)
}

/// `roost profile show`
struct ProfileCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows people: name, addresses, relays, whom they follow, their last note; of several the names.",
    discussion: """
      KEY is an npub, an nprofile, 64 hexadecimal digits, the name of an account, or name@domain (NIP-05), which is \
      looked up; - reads keys from standard input, one a line. What is shown is what a person claims.

      Of one person all that is stored is shown, and whether the claimed nip05 is the person's: its server is asked. Without \
      a stored profile relays are asked, for up to 8 seconds. Exit code 1 when nothing is known.

      Of several people each is a line, when it is known: at once what is stored, then what relays send that were not \
      asked within the last hour. Nothing of theirs is looked up on other servers.

        roost profile npub1…
        roost profile bob@example.com npub1…
        roost profile - <keys.txt
      """)
  @Argument(help: "Whom.")
  var key: [String]
  @Flag(help: "Show what is stored, and ask no relay.")
  var stored = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if key.contains("-"), key.count > 1 { throw ValidationError("Give keys, or - for those of standard input.") }
  }

  /// How old an answer of relays may be, in seconds: profiles change seldom.
  private static let maxAge: Int64 = 3_600
  /// How long relays have for one person.
  private static let patience = Timeout(milliseconds: 8_000)

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let notice = session.storeNotice()
    defer { notice?.end() }
    if key.count == 1, key[0] != "-" { return try await one(try await session.publicKey(key[0]), session) }
    let keys = try await keys(session)
    guard !keys.isEmpty else {
      throw Refusal(.badRequest, "standard input has no key", outcome: .notStarted)
    }
    return try await several(keys, session, notice)
  }

  // MARK: One

  @EventLoopActor
  private func one(_ key: PublicKey, _ session: CommandSession) async throws(Refusal) -> ExitStatus {
    var person = try await session.client.person(key)
    if person.profileCreatedAt == nil, !stored, session.hasPeople {
      // `try?`: what is stored is shown in any case.
      try? await fetch(key, session)
      person = try await session.client.person(key)
    }
    let followers = Filter(kinds: [EventKind.follows], tags: TagLetter("p").map { [$0: [TagValue("\(key)")]] } ?? [:])
    let count = try await session.client.count(followers)
    // `try?`: a profile can be shown without the signer.
    let accounts = (try? await session.client.accounts()) ?? []
    let view = PersonView(
      person, followerCount: count, account: accounts.first { $0.publicKey == "\(key)" }?.name,
      claim: await claim(person, session))
    await session.print(PersonJSON(view), ProfileText.lines(view, now: WallClock.seconds, session.style))
    return person.isUnknown ? .failed : .done
  }

  /// Has relays asked for a person, and waits until one has the profile or all were asked.
  @EventLoopActor
  private func fetch(_ key: PublicKey, _ session: CommandSession) async throws(Refusal) {
    let wanted = PeopleProfiles(keys: [key.description], maxAge: Self.maxAge)
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.patience.milliseconds)
    let answer = try await session.client.stream(PeopleMethod.profiles, wanted, options: options)
    while let page = try await answer.nextPart() {
      if page.profiles.contains(where: { $0.state != .absent }) { return }
    }
  }

  /// What the server of the claimed name says; nil: it was not asked.
  @EventLoopActor
  private func claim(_ person: Person, _ session: CommandSession) async -> NameClaim? {
    guard let name = person.profile?.nip05, InternetIdentifier(name) != nil, !stored, session.hasPeople else {
      return nil
    }
    let options = RequestOptions.idempotent(ttlMilliseconds: Self.patience.milliseconds)
    // `try?`: it is shown as a claim then.
    return try? await session.client.request(
      PeopleMethod.name, PeopleName(pubkey: person.pubkey.description, name: name), options: options)
  }

  // MARK: Several

  /// The keys that were typed, or those of standard input.
  @EventLoopActor
  private func keys(_ session: CommandSession) async throws(Refusal) -> [PublicKey] {
    var keys: [PublicKey] = []
    guard key == ["-"] else {
      for text in key { keys.append(try await session.publicKey(text)) }
      return keys
    }
    let source = try LineSource("-")
    while let line = try await source.next() {
      let text = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).first.map(String.init)
      guard let text else { continue }
      do throws(Refusal) { keys.append(try await session.publicKey(text)) } catch {
        throw Refusal(error.code, "line \(source.number): \(error.message)", outcome: .notStarted)
      }
    }
    return keys
  }

  @EventLoopActor
  private func several(
    _ keys: [PublicKey], _ session: CommandSession, _ notice: WaitingNotice?
  ) async throws(Refusal) -> ExitStatus {
    var isAnyKnown = false
    var rest = keys[...]
    while !rest.isEmpty {
      let some = rest.prefix(PeopleProfiles.keyMaximum)
      rest = rest.dropFirst(some.count)
      var wanted = PeopleProfiles(keys: some.map(\.description), maxAge: Self.maxAge)
      if stored { wanted.policy = .cacheOnly }
      let answer = try await session.client.stream(PeopleMethod.profiles, wanted)
      while let page = try await answer.nextPart() {
        notice?.end()
        for profile in page.profiles {
          if profile.state == .known { isAnyKnown = true }
          await session.print(profile, PeopleText.lines(profile, session.style))
        }
        if let asked = page.asked, let text = PeopleText.notAsked(asked) { session.note(text, .warning) }
      }
    }
    return isAnyKnown ? .done : .failed
  }
}

/// `roost find`
struct FindCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Finds whom you mean by a few letters: those you follow first.",
    discussion: """
      Searched are your petnames, display names, names, the name in a nip05, and the beginning of an npub. Case and \
      accents make no difference. Of people whom you do not follow, and who were not shown lately, a whole word of the name \
      is needed. A nip05 is only claimed: 'roost profile' looks it up. Exit code 1 when no person is found.

        roost find bo
        roost find 'Alice L' --limit 5
      """)
  @Argument(help: ArgumentHelp("The letters.", valueName: "text"))
  var text: String
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp("Whose follows come first; those of all accounts unless given.", valueName: "account"))
  var account = AccountWord.unnamed
  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = PeopleFind.limitDefault
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if let problem = PeopleFind(text: text, account: account.name, limit: limit).problem {
      throw ValidationError("\(problem).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let wanted = PeopleFind(text: text, account: account.name, limit: limit)
    let options = RequestOptions.idempotent(ttlMilliseconds: Timeout.reading.milliseconds)
    let answer = try await session.client.stream(PeopleMethod.find, wanted, options: options)
    var people: [FoundPerson] = []
    while let page = try await answer.nextPart() {
      if session.isJSON {
        for person in page.people { await session.output.writeLine(JSONPayload.encode(person)) }
      }
      people += page.people
    }
    if !session.isJSON { await session.output.writeLines(PeopleText.table(people, of: text, session.style)) }
    return people.isEmpty ? .failed : .done
  }
}

extension CommandSession {
  /// Whether a worker that knows people is ready.
  fileprivate var hasPeople: Bool {
    client.registry?.members.contains { $0.role == Role.people.name && $0.isReady } ?? false
  }
}
