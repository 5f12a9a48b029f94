import Contracts
import Supervision

extension WorkerState.Kind {
  /// The state as answers and topics name it.
  var word: WorkerStateWord { WorkerStateWord(rawValue: rawValue) }
}
