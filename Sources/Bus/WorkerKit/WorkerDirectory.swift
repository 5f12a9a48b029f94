public import Contracts
public import Frames
internal import LinuxSystem
internal import Synchronization

/// The directory for a worker's persistent files: it has the worker's name, in the supervisor's state directory.
///
/// It is made before the worker enters its sandbox, because a sandbox can allow only existing paths.
public enum WorkerDirectory {
  private static let made = Mutex<Result<String, Refusal>>(
    .failure(refusal("ROOST_STATE is not set; started by hand, set it to the supervisor's state-directory")))

  /// The directory, or why it is missing.
  public static var path: Result<String, Refusal> { made.withLock { $0 } }

  /// Makes the directory, readable by its owner only.
  ///
  /// - Parameters:
  ///   - environment: `ROOST_STATE`, and `ROOST_WORKER` unless the worker has the name of its role.
  ///   - role: the worker's role.
  /// - Returns: its path; nil when it could not be made, see ``path``.
  public static func make(_ environment: [String: String], role: Role) -> String? {
    guard let state = environment["ROOST_STATE"], !state.isEmpty else { return nil }
    let directory = state + "/" + (environment["ROOST_WORKER"] ?? role.name)
    do throws(SystemFault) { try PrivateDirectory.ensure(directory) } catch {
      let refusal = refusal("\(error)", mayPass: error.mayPass)
      made.withLock { $0 = .failure(refusal) }
      return nil
    }
    made.withLock { $0 = .success(directory) }
    return directory
  }

  private static func refusal(_ reason: String, mayPass: Bool = false) -> Refusal {
    Refusal(mayPass ? .unavailable : .failed, "there is no directory for what the worker keeps: \(reason)")
  }
}
