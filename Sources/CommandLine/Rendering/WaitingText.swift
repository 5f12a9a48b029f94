public import Contracts

/// What a person is told whose call is not answered because nobody runs who could answer it.
public enum WaitingText {
  /// The sentence; nil when one of the workers is there, so that the call only takes its time, or when none keeps mail,
  /// so that the refusal is on its way.
  ///
  /// - Parameter workers: all that may answer the call.
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

  /// The same of workers that whoever answers needs for it: `event-store is stopped: 'roost start event-store' …`; nil
  /// when one of them is there, or none is configured.
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
  /// Those whose mailbox is closed.
  private static let refusing: Set<WorkerStateWord> = [.stopped, .failed, .exited]
}
