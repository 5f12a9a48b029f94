import Frames
import LinuxSystem
import Synchronization

/// Where the database is: `event-store` in the supervisor's state directory, or a directory by the worker's own name.
///
/// It is made before the sandbox is entered, which can only allow what is there.
enum StoreDirectory {
  private static let reason = Mutex(
    "ROOST_STATE is not set; started by hand, set it to the supervisor's state-directory")
  private static let made = Mutex<String?>(nil)

  /// The directory, once it was made.
  static var path: String? { made.withLock { $0 } }

  /// Why there is none.
  static var refusal: Refusal {
    Refusal(.failed, "there is no directory for the database: \(reason.withLock { $0 })")
  }

  /// Makes the directory, readable by its owner only.
  static func make(_ environment: [String: String]) -> String? {
    guard let state = environment["ROOST_STATE"], !state.isEmpty else { return nil }
    let directory = state + "/" + (environment["ROOST_WORKER"] ?? "event-store")
    do throws(SystemFault) { try PrivateDirectory.ensure(directory) } catch {
      reason.withLock { $0 = "\(error)" }
      return nil
    }
    made.withLock { $0 = directory }
    return directory
  }
}
