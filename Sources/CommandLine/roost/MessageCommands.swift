internal import ArgumentParser
internal import Contracts
internal import Frames
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost messages`
struct MessagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages",
    abstract: "Sends private messages (NIP-17), and shows those that came.",
    discussion: """
      Messages travel in gift wraps: relays learn for whom they are, but neither from whom nor what they say. WHO is as for \
      'roost links'.

        roost messages send Bob 'hello'
        roost messages list
        roost messages show Bob
      """,
    subcommands: [MessagesSendCommand.self, MessagesListCommand.self, MessagesShowCommand.self],
    defaultSubcommand: MessagesListCommand.self)
}

/// `roost messages send`
struct MessagesSendCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Sends a message to one person or to several.",
    discussion: """
      TEXT is the last argument; - is standard input. The message is kept on the disk first, and tried again for days if relays \
      cannot be reached; --give-up calls it off instead, when the wait is over.

      --legacy sends kind 4 (NIP-04), for a recipient who reads nothing else: every relay then sees who writes to whom, and \
      when.

      Exit code 1 when for a recipient no relay has it and none is tried again.

        roost messages send Bob 'hello'
        roost messages send Bob Ann 'tea at five?' --subject tea
        roost messages send Bob - <letter.txt
      """)
  @Argument(help: ArgumentHelp("To whom, and then the text.", valueName: "who text"))
  var words: [String]
  @Option(help: ArgumentHelp("The title of the conversation from now on.", valueName: "text"))
  var subject: String?
  @Option(
    name: .customLong("reply-to"),
    help: ArgumentHelp("The message that this one answers: its id or the first digits of it.", valueName: "id"))
  var replyTo: String?
  @Flag(help: "Send it as kind 4, for a recipient who reads nothing else.") var legacy = false
  @OptionGroup var way: LinkWay
  @OptionGroup var general: GeneralOptions

  private var people: [String] { Array(words.dropLast()) }

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard words.count > 1 else { throw ValidationError("Name at least one person, and then the text.") }
    if let replyTo { try LinkReference.check(replyTo) }
    var wanted = MessagesSend(to: people, text: words.last == "-" ? "-" : words.last ?? "")
    (wanted.subject, wanted.replyTo, wanted.legacy) = (subject, replyTo, legacy)
    if let objection = wanted.objection { throw ValidationError("\(objection).") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let typed = try TypedText(Array(words.suffix(1)))
    guard typed.text.utf8.count <= MessagesSend.textByteCountMaximum else {
      throw Refusal(
        .badRequest,
        "the text has \(typed.text.utf8.count) bytes; \(MessagesSend.textByteCountMaximum) are taken at most",
        outcome: .notStarted)
    }
    try await session.client.connect()
    let answered = try replyTo.map { text throws(Refusal) in try LinkReference.id(text) }
    let shown = "roost messages show \(people.map { ShellWord.make($0) }.joined(separator: " "))"
    return try await session.sendLink(way, typed: typed, LinkMethod.sendMessage.declaration, shownBy: shown) {
      () async throws(Refusal) in
      try await session.addressing(people) { people throws(Refusal) in
        var wanted = MessagesSend(account: way.account.name, to: people, text: typed.text)
        (wanted.subject, wanted.replyTo, wanted.legacy) = (subject, answered, legacy ? true : nil)
        wanted.waitMilliseconds = way.waitMilliseconds
        wanted.givesUp = way.givesUp ? true : nil
        return try await session.client.sendMessage(wanted)
      }
    }
  }
}

/// `roost messages list`
struct MessagesListCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the conversations, the newest first; with --json one a line.",
    discussion: "\(LinkText.unreadMark) is a conversation with something unread.")
  @OptionGroup var listing: LinkListing
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let none = "No messages yet. 'roost messages send WHO TEXT' sends one."
    try await session.list(listing, LinkMethod.listMessages.declaration, entries: "MESSAGES", none: none) {
      wanted throws(Refusal) in try await session.client.messageConversations(wanted)
    }
    return .done
  }
}

/// `roost messages show`
struct MessagesShowCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the messages of a conversation, the newest first, and marks them as read.",
    discussion: """
      Of several people, the conversation with exactly these is meant. \(LinkText.unreadMark) is what was not read yet. With \
      --json each message is a line.

        roost messages show Bob
        roost messages show Bob Ann --all
      """)
  @Argument(help: ArgumentHelp("The conversation.", valueName: "who"))
  var people: [String]
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var paging: LinkPaging
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if people.isEmpty { throw ValidationError("Which conversation?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    try await session.inMessages(with: people, of: account.name) { conversation throws(Refusal) in
      let wanted = LinksShow(account: account.name, conversation: conversation)
      let shown = try await session.waiting(for: LinkMethod.showMessages.declaration) { () async throws(Refusal) in
        try await session.showEntries(wanted, paging) { page throws(Refusal) in
          try await session.client.messageRows(page)
        }
      }
      if shown.count == 0, !session.isJSON { session.note("No messages.") }
      if !paging.keepsUnread, shown.count > 0 {
        try await session.client.markMessagesRead(shown.read(account.name, conversation))
      }
    }
    return .done
  }
}

extension CommandSession {
  /// Does something with the conversation with these people.
  fileprivate func inMessages<Value>(
    with people: [String], of account: String?, _ body: (String) async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    guard people.count > 1 else { return try await addressing(people[0], body) }
    return try await body(try await messageConversation(with: people, of: account))
  }
}
