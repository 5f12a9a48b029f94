internal import Bus
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import RoostOutput

/// What a command works with: the connection, the output, and how they end.
@EventLoopActor
final class CommandSession {
  let client: RoostClient
  let display = LiveDisplay()
  let output: StandardOutput
  let style = Terminal.style(of: STDOUT_FILENO)
  let isJSON: Bool
  private var signals: [SignalWatcher] = []

  init(_ options: GeneralOptions) {
    isJSON = options.isJSON
    output = StandardOutput(above: display)
    var settings = ClientSettings(name: "roost", socket: options.socket)
    // A person waits: a supervisor that is away for longer than this is told as away.
    settings.patienceMilliseconds = 10_000
    settings.storeMilliseconds = Timeout.reading.milliseconds
    client = RoostClient(settings)
  }

  // MARK: Asking

  /// Asks, and prints the answer: as it came with `--json`, else in the command's own words.
  @discardableResult
  func show<Value: Decodable>(
    _ method: String, _ arguments: some Encodable, timeout: Timeout = .reading, isIdempotent: Bool = false,
    format: (Value, Style) -> [String]
  ) async throws(Refusal) -> Value {
    let options = RequestOptions(ttlMilliseconds: timeout.milliseconds, isIdempotent: isIdempotent)
    try await client.connect()
    let payload = try await client.request(method, json: arguments, options: options)
    let value = try payload.decoded(as: Value.self)
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

  /// Tells a person something on standard error, one line whatever it holds.
  func note(_ text: String, _ tone: Tone = .dim) {
    display.tell(Terminal.style(of: STDERR_FILENO).paint(VisibleText.make(text), tone))
  }

  // MARK: Ending

  /// From now on Ctrl-C and SIGTERM end the program with `status`, after `giveUp`.
  func onInterrupt(_ status: ExitStatus, _ giveUp: @escaping @EventLoopActor () -> Void) throws(Refusal) {
    signals = []
    for number in [SIGINT, SIGTERM] {
      do throws(LoopFault) {
        signals.append(
          try SignalWatcher(number) { [unowned self] in
            giveUp()
            leave(status)
          })
      } catch {
        throw Refusal(.failed, "\(error)", outcome: .notStarted)
      }
    }
  }

  /// From now on the first Ctrl-C or SIGTERM calls `body`, and the next calls `giveUp` and ends the program.
  func onFirstInterrupt(
    _ body: @escaping @EventLoopActor () -> Void, giveUp: @escaping @EventLoopActor () -> Void = {}
  ) throws(Refusal) {
    var isFirst = true
    signals = []
    for number in [SIGINT, SIGTERM] {
      do throws(LoopFault) {
        signals.append(
          try SignalWatcher(number) { [unowned self] in
            if !isFirst {
              giveUp()
              leave(.interrupted)
            }
            isFirst = false
            body()
          })
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

  /// Leaves with a refusal, told on standard error.
  func leave(_ refusal: Refusal) -> Never {
    display.end()
    var text = JSONPayload.encode(refusal)
    if !isJSON {
      text = Array(RefusalText.lines(refusal, Terminal.style(of: STDERR_FILENO)).joined(separator: "\n").utf8)
    }
    text.append(0x0A)
    _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    leave(ExitStatus(refusal))
  }
}
