internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost lists`
struct Lists: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows and changes the lists of an account: whom it follows and mutes, its relays, its sets.",
    discussion: """
      A change is made on the newest version, which the relays are asked for that the account writes to. Everything else \
      in the list stays as it is, also what other programs keep there. Every version is kept: 'history', 'diff', 'undo'.

        roost lists add mutes '#spam' --private
        roost lists add relays wss://relay.example --write
        roost lists add people bob@example.com --name friends
        roost lists undo follows
      """,
    subcommands: [
      ListsOverview.self, ListsShow.self, ListsAdd.self, ListsRemove.self, ListsHistory.self, ListsDiff.self,
      ListsUndo.self,
    ],
    defaultSubcommand: ListsOverview.self)
}

/// `roost lists overview`
struct ListsOverview: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "overview", abstract: "Lists the lists of an account that are stored here; with --json one a line.")
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose lists.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let account = try session.account(account.name, among: try await session.accounts())
    let key = try await session.publicKey(account.npub)
    let filter = Filter(authors: [key], kinds: ListEntries.kinds)
    let events = try await session.client.query([filter])
    let rows = ListText.rows(events)
    if session.isJSON {
      for row in rows { await session.output.writeLine(JSONPayload.encode(row)) }
    } else {
      await session.output.writeLines(ListText.overview(rows, of: account.name, now: WallClock.seconds, session.style))
    }
    return .done
  }
}

/// `roost lists show`
struct ListsShow: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the entries of a list, the private ones too.")
  @OptionGroup var choice: ListChoice
  @Option(help: ArgumentHelp("This version, as in 'roost lists history'.", valueName: "id"))
  var version: String?
  @Flag(help: "Ask the relays that the account writes to first.")
  var fresh = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    var wanted = choice.wanted
    wanted.isFresh = fresh ? true : nil
    try await session.client.connect()
    if let version { wanted.id = try await session.version(version, of: choice) }
    let asked = wanted
    let list = try await session.asking(fresh) { () async throws(Refusal) in try await session.client.list(asked) }
    let names = try await session.names(in: [list.tags, list.privateTags ?? []].flatMap(\.self))
    await session.print(list, ListText.lines(list, names: names, now: WallClock.seconds, session.style))
    return list.id == nil ? .failed : .done
  }
}

/// `roost lists add`
struct ListsAdd: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Puts entries into a list.",
    discussion: """
      ENTRY is a person, a relay, a note, #hashtag, whichever the list has; or any tag as NAME=VALUE or a JSON list. An entry \
      that is there already stays where it is.
      """)
  @OptionGroup var choice: ListChoice
  @Argument(help: ArgumentHelp("What is to be in the list.", valueName: "entry"))
  var entries: [String]
  @Flag(name: .customLong("private"), help: "Only the account can read the entry.")
  var isPrivate = false
  @Flag(help: "For relays: only to read.")
  var read = false
  @Flag(help: "For relays: only to write.")
  var write = false
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if entries.isEmpty { throw ValidationError("What is to be added?") }
    if read, write { throw ValidationError("A relay to read and to write has neither --read nor --write.") }
    if read || write, choice.list != EventKind.relayList {
      throw ValidationError("--read and --write are for the list 'relays'.")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in entries {
      var edit = EntryEdit()
      edit.add = try await session.entry(text, of: choice.list) + (read ? ["read"] : write ? ["write"] : [])
      edit.isPrivate = isPrivate ? true : nil
      changes.append(edit)
    }
    return try await session.edit(choice, changes, way)
  }
}

/// `roost lists remove`
struct ListsRemove: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Takes entries out of a list, private ones too.")
  @OptionGroup var choice: ListChoice
  @Argument(help: ArgumentHelp("What is not to be in the list, as for 'add'.", valueName: "entry"))
  var entries: [String]
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if entries.isEmpty { throw ValidationError("What is to be removed?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in entries {
      var edit = EntryEdit()
      edit.remove = Array(try await session.entry(text, of: choice.list).prefix(2))
      changes.append(edit)
    }
    return try await session.edit(choice, changes, way)
  }
}

/// `roost lists history`
struct ListsHistory: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Lists the versions of a list that are kept, the newest first.")
  @OptionGroup var choice: ListChoice
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let versions = try await session.client.versions(
      PeopleVersions(account: choice.account.name, kind: choice.list, identifier: choice.identifier))
    if session.isJSON {
      for version in versions { await session.output.writeLine(JSONPayload.encode(version)) }
    } else {
      await session.output.writeLines(ListText.history(versions, now: WallClock.seconds, session.style))
    }
    return .done
  }
}

/// `roost lists diff`
struct ListsDiff: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Shows what differs between two versions of a list.",
    discussion: "With one ID what that version changed in the one before it; without any the newest.")
  @OptionGroup var choice: ListChoice
  @Argument(help: ArgumentHelp("A version, as in 'roost lists history'; then a newer one.", valueName: "id"))
  var ids: [String] = []
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if ids.count > 2 { throw ValidationError("Two versions are compared.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var known: [String] = []
    for id in ids { known.append(try await session.version(id, of: choice)) }
    let (old, new) = try await versions(known, session)
    let difference = ListsDifference(from: old, to: new)
    let names = try await session.names(in: difference.tags)
    await session.print(difference, ListText.lines(difference, names: names, session.style))
    return .done
  }

  private func versions(
    _ ids: [String], _ session: CommandSession
  ) async throws(Refusal) -> (old: KnownList?, new: KnownList) {
    func list(_ id: String?) async throws(Refusal) -> KnownList {
      var wanted = choice.wanted
      wanted.id = id
      return try await session.client.list(wanted)
    }
    if ids.count == 2 { return (try await list(ids[0]), try await list(ids[1])) }
    let new = try await list(ids.first)
    let versions = try await session.client.versions(
      PeopleVersions(account: choice.account.name, kind: choice.list, identifier: choice.identifier))
    guard let place = versions.firstIndex(where: { $0.id == new.id }), place + 1 < versions.count else {
      return (nil, new)
    }
    return (try await list(versions[place + 1].id), new)
  }
}

/// `roost lists undo`
struct ListsUndo: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Takes back what a version changed; everything that came later stays.")
  @OptionGroup var choice: ListChoice
  @Argument(help: ArgumentHelp("The version, as in 'roost lists history'; the newest unless given.", valueName: "id"))
  var id: String?
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var undone: String?
    if let id {
      undone = try await session.version(id, of: choice)
    } else {
      undone = try await session.client.list(choice.wanted).id
    }
    guard let undone else {
      throw Refusal(.badRequest, "there is no such list yet, so nothing can be undone", outcome: .notStarted)
    }
    return try await session.edit(choice, [], way, undo: undone)
  }
}

extension CommandSession {
  /// The id of a version: 64 digits, `note1…` or `nevent1…`, or as many first digits as only one kept version has.
  fileprivate func version(_ text: String, of choice: ListChoice) async throws(Refusal) -> String {
    guard (Self.digitsMinimum..<64).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      var argument = PublicationArgument()
      argument.id = text
      return "\(try argument.eventID())"
    }
    let versions = try await client.versions(
      PeopleVersions(account: choice.account.name, kind: choice.list, identifier: choice.identifier))
    let found = versions.map(\.id).filter { $0.hasPrefix(text.lowercased()) }
    guard found.count == 1 else {
      let words =
        found.isEmpty ? "no version of this list begins with" : "\(found.count) versions of this list begin with"
      throw Refusal(.noSuchEvent, "\(words) \(text); 'roost lists history' shows them", outcome: .notStarted)
    }
    return found[0]
  }

  /// The fewest digits that name a version.
  private static let digitsMinimum = 4

  /// Waits for relays, and says so on a terminal if they take long.
  fileprivate func asking<Value>(
    _ asksRelays: Bool, _ body: () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    guard asksRelays else { return try await body() }
    return try await waiting(
      for: PeopleMethod.edit.declaration, otherwise: "your relays are asked for the newest version", body)
  }

  /// Changes a list, and shows how its publication fares.
  func edit(
    _ choice: ListChoice, _ changes: [EntryEdit], _ way: EditWay, undo: String? = nil
  ) async throws(Refusal) -> ExitStatus {
    try await edit(
      account: choice.account.name, choice.list, identifier: choice.identifier, changes, way, undo: undo)
  }

  /// The same, for a list of which an account has one.
  func edit(
    account: String?, _ kind: UInt16, identifier: String? = nil, _ changes: [EntryEdit], _ way: EditWay,
    undo: String? = nil
  ) async throws(Refusal) -> ExitStatus {
    var wanted = PeopleEdit(account: account, kind: kind, identifier: identifier, changes: changes)
    wanted.undo = undo
    wanted.fromHere = way.fromHere ? true : nil
    wanted.isMeant = way.yes ? true : nil
    var edited: EditedList
    let first = wanted
    do throws(Refusal) {
      edited = try await asking(!way.fromHere) { () async throws(Refusal) in try await client.edit(first) }
    } catch {
      guard error.code == .wouldReplace, !isJSON, SecretInput.isTerminal else { throw error }
      note(error.message, .warning)
      guard SecretInput.isYes("Change it all the same? [y/N] ") else {
        note("Nothing was changed.")
        return .failed
      }
      wanted.isMeant = true
      edited = try await client.edit(wanted)
    }
    if isJSON {
      await output.writeLine(JSONPayload.encode(edited))
    } else {
      await output.writeLines(ListText.lines(edited, style))
    }
    guard edited.isNew, !isJSON, !way.isHasty, let id = edited.id.flatMap({ EventID($0) }) else { return .done }
    guard let publication = try await publication(of: id), let event = try await client.events([id]).first else {
      note("The publish queue does not have it yet; it is sent when it has: roost queue show \(id.note)")
      return .done
    }
    return try await PublishProgress(session: self, event: event, patience: way.timeout ?? PublishWay.patience)
      .tell(publication)
  }

  /// The publication of an accepted version, once the queue has it; nil if that takes long.
  private func publication(of id: EventID) async throws(Refusal) -> Publication? {
    for _ in 0..<Self.publicationLooks {
      if let found = try await client.publications(ids: [id]).first { return found }
      await EventLoopActor.sleep(milliseconds: Self.publicationMilliseconds)
    }
    return nil
  }

  private static let publicationLooks = 50
  private static let publicationMilliseconds: UInt64 = 100

  /// The names of the people in entries whose profiles are stored.
  func names(in tags: [[String]]) async throws(Refusal) -> [String: String] {
    let keys = Set(tags.filter { $0.count > 1 && $0[0] == "p" }.compactMap { PublicKey($0[1]) })
    guard !isJSON, !keys.isEmpty else { return [:] }
    var names: [String: String] = [:]
    let sorted = keys.sorted { "\($0)" < "\($1)" }
    for start in stride(from: 0, to: sorted.count, by: Self.namesAtOnce) {
      let some = Array(sorted[start..<min(start + Self.namesAtOnce, sorted.count)])
      for event in try await client.query(Filter(authors: some, kinds: [EventKind.metadata]), limit: some.count) {
        // `try?`: a person with an unreadable profile has no name.
        names["\(event.pubkey)"] = (try? Profile(event))?.bestName
      }
    }
    return names
  }

  /// How many names one query asks for.
  private static let namesAtOnce = 1_000
}
