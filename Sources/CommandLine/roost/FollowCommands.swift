internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import LinuxSystem
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost follow`
struct Follow: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Follows people: puts them into the list of those whom an account follows.",
    discussion: """
      WHO is an npub, an nprofile, 64 hexadecimal digits, name@domain (NIP-05), or one of the signer's accounts.

        roost follow npub1… bob@example.com
      """)
  @Argument(help: ArgumentHelp("Whom.", valueName: "who"))
  var people: [String]
  @Option(help: ArgumentHelp("What you call this person, for all to see.", valueName: "name"))
  var petname: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("Who follows.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if people.isEmpty { throw ValidationError("Whom?") }
    if petname != nil, people.count > 1 { throw ValidationError("A --petname is for one person.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in people {
      var edit = EntryEdit()
      edit.add = ["p", "\(try await session.publicKey(text))"] + (petname.map { ["", $0] } ?? [])
      changes.append(edit)
    }
    return try await session.edit(account: account.name, EventKind.follows, changes, way)
  }
}

/// `roost unfollow`
struct Unfollow: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "unfollow", abstract: "Follows people no longer.")
  @Argument(help: ArgumentHelp("Whom, as for 'roost follow'.", valueName: "who"))
  var people: [String]
  @Option(name: .customLong("as"), help: ArgumentHelp("Who followed.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if people.isEmpty { throw ValidationError("Whom?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in people {
      var edit = EntryEdit()
      edit.remove = ["p", "\(try await session.publicKey(text))"]
      changes.append(edit)
    }
    return try await session.edit(account: account.name, EventKind.follows, changes, way)
  }
}

/// `roost mute`
struct Mute: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "mute", abstract: "Mutes people, threads, hashtags or words: feeds no longer show them.",
    discussion: """
      WHAT is a person as for 'roost follow', a thread by note1… or nevent1…, a #hashtag, or word=TEXT. With --public \
      all can read it in the list; without it only the account can.

        roost mute npub1… '#spam' word=lottery
      """)
  @Argument(help: ArgumentHelp("Whom or what.", valueName: "what"))
  var entries: [String]
  @Flag(name: .customLong("public"), help: "For all to see.")
  var isPublic = false
  @Option(name: .customLong("as"), help: ArgumentHelp("Who mutes.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if entries.isEmpty { throw ValidationError("Whom or what?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in entries {
      var edit = EntryEdit()
      edit.add = try await session.entry(text, of: EventKind.mutes)
      edit.isPrivate = isPublic ? nil : true
      changes.append(edit)
    }
    return try await session.edit(account: account.name, EventKind.mutes, changes, way)
  }
}

/// `roost unmute`
struct Unmute: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmute", abstract: "Mutes people, threads, hashtags or words no longer.")
  @Argument(help: ArgumentHelp("Whom or what, as for 'roost mute'.", valueName: "what"))
  var entries: [String]
  @Option(name: .customLong("as"), help: ArgumentHelp("Who muted.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if entries.isEmpty { throw ValidationError("Whom or what?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var changes: [EntryEdit] = []
    for text in entries {
      var edit = EntryEdit()
      edit.remove = Array(try await session.entry(text, of: EventKind.mutes).prefix(2))
      changes.append(edit)
    }
    return try await session.edit(account: account.name, EventKind.mutes, changes, way)
  }
}

/// `roost profile edit`
struct ProfileEdit: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Changes fields of an account's own profile; all others stay as they are.",
    discussion: """
      An empty text removes the field. --set takes any field, with a value of JSON; anything else is a text.

        roost profile edit --name alice --about 'I write tests' --website ''
        roost profile edit --set bot=true
      """)
  @Option(help: "The name.") var name: String?
  @Option(name: .customLong("display-name"), help: "A longer name.") var displayName: String?
  @Option(help: "A few sentences.") var about: String?
  @Option(help: "The address of a picture.") var picture: String?
  @Option(help: "The address of a wide picture.") var banner: String?
  @Option(help: "The address of a page.") var website: String?
  @Option(help: "An internet identifier (NIP-05), name@domain.") var nip05: String?
  @Option(help: "A lightning address.") var lud16: String?
  @Option(help: ArgumentHelp("Another field; several times.", valueName: "field=value"))
  var set: [String] = []
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose profile.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var way: EditWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if changes.isEmpty { throw ValidationError("What is to be changed? For example --name alice.") }
    if let wrong = set.first(where: { $0.first == "=" || !$0.contains("=") }) {
      throw ValidationError("'\(wrong)' is not FIELD=VALUE.")
    }
  }

  private var changes: [EntryEdit] {
    let known = [
      ("name", name), ("display_name", displayName), ("about", about), ("picture", picture), ("banner", banner),
      ("website", website), ("nip05", nip05), ("lud16", lud16),
    ]
    var changes = known.compactMap { field, text in text.map { Self.change(field, .string($0)) } }
    for text in set {
      guard let place = text.firstIndex(of: "=") else { continue }
      let value = String(text[text.index(after: place)...])
      // `try?`: what is no JSON is a text.
      let json = try? JSONPayload.decode(JSONValue.self, from: Array(value.utf8))
      changes.append(Self.change(String(text[..<place]), json ?? .string(value)))
    }
    return changes
  }

  private static func change(_ field: String, _ value: JSONValue) -> EntryEdit {
    var edit = EntryEdit()
    if value == .string("") { edit.unset = field } else { (edit.set, edit.value) = (field, value) }
    return edit
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    return try await session.edit(account: account.name, EventKind.metadata, changes, way)
  }
}
