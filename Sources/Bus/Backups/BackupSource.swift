public import Contracts
public import EventLoop
public import Frames

/// What a backup asks of a running Roost: by a client's connection, or by a worker's.
@EventLoopActor
public protocol BackupSource {
  /// The supervisor's state.
  func status() async throws(Refusal) -> SupervisorStatus
  /// The configuration file.
  func configuration() async throws(Refusal) -> SupervisorConfigurationFile
  /// `backup.hold` of a worker.
  func hold(_ worker: String, _ arguments: BackupHold) async throws(Refusal) -> BackupSnapshot
  /// `backup.release`
  func release(_ worker: String, _ state: BackupState) async throws(Refusal) -> BackupRelease
  /// `backup.read`: calls `take` with each part, and waits for it before the next one.
  func read(
    _ worker: String, _ read: BackupRead, _ take: @EventLoopActor (BackupPart) async throws(BackupRefusal) -> Void
  ) async throws(BackupRefusal)
  /// `backup.end`
  func end(_ worker: String, _ state: BackupState) async throws(Refusal)
}

/// Why a backup was not made: a worker refuses, or the file cannot be written.
public enum BackupRefusal: Error, Sendable {
  /// A worker, or the supervisor, refuses.
  case refused(Refusal)
  /// The file cannot be written.
  case fault(BackupFault)
}
