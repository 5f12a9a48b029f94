/// The methods that each worker with files of its own serves, whatever its role. A caller names the worker by its
/// endpoint.
public enum BackupMethod {
  /// Keeps the present state.
  public static let hold = Method<BackupHold, BackupSnapshot>(
    192, "backup.hold", of: .worker, for: [.client, .backup],
    "The worker's writers wait, and the present state of its files is kept. For the supervisor's own user only.")
  /// Lets the writers continue.
  public static let release = Method<BackupState, BackupRelease>(
    193, "backup.release", of: .worker, for: [.client, .backup],
    "The writers continue; says whether they have waited until now.", refuses: [.noSuchSnapshot])
  /// A file.
  public static let read = Stream<BackupRead, BackupPart, Nothing>(
    194, "backup.read", of: .worker, for: [.client, .backup], "A file of a state, from any byte on.",
    refuses: [.noSuchSnapshot])
  /// Frees the state.
  public static let end = Method<BackupState, Nothing>(
    195, "backup.end", of: .worker, for: [.client, .backup], "The state is no longer needed.",
    refuses: [.noSuchSnapshot])

  /// How the backups of the worker `backup` fare.
  public static let status = Method<NoArguments, BackupStatus>(
    832, "backup.status", of: .backup, for: [.client],
    "When the last backup was made, when the next one is due, and why one was not made.")

  static let all: [MethodDeclaration] = [
    hold.declaration, release.declaration, read.declaration, end.declaration, status.declaration,
  ]
}
