import Backups
import Bus
import Contracts
import EventLoop
import Frames

/// The running Roost, as a worker sees it.
struct BusBackupSource: BackupSource {
  let bus: BusConnection

  /// How long a worker may take for everything but a file, in milliseconds.
  private static let milliseconds: UInt32 = 30_000
  /// How long a file may take: a day.
  private static let fileMilliseconds: UInt32 = 86_400_000

  private func ask<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ worker: String?, _ arguments: Arguments
  ) async throws(Refusal) -> Answer {
    try await bus.request(
      method, of: worker, arguments, ttlMilliseconds: Self.milliseconds, atMostOnce: true)
  }

  func status() async throws(Refusal) -> SupervisorStatus {
    try await ask(SupervisorMethod.status, nil, StatusRequest())
  }

  func configuration() async throws(Refusal) -> SupervisorConfigurationFile {
    try await ask(SupervisorMethod.configuration, nil, NoArguments())
  }

  func hold(_ worker: String, _ arguments: BackupHold) async throws(Refusal) -> BackupSnapshot {
    try await ask(BackupMethod.hold, worker, arguments)
  }

  func release(_ worker: String, _ state: BackupState) async throws(Refusal) -> BackupRelease {
    try await ask(BackupMethod.release, worker, state)
  }

  func read(
    _ worker: String, _ read: BackupRead, _ take: @EventLoopActor (BackupPart) async throws(BackupRefusal) -> Void
  ) async throws(BackupRefusal) {
    let parts: StreamAnswer<BackupPart, Nothing>
    do throws(Refusal) {
      parts = try await bus.ask(BackupMethod.read, of: worker, read, ttlMilliseconds: Self.fileMilliseconds)
    } catch { throw .refused(error) }
    while true {
      let part: BackupPart?
      do throws(Refusal) { part = try await parts.nextPart() } catch { throw .refused(error) }
      guard let part else { return }
      do throws(BackupRefusal) { try await take(part) } catch {
        // What is not read to its end would hold its credit for ever.
        parts.answer.abandon(Refusal(.cancelled, "the rest is not needed"))
        throw error
      }
    }
  }

  func end(_ worker: String, _ state: BackupState) async throws(Refusal) {
    _ = try await ask(BackupMethod.end, worker, state)
  }
}
