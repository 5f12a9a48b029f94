internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost import`
struct Import: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stores the events of a file, one JSON object a line.",
    discussion: """
      Every event is verified. Events that are stored already cost next to nothing, so a file can be imported again. Lines \
      that are not valid events are skipped: the first hundred are shown, and --errors writes each of them to a file, in the \
      order of the input. If the store stops taking events (a full disk), the command prints the line for --from-line. \
      Ctrl-C stops in the same way.

        gunzip -c events.jsonl.gz | roost import -
      """)
  @Argument(help: "The file, or - for standard input.")
  var file: String
  @Option(help: "Begin at this line; the first is 1.")
  var fromLine = 1
  @Option(
    help: ArgumentHelp(
      "Write each line that is no valid event to this file, {\"line\":…,\"reason\":…} a line; it must not be there yet.",
      valueName: "file"))
  var errors: String?
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if fromLine < 1 { throw ValidationError("Lines are counted from 1.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let source = try LineSource(file)
    let record = try errors.map { path throws(Refusal) in try InvalidLineFile(path) }
    try await session.client.connect()
    let importing = EventImport(session.client, source, fromLine: fromLine, record, session.display)
    try session.onFirstInterrupt { importing.isInterrupted = true }
    let summary = await importing.run()
    if importing.refusal == nil || summary.lines > 0 || session.isJSON && summary.nextLine != nil {
      await session.print(summary, ImportText.lines(summary, session.style))
    }
    if importing.isInterrupted { return .interrupted }
    if let refusal = importing.refusal { throw refusal }
    if let failure = record?.failure { throw failure }
    return summary.invalid > 0 ? .failed : .done
  }
}

/// What `roost import` has done; printed with `--json`.
struct ImportSummary: Encodable {
  struct Line: Encodable {
    let line: Int
    let reason: String
  }
  var lines = 0
  var stored = 0
  var duplicate = 0
  var mended = 0
  var superseded = 0
  var deleted = 0
  var expired = 0
  var ephemeral = 0
  var invalid = 0
  /// The first invalid lines.
  var invalidLines: [Line] = []
  /// The line to continue from, if the import did not reach the end.
  var nextLine: Int?

  /// The maximum number of invalid lines that are reported one by one.
  static let invalidLineMaximum = 100

  mutating func add(_ result: IngestResult, lines count: Int) {
    lines += count
    stored += result.stored
    duplicate += result.duplicate
    mended += result.mended ?? 0
    superseded += result.superseded
    deleted += result.deleted
    expired += result.expired
    ephemeral += result.ephemeral
    invalid += result.invalidCount
  }

  mutating func addTooLong(_ count: Int) {
    lines += count
    invalid += count
  }

  mutating func addInvalid(_ line: Line) {
    if invalidLines.count < Self.invalidLineMaximum { invalidLines.append(line) }
  }
}

/// Sends a file to the store, several runs at a time.
@EventLoopActor
final class EventImport {
  var isInterrupted = false
  private(set) var refusal: Refusal?

  private let client: RoostClient
  private let source: LineSource
  private let fromLine: Int
  private let record: InvalidLineFile?
  private var summary = ImportSummary()
  private var underWay: [Sent] = []
  private let display: LiveDisplay

  /// Consecutive lines of the file.
  private struct Run {
    var events: [ArraySlice<UInt8>] = []
    var byteCount = 0
    /// The line of each event.
    var lines: [Int] = []
    /// Lines among them that are too long for an event, and their bytes. They are reported together with the other
    /// lines, so that all reports are in the order of the file.
    var tooLong: [(line: Int, byteCount: Int)] = []

    var isEmpty: Bool { lines.isEmpty && tooLong.isEmpty }
    var count: Int { lines.count + tooLong.count }
  }

  private struct Sent {
    let run: Run
    let result: Task<Result<IngestResult, Refusal>, Never>
  }

  /// The maximum number of runs in flight: enough that the store always has work.
  static let underWayMaximum = 4
  /// A run is sent when it has this many bytes.
  static let runByteCount = 128 << 10
  /// Or this many events: as many as the answer can name if all are invalid.
  static let runEventCount = IngestResult.invalidMaximum

  init(
    _ client: RoostClient, _ source: LineSource, fromLine: Int, _ record: InvalidLineFile? = nil, _ display: LiveDisplay
  ) {
    self.record = record
    self.display = display
    self.client = client
    self.source = source
    self.fromLine = fromLine
  }

  /// Imports to the end of the file, to a refusal, or until it is interrupted.
  func run() async -> ImportSummary {
    display.begin { [unowned self] in [progressLine] }
    var run = Run()
    do throws(Refusal) {
      var isFirst = true
      while !isInterrupted, refusal == nil, let line = try await source.next() {
        guard line.contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { continue }
        if isFirst {
          try InputForm.check(line, name: source.name, isFile: !source.isStandardInput, rest: "roost import -")
        }
        isFirst = false
        if source.number >= fromLine { await take(line, &run) }
      }
      if !isInterrupted, refusal == nil, fromLine > 1, source.number < fromLine {
        throw Refusal(
          .badRequest, "\(source.name) has no line \(fromLine): it ends with line \(source.number)",
          outcome: .notStarted)
      }
    } catch { refusal = error }
    if !run.isEmpty, refusal == nil { await send(run) }
    while !underWay.isEmpty { await settle() }
    if isInterrupted, summary.nextLine == nil { summary.nextLine = source.number + 1 }
    display.end()
    return summary
  }

  /// Adds a line to a run, and begins another if that is full.
  private func take(_ line: ArraySlice<UInt8>, _ run: inout Run) async {
    let maximum = client.eventByteCountMaximum
    let isTooLong = line.count > maximum
    let runByteCount = min(Self.runByteCount, maximum)
    let isFull = run.byteCount + (isTooLong ? 0 : line.count) > runByteCount || run.count == Self.runEventCount
    if isFull, !run.isEmpty {
      await send(run)
      run = Run()
    }
    if isTooLong { return run.tooLong.append((source.number, source.lineByteCount)) }
    run.events.append(line)
    run.byteCount += IngestRecord.headerByteCount + line.count
    run.lines.append(source.number)
  }

  private func send(_ run: Run) async {
    if underWay.count >= Self.underWayMaximum { await settle() }
    guard refusal == nil else { return stopped(at: run) }
    let client = client
    let result = EventLoopActor.task { () -> Result<IngestResult, Refusal> in
      do throws(Refusal) {
        return .success(run.events.isEmpty ? IngestResult() : try await client.importEvents(run.events))
      } catch { return .failure(error) }
    }
    underWay.append(Sent(run: run, result: result))
  }

  /// Waits for the oldest run.
  private func settle() async {
    let sent = underWay.removeFirst()
    switch await sent.result.value {
    case .success(let result):
      summary.add(result, lines: sent.run.lines.count)
      summary.addTooLong(sent.run.tooLong.count)
      tellInvalid(result, sent.run)
      display.changed()
    case .failure(let refusal):
      if self.refusal == nil { self.refusal = refusal }
      stopped(at: sent.run)
    }
  }

  private func tellInvalid(_ result: IngestResult, _ run: Run) {
    let maximum = client.eventByteCountMaximum
    var lines = run.tooLong.map {
      ImportSummary.Line(
        line: $0.line, reason: "\(EventFault.tooLarge(byteCount: $0.byteCount, maximum: maximum))")
    }
    for entry in result.invalid where run.lines.indices.contains(entry.record) {
      lines.append(ImportSummary.Line(line: run.lines[entry.record], reason: entry.reason))
    }
    for line in lines.sorted(by: { $0.line < $1.line }) {
      summary.addInvalid(line)
      record?.append(line)
    }
  }

  private func stopped(at run: Run) {
    let first = min(run.lines.first ?? .max, run.tooLong.first?.line ?? .max)
    summary.nextLine = min(summary.nextLine ?? .max, first)
  }

  /// The progress, for people.
  private var progressLine: LiveLine {
    let share = source.byteCount.map { $0 > 0 ? " (\(source.readByteCount * 100 / $0) %)" : "" } ?? ""
    return LiveLine("\(Amount.count(summary.lines, "line"))\(share), \(summary.stored) stored")
  }
}

/// What `roost import` prints.
enum ImportText {
  static func lines(_ summary: ImportSummary, _ style: Style) -> [String] {
    let counts = [
      (summary.stored, "stored"), (summary.duplicate, "there already"),
      (summary.mended, "mended, being damaged in the database"), (summary.superseded, "superseded"),
      (summary.deleted, "deleted by their authors"), (summary.expired, "over"), (summary.ephemeral, "ephemeral"),
      (summary.invalid, "invalid"),
    ]
    let told = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    var lines = ["\(Amount.count(summary.lines, "line")): \(told.isEmpty ? "nothing to store" : told)"]
    lines += summary.invalidLines.map {
      style.paint("line \($0.line): \(VisibleText.make($0.reason))", .warning)
    }
    let untold = summary.invalid - summary.invalidLines.count
    if untold > 0 { lines.append("and \(Amount.count(untold, "more invalid line")); --errors writes down all of them") }
    if let line = summary.nextLine { lines.append("stopped before line \(line): go on with --from-line \(line)") }
    return lines
  }
}
