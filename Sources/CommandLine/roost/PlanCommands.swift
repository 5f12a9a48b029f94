internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost plan`
struct Plan: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tells which relays would be asked or written, for whom, and why. Nothing is sent.",
    subcommands: [PlanRead.self, PlanWrite.self])
}

/// `roost plan read`
struct PlanRead: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Tells where filters would be asked.",
    discussion: """
      FILTER is NIP-01's JSON; flags say what is asked most. Exit code 1 when there is no relay.

        roost plan read --kind 1 --author alice
      """)
  @Argument(help: ArgumentHelp("Filters as JSON.", valueName: "filter"))
  var filters: [String] = []
  @OptionGroup var flags: FilterFlags
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try FilterFlags.validate(filters)
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var values: [JSONValue] = []
    for filter in try await flags.filters(filters, in: session) {
      values.append(try JSONPayload.decode(JSONValue.self, from: filter.json))
    }
    return try await session.showRoute(PlanRoute(filters: values))
  }
}

/// `roost plan write`
struct PlanWrite: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "write", abstract: "Tells where an event would be sent.",
    discussion: """
      Either EVENT, signed or not: JSON, @file or - for standard input; or --kind and --tag. Without a pubkey it is by --as, \
      or by the one account. Exit code 1 when there is no relay.

        roost plan write --as alice
        roost plan write --kind 1059 --tag p=npub1…
      """)
  @Argument(help: ArgumentHelp("The event as JSON, - or @file.", valueName: "event"))
  var event: String?
  @Option(
    help: ArgumentHelp("The event's kind; 1, a note, unless given.", valueName: "number"),
    transform: KindArgument.read)
  var kind: UInt16?
  @Option(
    help: ArgumentHelp("A tag of the event: NAME=VALUE or a JSON list; several times.", valueName: "tag"))
  var tag: [String] = []
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Whose event it is: npub, 64 hexadecimal digits, an account's name or name@domain (NIP-05).", valueName: "key"))
  var author = AccountWord.unnamed
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if event != nil, kind != nil || !tag.isEmpty {
      throw ValidationError("Give an event, or --kind and --tag; not both.")
    }
    for tag in tag {
      do throws(Refusal) { _ = try TagArgument.read(tag) } catch { throw ValidationError("\(error.message).") }
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let typed =
      event == nil ? nil : try JSONPayload.decode(JSONValue.self, from: InputBytes.read(event, isRaw: false))
    try await session.client.connect()
    let given = if let typed { typed } else { try await draft(in: session) }
    guard case .object(var fields) = given else {
      throw Refusal(.badRequest, "an event is a JSON object", outcome: .notStarted)
    }
    if let author = author.name { fields["pubkey"] = .string("\(try await session.publicKey(author))") }
    return try await session.showRoute(PlanRoute(event: .object(fields)))
  }

  @EventLoopActor
  private func draft(in session: CommandSession) async throws(Refusal) -> JSONValue {
    var tags: [JSONValue] = []
    for text in tag { tags.append(.array(try await session.tag(text).map { .string($0) })) }
    return .object(["kind": .integer(Int64(kind ?? EventKind.textNote)), "tags": .array(tags)])
  }
}

extension CommandSession {
  /// Requests a route, and prints it.
  fileprivate func showRoute(_ question: PlanRoute) async throws(Refusal) -> ExitStatus {
    // `try?`: a route can be shown without the signer.
    let accounts = (try? await client.accounts()) ?? []
    let names = Dictionary(accounts.map { ($0.publicKey, $0.name) }) { first, _ in first }
    let route = try await show(PlanMethod.route, question, isIdempotent: true) { (route, style) in
      RouteText.lines(route, names: names, style)
    }
    return route.problem == nil ? .done : .failed
  }
}
