public import EventLoop
internal import Glibc
public import LinuxSystem

// A file that grows while something happens which must not wait for it: a recording of the bus.
//
// Not a log: it is made again, never over another file, never rotated, and when the disk refuses a write it is over: a
// file with a hole in it that nobody can see would be worse than a short one. What is written is always a beginning of
// what was given, so whoever reads it finds at most its last record cut.

/// One new file, written on the thread pool, one write at a time.
///
/// `append` returns at once. Whoever calls it asks ``hasRoom(for:)`` first, and counts what finds none: memory is
/// bounded by twice ``pendingByteCountMaximum``, or by the two largest pieces.
@EventLoopActor
public final class RecordingFile {
  /// Most bytes that wait while a write is under way.
  public static let pendingByteCountMaximum = 8 << 20

  /// Where it is.
  public let path: String
  /// Why nothing more is written; nil while all is well.
  public private(set) var fault: SystemFault?
  /// Bytes that are in it.
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

  /// Makes the file, mode 0600, and its directory too if `directory` names one of ours.
  ///
  /// - Throws: EEXIST when something is there; else what the system said. Nothing is there then.
  public func create(ensuring directory: String? = nil) async throws(SystemFault) {
    try await writer.use { $0.create(ensuring: directory) }.get()
  }

  /// Whether so many more bytes may be given now. A piece of any size is taken when nothing waits.
  public func hasRoom(for byteCount: Int) -> Bool {
    fault == nil && (pending.isEmpty || pending.count + byteCount <= Self.pendingByteCountMaximum)
  }

  /// Writes bytes behind those given before. After a fault they are dropped.
  public func append(_ bytes: [UInt8]) {
    guard fault == nil, !bytes.isEmpty else { return }
    if pending.isEmpty { pending = bytes } else { pending += bytes }
    guard !isRunning else { return }
    isRunning = true
    EventLoopActor.task { [self] in await writeAll() }
  }

  /// Waits until all is written, and closes the file. Returns the fault, if there was one.
  public func finish() async -> SystemFault? {
    while isRunning { await withCheckedContinuation { waiting.append($0) } }
    let last = await writer.use { $0.finish() }
    if fault == nil { fault = last }
    return fault
  }

  /// Closes and removes the file: there is nothing in it.
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

/// The blocking half: lives on the thread pool while it works.
struct RecordingFileWriter: Sendable {
  let path: String
  let files: any FileOperations
  private var descriptor: Int32?
  /// Bytes that the system has taken.
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

  /// Brings the contents to the disk and closes.
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
    // What we have not made is not ours to remove.
    guard let descriptor else { return }
    files.close(descriptor)
    self.descriptor = nil
    // It is empty; if it cannot be removed, it stays and disturbs nobody.
    do throws(SystemFault) { try files.remove(path) } catch {}
  }
}
