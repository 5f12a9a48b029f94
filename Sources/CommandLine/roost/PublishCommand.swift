internal import ArgumentParser
internal import Bus
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost publish`
struct Publish: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Publishes events: signs what is not signed, stores it, and sends it to relays.",
    discussion: """
      Either --content, with --kind and --tag as needed; or EVENT: JSON, @file, or - for standard input, where each line is \
      an event. What has a signature is published as it is; the signer signs the rest for --as, or for its one account. For a \
      locked one it waits up to 27 seconds for 'roost key unlock', and says so on standard error unless --json is given.

      A profile or a list (whom one follows, one's relays, those of NIP-51) replaces the one before everywhere: one that \
      lacks entries of it is refused, unless --replace says that it is meant. The version before is kept then ('roost \
      queue replaced'), except with --local.

      Nothing with a secret key in it is signed or published, unless --allow-secrets says that it is meant.

      An accepted event is verified and on disk. It is sent to the relays of its author's list and to those of \
      supervisor.conf, or to each --relay, for days if need be. The command shows its progress for --timeout; later \
      'roost queue' does. Ctrl-C does not call it off: 'roost queue cancel ID' does. With --local it is stored only. \
      --json prints one object for each event, when nothing more is waited for: "state" is "stored" with --local, else as in 'roost queue'.

        roost publish --content 'hello' --tag t=nostr
        roost publish '{"kind":7,"content":"+","tags":[["e","<id>"]]}' --as alice
        roost publish - <drafts.jsonl
        roost call signer.sign '{"event":{"kind":1,"content":"hello"}}' | roost publish -
      """)
  @Argument(help: ArgumentHelp("The event as JSON, - or @file.", valueName: "event"))
  var event: String?
  @Option(
    name: .shortAndLong, help: ArgumentHelp("What the new event says; - for standard input.", valueName: "text"))
  var content: String?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("The new event's kind; 1, a note, unless given.", valueName: "number"),
    transform: KindArgument.read)
  var kind: UInt16?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "A tag of the new event: NAME=VALUE or a JSON list; several times. The value of p, e, q and a may be npub, note, naddr "
        + "and the like, that of p a name@domain (NIP-05): it is written in hexadecimal digits.",
      valueName: "tag"))
  var tag: [String] = []
  @Option(name: .customLong("as"), help: ArgumentHelp("Who signs.", valueName: "account"))
  var account = AccountWord.unnamed
  @Flag(
    help: "Publish a profile or a list that lacks entries of the one before, which 'roost queue replaced' keeps.")
  var replace = false
  @Flag(help: "Publish a text with nsec1… or ncryptsec1… in it: anyone who reads it has the key.")
  var allowSecrets = false
  @OptionGroup var way: PublishWay
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    let isNew = content != nil || kind != nil || !tag.isEmpty
    guard isNew != (event != nil) else {
      throw ValidationError(isNew ? "Give an event, or --content and the like; not both." : "What is to be published?")
    }
    if isNew, content == nil { throw ValidationError("Give the --content too; it may be empty.") }
    if account.name?.lowercased().hasPrefix("nsec1") == true { throw ValidationError(secretAsArgument) }
    for tag in tag {
      do throws(Refusal) { _ = try TagArgument.read(tag) } catch { throw ValidationError("\(error.message).") }
    }
    if let event, event != "-", !event.hasPrefix("@"), !event.trimmedStart.hasPrefix("{") {
      throw ValidationError("That is no JSON object. To publish a text: roost publish --content '…'")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let publishing = PublishRun(session, account.name, allowsSecrets: allowSecrets, replaces: replace, way)
    if content != nil {
      let text = try text()
      try await session.client.connect()
      let draft = try await draft(text, in: session)
      try await publishing.publish(json: JSONPayload.encode(draft))
    } else if event == "-" {
      let source = try LineSource("-")
      try await session.client.connect()
      while let line = try await source.next() {
        if source.number == 1 {
          try InputForm.check(line, name: source.name, isFile: false, rest: "roost publish -")
        }
        try await publishing.publish(line: line, source.number)
      }
    } else {
      let bytes = try InputBytes.read(event, isRaw: false, rest: "roost publish -")
      try await session.client.connect()
      try await publishing.publish(json: bytes)
    }
    return await publishing.finish()
  }

  /// What the new event says.
  private func text() throws(Refusal) -> String { try InputBytes.text(content ?? "") }

  /// The new event, in the form that the signer takes.
  @EventLoopActor
  private func draft(_ text: String, in session: CommandSession) async throws(Refusal) -> JSONValue {
    var tags: [JSONValue] = []
    for tag in tag { tags.append(.array(try await session.tag(tag).map { .string($0) })) }
    return .object([
      "kind": .integer(Int64(kind ?? EventKind.textNote)), "content": .string(text), "tags": .array(tags),
    ])
  }
}

extension String {
  /// The text without leading white space.
  fileprivate var trimmedStart: Substring { drop { $0.isWhitespace } }
}
