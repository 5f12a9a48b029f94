internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// `roost logs`
struct Logs: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Shows what the workers logged.",
    discussion: """
      What is done for one request, in all workers and at relays, has one trace. Programs choose it; ROOST_TRACE is that of \
      roost's own requests. Messages to and from relays are logged while their categories are at level debug.

        roost log level requests=debug traffic-publish=debug
        ROOST_TRACE=42 roost publish --content hello
        roost logs --trace 42
      """)
  @Flag(name: [.customShort("f"), .long], help: "Go on with new lines until Ctrl-C.")
  var follow = false
  // Unconditional, so that -1 is parsed as a number and refused as one.
  @Option(name: [.customShort("n"), .long], parsing: .unconditional, help: "How many past lines.")
  var lines = 50
  @Option(
    help: ArgumentHelp(
      "Only lines about one request, of all workers: the trace of it, 1 to 16 hexadecimal digits.", valueName: "trace"))
  var trace: String?
  @Argument(help: "Only this worker's lines; 'roostd' for the supervisor's own.")
  var worker: String?
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard lines >= 0 else { throw ValidationError("The number of lines cannot be negative.") }
    if let trace, RequestTrace(trace) == nil {
      throw ValidationError("'\(trace)' is no trace: 1 to 16 hexadecimal digits, not all 0.")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let request = LogsRequest(worker: worker, lines: lines, follow: follow ? true : nil, trace: trace)
    let ttl = follow ? 0 : Timeout.reading.milliseconds
    let answer = try await session.client.stream(
      SupervisorMethod.logs, request, options: .idempotent(ttlMilliseconds: ttl))
    try session.onInterrupt(.done) { answer.answer.cancel() }
    if follow { session.output.leaveWithReader() }
    var formatter = LogLines(session.style)
    var isEmpty = true
    while let item = try await answer.next() {
      let records =
        switch item {
        case .part(let records), .end(let records): records
        }
      for record in records {
        isEmpty = false
        if session.isJSON {
          await session.output.writeLine(JSONPayload.encode(record))
        } else {
          await session.output.writeLines(formatter.lines(record))
        }
      }
    }
    if isEmpty, !session.isJSON { await session.output.writeLines(["Nothing was logged."]) }
    return .done
  }
}

/// `roost events`
struct Events: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Shows every change of a worker's state as it happens, until Ctrl-C.",
    discussion: "Waits for the supervisor when it goes away, and says where events are missing.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let queue = LineQueue()
    try await session.client.connect()
    let subscription = try await session.client.subscribe(
      SupervisorTopic.events.name,
      onGap: { gap in queue.append(Self.gapLine(gap, session)) },
      onEvent: { payload in queue.append(Self.line(payload, session)) })
    subscription.onEnd = { queue.end($0) }
    try session.onInterrupt(.done) { subscription.cancel() }
    session.output.leaveWithReader()
    while true {
      let line = try await queue.next()
      await session.output.writeLine(line)
    }
  }

  @EventLoopActor
  private static func line(_ payload: BusPayload, _ session: CommandSession) -> [UInt8] {
    // `try?`: an event of a later version is shown as it came.
    guard !session.isJSON, let event = try? payload.read(as: SupervisorEvent.self, of: SupervisorTopic.events.name)
    else {
      return PayloadText.line(payload.bytes)
    }
    return Array(WorkerEventLine.line(event, session.style).utf8)
  }

  private struct GapObject: Encodable {
    var gap = true
    var dropped: UInt64?
  }

  @EventLoopActor
  private static func gapLine(_ gap: TopicGap, _ session: CommandSession) -> [UInt8] {
    var dropped: UInt64?
    if case .dropped(let count) = gap { dropped = count }
    if session.isJSON { return JSONPayload.encode(GapObject(dropped: dropped)) }
    return Array(WorkerEventLine.gap(dropped: dropped, session.style).utf8)
  }
}

/// Lines on their way from the subscription, which does not wait, to the output, which does.
@EventLoopActor
private final class LineQueue {
  private var lines: [[UInt8]] = []
  private var waiter: CheckedContinuation<Void, Never>?
  private var ending: Refusal?

  /// The maximum number of lines that wait for a slow reader; above it the program ends instead of growing.
  private static let lineMaximum = 10_000

  func append(_ line: [UInt8]) {
    guard lines.count < Self.lineMaximum else {
      end(Refusal(.notReading, "\(lines.count) events wait because the output is not read"))
      return
    }
    lines.append(line)
    wake()
  }

  func end(_ refusal: Refusal) {
    ending = refusal
    wake()
  }

  func next() async throws(Refusal) -> [UInt8] {
    while lines.isEmpty {
      if let ending { throw ending }
      await withCheckedContinuation { waiter = $0 }
    }
    return lines.removeFirst()
  }

  private func wake() {
    waiter?.resume()
    waiter = nil
  }
}
