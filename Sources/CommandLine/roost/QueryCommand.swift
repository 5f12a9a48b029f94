internal import ArgumentParser
internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import LinuxSystem
internal import Nostr
internal import Rendering
internal import RoostClient

/// `roost query`
struct Query: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Prints the events that a filter matches, one JSON object a line, and ends.",
    discussion: """
      FILTER is NIP-01's JSON; - reads filters from standard input, one a line. Flags narrow each of them; without a FILTER \
      they are one. Events come newest first, each once, with the bytes that were signed: for jq, nak or 'roost import'.

      Without more, the answer is what is stored here. With --relay or --policy cache-with-network relays are asked \
      first, and what they send is stored. With network-only the answer is what relays send now, as it comes, and --limit is \
      for each relay. Standard error names relays that refuse. Exit code 5 when a relay has not sent everything within \
      --timeout; what did come is printed all the same.

        roost query -k 1 -a alice -l 20 | jq -r .content
        roost query --search 'pumpkin soup' --since 7d
        roost query '{"kinds":[30023],"#t":["nostr"]}' --policy cache-with-network
        jq -c '{ids:[.id]}' some.jsonl | roost query -
      """)
  @Argument(help: ArgumentHelp("Filters as JSON; - for standard input.", valueName: "filter"))
  var filters: [String] = []
  @OptionGroup var flags: FilterFlags
  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: ArgumentHelp("At most so many events of each filter, the newest.", valueName: "number"))
  var limit: Int?
  @OptionGroup var network: NetworkFlags
  @Option(
    help: ArgumentHelp("How long relays may take: 5s, 1m.", valueName: "time"), transform: Timeout.init(reading:))
  var timeout = Timeout(milliseconds: 15_000)
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try FilterFlags.validate(filters.filter { $0 != Self.standardInput })
    if let limit, limit < 0 { throw ValidationError("The limit is not negative.") }
    if filters.isEmpty, flags.isEmpty, limit == nil {
      throw ValidationError("What is asked for? Give a filter or a flag, such as --kind; '{}' is everything.")
    }
  }

  /// In place of a filter.
  private static let standardInput = "-"

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    session.output.leaveWithReader()
    try session.onInterrupt(.interrupted) { session.display.interrupted() }
    try await session.client.connect()
    let filters = try await flags.filters(try await texts(), limit: limit, in: session)
    var options = try network.options()
    options.policy = options.policy ?? (options.relays.isEmpty ? .cacheOnly : .cacheWithNetwork)
    var isComplete = true
    if options.policy != .cacheOnly {
      guard session.isReady(.outboxPlanner) else {
        throw Refusal(
          .unavailable, "relays are asked by the outbox-planner, which is not ready: 'roost status' shows why",
          outcome: .notStarted)
      }
      let fetch = NetworkFetch(session, filters, options)
      isComplete = try await fetch.run(within: timeout, printing: options.policy == .networkOnly)
    }
    if options.policy != .networkOnly {
      let notice = session.storeNotice()
      defer { notice?.end() }
      for try await event in session.client.events(matching: filters) {
        notice?.end()
        await session.output.writeLine(event.json)
      }
    }
    return isComplete ? .done : .timedOut
  }

  /// The filters, those of standard input in place of `-`.
  @EventLoopActor
  private func texts() async throws(Refusal) -> [String] {
    guard let place = filters.firstIndex(of: Self.standardInput) else { return filters }
    var texts = filters
    texts.remove(at: place)
    let source = try LineSource(Self.standardInput)
    while let line = try await source.next() {
      guard line.contains(where: { $0 > 0x20 }) else { continue }
      texts.append(String(decoding: line, as: UTF8.self))
      guard texts.count <= StoreObserve.filterMaximum else {
        throw Refusal(
          .badRequest, "there are more than \(StoreObserve.filterMaximum) filters; merge them, or ask several times",
          outcome: .notStarted)
      }
    }
    guard !texts.isEmpty else {
      throw Refusal(.badRequest, "standard input has no filter", outcome: .notStarted)
    }
    return texts
  }
}

/// A question to relays that ends: an observation, until each relay has sent what it had.
@EventLoopActor
private final class NetworkFetch {
  private let session: CommandSession
  private let filters: [Filter]
  private let options: ObserveOptions
  private var progress: ObserveProgress?
  private var news = FetchNews()
  private let beganAt = WallClock.seconds
  /// Events that were there before.
  private var arrivals = 0
  private var isPrinting = false
  private var failure: Refusal?
  private let moved = Signal()

  /// When a relay is done, its last events may still be on their way to the store. All have come when none came for
  /// this long, in milliseconds.
  private static let quietMilliseconds: UInt64 = 200

  init(_ session: CommandSession, _ filters: [Filter], _ options: ObserveOptions) {
    (self.session, self.filters, self.options) = (session, filters, options)
  }

  /// Whether each relay has sent everything, or is not expected to.
  private var isComplete: Bool { progress.map { $0.isObserved && $0.isComplete } ?? false }

  /// Returns whether it was complete in time.
  ///
  /// - Parameter prints: whether the events are the answer; otherwise they only arrive in the store.
  func run(within timeout: Timeout, printing prints: Bool) async throws(Refusal) -> Bool {
    let end = EventLoop.process.now.advanced(milliseconds: UInt64(timeout.milliseconds))
    session.display.begin { [weak self] in
      guard let progress = self?.progress else { return [] }
      return FetchText.lines(progress, columns: LiveDisplay.columns)
    }
    let tasks = [
      EventLoopActor.task { [self] in await observe(prints) }, EventLoopActor.task { [self] in await follow() },
    ]
    defer {
      for task in tasks { task.cancel() }
      session.display.end()
    }
    while failure == nil, !isComplete, await moved.wait(until: end) {}
    if let failure { throw failure }
    await settle()
    if !isComplete { tellMissing(timeout) }
    return isComplete
  }

  /// Waits until no event came for a while that was there when the question began, and the last one is written.
  private func settle() async {
    while true {
      let before = arrivals
      let end = EventLoop.process.now.advanced(milliseconds: Self.quietMilliseconds)
      while await moved.wait(until: end) {}
      while isPrinting { _ = await moved.wait() }
      if arrivals == before { return }
    }
  }

  private func observe(_ prints: Bool) async {
    do throws(Refusal) {
      for try await item in session.client.observe(filters, options: options) {
        guard case .event(let received) = item else { continue }
        if prints {
          isPrinting = true
          await session.output.writeLine(received.json)
          isPrinting = false
        }
        if received.event.createdAt < beganAt { arrivals += 1 }
        moved.raise()
      }
    } catch { failed(error) }
  }

  private func follow() async {
    do throws(Refusal) {
      for try await now in session.client.fetchProgress(of: filters, options: options) {
        // The planner may learn of an observation a little after the first question about it.
        guard now.isObserved else { continue }
        progress = now
        session.display.changed()
        for line in news.lines(now) { session.note("-- \(line)", .warning) }
        moved.raise()
        if isComplete { return }
      }
    } catch { failed(error) }
  }

  private func failed(_ refusal: Refusal) {
    failure = failure ?? refusal
    moved.raise()
  }

  private func tellMissing(_ timeout: Timeout) {
    let missing = progress?.relays.filter { $0.state != .stored }.map(\.relay) ?? []
    let who = missing.isEmpty ? "no relay was asked" : "not everything came from \(missing.joined(separator: ", "))"
    session.note("-- within \(timeout) \(who)", .warning)
  }
}
