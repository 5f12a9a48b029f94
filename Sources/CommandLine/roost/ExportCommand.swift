internal import ArgumentParser
internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost export`
struct Export: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Writes stored events, one JSON object a line, newest first.",
    discussion: """
      The bytes are those that were signed; 'roost import' takes them back. Flags narrow each --filter; without one they are a \
      filter. A restarted store is waited for. An --output that was cut off, by whatever, is finished with --resume.

        roost export --author alice --output alice.jsonl
        roost export --output all.jsonl --resume
      """)
  @Option(help: ArgumentHelp("Only what this NIP-01 filter matches; may be given several times.", valueName: "json"))
  var filter: [String] = []
  @OptionGroup var flags: FilterFlags
  @Option(name: .shortAndLong, help: "At most so many, with those that --resume finds in the file.")
  var limit: Int?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write to this file, which must not be there yet; - is standard output.", valueName: "file"))
  var output: String?
  @Flag(help: "Continue the --output file after its last event; begin it if it does not exist.")
  var resume = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    try FilterFlags.validate(filter)
    if let limit, limit < 0 { throw ValidationError("The limit is not negative.") }
    if resume, path == nil { throw ValidationError("--resume continues a file: give --output.") }
  }

  /// The file to write to; nil for standard output.
  private var path: String? { output == "-" ? nil : output }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    var isInterrupted = false
    try session.onFirstInterrupt { isInterrupted = true }
    try await session.client.connect()
    let filters = try await flags.filters(filter, in: session)
    let notice = session.storeNotice()
    defer { notice?.end() }
    guard let path else {
      session.output.leaveWithReader()
      for try await event in session.client.events(matching: filters, limit: limit) {
        notice?.end()
        await session.output.writeLine(event.json)
        if isInterrupted { return .interrupted }
      }
      return .done
    }
    let file = try ExportFile(path, resumes: resume)
    let progress = ExportProgress(found: file.lineCount, session.display)
    let left = limit.map { max(0, $0 - file.lineCount) }
    for try await event in session.client.events(matching: filters, limit: left, behind: file.lastEvent) {
      notice?.end()
      try file.append(event.json)
      progress.wrote(event.event)
      if isInterrupted { break }
    }
    try file.finish()
    progress.clear()
    let summary = ExportSummary(
      file: path, written: progress.count, found: progress.found, isComplete: !isInterrupted)
    await session.print(summary, summary.lines)
    return isInterrupted ? .interrupted : .done
  }
}

/// What `roost export --output` has done.
struct ExportSummary: Encodable {
  let file: String
  /// Events that this run has written.
  let written: Int
  /// Events that were in the file before.
  let found: Int
  let isComplete: Bool

  var lines: [String] {
    let before = found > 0 ? ", behind \(found) that were there" : ""
    let text = "\(VisibleText.make(file)): \(Amount.count(written, "event")) written\(before)"
    return isComplete ? [text] : [text, "stopped: the same command with --resume continues"]
  }
}

/// The progress on a terminal.
@EventLoopActor
private final class ExportProgress {
  let found: Int
  private(set) var count = 0
  private var lastTime: Int64 = 0
  private let display: LiveDisplay

  init(found: Int, _ display: LiveDisplay) {
    self.found = found
    self.display = display
    display.begin { [unowned self] in
      [LiveLine("\(Amount.count(count, "event")), back to \(CalendarTime.text(lastTime))")]
    }
  }

  func wrote(_ event: Event) {
    count += 1
    lastTime = event.createdAt
    display.changed()
  }

  func clear() { display.end() }
}
