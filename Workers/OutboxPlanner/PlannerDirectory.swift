import Contracts
import Frames
import LinuxSystem
import Synchronization

/// Where the planner keeps what must outlive it: a directory by the worker's name in the supervisor's state directory.
///
/// It is made before the sandbox is entered, which can only allow what is there.
enum PlannerDirectory {
  private static let made = Mutex<Result<String, Refusal>>(
    .failure(refusal("ROOST_STATE is not set; started by hand, set it to the supervisor's state-directory")))

  /// The directory, or why there is none.
  static var path: Result<String, Refusal> { made.withLock { $0 } }

  /// Makes the directory, readable by its owner only.
  static func make(_ environment: [String: String]) -> String? {
    guard let state = environment["ROOST_STATE"], !state.isEmpty else { return nil }
    let directory = state + "/" + (environment["ROOST_WORKER"] ?? Role.outboxPlanner.name)
    do throws(SystemFault) { try PrivateDirectory.ensure(directory) } catch {
      let refusal = refusal("\(error)")
      made.withLock { $0 = .failure(refusal) }
      return nil
    }
    made.withLock { $0 = .success(directory) }
    return directory
  }

  private static func refusal(_ reason: String) -> Refusal {
    Refusal(.failed, "there is no directory for what the planner keeps: \(reason)")
  }
}
