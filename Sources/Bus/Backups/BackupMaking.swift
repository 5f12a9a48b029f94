internal import Clocks
internal import Contracts
public import Cryptography
public import EventLoop
internal import Frames
internal import LinuxSystem

// How a backup is made while everything runs:
//
//     1. All workers with files are held at the same time (`backup.hold`): their writers wait, and each keeps the state
//        of its files. When all are held, all are released. That takes some milliseconds, in which publishers wait.
//     2. If one was not held until then, all states are given up, and it begins again, with three times as much time.
//     3. Manifest, configuration and files are written, and the sum of each; then the states are no longer needed.
//
// An interrupted backup is continued by the same call: the manifest in the file names the states, which workers keep
// for ten minutes.

/// Makes one backup.
@EventLoopActor
public final class BackupMaking {
  /// How far it has come.
  public struct Progress: Sendable, Hashable {
    /// The name of the file that is being written.
    public var file: String
    /// Bytes of the archive that are written.
    public var byteCount: Int64
  }

  /// Called after each piece.
  public var onProgress: @EventLoopActor (Progress) -> Void = { _ in }
  /// How long all writers waited, in milliseconds; nil for a backup that was continued.
  public private(set) var heldMilliseconds: UInt64?
  /// Whether what an interrupted run left was continued.
  public private(set) var isContinued = false

  /// What a guess at the passphrase costs; tests cannot wait for that.
  var logN = SealedForm.logN

  private let source: any BackupSource
  private let path: String
  private let passphrase: Passphrase?
  private var byteCount: Int64 = 0
  private let timer = LoopTimer()

  /// How long writers wait at most, in milliseconds, at one attempt after the other.
  private static let holdMilliseconds: [Int32] = [1_000, 3_000, 9_000]
  /// How often workers hear that their states are still needed.
  private static let touchMilliseconds: UInt64 = 30_000
  /// Roles without whose files a backup would be none.
  private static let essential = [Role.eventStore.name, Role.outboxPlanner.name, Role.signer.name]

  /// - Parameters:
  ///   - source: the running Roost.
  ///   - path: the file, which must not exist; `-` is standard output.
  ///   - passphrase: seals the backup; nil: it is not sealed.
  public init(_ source: any BackupSource, path: String, passphrase: Passphrase?) {
    (self.source, self.path, self.passphrase) = (source, path, passphrase)
  }

  /// Makes the backup, or completes the one that an interrupted run has left.
  public func make() async throws(BackupRefusal) -> BackupSummary {
    if let output = try await opened({ (path, passphrase) throws(BackupFault) in
      try BackupOutput.continued(path: path, passphrase: passphrase)
    }), let manifest = output.reading.manifest {
      do throws(BackupRefusal) {
        isContinued = true
        if output.reading.isComplete {
          try await onThread(output) { output throws(BackupFault) in try output.finish(isEnded: true) }
          return summary(manifest, output)
        }
        return try await write(manifest, to: output)
      } catch {
        // A worker was restarted, ten minutes are over, or something else has changed.
        guard Self.isFinal(error) else { throw error }
        isContinued = false
      }
    }
    let begun = try await opened { [logN] (path, passphrase) throws(BackupFault) in
      try BackupOutput(path: path, passphrase: passphrase, logN: logN)
    }
    guard let output = begun else { preconditionFailure("a new file is opened, or there is a fault") }
    let manifest: BackupManifest
    do throws(BackupRefusal) { manifest = try await hold() } catch {
      output.abandon()
      throw error
    }
    return try await write(manifest, to: output)
  }

  /// Refusals after which the state may still be kept.
  private static let passingRefusals: Set<RefusalCode> = [
    "disconnected", "no-supervisor", .unavailable, .expired, .diskFull,
  ]

  /// Whether continuing would fail again, while a backup from the beginning may succeed.
  private static func isFinal(_ refusal: BackupRefusal) -> Bool {
    switch refusal {
    case .fault(let fault): fault.kind != .system
    case .refused(let refusal): !passingRefusals.contains(refusal.code)
    }
  }

  /// Opens the file on a thread: reading what is there, and the key of a passphrase, take seconds.
  private func opened(
    _ open: @escaping @Sendable (String, Passphrase?) throws(BackupFault) -> BackupOutput?
  ) async throws(BackupRefusal) -> BackupOutput? {
    let (path, passphrase) = (path, passphrase)
    let result = await EventLoopActor.onThreadPool { () -> Result<UncheckedBackupOutput?, BackupFault> in
      do throws(BackupFault) {
        return .success(try open(path, passphrase).map { UncheckedBackupOutput($0) })
      } catch { return .failure(error) }
    }
    switch result {
    case .success(let output): return output?.output
    case .failure(let fault): throw .fault(fault)
    }
  }

  /// Writes on a thread: a full pipe must not stop the loop.
  private func write(_ bytes: [UInt8], to output: BackupOutput) async throws(BackupRefusal) {
    try await onThread(output) { output throws(BackupFault) in try output.write(bytes) }
  }

  private func onThread(
    _ output: BackupOutput, _ body: @escaping @Sendable (BackupOutput) throws(BackupFault) -> Void
  ) async throws(BackupRefusal) {
    let lent = UncheckedBackupOutput(output)
    let result = await EventLoopActor.onThreadPool { () -> Result<Void, BackupFault> in
      do throws(BackupFault) { return .success(try body(lent.output)) } catch { return .failure(error) }
    }
    if case .failure(let fault) = result { throw .fault(fault) }
  }

  private func asked<Value>(
    _ body: @EventLoopActor () async throws(Refusal) -> Value
  ) async throws(BackupRefusal) -> Value {
    do throws(Refusal) { return try await body() } catch { throw .refused(error) }
  }

  // MARK: One moment

  /// The workers whose files belong into the backup.
  private func workers(_ folders: [String]) async throws(BackupRefusal) -> [WorkerStatus] {
    var members: [WorkerStatus] = []
    let status = try await asked { () throws(Refusal) in try await source.status() }
    for worker in status.workers where Role.withFiles.contains(where: { $0.name == worker.role }) {
      if worker.state == .ready || worker.state == .attached {
        members.append(worker)
        continue
      }
      // The folder of one that is stopped is left out, and named.
      let isStopped = [.stopped, .exited, .absent].contains(worker.state)
      guard isStopped, !(Self.essential.contains(worker.role) && folders.contains(worker.name)) else {
        throw .refused(
          Refusal(
            .unavailable,
            "\(worker.name) is \(worker.state), and its files belong into a backup; 'roost why \(worker.name)' says more",
            outcome: .notStarted))
      }
    }
    let withoutFiles = status.workers.filter { $0.role == Role.relayConnector.name || $0.role == Role.backup.name }
    known = Set((members + withoutFiles).map(\.name))
    return members
  }

  private func hold() async throws(BackupRefusal) -> BackupManifest {
    let configuration = try await asked { () throws(Refusal) in try await source.configuration() }
    self.configuration = Array(configuration.text.utf8)
    let members = try await workers(configuration.folders)
    var last = ""
    for milliseconds in Self.holdMilliseconds {
      let begin = EventLoop.process.now
      let states = try await holdAll(members, milliseconds)
      let time = WallClock.seconds
      let late = await releaseAll(states)
      if late.isEmpty {
        heldMilliseconds = EventLoop.process.now.milliseconds(since: begin)
        return BackupManifest(
          format: BackupManifest.formatMaximum, version: RoostVersion.text, time: time,
          configuration: configuration.path,
          workers: zip(members, states).map { member, state in
            BackupManifest.Worker(
              name: member.name, role: member.role, snapshot: state.state.snapshot, files: state.state.files)
          }, leftOut: configuration.folders.filter { !known.contains($0) })
      }
      last = late.joined(separator: ", ")
      await end(states.map { ($0.worker, $0.state.snapshot) })
    }
    throw .refused(
      Refusal(
        .unavailable, "the workers could not be held at one moment, because of \(last): the machine is too busy",
        outcome: .notStarted))
  }

  private typealias Held = (worker: String, state: BackupSnapshot)

  private func holdAll(_ members: [WorkerStatus], _ milliseconds: Int32) async throws(BackupRefusal) -> [Held] {
    let tasks = members.map { member in
      Task { @EventLoopActor [source] () -> Result<Held, Refusal> in
        do throws(Refusal) {
          return .success((member.name, try await source.hold(member.name, BackupHold(milliseconds: milliseconds))))
        } catch { return .failure(error) }
      }
    }
    var (states, refusal): ([Held], Refusal?) = ([], nil)
    for (task, member) in zip(tasks, members) {
      switch await task.value {
      case .success(let state): states.append(state)
      case .failure(let reason):
        refusal = Refusal(reason.code, "\(member.name): \(reason.message)", outcome: .notStarted)
      }
    }
    guard let refusal else { return states }
    await end(states.map { ($0.worker, $0.state.snapshot) })
    throw .refused(refusal)
  }

  /// Releases all; returns the workers whose writers did not wait so long.
  private func releaseAll(_ states: [Held]) async -> [String] {
    let tasks = states.map { held in
      Task { @EventLoopActor [source] () -> Bool in
        do throws(Refusal) {
          return try await source.release(held.worker, BackupState(snapshot: held.state.snapshot)).isWhole
        } catch { return false }
      }
    }
    var late: [String] = []
    for (task, held) in zip(tasks, states) where await !task.value { late.append(held.worker) }
    return late
  }

  private func end(_ states: [(worker: String, snapshot: String)]) async {
    for (worker, snapshot) in states {
      // A state that is not ended is ended by its worker after ten minutes.
      do throws(Refusal) { try await source.end(worker, BackupState(snapshot: snapshot)) } catch {}
    }
  }

  // MARK: Writing

  private var configuration: [UInt8] = []
  /// Workers that are in the backup, or keep nothing that belongs into it.
  private var known: Set<String> = []

  private func write(_ manifest: BackupManifest, to output: BackupOutput) async throws(BackupRefusal) -> BackupSummary {
    byteCount = output.reading.byteCount
    touch(manifest)
    defer { timer.cancel() }
    if output.reading.sums.isEmpty {
      try await put(BackupManifest.name, JSONPayload.encode(manifest), manifest, output)
    }
    if manifest.configuration != nil, output.reading.sums.count == 1 {
      if isContinued {
        let file = try await asked { () throws(Refusal) in try await source.configuration() }
        configuration = Array(file.text.utf8)
      }
      try await put(BackupManifest.configurationName, configuration, manifest, output)
    }
    let first = manifest.configuration == nil ? 1 : 2
    let files = manifest.workers.flatMap { worker in worker.files.map { (worker, $0) } }
    for (worker, file) in files.dropFirst(max(0, output.reading.sums.count - first)) {
      try await copy(file, of: worker, manifest, output)
    }
    await end(manifest.workers.map { ($0.name, $0.snapshot) })
    if output.reading.sums.count < manifest.names.count {
      try await put(BackupManifest.sumsName, BackupReading.text(of: output.reading.sums), manifest, output)
    }
    try await write([UInt8](repeating: 0, count: 2 * TarHeader.blockByteCount), to: output)
    try await onThread(output) { output throws(BackupFault) in try output.finish() }
    return summary(manifest, output)
  }

  /// Keeps the states of workers from expiring while those of others are copied.
  private func touch(_ manifest: BackupManifest) {
    timer.set(afterMilliseconds: Self.touchMilliseconds) { [weak self] in
      guard let self else { return }
      touch(manifest)
      for worker in manifest.workers {
        EventLoopActor.task { [source] in
          // The reading finds out when a state is gone.
          do throws(Refusal) {
            _ = try await source.release(worker.name, BackupState(snapshot: worker.snapshot))
          } catch {}
        }
      }
    }
  }

  private func summary(_ manifest: BackupManifest, _ output: BackupOutput) -> BackupSummary {
    BackupSummary(
      manifest: manifest, fileCount: output.reading.sums.count, byteCount: output.reading.byteCount,
      isSealed: passphrase != nil)
  }

  /// Writes a small file, or the rest of it.
  private func put(
    _ name: String, _ bytes: [UInt8], _ manifest: BackupManifest, _ output: BackupOutput
  ) async throws(BackupRefusal) {
    let header = TarHeader(name: name, byteCount: Int64(bytes.count), time: manifest.time)
    let done = Int(output.reading.current?.byteCount ?? 0)
    guard done <= bytes.count else {
      throw .fault(BackupFault(.unsound, "\(name) has changed since the backup began"))
    }
    let begin = output.reading.current == nil ? header.bytes : []
    try await write(begin + bytes[done...] + [UInt8](repeating: 0, count: header.paddingByteCount), to: output)
  }

  private func copy(
    _ file: String, of worker: BackupManifest.Worker, _ manifest: BackupManifest, _ output: BackupOutput
  ) async throws(BackupRefusal) {
    let name = BackupManifest.path(of: file, worker.name)
    let offset = output.reading.current?.byteCount ?? 0
    var header = output.reading.current?.header
    try await source.read(worker.name, BackupRead(snapshot: worker.snapshot, file: file, offset: offset)) {
      part async throws(BackupRefusal) in
      let new = header ?? TarHeader(name: name, byteCount: part.byteCount, time: manifest.time)
      guard new.byteCount == part.byteCount else {
        throw .fault(BackupFault(.unsound, "\(name) has changed since the backup began"))
      }
      try await write(header == nil ? new.bytes + part.bytes : part.bytes, to: output)
      header = new
      byteCount += Int64(part.bytes.count)
      onProgress(Progress(file: name, byteCount: byteCount))
    }
    guard let header, output.reading.current == nil || header.byteCount == output.reading.current?.byteCount else {
      throw .refused(Refusal(.failed, "\(worker.name) has sent less of \(file) than there is", outcome: .unknown))
    }
    try await write([UInt8](repeating: 0, count: header.paddingByteCount), to: output)
  }
}

/// Hands an output to a thread of the pool, or to the loop.
// @unchecked: one of them uses it at a time.
private struct UncheckedBackupOutput: @unchecked Sendable {
  let output: BackupOutput

  init(_ output: BackupOutput) { self.output = output }
}
