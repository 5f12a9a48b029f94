internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering

/// `roost observe`
struct Observe: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Shows stored events that a filter matches, and then new ones as they come.",
    discussion: """
      Flags narrow each FILTER; without a FILTER they are one. On a terminal each event has a heading and the first lines of \
      what it says; into a file or a pipe it is one line. With --json each line is {"seq":…,"event":{…}}, and \
      {"isStoredEnd":true,"seq":…} follows the stored ones.

      While relays are asked, a terminal shows their progress below the events, and a summary at the end. Without a \
      terminal, standard error names a relay that refuses or cannot be asked. --json leaves this out, \
      unless --progress puts {"progress":{…}} among the events, one at each change; in the last "isComplete" is true.

      A restarted store or supervisor is waited for and leaves no gap. Keep the last seq and continue with --after. \
      Ctrl-C ends it.

        roost observe --kind 1 --author alice --limit 20
        roost observe '{"kinds":[1],"#t":["nostr"]}' --since 2h --json
        roost observe --follows alice --kind 1 --since 1d
      """)
  @Argument(help: ArgumentHelp("NIP-01 filters as JSON.", valueName: "filter"))
  var filters: [String] = []
  @OptionGroup var flags: FilterFlags
  @Option(
    help: ArgumentHelp(
      "Only of those whom this person follows, as the person's list has them (kind 3); it is kept up.",
      valueName: "key"))
  var follows: String?
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("At most so many stored events of each filter, the newest.", valueName: "number"))
  var limit: Int?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Only events behind this one, in their order.", valueName: "seq"),
    transform: SeqArgument.read)
  var after: Int64?
  @OptionGroup var network: NetworkFlags
  @Flag(help: "With --json, tell how far relays are, too, until each has sent what it had.")
  var progress = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if progress, !general.isJSON { throw ValidationError("--progress goes with --json.") }
    if follows != nil, !flags.author.isEmpty { throw ValidationError("--follows and --author exclude each other.") }
    try FilterFlags.validate(filters)
    if let limit, limit < 0 { throw ValidationError("The limit is not negative.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    session.output.leaveWithReader()
    try session.onInterrupt(.interrupted) { session.display.interrupted() }
    try await session.client.connect()
    let filters = try await flags.filters(filters, limit: limit, in: session)
    session.tellLosses()
    let names = ProfileNames(session.client)
    let options = try network.options()
    let watch = FetchReport(session, writesObjects: progress)
    let notice = session.storeNotice()
    defer { notice?.end() }
    let show: @EventLoopActor (ObservedItem) async -> Void = { item in
      notice?.end()
      if session.isJSON {
        await session.output.writeLine(ObservedJSON.line(item))
      } else {
        await session.output.writeLines(await text(item, names, session))
        watch.shown()
      }
    }
    if let follows {
      guard filters.allSatisfy({ $0.authors == nil }) else {
        throw Refusal(.badRequest, "--follows and the filter both name authors; name them once", outcome: .notStarted)
      }
      let person = try await session.publicKey(follows)
      let observe = FollowedObserve(session, person, filters, after: after, options) {
        watch.begin($0, options)
      } show: {
        await show($0)
      }
      try await observe.run()
      return .done
    }
    watch.begin(filters, options)
    for try await item in session.client.observe(filters, after: after, options: options) { await show(item) }
    return .done
  }

  @EventLoopActor
  private func text(_ item: ObservedItem, _ names: ProfileNames, _ session: CommandSession) async -> [String] {
    switch item {
    case .storedEnd: return [EventText.storedEnd(session.style)]
    case .event(let received):
      let name = await names.name(of: received.event.pubkey)
      return Terminal.isTerminal(STDOUT_FILENO)
        ? EventText.block(received.event, name: name, session.style)
        : [EventText.line(received.event, name: name, session.style)]
    }
  }
}

/// The number of a commit (seq) as it is typed.
enum SeqArgument {
  @Sendable static func read(_ text: String) throws -> Int64 {
    guard let seq = Int64(text), seq >= 0 else {
      throw ValidationError("A seq is a whole number from 0, as --json shows it; behind 0 are all events.")
    }
    return seq
  }
}

/// Items as lines of JSON, with the event's bytes as they were signed.
enum ObservedJSON {
  static func line(_ item: ObservedItem) -> [UInt8] {
    switch item {
    case .storedEnd(let seq): return JSONPayload.encode(StoredEnd(seq: seq))
    case .event(let received):
      let head = received.seq.map { "{\"seq\":\($0),\"event\":" } ?? "{\"event\":"
      return Array(head.utf8) + received.json + [UInt8(ascii: "}")]
    }
  }
}

/// Names from stored profiles; each is read once.
@EventLoopActor
final class ProfileNames {
  private let client: RoostClient
  private var names: [PublicKey: String?] = [:]

  /// The maximum number of names that are remembered. One more clears them all; they are soon read again.
  static let maximum = 4_096

  init(_ client: RoostClient) { self.client = client }

  /// The name; nil if no name is stored.
  func name(of key: PublicKey) async -> String? {
    if let known = names[key] { return known }
    // `try?`: without a name the key is shown.
    let name = (try? await client.profile(key))?.bestName
    if names.count >= Self.maximum { names = [:] }
    names[key] = .some(name)
    return name
  }
}

extension CommandSession {
  /// From now on reports on standard error when the supervisor is away and when it is back, one line each. Without
  /// these lines, an observer that waits looks like one without new events.
  func tellLosses() {
    var isAway = false
    client.onConnectionState = { [unowned self] state in
      let text: String
      switch state {
      case .waiting(_, let reason) where !isAway:
        isAway = true
        text = "-- the supervisor is away; waiting (\(reason.message))"
      case .connected where isAway:
        isAway = false
        text = "-- the supervisor is there again"
      default: return
      }
      note(text, .warning)
    }
  }
}
