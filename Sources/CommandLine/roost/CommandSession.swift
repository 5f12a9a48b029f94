internal import Bus
import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// What a command works with: the connection, the output, and the way that both end.
@EventLoopActor
final class CommandSession {
  let client: RoostClient
  let display = LiveDisplay()
  let output: StandardOutput
  let style = Terminal.style(of: STDOUT_FILENO)
  let isJSON: Bool
  /// The event concerned, if a refusal ends the program.
  var subject: EventID?
  private var signals: [SignalWatcher] = []
  private var interrupted: (@EventLoopActor () -> Void)?

  init(_ options: GeneralOptions, name: String = "roost") {
    isJSON = options.isJSON
    output = StandardOutput(above: display)
    var settings = ClientSettings(name: name, socket: options.socket)
    // A person waits: a supervisor that is away for longer than this is reported as away.
    settings.patienceMilliseconds = 10_000
    settings.storeMilliseconds = Timeout.reading.milliseconds
    client = RoostClient(settings)
  }

  // MARK: Requests

  /// Sends a request and prints the answer: unchanged with `--json`, else in the command's own words.
  @discardableResult
  func show<Arguments, Value>(
    _ method: Method<Arguments, Value>, _ arguments: Arguments, timeout: Timeout = .reading,
    isIdempotent: Bool = false, format: (Value, Style) -> [String]
  ) async throws(Refusal) -> Value {
    let options = RequestOptions(ttlMilliseconds: timeout.milliseconds, isIdempotent: isIdempotent)
    try await client.connect()
    let payload = try await client.request(method.name, BusPayload(arguments), options: options)
    let value: Value = try payload.read(of: method.name)
    if isJSON {
      await output.writeLine(PayloadText.line(payload.bytes))
    } else {
      await output.writeLines(format(value, style))
    }
    return value
  }

  /// Prints a value of this program's own.
  func print(_ value: some Encodable, _ lines: [String]) async {
    if isJSON { await output.writeLine(JSONPayload.encode(value)) } else { await output.writeLines(lines) }
  }

  /// Writes a note for a person to standard error, always on one line.
  func note(_ text: String, _ tone: Tone = .dim) {
    display.tell(Terminal.style(of: STDERR_FILENO).paint(VisibleText.make(text), tone))
  }

  // MARK: Ending

  /// From now on Ctrl-C and SIGTERM end the program with `status`, after `giveUp`.
  func onInterrupt(_ status: ExitStatus, _ giveUp: @escaping @EventLoopActor () -> Void) throws(Refusal) {
    try watch { [unowned self] in
      giveUp()
      leave(status)
    }
  }

  /// From now on the first Ctrl-C or SIGTERM calls `body`, and the next calls `giveUp` and ends the program.
  func onFirstInterrupt(
    _ body: @escaping @EventLoopActor () -> Void, giveUp: @escaping @EventLoopActor () -> Void = {}
  ) throws(Refusal) {
    var isFirst = true
    try watch { [unowned self] in
      if !isFirst {
        giveUp()
        leave(.interrupted)
      }
      isFirst = false
      body()
    }
  }

  /// The signals are watched from the first call on. A signal that has arrived but is not handled yet runs the body
  /// that is current then; a new watcher in place of the first would lose it.
  private func watch(_ body: @escaping @EventLoopActor () -> Void) throws(Refusal) {
    interrupted = body
    guard signals.isEmpty else { return }
    for number in [SIGINT, SIGTERM] {
      do throws(LoopFault) {
        signals.append(try SignalWatcher(number) { [unowned self] in interrupted?() })
      } catch {
        throw Refusal(.failed, "\(error)", outcome: .notStarted)
      }
    }
  }

  /// Leaves the bus and the program.
  func leave(_ status: ExitStatus) -> Never {
    display.end()
    client.close()
    exit(status.rawValue)
  }

  /// Ends the program with a refusal, written to standard error.
  ///
  /// - Parameters:
  ///   - refusal: the refusal.
  ///   - event: the event that it is about; with `--json` written as `id` and `note`.
  ///   - status: the exit status; that of the refusal unless given.
  func leave(_ refusal: Refusal, of event: EventID? = nil, status: ExitStatus? = nil) -> Never {
    display.end()
    var text = JSONPayload.encode(RefusalReport(refusal, of: refusal.outcome == .unknown ? event ?? subject : nil))
    if isJSON {
      // It may repeat text from a relay.
      if Terminal.isTerminal(STDERR_FILENO) { text = VisibleText.makeJSON(text) }
    } else {
      text = Array(RefusalText.lines(refusal, Terminal.style(of: STDERR_FILENO)).joined(separator: "\n").utf8)
    }
    text.append(0x0A)
    _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    leave(status ?? ExitStatus(refusal))
  }
}

/// A refusal as `--json` prints it; with the event that it is about, if the outcome is unknown.
private struct RefusalReport: Encodable {
  let code: RefusalCode
  let message: String
  let outcome: Outcome?
  let retryAfterMilliseconds: UInt32?
  let id: String?
  let note: String?

  init(_ refusal: Refusal, of event: EventID?) {
    code = refusal.code
    message = refusal.message
    outcome = refusal.outcome
    retryAfterMilliseconds = refusal.retryAfterMilliseconds
    id = event?.description
    note = event?.note
  }
}
