internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import LinkAddresses
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost links`
struct LinksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "links",
    abstract: "Sends links to contacts in gift wraps, and shows those that came, as linkstr does.",
    discussion: """
      Only you and the recipients can read a link, its note and the replies. WHO is a contact's name, an npub, an nprofile, \
      64 hexadecimal digits, name@domain (NIP-05), one of the signer's accounts, or the id of a conversation.

        roost links contacts add npub1… Bob
        roost links post Bob https://example.com --note 'look'
        roost links list
        roost links show Bob
        roost links reply 3f2a9100 'nice'
        roost links share
      """,
    subcommands: [
      LinksPostCommand.self, LinksReplyCommand.self, LinksListCommand.self, LinksShowCommand.self,
      LinksReadCommand.self, LinksContactsCommand.self, LinksRelaysCommand.self, LinksShareCommand.self,
      LinksOpenCommand.self,
    ],
    defaultSubcommand: LinksListCommand.self)
}

/// `roost links post`
struct LinksPostCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "post", abstract: "Sends a link.",
    discussion: """
      It is kept on the disk first, and tried again for days if relays cannot be reached; --give-up calls it off instead, when \
      the wait is over. It goes to the relays that the recipient names for gift wraps (kind 10050), or to those that you have \
      agreed to ('roost links contacts relays').

      To a contact with whom you use sessions ('roost links contacts sessions') it goes into the session of you both that was \
      used last, and the first post makes one. WHO may also be the id of any session of which you are a member.

      Exit code 1 when no relay has it and none is tried again.

        roost links post Bob https://example.com
        roost links post npub1… https://example.com --note - <note.txt
        roost links post bob@example.com https://example.com --wait 30 --give-up
      """)
  @Argument(help: ArgumentHelp("To whom.", valueName: "who"))
  var who: String
  @Argument(help: ArgumentHelp("The link: https://… or http://….", valueName: "url"))
  var url: String
  @Option(help: ArgumentHelp("What you say of it; - for standard input.", valueName: "text"))
  var note: String?
  @Option(
    help: ArgumentHelp(
      "The name of the session, for a contact with whom you use sessions; if you have not one of this name, it is made.",
      valueName: "name"))
  var session: String?
  @OptionGroup var way: LinkWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    do throws(LinkURLFault) { _ = try LinkURL(url) } catch { throw ValidationError("That is no link: \(error).") }
    if session?.allSatisfy(\.isWhitespace) == true { throw ValidationError("The name of the session is empty.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let note = try note.map { text throws(Refusal) in try InputBytes.text(text) }
    let typed = TypedText(
      [url, note].compactMap(\.self).joined(separator: "\n"), isFromInput: self.note == "-")
    try await session.client.connect()
    let shown = "roost links show \(ShellWord.make(who))"
    return try await session.sendLink(way, typed: typed, LinkMethod.post.declaration, shownBy: shown) {
      () async throws(Refusal) in
      try await session.addressing(who) { who throws(Refusal) in
        var wanted = LinksPost(account: way.account.name, to: who, url: url, note: note)
        wanted.waitMilliseconds = way.waitMilliseconds
        wanted.givesUp = way.givesUp ? true : nil
        wanted.session = self.session
        return try await session.client.post(wanted)
      }
    }
  }
}

/// `roost links reply`
struct LinksReplyCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "reply", abstract: "Sends a reply to a post.",
    discussion: """
      POST is an id (64 hexadecimal digits, note1…) or its first 8 digits or more, as 'roost links show' shows them. TEXT may be several \
      words; - alone is standard input.

        roost links reply 3f2a9100 that is nice
        roost links reply 3f2a9100 - <reply.txt
      """)
  @Argument(help: ArgumentHelp("The post.", valueName: "post"))
  var post: String
  @Argument(help: ArgumentHelp("The reply; - for standard input.", valueName: "text"))
  var text: [String]
  @OptionGroup var way: LinkWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try LinkReference.check(post)
    if text.isEmpty { throw ValidationError("What is the reply?") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let typed = try TypedText(text)
    try await session.client.connect()
    let id = try LinkReference.id(post)
    return try await session.sendLink(
      way, typed: typed, LinkMethod.reply.declaration, shownBy: "roost links show --post \(id.prefix(12))"
    ) { () async throws(Refusal) in
      var wanted = LinksReply(account: way.account.name, post: id, text: typed.text)
      wanted.waitMilliseconds = way.waitMilliseconds
      wanted.givesUp = way.givesUp ? true : nil
      return try await session.client.reply(wanted)
    }
  }
}

/// What `roost links list` and `roost messages list` have in common.
struct LinkListing: ParsableArguments, Sendable {
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose.", valueName: "account"))
  var account = AccountWord.unnamed
  @Flag(help: "Only those with something unread.") var unread = false
  @Option(
    help: ArgumentHelp(
      "At most so many, the newest; \(LinksList.limitDefault) unless given, at most \(LinksList.limitMaximum).",
      valueName: "number"))
  var limit: Int?

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if let limit, !(1...LinksList.limitMaximum).contains(limit) {
      throw ValidationError("The limit is from 1 to \(LinksList.limitMaximum).")
    }
  }

  var wanted: LinksList {
    var wanted = LinksList(account: account.name)
    (wanted.unread, wanted.limit) = (unread ? true : nil, limit)
    return wanted
  }
}

/// `roost links list`
struct LinksListCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the conversations, the newest first; with --json one a line.",
    discussion: "\(LinkText.unreadMark) is a conversation with something unread.")
  @OptionGroup var listing: LinkListing
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let none =
      "No links yet. 'roost links post WHO URL' sends one; 'roost links share' shows others where to send theirs."
    try await session.list(listing, LinkMethod.list.declaration, entries: "POSTS", none: none) {
      wanted throws(Refusal) in try await session.client.conversations(wanted)
    }
    return .done
  }
}

extension CommandSession {
  /// Asks for conversations and prints them.
  ///
  /// - Parameters:
  ///   - listing: which ones.
  ///   - method: what is asked.
  ///   - entries: what they have: `POSTS`, `MESSAGES`.
  ///   - none: what is said when the account has none.
  ///   - ask: asks.
  func list(
    _ listing: LinkListing, _ method: MethodDeclaration, entries: String, none: String,
    _ ask: (LinksList) async throws(Refusal) -> [LinkConversationRow]
  ) async throws(Refusal) {
    try await client.connect()
    let rows = try await waiting(for: method) { () async throws(Refusal) in try await ask(listing.wanted) }
    let empty = listing.unread ? "Nothing is unread." : none
    if isJSON {
      for row in rows { await output.writeLine(JSONPayload.encode(row)) }
    } else {
      let names = await linkNames(listing.account.name, of: rows.flatMap { $0.contact == nil ? $0.members : [] })
      await output.writeLines(LinkText.table(rows, entries: entries, empty: empty, names: names, style))
    }
  }
}

/// `roost links show`
struct LinksShowCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the posts of a conversation, the newest first, and marks them as read.",
    discussion: """
      With --post: that post and its replies, the oldest first. \(LinkText.unreadMark) is what was not read yet. With --json \
      each is a line.

        roost links show Bob
        roost links show --post 3f2a9100
      """)
  @Argument(help: ArgumentHelp("The conversation.", valueName: "who"))
  var who: String?
  @Option(help: ArgumentHelp("A post: its id or the first digits of it.", valueName: "post"))
  var post: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var paging: LinkPaging
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if (who == nil) == (post == nil) { throw ValidationError("Name a conversation, or --post.") }
    if let post { try LinkReference.check(post) }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    if let post {
      let id = try LinkReference.id(post)
      let shown = try await show(LinksShow(account: account.name, post: id), in: session)
      if !paging.keepsUnread, shown.count > 0 {
        try await session.client.markLinksRead(LinksRead(account: account.name, post: id))
      }
      return .done
    }
    try await session.addressing(who ?? "") { who throws(Refusal) in
      let shown = try await show(LinksShow(account: account.name, conversation: who), in: session)
      if shown.count == 0, !session.isJSON { session.note("No posts.") }
      if !paging.keepsUnread, shown.count > 0 {
        try await session.client.markLinksRead(shown.read(account.name, who))
      }
    }
    return .done
  }

  @EventLoopActor
  private func show(_ wanted: LinksShow, in session: CommandSession) async throws(Refusal) -> ShownRows {
    try await session.waiting(for: LinkMethod.show.declaration) { () async throws(Refusal) in
      try await session.showEntries(wanted, paging) { page throws(Refusal) in try await session.client.linkRows(page) }
    }
  }
}

/// `roost links read`
struct LinksReadCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Marks the posts of a conversation as read, or a post with its replies.")
  @Argument(help: ArgumentHelp("The conversation.", valueName: "who"))
  var who: String?
  @Option(help: ArgumentHelp("A post: its id or the first digits of it.", valueName: "post"))
  var post: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose.", valueName: "account"))
  var account = AccountWord.unnamed
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let count: Int
  }

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if (who == nil) == (post == nil) { throw ValidationError("Name a conversation, or --post.") }
    if let post { try LinkReference.check(post) }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let count: Int
    if let post {
      let id = try LinkReference.id(post)
      count = try await session.client.markLinksRead(LinksRead(account: account.name, post: id))
    } else {
      count = try await session.addressing(who ?? "") { who throws(Refusal) in
        try await session.client.markLinksRead(LinksRead(account: account.name, conversation: who))
      }
    }
    await session.print(Answer(count: count), [count == 0 ? "Nothing was unread." : "Read; \(count) unread before."])
    return .done
  }
}
