internal import Bus
internal import Clocks
internal import Contracts
internal import Cryptography
internal import EventLoop
public import Frames
internal import Glibc
internal import Synchronization

// The worker's side of a backup (`BackupContract`), for every worker that keeps files. A state of the files is read by
// the caller at any pace: small files are kept in memory, and a database is a snapshot until its copy is written. The
// copy has no name as soon as it is complete, so that it ends with the process.

/// A database whose present state is kept for a copy.
public protocol HeldDatabase: Sendable {
  /// Lets the writer continue. Returns whether nothing was written since the state was kept.
  func release() -> Bool
  /// Writes the state into a new file. Blocks this thread. Ends early when `isWanted` returns false.
  func copy(to path: String, while isWanted: @escaping () -> Bool) throws(Refusal)
}

/// A file of a worker, as it is at the moment of a backup.
public enum HeldFile: Sendable {
  /// A small file.
  case bytes([UInt8])
  /// A database.
  case database(any HeldDatabase)
}

extension Worker {
  /// Serves `backup.*`.
  ///
  /// - Parameters:
  ///   - directory: the worker's directory; copies are written there.
  ///   - hold: has all writers wait, for so many milliseconds at most, and returns the files by their names relative to
  ///     `directory`.
  public func serveBackup(
    in directory: String,
    hold: @escaping @EventLoopActor (_ milliseconds: Int32) async throws(Refusal) -> [String: HeldFile]
  ) {
    let service = BackupService(directory, hold)
    serve(BackupMethod.hold) { (_, arguments) throws(Refusal) in try await service.hold(arguments) }
    serve(BackupMethod.release) { (_, state) throws(Refusal) in try service.release(state) }
    serve(BackupMethod.read) { (request, read) throws(Refusal) in try await service.read(read, request) }
    serve(BackupMethod.end) { (_, state) throws(Refusal) in try service.end(state) }
  }
}

/// The states of its files that a worker keeps for backups.
@EventLoopActor
private final class BackupService {
  private let directory: String
  private let keep: @EventLoopActor (Int32) async throws(Refusal) -> [String: HeldFile]
  private var states: [String: BackupFiles] = [:]
  private let timer = LoopTimer()

  init(_ directory: String, _ keep: @escaping @EventLoopActor (Int32) async throws(Refusal) -> [String: HeldFile]) {
    (self.directory, self.keep) = (directory, keep)
    // What a process left that was killed while it copied.
    for number in 0..<BackupHold.countMaximum { unlink(BackupFiles.path(number, in: directory)) }
  }

  func hold(_ arguments: BackupHold) async throws(Refusal) -> BackupSnapshot {
    let files = try await keep(arguments.milliseconds)
    while states.count >= BackupHold.countMaximum {
      guard let oldest = states.min(by: { $0.value.readAt < $1.value.readAt }) else { break }
      states.removeValue(forKey: oldest.key)?.end()
    }
    let taken = Set(states.values.map(\.number))
    guard let number = (0..<BackupHold.countMaximum).first(where: { !taken.contains($0) }) else {
      preconditionFailure("there is a number for each state")
    }
    let name = Hexadecimal.text(of: RandomBytes.make(16))
    states[name] = BackupFiles(files, number: number, in: directory)
    expire()
    return BackupSnapshot(snapshot: name, files: files.keys.sorted())
  }

  func release(_ state: BackupState) throws(Refusal) -> BackupRelease {
    BackupRelease(isWhole: try files(state.snapshot).release())
  }

  func read(_ read: BackupRead, _ request: BusRequest) async throws(Refusal) -> Nothing {
    let files = try files(read.snapshot)
    files.readerCount += 1
    defer {
      files.readerCount -= 1
      files.readAt = EventLoop.process.now
    }
    let source = try await files.source(of: read.file)
    var offset = read.offset
    repeat {
      let part = try await source.part(from: offset)
      offset += Int64(part.bytes.count)
      try await request.send(part, of: BackupMethod.read)
      if part.bytes.isEmpty || offset >= part.byteCount { return Nothing() }
    } while !request.isCancelled
    throw Refusal(.cancelled, "the reader left", outcome: .unknown)
  }

  func end(_ state: BackupState) throws(Refusal) -> Nothing {
    try files(state.snapshot).end()
    states[state.snapshot] = nil
    return Nothing()
  }

  private func files(_ name: String) throws(Refusal) -> BackupFiles {
    if let files = states[name] { return files }
    throw Refusal(
      .noSuchSnapshot, "this state of the files is no longer kept: begin the backup again", outcome: .notStarted)
  }

  /// Ends what was not read for long, now and in a minute again.
  private func expire() {
    for (name, files) in states
    where files.readerCount == 0
      && files.readAt.advanced(milliseconds: BackupHold.idleSeconds * 1_000) <= EventLoop.process.now
    {
      states.removeValue(forKey: name)?.end()
    }
    guard !states.isEmpty else { return timer.cancel() }
    timer.set(afterMilliseconds: 60_000) { [unowned self] in expire() }
  }
}

/// One state of the files.
@EventLoopActor
private final class BackupFiles {
  let number: Int
  var readAt = EventLoop.process.now
  var readerCount = 0
  private let directory: String
  private var files: [String: HeldFile]
  private var sources: [String: Task<Result<BackupSource, Refusal>, Never>] = [:]
  private let isWanted = Wanted()

  init(_ files: [String: HeldFile], number: Int, in directory: String) {
    (self.files, self.number, self.directory) = (files, number, directory)
  }

  nonisolated static func path(_ number: Int, in directory: String) -> String { "\(directory)/backup-copy-\(number)" }

  func release() -> Bool {
    var isWhole = true
    for case .database(let database) in files.values where !database.release() { isWhole = false }
    return isWhole
  }

  /// Where a file is read; a database is copied first. Several readers wait for the same copy.
  func source(of name: String) async throws(Refusal) -> BackupSource {
    if let task = sources[name] { return try await task.value.get() }
    guard let file = files[name] else {
      throw Refusal(.badRequest, "this state has no file '\(name)'", outcome: .notStarted)
    }
    let (path, isWanted) = (Self.path(number, in: directory), isWanted)
    // One copy at a time: they have the same name until they are complete.
    let others = Array(sources.values)
    let task = Task { @EventLoopActor () -> Result<BackupSource, Refusal> in
      for other in others { _ = await other.value }
      return await BackupSource.make(file, at: path, isWanted)
    }
    sources[name] = task
    let result = await task.value
    // The snapshot is no longer needed: the copy is there. A copy that failed is tried again at the next reading.
    switch result {
    case .success(let source): files[name] = source.isCopy ? .bytes([]) : file
    case .failure: sources[name] = nil
    }
    return try result.get()
  }

  func end() {
    _ = release()
    isWanted.end()
    for (name, file) in files {
      if case .bytes(var bytes) = file {
        files[name] = nil
        bytes.wipe()
      }
    }
    files = [:]
    sources = [:]
  }
}

/// Whether a copy is still wanted; it is written on another thread.
private final class Wanted: Sendable {
  private let state = Mutex(true)

  var isWanted: Bool { state.withLock { $0 } }

  func end() { state.withLock { $0 = false } }
}

/// Where the bytes of a file are read.
private final class BackupSource: Sendable {
  private enum Place {
    case memory([UInt8])
    case descriptor(Int32, byteCount: Int64)
  }

  private let place: Place

  private init(_ place: Place) { self.place = place }

  deinit { if case .descriptor(let descriptor, _) = place { close(descriptor) } }

  var isCopy: Bool { if case .descriptor = place { true } else { false } }

  static func make(_ file: HeldFile, at path: String, _ wanted: Wanted) async -> Result<BackupSource, Refusal> {
    switch file {
    case .bytes(let bytes): return .success(BackupSource(.memory(bytes)))
    case .database(let database):
      return await EventLoopActor.onThreadPool {
        do throws(Refusal) { return .success(try copy(database, at: path, wanted)) } catch { return .failure(error) }
      }
    }
  }

  private static func copy(
    _ database: any HeldDatabase, at path: String, _ wanted: Wanted
  ) throws(Refusal) -> BackupSource {
    defer { unlink(path) }
    try database.copy(to: path) { wanted.isWanted }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw fault("open", path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw fault("fstat", path)
    }
    return BackupSource(.descriptor(descriptor, byteCount: Int64(status.st_size)))
  }

  func part(from offset: Int64) async throws(Refusal) -> BackupPart {
    switch place {
    case .memory(let bytes):
      let first = min(max(0, Int(clamping: offset)), bytes.count)
      let last = min(first + BackupPart.byteCountMaximum, bytes.count)
      return BackupPart(byteCount: Int64(bytes.count), bytes: Array(bytes[first..<last]))
    case .descriptor(let descriptor, let byteCount):
      let result = await EventLoopActor.onThreadPool { () -> Result<[UInt8], Refusal> in
        let bytes = [UInt8](unsafeUninitializedCapacity: BackupPart.byteCountMaximum) { buffer, count in
          count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, Int(offset)))
        }
        if bytes.isEmpty, offset < byteCount { return .failure(Self.fault("pread", "the copy")) }
        return .success(bytes)
      }
      return BackupPart(byteCount: byteCount, bytes: try result.get())
    }
  }

  private static func fault(_ call: String, _ path: String) -> Refusal {
    Refusal(.failed, "\(call) of \(path): \(String(cString: strerror(errno)))", outcome: .unknown)
  }
}
