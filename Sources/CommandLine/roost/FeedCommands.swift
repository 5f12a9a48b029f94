internal import ArgumentParser
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering

/// What `roost feed` and `roost inbox` have in common.
struct FeedOptions: ParsableArguments, Sendable {
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose: an account, or anyone's key.", valueName: "account"))
  var account = AccountWord.unnamed
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("At most so many stored ones, the newest; 50 unless given, at most 500.", valueName: "number"))
  var limit: Int?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Only those behind this one, in their order.", valueName: "seq"),
    transform: SeqArgument.read)
  var after: Int64?
  @Flag(name: .customLong("no-follow"), help: "End after the stored ones.")
  var endsAtStored = false
  @Flag(name: .customLong("cache-only"), help: "Ask no relay.")
  var isCacheOnly = false

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if let limit, !(0...PeopleFeed.limitMaximum).contains(limit) {
      throw ValidationError("The limit is from 0 to \(PeopleFeed.limitMaximum).")
    }
  }

  var policy: ObservePolicy? { isCacheOnly || endsAtStored ? .cacheOnly : nil }
}

/// `roost feed`
struct FeedCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "Shows what the people write whom an account follows, without what it has muted.",
    discussion: """
      Stored events at once, the newest first; then new ones as they come, until Ctrl-C. When the follow list or the list of \
      mutes changes, the feed does. Relays are asked for these people meanwhile, unless --cache-only or --no-follow is given.

      With --json each line is {"seq":…,"event":{…}}; {"isStoredEnd":true,"seq":…} follows the stored ones, and \
      {"isFeedState":true,…} says what the feed goes by. Keep the last seq and continue with --after.

        roost feed
        roost feed --as alice --set friends --kind 1 --limit 20
        roost feed --no-follow --json
      """)
  @Option(
    help: ArgumentHelp("The people of this set instead (kind 30000): its name, naddr or address.", valueName: "set"))
  var set: String?
  @Option(
    help: ArgumentHelp(
      "Only this kind; several times. Unless given: \(PeopleFeed.defaultKinds.map(String.init).joined(separator: ", ")).",
      valueName: "number"),
    transform: KindArgument.read)
  var kind: [UInt16] = []
  @OptionGroup var feed: FeedOptions
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    var wanted = PeopleFeed(account: feed.account.name, set: set, kinds: kind.isEmpty ? nil : kind)
    (wanted.limit, wanted.afterSeq, wanted.policy) = (feed.limit, feed.after, feed.policy)
    let display = try await FeedDisplay(session)
    var isListKnown = true
    for try await item in session.client.feed(wanted) {
      switch item {
      case .event(let received):
        if session.isJSON {
          await session.output.writeLine(ObservedJSON.line(.event(received)))
        } else {
          await display.show(received.event)
        }
      case .storedEnd(let seq, let isComplete):
        await display.storedEnd(StoredEnd(seq: seq, isComplete: isComplete), endsThere: feed.endsAtStored)
        if feed.endsAtStored { return isListKnown ? .done : .failed }
      case .state(let state):
        isListKnown = state.isListKnown != false
        await display.show(state)
      }
    }
    return .done
  }
}

/// `roost inbox`
struct InboxCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "inbox",
    abstract: "Shows what others write to an account: answers, mentions, quotes, reactions, reposts, zaps.",
    discussion: """
      Stored ones at once, the newest first; then new ones as they come, until Ctrl-C. What the account has muted is left \
      out, and so is its own. Of a zap the payer has signed the request, and the amount is that of the invoice; whether \
      the wallet that claims the payment is yours is not looked up: --json has its key.

        roost inbox
        roost inbox --as alice --only zap --no-follow
      """)
  @Option(help: ArgumentHelp("Only this sort; several times: \(InboxCommand.sorts).", valueName: "sort"))
  var only: [String] = []
  @OptionGroup var feed: FeedOptions
  @OptionGroup var general: GeneralOptions

  private static let sorts = InboxItem.Sort.allCases.map(\.rawValue).joined(separator: ", ")

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    for word in only where InboxItem.Sort(rawValue: word) == nil {
      throw ValidationError("There is no sort '\(word)'; there are \(Self.sorts).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    var wanted = PeopleInbox(account: feed.account.name)
    wanted.only = only.isEmpty ? nil : only.compactMap(InboxItem.Sort.init(rawValue:))
    (wanted.limit, wanted.afterSeq, wanted.policy) = (feed.limit, feed.after, feed.policy)
    let display = try await FeedDisplay(session)
    for try await entry in session.client.inbox(wanted) {
      switch entry {
      case .item(let item):
        if session.isJSON {
          await session.output.writeLine(JSONPayload.encode(item))
        } else {
          await display.show(item)
        }
      case .storedEnd(let seq, let isComplete):
        await display.storedEnd(StoredEnd(seq: seq, isComplete: isComplete), endsThere: feed.endsAtStored)
        if feed.endsAtStored { return .done }
      case .state(let state): await display.show(state)
      }
    }
    return .done
  }
}

/// Shows a feed or an inbox.
@EventLoopActor
private final class FeedDisplay {
  private let session: CommandSession
  private let names: ProfileNames
  private let isBlock = Terminal.isTerminal(STDOUT_FILENO)

  init(_ session: CommandSession) async throws(Refusal) {
    self.session = session
    session.output.leaveWithReader()
    try session.onInterrupt(.interrupted) { session.display.interrupted() }
    try await session.client.connect()
    session.tellLosses()
    names = ProfileNames(session.client)
  }

  func show(_ event: Event) async {
    var known = [event.pubkey: await names.name(of: event.pubkey)]
    if let inner = FeedText.reposted(event) { known[inner.pubkey] = await names.name(of: inner.pubkey) }
    await session.output.writeLines(
      FeedText.lines(event, isBlock: isBlock, name: { known[$0] ?? nil }, session.style))
  }

  func show(_ item: InboxItem) async {
    let key = PublicKey(item.author)
    let name: String? = if let key { await names.name(of: key) } else { nil }
    await session.output.writeLines(FeedText.lines(item, isBlock: isBlock, name: { _ in name }, session.style))
  }

  func show(_ state: FeedState) async {
    if session.isJSON { return await session.output.writeLine(JSONPayload.encode(state)) }
    for remark in FeedText.remarks(state) { session.note("-- \(remark)", .warning) }
  }

  func storedEnd(_ end: StoredEnd, endsThere: Bool) async {
    if session.isJSON { return await session.output.writeLine(JSONPayload.encode(end)) }
    if !endsThere { await session.output.writeLines([EventText.storedEnd(session.style)]) }
  }
}
