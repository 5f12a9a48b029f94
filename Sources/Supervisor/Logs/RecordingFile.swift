public import EventLoop
internal import Glibc
public import LinuxSystem

// A file that grows while something happens that must not wait for it: a recording of the bus.
//
// Unlike a log, it is always a new file, is never rotated, and ends when the disk refuses a write: a file with an
// invisible hole would be worse than a short one. The file always holds a prefix of what was given, so a reader finds
// at most the last record cut.

/// One new file, written on the thread pool, one write at a time.
///
/// `append` returns at once. Its caller asks ``hasRoom(for:)`` first, and counts what finds no room: memory is bounded
/// by twice ``pendingByteCountMaximum``, or by the two largest pieces.
@EventLoopActor
public final class RecordingFile {
  /// The maximum of bytes that wait during a write.
  public static let pendingByteCountMaximum = 8 << 20

  /// The path of the file.
  public let path: String
  /// Why nothing more is written; nil if no write has failed.
  public private(set) var fault: SystemFault?
  /// The number of bytes in the file.
  public private(set) var byteCount = 0
  /// Called once when writing fails.
  public var onFault: (@EventLoopActor (SystemFault) -> Void)?

  private let writer: PoolOwned<RecordingFileWriter>
  private var pending: [UInt8] = []
  private var isRunning = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// A file at an absolute path; ``create(ensuring:)`` makes it.
  public init(path: String, files: any FileOperations = SystemFiles()) {
    self.path = path
    writer = PoolOwned(RecordingFileWriter(path: path, files: files))
  }

  /// Makes the file, mode 0600, and its directory too if `directory` names one of the supervisor's own.
  ///
  /// - Throws: EEXIST if the path exists; otherwise the system's error, and no file was made.
  public func create(ensuring directory: String? = nil) async throws(SystemFault) {
    try await writer.use { $0.create(ensuring: directory) }.get()
  }

  /// Whether this many more bytes may be given now. A piece of any size is accepted when nothing waits.
  public func hasRoom(for byteCount: Int) -> Bool {
    fault == nil && (pending.isEmpty || pending.count + byteCount <= Self.pendingByteCountMaximum)
  }

  /// Writes bytes after those given before. After a fault they are dropped.
  public func append(_ bytes: [UInt8]) {
    guard fault == nil, !bytes.isEmpty else { return }
    if pending.isEmpty { pending = bytes } else { pending += bytes }
    guard !isRunning else { return }
    isRunning = true
    EventLoopActor.task { [self] in await writeAll() }
  }

  /// Waits until all bytes are written, and closes the file. Returns the fault, if there was one.
  public func finish() async -> SystemFault? {
    while isRunning { await withCheckedContinuation { waiting.append($0) } }
    let last = await writer.use { $0.finish() }
    if fault == nil { fault = last }
    return fault
  }

  /// Closes and removes the file, which is empty.
  public func discard() async {
    while isRunning { await withCheckedContinuation { waiting.append($0) } }
    await writer.use { $0.discard() }
  }

  private func writeAll() async {
    while !pending.isEmpty {
      let batch = pending
      pending = []
      let (result, byteCount) = await writer.use { ($0.write(batch), $0.byteCount) }
      self.byteCount = byteCount
      guard let fault = result else { continue }
      self.fault = fault
      pending = []
      let callback = onFault
      onFault = nil
      callback?(fault)
    }
    isRunning = false
    let woken = waiting
    waiting.removeAll()
    for continuation in woken { continuation.resume() }
  }
}

/// The blocking half: it is on the thread pool while it works.
struct RecordingFileWriter: Sendable {
  let path: String
  let files: any FileOperations
  private var descriptor: Int32?
  /// The number of bytes that the system has accepted.
  private(set) var byteCount = 0

  init(path: String, files: any FileOperations) {
    self.path = path
    self.files = files
  }

  mutating func create(ensuring directory: String?) -> Result<Void, SystemFault> {
    do throws(SystemFault) {
      if let directory { try files.ensureDirectory(directory) }
      descriptor = try files.create(path)
      return .success(())
    } catch {
      var fault = error
      if fault.code == EEXIST {
        fault.advice = "It is there already, and nothing is written over: name another file, or remove this one."
        fault.isOwnCheck = true
      }
      return .failure(fault)
    }
  }

  mutating func write(_ bytes: [UInt8]) -> SystemFault? {
    guard let descriptor else { return SystemFault(call: "write", subject: path, code: EBADF) }
    var written = 0
    let fault = bytes.withUnsafeBytes { buffer -> SystemFault? in
      do throws(SystemFault) {
        while written < buffer.count {
          let rest = UnsafeRawBufferPointer(rebasing: buffer[written...])
          written += try files.write(rest, to: descriptor, path: path)
        }
        return nil
      } catch { return error }
    }
    byteCount += written
    return fault
  }

  /// Writes the contents through to the disk and closes the file.
  mutating func finish() -> SystemFault? {
    guard let descriptor else { return nil }
    defer {
      files.close(descriptor)
      self.descriptor = nil
    }
    do throws(SystemFault) {
      try files.synchronize(descriptor, path: path)
      return nil
    } catch { return error }
  }

  mutating func discard() {
    // A file that this writer has not made is not its to remove.
    guard let descriptor else { return }
    files.close(descriptor)
    self.descriptor = nil
    // It is empty; if it cannot be removed, it does no harm.
    do throws(SystemFault) { try files.remove(path) } catch {}
  }
}
