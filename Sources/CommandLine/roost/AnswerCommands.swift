internal import Addresses
internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient
internal import Rendering

/// The options of the commands that write about an event.
struct AnswerOptions: ParsableArguments, Sendable {
  @Option(name: .customLong("as"), help: ArgumentHelp("Who signs.", valueName: "account"))
  var account = AccountWord.unnamed
  @Flag(help: "Publish a text with nsec1… or ncryptsec1… in it: anyone who reads it has the key.")
  var allowSecrets = false
  @OptionGroup var way: PublishWay

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if account.name?.lowercased().hasPrefix("nsec1") == true { throw ValidationError(secretAsArgument) }
  }

  /// The way on which all of them find what they are about, and are published.
  static let discussion = """
    EVENT is an id (64 hexadecimal digits), note, nevent, naddr, or an address as 30023:3bf0…:name. One that is not stored \
    is asked for at relays first. The new event goes to your own relays, and to those where its addressee reads.
    """
}

/// `roost reply`
struct ReplyCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "reply",
    abstract: "Answers an event: a text with a text, everything else with a comment.",
    discussion: """
      \(AnswerOptions.discussion)

      TEXT is the answer, or - for standard input. An answer to a text (kind 1) says what it answers and where the \
      conversation began (NIP-10), and names everyone in it but you; to any other kind it is a comment (NIP-22).

        roost reply note1… 'I agree'
        roost reply nevent1… - <answer.txt
      """)
  @Argument(help: ArgumentHelp("What is answered.", valueName: "event"))
  var event: String
  @Argument(help: ArgumentHelp("The answer; - for standard input.", valueName: "text"))
  var text: String
  @OptionGroup var answer: AnswerOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let text = try InputBytes.text(text)
    return try await session.publish(answer) { me throws(Refusal) in
      EventTemplate.answer(text, to: try await session.subject(event).subject, by: me)
    }
  }
}

/// `roost comment`
struct CommentCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "comment",
    abstract: "Comments on an event that is not a text, or on something outside Nostr.",
    discussion: """
      \(AnswerOptions.discussion)

      In place of EVENT a URL (https://…), a #hashtag, or an id as isbn:9780765382030 (NIP-73). A comment (kind 1111, \
      NIP-22) says what the conversation is about, and what it answers. Texts (kind 1) are answered with 'roost reply'.

        roost comment naddr1… 'Great article'
        roost comment https://example.com/page 'Worth reading'
      """)
  @Argument(help: ArgumentHelp("What is commented on.", valueName: "event"))
  var event: String
  @Argument(help: ArgumentHelp("The comment; - for standard input.", valueName: "text"))
  var text: String
  @OptionGroup var answer: AnswerOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let text = try InputBytes.text(text)
    return try await session.publish(answer) { me throws(Refusal) in
      let subject: CommentSubject
      if let external = try session.external(event) {
        subject = .external(external)
      } else {
        subject = .event(try await session.subject(event).subject)
      }
      do throws(TemplateFault) { return try EventTemplate.comment(text, on: subject, by: me) } catch {
        throw Refusal(.badRequest, "\(error): roost reply \(event) '…'", outcome: .notStarted)
      }
    }
  }
}

/// `roost react`
struct ReactCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "react",
    abstract: "Reacts to an event, or to something outside Nostr.",
    discussion: """
      \(AnswerOptions.discussion)

      EMOJI is + (a like, unless given), -, one emoji, or with --image the :name: of an emoji of its own (NIP-30). In place \
      of EVENT a URL, a #hashtag, or an id as isbn:… (NIP-73). Each call is one more reaction.

        roost react note1…
        roost react note1… 🤙
        roost react note1… :soapbox: --image https://example.com/soapbox.png
      """)
  @Argument(help: ArgumentHelp("What is reacted to.", valueName: "event"))
  var event: String
  @Argument(help: ArgumentHelp("The reaction.", valueName: "emoji"))
  var emoji: String?
  @Option(help: ArgumentHelp("Where the image of the :name: is.", valueName: "url"))
  var image: String?
  @OptionGroup var answer: AnswerOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let content: ReactionContent
    do throws(TemplateFault) { content = try ReactionContent(typed: emoji ?? "+", image: image) } catch {
      throw Refusal(.badRequest, "\(error)", outcome: .notStarted)
    }
    return try await session.publish(answer) { _ throws(Refusal) in
      if let external = try session.external(event) { return EventTemplate.reaction(content, to: external) }
      return EventTemplate.reaction(content, to: try await session.subject(event).subject)
    }
  }
}

/// `roost repost`
struct RepostCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "repost",
    abstract: "Repeats an event for those who follow you.",
    discussion: """
      \(AnswerOptions.discussion)

      A text (kind 1) is repeated by kind 6, everything else by kind 16 (NIP-18), with the event in it. A protected event \
      (NIP-70) is named only: its author wants it where the author put it.

        roost repost note1…
      """)
  @Argument(help: ArgumentHelp("What is repeated.", valueName: "event"))
  var event: String
  @OptionGroup var answer: AnswerOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.publish(answer) { _ throws(Refusal) in
      let (subject, json) = try await session.subject(event)
      return EventTemplate.repost(of: subject, json: json)
    }
  }
}

extension CommandSession {
  /// How long relays may take to send an event that is not stored, in seconds.
  private static let fetchSeconds = 15
  /// Relays that an event is named with, and that are asked for it.
  private static let hintMaximum = 8

  /// Signs and publishes what `make` makes for the account that signs.
  fileprivate func publish(
    _ options: AnswerOptions, _ make: (PublicKey) async throws(Refusal) -> EventTemplate
  ) async throws(Refusal) -> ExitStatus {
    let found = try account(options.account.name, among: try await accounts())
    guard let key = PublicKey(found.publicKey) else { throw Refusal(.badPayload, "'\(found.publicKey)' is no key") }
    let template = try await make(key)
    let publishing = PublishRun(
      self, found.name, allowsSecrets: options.allowSecrets, replaces: false, options.way)
    let draft = JSONValue.object([
      "kind": .integer(Int64(template.kind)), "content": .string(template.content),
      "tags": .array(template.tags.map { .array($0.map { .string($0) }) }),
    ])
    try await publishing.publish(json: JSONPayload.encode(draft))
    return await publishing.finish()
  }

  /// Something outside Nostr, if the text is that; nil: it names an event.
  fileprivate func external(_ text: String) throws(Refusal) -> ExternalContent? {
    if EventID(text) != nil || EventAddress(text) != nil { return nil }
    if ["note1", "nevent1", "naddr1", "nostr:"].contains(where: text.lowercased().hasPrefix) { return nil }
    do throws(TemplateFault) { return try ExternalContent(text) } catch {
      throw Refusal(.badRequest, "'\(text)' is no event, and \(error)", outcome: .notStarted)
    }
  }

  /// The event that a text names, and where it can be found: from the store, else from relays.
  fileprivate func subject(_ text: String) async throws(Refusal) -> (subject: SubjectEvent, json: [UInt8]) {
    let (filter, author, hints) = try Self.reference(text)
    var found = try await stored(filter)
    if found == nil {
      note("It is not stored; relays are asked for it, for \(Self.fetchSeconds) s at most.")
      var filters = [filter]
      // Then it is looked for where its author writes, too; that it has this author is a claim.
      if let author { filters.append(Filter(ids: filter.ids, authors: [author])) }
      var wanted = PlanWant(
        filters: try filters.map { filter throws(Refusal) in
          try JSONPayload.decode(JSONValue.self, from: filter.json)
        }, depth: .newest, urgency: .lookUp)
      // The author of the nevent may be a stranger.
      wanted.foreignRelays = hints.isEmpty ? nil : Array(hints.prefix(Self.hintMaximum))
      wanted.seconds = Self.fetchSeconds
      // Asked until it is here: other relays need not be waited for.
      let answer = try await client.stream(PlanMethod.want, wanted)
      while found == nil, try await answer.nextPart() != nil { found = try await stored(filter) }
      if found == nil { found = try await stored(filter) }
    }
    guard let found else {
      throw Refusal(
        .noSuchEvent, "'\(text)' is not stored, and no relay that was asked has sent it", outcome: .notStarted)
    }
    return (SubjectEvent(found.event, at: await place(of: found.event)), found.json)
  }

  private func stored(_ filter: Filter) async throws(Refusal) -> ReceivedEvent? {
    for try await received in client.events(matching: [filter], limit: 1) { return received }
    return nil
  }

  /// The filter for the event that a text names, and the author and the relays that it names with an id.
  private static func reference(
    _ text: String
  ) throws(Refusal) -> (filter: Filter, author: PublicKey?, hints: [String]) {
    func of(_ address: EventAddress) -> Filter {
      var filter = Filter(authors: [address.pubkey], kinds: [address.kind], limit: 1)
      if KindClass(address.kind) == .addressable, let letter = TagLetter("d") {
        filter.tags[letter] = [address.identifier]
      }
      return filter
    }
    if let id = EventID(text) { return (Filter(ids: [id]), nil, []) }
    if let address = EventAddress(text) { return (of(address), nil, []) }
    let plain = text.hasPrefix("nostr:") ? String(text.dropFirst(6)) : text
    let entity: NostrEntity
    do throws(EntityFault) { entity = try NostrEntity(plain) } catch {
      // What was typed may be a secret key, and is not repeated then.
      if case .secret = error { throw Refusal(.badRequest, "that is a secret key, and no event", outcome: .notStarted) }
      throw Refusal(.badRequest, "'\(text)' names no event: \(error)", outcome: .notStarted)
    }
    switch entity {
    case .note(let id): return (Filter(ids: [id]), nil, [])
    case .event(let pointer): return (Filter(ids: [pointer.id]), pointer.author, pointer.relays.map(\.text))
    case .address(let pointer): return (of(pointer.address), nil, pointer.relays.map(\.text))
    default: throw Refusal(.badRequest, "'\(text)' names no event", outcome: .notStarted)
    }
  }

  /// A public relay that has an event: one that has sent it, else one where its author writes.
  private func place(of event: Event) async -> RelayURL? {
    // `try?`: without a relay the event is found by its id.
    let seen = (try? await client.request(StoreMethod.seen, StoreSeen(id: "\(event.id)")))?.relays.map(\.relay) ?? []
    if let relay = seen.lazy.compactMap({ try? RelayURL($0) }).first(where: \.isPublic) { return relay }
    let lists = Filter(authors: [event.pubkey], kinds: [EventKind.relayList], limit: 1)
    // `try?`: as above.
    guard let list = (try? await client.query(lists, limit: 1))?.first else { return nil }
    return (try? RelayList(list))?.writeRelays.first(where: \.isPublic)
  }
}
