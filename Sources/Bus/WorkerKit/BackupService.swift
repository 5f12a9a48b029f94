internal import Bus
internal import Clocks
internal import Contracts
internal import Cryptography
internal import EventLoop
public import Frames
internal import Glibc
internal import Synchronization

// The worker's side of a backup (`BackupContract`), for every worker that keeps files. A state of the files is read by
// the caller at any pace. A database is a snapshot until its copy is written, and the copy has no name as soon as it is
// complete, so that it ends with the process. Small files are read when they are asked for: they depend on nothing
// else, and keys are not kept in memory for a caller that does not come.

/// A database whose present state is kept for a copy.
public protocol HeldDatabase: Sendable {
  /// Lets the writer continue. Returns whether nothing was written since the state was kept.
  func release() -> Bool
  /// Writes the state into a new file. Blocks this thread. Ends early when `isWanted` returns false.
  func copy(to path: String, while isWanted: @escaping () -> Bool) throws(Refusal)
}

/// A file of a worker, as it is at the moment of a backup.
public enum HeldFile: Sendable {
  /// A small file, by what reads it.
  case small(@Sendable () throws(Refusal) -> [UInt8])
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
  private var stateCount = 0
  private let timer = LoopTimer()

  init(_ directory: String, _ keep: @escaping @EventLoopActor (Int32) async throws(Refusal) -> [String: HeldFile]) {
    (self.directory, self.keep) = (directory, keep)
    BackupFiles.removeRest(in: directory)
  }

  func hold(_ arguments: BackupHold) async throws(Refusal) -> BackupSnapshot {
    let files = try await keep(arguments.milliseconds)
    while states.count >= BackupHold.countMaximum {
      // One that is being read comes last.
      let oldest = states.min { left, right in
        (left.value.readerCount, left.value.readAt) < (right.value.readerCount, right.value.readAt)
      }
      guard let oldest else { break }
      states.removeValue(forKey: oldest.key)?.end()
    }
    stateCount += 1
    let name = Hexadecimal.text(of: RandomBytes.make(16))
    states[name] = BackupFiles(files, number: stateCount, in: directory)
    expire()
    return BackupSnapshot(snapshot: name, files: files.keys.sorted())
  }

  func release(_ state: BackupState) throws(Refusal) -> BackupRelease {
    let files = try files(state.snapshot)
    files.readAt = EventLoop.process.now
    return BackupRelease(isWhole: files.release())
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
  var readAt = EventLoop.process.now
  var readerCount = 0
  private let path: String
  private var files: [String: HeldFile]
  private var copies: [String: Task<Result<BackupCopy, Refusal>, Never>] = [:]
  private let isWanted = Wanted()

  private nonisolated static let prefix = "backup-copy-"

  /// - Parameter number: a number that no other state of this process has.
  init(_ files: [String: HeldFile], number: Int, in directory: String) {
    (self.files, path) = (files, "\(directory)/\(Self.prefix)\(number)")
  }

  /// Removes what a process left that was killed while it copied.
  nonisolated static func removeRest(in directory: String) {
    guard let folder = opendir(directory) else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasPrefix(prefix) { unlink("\(directory)/\(name)") }
    }
  }

  func release() -> Bool {
    var isWhole = true
    for case .database(let database) in files.values where !database.release() { isWhole = false }
    return isWhole
  }

  /// Where a file is read. A database is copied first; several readers wait for the same copy.
  func source(of name: String) async throws(Refusal) -> BackupSource {
    if let copy = copies[name] { return .copy(try await copy.value.get()) }
    switch files[name] {
    case nil: throw Refusal(.badRequest, "this state has no file '\(name)'", outcome: .notStarted)
    case .small(let read):
      do throws(Refusal) { return .bytes(try read()) } catch {
        throw Refusal(
          .noSuchSnapshot, "\(name) has changed since the backup began: \(error.message)", outcome: .notStarted)
      }
    case .database(let database): return .copy(try await copy(of: database, name))
    }
  }

  private func copy(of database: any HeldDatabase, _ name: String) async throws(Refusal) -> BackupCopy {
    let (path, isWanted) = (path, isWanted)
    // One copy at a time: they have the same name until they are complete.
    let others = Array(copies.values)
    let task = Task { @EventLoopActor () -> Result<BackupCopy, Refusal> in
      for other in others { _ = await other.value }
      return await EventLoopActor.onThreadPool {
        do throws(Refusal) { return .success(try BackupCopy(database, at: path) { isWanted.isWanted }) } catch {
          return .failure(error)
        }
      }
    }
    copies[name] = task
    let result = await task.value
    // The snapshot is no longer needed when the copy is there. A copy that failed is tried again at the next reading.
    switch result {
    case .success: files[name] = nil
    case .failure: copies[name] = nil
    }
    return try result.get()
  }

  func end() {
    _ = release()
    isWanted.end()
    (files, copies) = ([:], [:])
  }
}

/// Whether a copy is still wanted; it is written on another thread.
private final class Wanted: Sendable {
  private let state = Mutex(true)

  var isWanted: Bool { state.withLock { $0 } }

  func end() { state.withLock { $0 = false } }
}

/// Where the bytes of a file are read.
private enum BackupSource {
  case bytes([UInt8])
  case copy(BackupCopy)

  func part(from offset: Int64) async throws(Refusal) -> BackupPart {
    switch self {
    case .bytes(let bytes):
      let rest = bytes.dropFirst(Int(clamping: offset)).prefix(BackupPart.byteCountMaximum)
      return BackupPart(byteCount: Int64(bytes.count), bytes: Array(rest))
    case .copy(let copy): return BackupPart(byteCount: copy.byteCount, bytes: try await copy.bytes(from: offset))
    }
  }
}

/// The copy of a database, in a file without a name.
private final class BackupCopy: Sendable {
  let byteCount: Int64
  private let descriptor: Int32

  /// Writes the copy. Blocks this thread.
  init(_ database: any HeldDatabase, at path: String, while isWanted: @escaping () -> Bool) throws(Refusal) {
    defer { unlink(path) }
    try database.copy(to: path, while: isWanted)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Self.fault("open", path) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      close(descriptor)
      throw Self.fault("fstat", path)
    }
    (self.descriptor, byteCount) = (descriptor, Int64(status.st_size))
  }

  deinit { close(descriptor) }

  func bytes(from offset: Int64) async throws(Refusal) -> [UInt8] {
    guard offset < byteCount else { return [] }
    let result = await EventLoopActor.onThreadPool { [self] () -> Result<[UInt8], Refusal> in
      let bytes = [UInt8](unsafeUninitializedCapacity: BackupPart.byteCountMaximum) { buffer, count in
        count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, Int(offset)))
      }
      return bytes.isEmpty ? .failure(Self.fault("pread", "the copy")) : .success(bytes)
    }
    return try result.get()
  }

  private static func fault(_ call: String, _ path: String) -> Refusal {
    Refusal(.failed, "\(call) of \(path): \(String(cString: strerror(errno)))", outcome: .unknown)
  }
}
