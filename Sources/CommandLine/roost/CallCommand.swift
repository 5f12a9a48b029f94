internal import ArgumentParser
internal import Bus
internal import EventLoop
internal import Frames
internal import Glibc
internal import JSON
internal import RoostClient
internal import Rendering

/// `roost call`
///
/// A part is read only after the one before it is written, so a slow reader of the output slows the worker down.
struct Call: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Calls any method and prints the answer, part by part.",
    discussion: """
      Arguments are JSON, '-' for standard input or '@file'; without any, an empty object is sent. On a terminal the answer \
      is indented; with --json or into a pipe each part is one line. What the worker says meanwhile, such as a relay's \
      NOTICE, goes to standard error; so does, unless --json is given, that nothing has come after two seconds because \
      the worker is held or not running. Ctrl-C gives the request up and exits with 130.

        roost call relay.request '{"relay":"ws://127.0.0.1:7777","limit":5}'
      """)
  @Argument(help: "The method, such as relay.list.")
  var method: String
  @Argument(help: ArgumentHelp("Its arguments: JSON, - or @file.", valueName: "json"))
  var arguments: String?
  @Option(help: "Ask this worker, instead of any that serves the method.")
  var to: String?
  @Option(
    help: ArgumentHelp("How long the answer is of use: 30s, 500ms, 2m.", valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout: Timeout?
  @Flag(help: "Never deliver it a second time, should the worker die with it.")
  var atMostOnce = false
  @Flag(help: "Arguments and answer are raw bytes: sent and written exactly as they are.")
  var raw = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard !raw, let arguments, arguments != "-", !arguments.hasPrefix("@") else { return }
    do throws(JSONFault) { _ = try JSONText(Array(arguments.utf8)) } catch {
      throw ValidationError("The arguments are not JSON: \(error).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let payload = BusPayload(try InputBytes.read(arguments, isRaw: raw), isRaw: raw)
    try await session.client.connect()
    let answer = try await session.client.stream(
      method, payload,
      options: RequestOptions(worker: to, ttlMilliseconds: timeout?.milliseconds ?? 0, atMostOnce: atMostOnce))
    answer.onProgress = { [session] in tell($0, session) }
    try session.onInterrupt(.interrupted) { answer.cancel() }
    // With --json the caller is a program, which has a time limit of its own.
    let notice = session.isJSON ? nil : WaitingNotice(session.client, method: method, worker: to)
    defer { notice?.end() }
    while let part = try await answer.next() {
      notice?.end()
      await print(part, session)
    }
    return .done
  }

  /// Shows PROGRESS that has a text for people, beside the answer and never in it; other PROGRESS is ignored.
  @EventLoopActor
  private func tell(_ progress: BusPayload, _ session: CommandSession) {
    guard !session.isJSON, let status = try? progress.decoded(as: StatusReport.self) else { return }  // As above.
    session.note(status.text)
  }

  @EventLoopActor
  private func print(_ part: BusPayload, _ session: CommandSession) async {
    if raw {
      await session.output.write(part.bytes)
    } else if session.isJSON || !Terminal.isTerminal(STDOUT_FILENO) {
      let line = part.isRaw ? PayloadText.base64Line(part.bytes) : PayloadText.line(part.bytes)
      await session.output.writeLine(line)
    } else if part.isRaw {
      await session.output.writeLines([PayloadText.raw(byteCount: part.bytes.count, session.style)])
    } else {
      await session.output.writeLines(PayloadText.pretty(part.bytes, session.style))
    }
  }
}
