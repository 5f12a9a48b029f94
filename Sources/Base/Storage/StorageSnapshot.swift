internal import GRDB
internal import Glibc
internal import LinuxSystem
internal import Synchronization

// How a database is copied while it is written, so that the copies of several databases show the same moment:
//
//     hold      the writer ends its transaction and waits; a snapshot of the present state is opened
//     release   the writer continues; the snapshot stays as it is
//     copy      SQLite's backup interface writes the snapshot into a new file
//
// All databases are held before the first one is released, so each snapshot shows the moment when all were held. The
// writer waits for a bounded time only; if that ends before the release, the release says so, and the caller begins
// again.
//
// While a snapshot is open, SQLite's write-ahead log cannot begin again from its start and grows. The writer does not
// wait for that (`Checkpointer`).

/// The state of a database at one moment, for a copy.
public final class StorageSnapshot: Sendable {
  /// The database file.
  public let path: String

  private let snapshot: DatabaseSnapshot
  private let writer: HeldWriter
  private let checkpointer: Checkpointer

  /// The pages that are copied at once: 1 MiB.
  private static let stepPageCount: CInt = 256
  /// The longest pause between two steps, in microseconds.
  private static let pauseMicrosecondMaximum = 50_000.0

  init(path: String, _ snapshot: DatabaseSnapshot, _ writer: HeldWriter, _ checkpointer: Checkpointer) {
    (self.path, self.snapshot, self.writer, self.checkpointer) = (path, snapshot, writer, checkpointer)
    checkpointer.snapshotOpened()
  }

  deinit {
    writer.release()
    checkpointer.snapshotClosed()
  }

  /// Lets the database's writer continue.
  ///
  /// - Returns: whether nothing was written since the snapshot was opened. The writer waits only for the time given to
  ///   ``StorageFile/hold(milliseconds:)``.
  public func release() -> Bool { writer.release() }

  /// Writes the database into a new file (mode 0600), and removes an older file of that name. Blocks this thread. The
  /// file is not synchronized.
  ///
  /// - Parameters:
  ///   - target: the new file.
  ///   - isWanted: called after each 1 MiB; the copy ends with `interrupted` when it returns false.
  public func write(to target: String, while isWanted: @escaping () -> Bool = { true }) throws(StorageFault) {
    do {
      guard unlink(target) == 0 || errno == ENOENT else {
        throw SystemFault(call: "unlink", subject: target, code: errno)
      }
      // SQLite would give the file the rights that the umask leaves.
      let file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { throw SystemFault(call: "open", subject: target, code: errno) }
      Glibc.close(file)
      var configuration = Configuration()
      configuration.prepareDatabase { database in
        // A copy that was interrupted is removed, so it needs no journal.
        try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
      }
      let copy = try DatabaseQueue(path: target, configuration: configuration)
      var begin = ContinuousClock.now
      try snapshot.backup(to: copy, pagesPerStep: Self.stepPageCount) { progress in
        if !progress.isCompleted, !isWanted() { throw CancellationError() }
        // Half of the time is for the writer: it has the same processors, and the same disk.
        let step = begin.duration(to: .now) / .microseconds(1)
        usleep(UInt32(min(step, Self.pauseMicrosecondMaximum)))
        begin = .now
      }
      try copy.close()
    } catch is CancellationError {
      throw StorageFault(.interrupted, path: path, "the copy was cancelled")
    } catch let fault as SystemFault {
      throw StorageFault(fault, path: target)
    } catch {
      throw StorageFault(error, path: target)
    }
  }
}

extension StorageFile {
  /// Every database that this process has open now: a backup has to copy all of them.
  public static var allOpen: [StorageFile] { OpenFiles.all }

  /// Has the writer end its transaction and wait, and keeps the present state for a copy. The writer continues at
  /// ``StorageSnapshot/release()``, or after so many milliseconds.
  public func hold(milliseconds: Int32) async throws(StorageFault) -> StorageSnapshot {
    let (pool, path, checkpointer) = (pool, path, checkpointer)
    let writer: HeldWriter
    do throws(SystemFault) { writer = try HeldWriter() } catch { throw StorageFault(error, path: path) }
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<StorageSnapshot, StorageFault>, Never>) in
      pool.asyncWriteWithoutTransaction { _ in
        do {
          let snapshot = StorageSnapshot(path: path, try pool.makeSnapshot(), writer, checkpointer)
          continuation.resume(returning: .success(snapshot))
          writer.wait(milliseconds: milliseconds)
        } catch {
          continuation.resume(returning: .failure(StorageFault(error, path: path)))
        }
      }
    }
    return try result.get()
  }
}

/// The open databases of this process.
enum OpenFiles {
  private struct Entry {
    weak var file: StorageFile?
  }

  private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

  static var all: [StorageFile] {
    entries.withLock { $0.values.compactMap(\.file) }.sorted { $0.path < $1.path }
  }

  static func opened(_ file: StorageFile) { entries.withLock { $0[ObjectIdentifier(file)] = Entry(file: file) } }

  static func closed(_ file: StorageFile) { entries.withLock { $0[ObjectIdentifier(file)] = nil } }
}
