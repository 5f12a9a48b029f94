public import Contracts

/// The sentence for a user whose call is not answered because no worker runs that could answer it.
public enum WaitingText {
  /// The sentence. Nil if one of the workers runs, so that the call only takes its time; nil also if no mailbox of
  /// theirs is open, so that the refusal will come.
  ///
  /// - Parameter workers: all workers that could answer the call.
  public static func sentence(_ workers: [WorkerStatus]) -> String? {
    guard !workers.contains(where: { present.contains($0.state) }) else { return nil }
    let keeping = workers.filter { !refusing.contains($0.state) }
    guard let first = keeping.first else { return nil }
    let states = keeping.map { "\($0.name) is \($0.state)" }.joined(separator: ", ")
    let isHeld = first.state == .held
    let command =
      isHeld ? "'roost hold --release \(first.name)' lets it run" : "'roost why \(first.name)' tells more"
    return "\(states): the call waits in the mailbox; \(command)"
  }

  /// The same for workers that the answering worker needs: `event-store is stopped: 'roost start event-store' …`; nil
  /// if one of them runs, or none is configured.
  public static func need(_ workers: [WorkerStatus]) -> String? {
    guard let first = workers.first, !workers.contains(where: { present.contains($0.state) }) else { return nil }
    let command =
      switch first.state {
      case .held: "'roost hold --release \(first.name)' lets it run"
      case .stopped, .exited: "'roost start \(first.name)' starts it"
      default: "'roost why \(first.name)' tells more"
      }
    return "\(first.name) is \(first.state); \(command)"
  }

  private static let present: Set<WorkerStateWord> = [.ready, .attached]
  /// States in which the mailbox is closed.
  private static let refusing: Set<WorkerStateWord> = [.stopped, .failed, .exited]
}
