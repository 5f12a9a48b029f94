import BackupShelf
import Backups
import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logging
import WorkerKit

// A backup is due when the latest one in the directory is old enough. One that fails is tried again after a minute, and
// then after ever longer waits, up to an hour. What a killed process has left of one is continued if the workers still
// keep the state, which they do for ten minutes.

/// Makes backups, removes old ones, and starts the program after each.
@EventLoopActor
final class BackupKeeper {
  private let worker: Worker
  private let log = Logger(label: "backup")
  private let timer = LoopTimer()
  private var settings: BackupSettings
  private var isMaking = false
  private var reason: String?
  private var wait = BackOff(longestMilliseconds: 3_600_000)
  private var retryAt: Int64?
  private var program: ChildProcess?
  /// The backup that the running program carries away, and the one that is next.
  private var (carried, next): (String?, String?)
  private var leftOut: [String] = []
  private let programTimer = LoopTimer()

  /// The longest time between two looks at the clock, which may be set.
  private static let lookMilliseconds: UInt64 = 30_000
  /// Until the other workers are ready after a start.
  private static let startMilliseconds: UInt64 = 5_000
  /// The shortest wait after a failure, in seconds.
  private static let retrySeconds: Int64 = 60
  /// How long the program after a backup may run.
  private static let programMilliseconds: UInt64 = 3_600_000
  /// The most names that are read in the directory.
  private static let nameMaximum = 100_000

  init(_ worker: Worker) throws(Refusal) {
    self.worker = worker
    settings = try worker.settings(of: BackupSettings.self)
    let directory = settings.backupDirectory
    // Its sandbox was made without a directory that comes later: the next process has it.
    if !directory.isEmpty, access(directory, W_OK) != 0 {
      throw Refusal(
        .unavailable,
        "'directory' of [worker.backup], \(directory), cannot be written: \(String(cString: strerror(errno)))")
    }
  }

  func start() {
    worker.serve(BackupMethod.status) { [unowned self] (_, _) in status() }
    worker.onSettings = { [unowned self] _ in settingsChanged() }
    worker.onDrain = { [unowned self] in
      timer.cancel()
      program?.signal(SIGTERM)
    }
    if settings.backupDirectory.isEmpty { log.warning("no backup is made: 'directory' is not set") }
    timer.set(afterMilliseconds: Self.startMilliseconds) { [unowned self] in look() }
  }

  private func settingsChanged() {
    do throws(Refusal) {
      settings = try worker.settings(of: BackupSettings.self)
      look()
    } catch {
      log.error("the new settings are not taken", metadata: ["why": "\(error.message)"])
    }
  }

  private func shelf() throws(SystemFault) -> BackupShelf {
    guard let folder = opendir(settings.backupDirectory) else {
      throw SystemFault(call: "opendir", subject: settings.backupDirectory, code: errno)
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder), names.count < Self.nameMaximum {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return BackupShelf(names: names)
  }

  private func path(_ name: String) -> String { "\(settings.backupDirectory)/\(name)" }

  // MARK: Making

  private func look() {
    timer.set(afterMilliseconds: Self.lookMilliseconds) { [unowned self] in look() }
    guard !settings.backupDirectory.isEmpty, !isMaking, !worker.isDraining else { return }
    let now = WallClock.seconds
    // After the clock was set back, a retry is not further away than it can be.
    if let retryAt, retryAt > now, retryAt - now <= 3_600 { return }
    do throws(SystemFault) {
      guard try shelf().nextAt(everySeconds: settings.everyMilliseconds / 1_000, now: now) <= now else { return }
    } catch { return failed("\(error)") }
    isMaking = true
    EventLoopActor.task { [self] in
      await make(at: now)
      isMaking = false
    }
  }

  private func make(at now: Int64) async {
    let name: String
    let secret: Passphrase?
    do throws(BackupFault) {
      secret = try await passphrase()
      name = unfinished(isSealed: secret != nil) ?? BackupShelf.name(at: now, isSealed: secret != nil)
    } catch { return failed(error.description) }
    let making = BackupMaking(BusBackupSource(bus: worker.bus), path: path(name), passphrase: secret)
    do throws(BackupRefusal) {
      let summary = try await making.make()
      (reason, retryAt, wait) = (nil, nil, BackOff(longestMilliseconds: 3_600_000))
      leftOut = summary.manifest.leftOut
      log.log(
        level: leftOut.isEmpty ? .notice : .warning,
        "a backup was made",
        metadata: [
          "file": "\(path(name))", "bytes": "\(summary.byteCount)",
          "held-milliseconds": "\(making.heldMilliseconds.map { "\($0)" } ?? "-")",
          "left-out": "\(leftOut.joined(separator: ", "))",
        ])
      run(path(name))
      removeOld()
    } catch {
      switch error {
      case .refused(let refusal): failed(refusal.message)
      case .fault(let fault): failed(fault.description)
      }
    }
  }

  /// What an interrupted run has left and may be continued; others are removed.
  private func unfinished(isSealed: Bool) -> String? {
    let oldest = WallClock.seconds - Int64(BackupHold.idleSeconds)
    // `try?`: an unreadable directory is reported by the writing.
    guard let folder = opendir(settings.backupDirectory) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder), names.count < Self.nameMaximum {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(".part") { names.append(String(name.dropLast(".part".count))) }
    }
    var found: String?
    for backup in BackupShelf(names: names).backups {
      let isUsable = backup.time >= oldest && backup.name == BackupShelf.name(at: backup.time, isSealed: isSealed)
      if isUsable, access(path(backup.name), F_OK) != 0 {
        found = backup.name
      } else {
        unlink(path(backup.name + ".part"))
      }
    }
    return found
  }

  private func passphrase() async throws(BackupFault) -> Passphrase? {
    let file = settings.passphraseFile
    guard !file.isEmpty else { return nil }
    return try await EventLoopActor.onThreadPool { () -> Result<Passphrase, BackupFault> in
      do throws(BackupFault) { return .success(try Passphrase(firstLineOf: file)) } catch { return .failure(error) }
    }.get()
  }

  private func removeOld() {
    do throws(SystemFault) {
      for backup in try shelf().surplus(keep: settings.keep)
      where path(backup.name) != carried && unlink(path(backup.name)) != 0 {
        throw SystemFault(call: "unlink", subject: path(backup.name), code: errno)
      }
    } catch {
      log.error("an old backup stays", metadata: ["why": "\(error)"])
    }
  }

  private func failed(_ text: String) {
    if reason != text { log.error("no backup was made", metadata: ["why": "\(text)"]) }
    reason = text
    retryAt = WallClock.seconds + max(Self.retrySeconds, Int64(wait.next() / 1_000))
  }

  // MARK: The program after it

  private func run(_ file: String) {
    guard !settings.runAfter.isEmpty else { return }
    guard program == nil else { return next = file }
    carried = file
    do throws(LoopFault) {
      program = try ChildProcess(
        path: settings.runAfter, arguments: [file], environment: Self.environment(), descriptors: [nil, nil, nil]
      ) { [unowned self] in ended($0) }
      programTimer.set(afterMilliseconds: Self.programMilliseconds) { [unowned self] in program?.signal(SIGKILL) }
    } catch {
      ended("\(error)")
    }
  }

  private func ended(_ exit: ChildExit) {
    (program, carried) = (nil, nil)
    programTimer.cancel()
    defer {
      if let file = next {
        next = nil
        run(file)
      }
    }
    guard exit.code != 0 || exit.signal != 0 else { return }
    ended("\(settings.runAfter) ended with \(exit.signal != 0 ? "signal \(exit.signal)" : "exit code \(exit.code)")")
  }

  private func ended(_ text: String) {
    reason = text
    log.error("the program after the backup failed", metadata: ["why": "\(text)"])
  }

  private static func environment() -> [String] {
    var entries: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      // What roostd gives to its workers is not for other programs.
      if !text.hasPrefix("ROOST_") { entries.append(text) }
      next += 1
    }
    return entries
  }

  // MARK: Status

  private func status() -> BackupStatus {
    var status = BackupStatus()
    (status.isMaking, status.reason, status.leftOut) = (isMaking, reason, leftOut)
    guard !settings.backupDirectory.isEmpty else { return status }
    status.directory = settings.backupDirectory
    status.isSealed = !settings.passphraseFile.isEmpty
    do throws(SystemFault) {
      let shelf = try shelf()
      status.count = shelf.backups.count
      status.nextAt = max(
        shelf.nextAt(everySeconds: settings.everyMilliseconds / 1_000, now: WallClock.seconds), retryAt ?? 0)
      if let last = shelf.backups.last {
        var facts = stat()
        let byteCount = stat(path(last.name), &facts) == 0 ? Int64(facts.st_size) : 0
        status.last = BackupStatus.Backup(path: path(last.name), time: last.time, byteCount: byteCount)
      }
    } catch { status.reason = "\(error)" }
    return status
  }
}
