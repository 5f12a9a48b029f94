internal import ArgumentParser
internal import Backups
internal import Contracts
internal import Cryptography
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import Nostr
internal import Rendering
internal import RoostClient
internal import Synchronization
internal import Wording

/// `roost backup`
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Makes and checks backups of everything Roost keeps, while it runs.",
    discussion: """
      A backup is one file with the events, the ledgers, the lists, the keys (as encrypted as they are) and the configuration \
      of one moment. It is a tar archive with a sum of each file, unless it is sealed. 'roost restore' takes it back.

        roost backup ~/roost.tar
        roost backup --seal /media/disk/roost.sealed
        roost backup - | ssh host 'cat > roost.tar'
        roost backup verify ~/roost.tar
        roost backup status

      The worker 'backup' makes them by itself, if [worker.backup] says where.
      """,
    subcommands: [BackupMake.self, BackupVerify.self, BackupStatusCommand.self], defaultSubcommand: BackupMake.self)
}

/// Where a passphrase for a backup comes from.
struct BackupPassphrase: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("The passphrase is the first line of this file.", valueName: "file"))
  var passphraseFile: String?

  /// The passphrase of a sealed backup that is read from `file`.
  func read(forOpening file: String) throws(BackupFault) -> Passphrase {
    guard file != "-" || passphraseFile != nil else {
      throw BackupFault(.sealed, "the backup on standard input is sealed: give --passphrase-file")
    }
    return try read("Passphrase of the backup: ", twice: false)
  }

  /// The passphrase of a sealed backup; asked for on the terminal unless it is in a file.
  func read(_ prompt: String, twice: Bool) throws(BackupFault) -> Passphrase {
    if let passphraseFile { return try Passphrase(firstLineOf: passphraseFile) }
    var text = try asked(prompt)
    defer { text.wipe() }
    if twice, SecretInput.isTerminal {
      var again = try asked("The same again: ")
      defer { again.wipe() }
      guard text == again else { throw BackupFault(.wrongPassphrase, "the two passphrases differ; nothing was done") }
    }
    return try Passphrase(line: text[...], from: SecretInput.isTerminal ? "the terminal" : "standard input")
  }

  private func asked(_ prompt: String) throws(BackupFault) -> [UInt8] {
    do throws(Refusal) {
      if let line = try SecretInput.readLine(prompt) { return line }
    } catch { throw BackupFault(.sealed, error.message) }
    throw BackupFault(
      .sealed, "no passphrase was given (on the terminal, as a line of standard input, or with --passphrase-file)")
  }
}

/// `roost backup FILE`
struct BackupMake: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "make", abstract: "Makes a backup; the word 'make' may be left out.",
    discussion: """
      FILE appears when it is complete; until then it is FILE.part. The same command within ten minutes continues a backup \
      that was interrupted. A copy of each database needs space in the state directory meanwhile.
      """)
  @Argument(help: "The file, which must not be there yet; - is standard output.") var file: String
  @Flag(help: "Encrypt the backup under a passphrase, which is asked for.") var seal = false
  @OptionGroup var passphrase: BackupPassphrase
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if passphrase.passphraseFile != nil, !seal { throw ValidationError("--passphrase-file goes with --seal.") }
    if general.isJSON, file == "-" { throw ValidationError("--json and the backup cannot both be standard output.") }
    if file == "-", Terminal.isTerminal(STDOUT_FILENO) {
      throw ValidationError("A backup is not for a terminal: name a file, or send standard output elsewhere.")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let secret: Passphrase?
    do throws(BackupFault) {
      secret = seal ? try passphrase.read("Passphrase for the backup: ", twice: true) : nil
    } catch { throw Refusal(error) }
    // Publishers come first.
    _ = nice(10)
    try await session.client.connect()
    let path = file == "-" ? file : TypedPaths.absolute(file)
    let making = BackupMaking(ClientBackupSource(session.client), path: path, passphrase: secret)
    var progress: BackupMaking.Progress?
    session.display.begin {
      progress.map { [LiveLine("\($0.file): \(Amount.bytes(UInt64(clamping: $0.byteCount))) written")] } ?? []
    }
    making.onProgress = {
      progress = $0
      session.display.changed()
    }
    let isFile = file != "-"
    try session.onInterrupt(.interrupted) {
      if isFile { session.note("interrupted: the same command within ten minutes continues") }
    }
    let summary: BackupSummary
    do throws(BackupRefusal) { summary = try await making.make() } catch {
      switch error {
      case .refused(let refusal): throw refusal
      case .fault(let fault): throw Refusal(fault)
      }
    }
    session.display.end()
    let result = BackupResult(file, summary, heldMilliseconds: making.heldMilliseconds, making.isContinued)
    if isFile {
      await session.print(result, result.lines)
    } else {
      for line in result.lines { session.note(line) }
    }
    return .done
  }
}

/// What `roost backup` has done.
private struct BackupResult: Encodable {
  let file: String
  let files: Int
  let byteCount: Int64
  let time: Int64
  let isSealed: Bool
  let isContinued: Bool
  let heldMilliseconds: UInt64?
  let leftOut: [String]

  init(_ file: String, _ summary: BackupSummary, heldMilliseconds: UInt64?, _ isContinued: Bool) {
    (self.file, files, byteCount) = (file, summary.fileCount, summary.byteCount)
    (time, isSealed, leftOut) = (summary.manifest.time, summary.isSealed, summary.manifest.leftOut)
    (self.heldMilliseconds, self.isContinued) = (heldMilliseconds, isContinued)
  }

  var lines: [String] {
    let place = file == "-" ? "standard output" : VisibleText.make(file)
    let sealing = isSealed ? ", sealed" : ""
    let size = Amount.bytes(UInt64(clamping: byteCount))
    var lines = ["\(place): \(Amount.count(files, "file")), \(size)\(sealing), as of \(CalendarTime.text(time))"]
    if isContinued { lines.append("what an earlier run had written was continued") }
    for worker in leftOut {
      lines.append("not in it: the folder of \(worker); start that worker if it is one of Roost's, or copy the folder")
    }
    return lines
  }
}

/// `roost backup verify`
struct BackupVerify: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Reads a whole backup, and says whether it is complete and unchanged.",
    discussion: "It needs no running Roost. Exit codes: 0 it can be restored, 1 it cannot.")
  @Argument(help: "The backup; - is standard input.") var file: String
  @OptionGroup var passphrase: BackupPassphrase
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let (file, passphrase) = (file, passphrase)
    let summary = try await session.onThread(showing: { "\($0) read" }) { progress throws(BackupFault) in
      try BackupInput(path: file) { () throws(BackupFault) in
        try passphrase.read(forOpening: file)
      }.check(progress: progress)
    }
    let manifest = summary.manifest
    let size = Amount.bytes(UInt64(clamping: summary.byteCount))
    var lines = [
      "\(VisibleText.make(file)): complete and unchanged, \(Amount.count(summary.fileCount, "file")), \(size)",
      "made by Roost \(VisibleText.make(manifest.version)), as of \(CalendarTime.text(manifest.time))",
    ]
    for worker in manifest.workers where !worker.files.isEmpty {
      lines.append("  \(VisibleText.make(worker.name)): \(VisibleText.make(worker.files.joined(separator: ", ")))")
    }
    if !manifest.leftOut.isEmpty {
      lines.append("not in it: the files of \(VisibleText.make(manifest.leftOut.joined(separator: ", ")))")
    }
    await session.print(summary, lines)
    return .done
  }
}

/// `roost backup status`
struct BackupStatusCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows the latest backup of the worker 'backup', and when the next one is due.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let status = try await session.show(BackupMethod.status, NoArguments(), isIdempotent: true) { (status, _) in
      Self.lines(status)
    }
    return status.reason == nil ? .done : .failed
  }

  private static func lines(_ status: BackupStatus) -> [String] {
    guard let directory = status.directory else {
      return ["No backup is made: 'directory' is not set in [worker.backup]."]
    }
    var lines = ["\(Amount.count(status.count, "backup")) in \(VisibleText.make(directory))"]
    if let last = status.last {
      let size = Amount.bytes(UInt64(clamping: last.byteCount))
      lines.append("latest: \(VisibleText.make(last.path)), \(size), as of \(CalendarTime.text(last.time))")
    }
    if !status.leftOut.isEmpty {
      lines.append("not in it: \(VisibleText.make(status.leftOut.joined(separator: ", ")))")
    }
    if status.isMaking {
      lines.append("one is being made")
    } else if let next = status.nextAt {
      lines.append("next: \(CalendarTime.text(next))")
    }
    if let reason = status.reason { lines.append("failed: \(VisibleText.make(reason))") }
    return lines
  }
}

/// `roost restore`
struct Restore: LoopCommand {
  static let configuration = CommandConfiguration(
    abstract: "Restores a backup into an empty place.",
    discussion: """
      The whole backup is checked before anything is written. Roost must not run there. Afterwards 'roostd' starts with \
      what was restored; publications that were under way at the time of the backup are sent, each once to each relay.

        roost restore ~/roost.tar
        roost restore roost.tar --state /srv/roost/state --config /srv/roost/supervisor.conf
      """)
  @Argument(help: "The backup; - is standard input.") var file: String
  @Option(
    help: ArgumentHelp(
      "The state directory; as roostd would choose it unless given. It must be empty or absent.", valueName: "directory"
    ))
  var state: String?
  @Option(
    help: ArgumentHelp(
      "Where the configuration file belongs. One that differs is left, and the restored one gets .restored at its end.",
      valueName: "file"))
  var config: String?
  @OptionGroup var passphrase: BackupPassphrase
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let places = RestorePlaces(ProcessEnvironment.current())
    let restoring = BackupRestoring(
      path: file, state: TypedPaths.absolute(state ?? places.state),
      configuration: TypedPaths.absolute(config ?? places.configuration))
    let passphrase = passphrase
    let outcome = try await session.onThread(showing: { "\($0) read" }) { progress throws(BackupFault) in
      try restoring.restore(
        passphrase: { () throws(BackupFault) in try passphrase.read(forOpening: restoring.path) },
        progress: { _, count in progress(count) })
    }
    let manifest = outcome.backup.manifest
    var lines = [
      "restored into \(VisibleText.make(outcome.state)): \(Amount.count(outcome.backup.fileCount, "file")), as of "
        + CalendarTime.text(manifest.time)
    ]
    if let place = outcome.configuration {
      lines.append(
        outcome.isConfigurationAside
          ? "another configuration file was there: the restored one is \(VisibleText.make(place))"
          : "configuration: \(VisibleText.make(place))")
    }
    if !manifest.leftOut.isEmpty {
      lines.append("the backup has no files of \(VisibleText.make(manifest.leftOut.joined(separator: ", ")))")
    }
    await session.print(outcome, lines)
    return .done
  }
}

/// Where roostd would keep its files.
private struct RestorePlaces {
  let state: String
  let configuration: String

  /// A checkout has a configuration file in the working directory; otherwise the XDG directories count.
  init(_ environment: [String: String]) {
    func home(_ variable: String, _ fallback: String) -> String {
      if let path = environment[variable], path.hasPrefix("/") { return path + "/roost" }
      return (environment["HOME"] ?? "") + fallback + "/roost"
    }
    if access("supervisor.conf", F_OK) == 0 {
      (state, configuration) = ("run/state", "supervisor.conf")
    } else {
      state = home("XDG_STATE_HOME", "/.local/state")
      configuration = home("XDG_CONFIG_HOME", "/.config") + "/supervisor.conf"
    }
  }
}

/// The running Roost, as a client sees it.
private struct ClientBackupSource: BackupSource {
  private let client: RoostClient

  /// How long a worker may take for everything but a file, in milliseconds.
  private static let milliseconds: UInt32 = 30_000
  /// How long a file may take: a day.
  private static let fileMilliseconds: UInt32 = 86_400_000

  init(_ client: RoostClient) { self.client = client }

  private func options(_ worker: String?) -> RequestOptions {
    RequestOptions(worker: worker, ttlMilliseconds: Self.milliseconds, atMostOnce: true)
  }

  func status() async throws(Refusal) -> SupervisorStatus {
    try await client.request(SupervisorMethod.status, StatusRequest(), options: options(nil))
  }

  func configuration() async throws(Refusal) -> SupervisorConfigurationFile {
    try await client.request(SupervisorMethod.configuration, NoArguments(), options: options(nil))
  }

  func hold(_ worker: String, _ arguments: BackupHold) async throws(Refusal) -> BackupSnapshot {
    try await client.request(BackupMethod.hold, arguments, options: options(worker))
  }

  func release(_ worker: String, _ state: BackupState) async throws(Refusal) -> BackupRelease {
    try await client.request(BackupMethod.release, state, options: options(worker))
  }

  func read(
    _ worker: String, _ read: BackupRead, _ take: @EventLoopActor (BackupPart) async throws(BackupRefusal) -> Void
  ) async throws(BackupRefusal) {
    let parts: RoostStream<BackupPart, Nothing>
    do throws(Refusal) {
      parts = try await client.stream(
        BackupMethod.read, read,
        options: RequestOptions(worker: worker, ttlMilliseconds: Self.fileMilliseconds, atMostOnce: true))
    } catch { throw .refused(error) }
    while true {
      let part: BackupPart?
      do throws(Refusal) { part = try await parts.nextPart() } catch { throw .refused(error) }
      guard let part else { return }
      do throws(BackupRefusal) { try await take(part) } catch {
        // What is not read to its end would hold its credit for ever. `try?`: it ends by being cancelled.
        parts.answer.cancel()
        while (try? await parts.nextPart()) != nil {}
        throw error
      }
    }
  }

  func end(_ worker: String, _ state: BackupState) async throws(Refusal) {
    _ = try await client.request(BackupMethod.end, state, options: options(worker))
  }
}

extension Refusal {
  /// A backup that cannot be made, read or restored.
  fileprivate init(_ fault: BackupFault) { self.init(.failed, fault.description, outcome: .notStarted) }
}

extension CommandSession {
  /// Works with a backup on a thread, and shows the bytes that it has read.
  fileprivate func onThread<Value: Sendable>(
    showing text: @escaping @Sendable (String) -> String,
    _ body: @escaping @Sendable (_ progress: (Int64) -> Void) throws(BackupFault) -> Value
  ) async throws(Refusal) -> Value {
    let done = ReadBytes()
    display.begin { [LiveLine(text(Amount.bytes(UInt64(clamping: done.count))))] }
    let timer = LoopTimer()
    func show() {
      timer.set(afterMilliseconds: LiveDisplay.intervalMilliseconds) { [unowned self] in
        if done.count > 0 { display.changed() }
        show()
      }
    }
    show()
    let result = await EventLoopActor.onThreadPool { () -> Result<Value, BackupFault> in
      do throws(BackupFault) { return .success(try body { done.count = $0 }) } catch { return .failure(error) }
    }
    timer.cancel()
    display.end()
    do throws(BackupFault) { return try result.get() } catch { throw Refusal(error) }
  }
}

/// Bytes that a thread has read.
private final class ReadBytes: Sendable {
  private let bytes = Mutex<Int64>(0)

  var count: Int64 {
    get { bytes.withLock { $0 } }
    set { bytes.withLock { $0 = newValue } }
  }
}
