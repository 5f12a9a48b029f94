import Backups
import Contracts
import EventLoop
import Frames

/// A running Roost of some workers with files, as a backup sees it.
@EventLoopActor
final class FakeBackupSource: BackupSource {
  /// A worker.
  struct Worker {
    var role = "event-store"
    var state = WorkerStateWord.ready
    var files: [String: [UInt8]] = [:]
    /// How many of its next releases come too late.
    var lateCount = 0
  }

  var workers: [String: Worker] = [:]
  var folders: [String] = []
  /// After so many parts the next one fails.
  var partsLeft = Int.max
  var partByteCount = 1_000
  private(set) var holds: [BackupHold] = []
  private(set) var reads: [BackupRead] = []
  private(set) var kept: [String: [String: [UInt8]]] = [:]
  private var count = 0

  func forget() { kept = [:] }

  func status() -> SupervisorStatus {
    SupervisorStatus(
      version: "0", pid: 1, uptimeMilliseconds: 0, configuration: "", socket: "", residentBytes: nil, keptBytes: 0,
      counters: [:], deadLetters: 0,
      workers: workers.sorted { $0.key < $1.key }.map { name, worker in
        var status = WorkerStatus(name: name, role: worker.role, state: worker.state)
        status.pid = 1
        return status
      }, clients: [])
  }

  func configuration() -> SupervisorConfigurationFile {
    SupervisorConfigurationFile(path: "/etc/roost/supervisor.conf", text: "[supervisor]\n", folders: folders)
  }

  func hold(_ worker: String, _ arguments: BackupHold) throws(Refusal) -> BackupSnapshot {
    holds.append(arguments)
    guard let files = workers[worker]?.files else { throw Refusal(.gone, "no such worker") }
    count += 1
    kept["\(worker)-\(count)"] = files
    return BackupSnapshot(snapshot: "\(worker)-\(count)", files: files.keys.sorted())
  }

  func release(_ worker: String, _ state: BackupState) -> BackupRelease {
    let late = workers[worker]?.lateCount ?? 0
    workers[worker]?.lateCount = max(0, late - 1)
    return BackupRelease(isWhole: late == 0)
  }

  func read(
    _ worker: String, _ read: BackupRead, _ take: @EventLoopActor (BackupPart) async throws(BackupRefusal) -> Void
  ) async throws(BackupRefusal) {
    reads.append(read)
    guard let bytes = kept[read.snapshot]?[read.file] else {
      throw .refused(Refusal(.noSuchSnapshot, "no longer kept", outcome: .notStarted))
    }
    var offset = Int(read.offset)
    repeat {
      guard partsLeft > 0 else { throw .refused(Refusal(.workerDied, "killed", outcome: .unknown)) }
      partsLeft -= 1
      let part = Array(bytes[offset..<min(offset + partByteCount, bytes.count)])
      try await take(BackupPart(byteCount: Int64(bytes.count), bytes: part))
      offset += part.count
    } while offset < bytes.count
  }

  func end(_ worker: String, _ state: BackupState) { kept[state.snapshot] = nil }
}
