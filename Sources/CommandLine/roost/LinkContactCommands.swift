internal import Addresses
internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// `roost links contacts`
struct LinksContactsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contacts",
    abstract: "Shows and changes your contacts: what you call people. They are kept on this machine only.",
    discussion: """
      WHO is a contact's name or key.

        roost links contacts add npub1… Bob
        roost links contacts rename Bob Robert
        roost links contacts relays Bob wss://relay.example
        roost links contacts sessions Bob
        roost links contacts remove Bob
      """,
    subcommands: [
      ContactsListCommand.self, ContactsAddCommand.self, ContactsRenameCommand.self, ContactsRemoveCommand.self,
      ContactsRelaysCommand.self, ContactsSessionsCommand.self,
    ],
    defaultSubcommand: ContactsListCommand.self)
}

/// What the commands about contacts have in common.
struct ContactOptions: ParsableArguments, Sendable {
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose contacts.", valueName: "account"))
  var account = AccountWord.unnamed
}

/// `roost links contacts list`
struct ContactsListCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the contacts by name; with --json one a line.")
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let contacts = try await session.waiting(for: LinkMethod.contacts.declaration) { () async throws(Refusal) in
      try await session.client.contacts(of: options.account.name)
    }
    if session.isJSON {
      for contact in contacts { await session.output.writeLine(JSONPayload.encode(contact)) }
    } else {
      await session.output.writeLines(LinkText.contacts(contacts, session.style))
    }
    return .done
  }
}

/// `roost links contacts add`
struct ContactsAddCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Gives a key a name.",
    discussion: "WHO is an npub, an nprofile, 64 hexadecimal digits, name@domain (NIP-05), or an account.")
  @Argument(help: ArgumentHelp("Whose key.", valueName: "who"))
  var who: String
  @Argument(
    help: ArgumentHelp(
      "What you call this person; no one else sees it, unless a session is named by it.", valueName: "name"))
  var name: String
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try ContactName.check(name)
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let key = try await session.publicKey(who)
    return try await session.change(LinksContact(account: options.account.name, publicKey: "\(key)", name: name))
  }
}

/// `roost links contacts rename`
struct ContactsRenameCommand: LoopCommand {
  static let configuration = CommandConfiguration(commandName: "rename", abstract: "Gives a contact another name.")
  @Argument(help: ArgumentHelp("The contact: its name or its key.", valueName: "who"))
  var who: String
  @Argument(help: ArgumentHelp("The new name.", valueName: "name"))
  var name: String
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try ContactName.check(name)
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let contact = try await session.contact(who, of: options.account.name)
    return try await session.change(
      LinksContact(account: options.account.name, publicKey: contact.publicKey, name: name))
  }
}

/// `roost links contacts remove`
struct ContactsRemoveCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Removes a contact; its conversation stays.")
  @Argument(help: ArgumentHelp("The contact: its name or its key.", valueName: "who"))
  var who: String
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let contact = try await session.contact(who, of: options.account.name)
    var wanted = LinksContact(account: options.account.name, publicKey: contact.publicKey)
    wanted.remove = true
    return try await session.change(wanted, words: "is removed")
  }
}

/// `roost links contacts relays`
struct ContactsRelaysCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "relays",
    abstract: "Agrees to relays for a contact who names none for gift wraps, or takes that back.",
    discussion: """
      Links and messages go to the relays that their recipient names for them (kind 10050). For a recipient who names none, \
      nothing is sent, because the operator of any other relay learns that messages for this key arrive, and when. With this \
      command you agree to that for one contact and the relays that you name; on a terminal it asks first. They are used only \
      while the contact names none.

        roost links contacts relays Bob wss://relay.example
        roost links contacts relays Bob --none
      """)
  @Argument(help: ArgumentHelp("The contact: its name or its key.", valueName: "who"))
  var who: String
  @Argument(
    help: ArgumentHelp("The relays, \(LinkContact.relayMaximum) at most, in place of earlier ones.", valueName: "url"))
  var relays: [String] = []
  @Flag(help: "Take it back: from now on only to relays of the contact's own list.") var none = false
  @Flag(help: "Agree without a question.") var yes = false
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if none, !relays.isEmpty { throw ValidationError("Either relays or --none.") }
    if !none, relays.isEmpty { throw ValidationError("Which relays? --none takes back what you agreed to.") }
    if relays.count > LinkContact.relayMaximum {
      throw ValidationError("At most \(LinkContact.relayMaximum) relays for a contact.")
    }
    for relay in relays {
      do throws(RelayURLFault) { _ = try RelayURL(relay) } catch { throw ValidationError("\(error).") }
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    // `try?`: validated.
    let relays = relays.map { (try? RelayURL($0).text) ?? $0 }
    try await session.client.connect()
    let contact = try await session.contact(who, of: options.account.name)
    if !none, !yes {
      let sentences = LinkText.agreement(contact, relays: relays)
      guard SecretInput.isTerminal else {
        throw Refusal(.badRequest, "\(sentences)\nIf you agree, add --yes.", outcome: .notStarted)
      }
      session.note(sentences, .warning)
      guard try Question.isYes("Do you agree?") else {
        session.note("Nothing was changed.")
        return .failed
      }
    }
    var wanted = LinksContact(account: options.account.name, publicKey: contact.publicKey)
    wanted.relays = relays
    return try await session.change(wanted)
  }
}

/// `roost links contacts sessions`
struct ContactsSessionsCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "Writes links to a contact in sessions, the newer form of linkstr, or takes that back.",
    discussion: """
      For a contact whose app shows no links in the older form. A post goes into the session of you both that was used last; \
      the first post makes one. A new session is named like your account, and the contact reads that name: \
      'roost links post --session NAME' gives another. Sessions have no replies.

        roost links contacts sessions Bob
        roost links contacts sessions Bob --off
      """)
  @Argument(help: ArgumentHelp("The contact: its name or its key.", valueName: "who"))
  var who: String
  @Flag(help: "Take it back: from now on in the older form, between two keys.") var off = false
  @OptionGroup var options: ContactOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let contact = try await session.contact(who, of: options.account.name)
    var wanted = LinksContact(account: options.account.name, publicKey: contact.publicKey)
    wanted.sessions = !off
    return try await session.change(wanted)
  }
}

/// The name of a contact as it is typed.
private enum ContactName {
  static func check(_ name: String) throws {
    if name.allSatisfy(\.isWhitespace) { throw ValidationError("The name is empty.") }
    if name.utf8.count > LinkContact.nameByteCountMaximum {
      throw ValidationError("The name has \(name.utf8.count) bytes; at most \(LinkContact.nameByteCountMaximum).")
    }
  }
}

extension CommandSession {
  /// Changes a contact and prints it.
  fileprivate func change(_ wanted: LinksContact, words: String? = nil) async throws(Refusal) -> ExitStatus {
    let contact = try await waiting(for: LinkMethod.contact.declaration) { () async throws(Refusal) in
      try await client.changeContact(wanted)
    }
    await print(contact, [words.map { "\(LinkText.name(contact)) \($0)." } ?? LinkText.contact(contact)])
    return .done
  }
}
