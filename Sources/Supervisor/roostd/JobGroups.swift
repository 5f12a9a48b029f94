import Glibc
import LinuxSystem
import RoostConfiguration

/// Where programs of the user's are bounded by the kernel, or why they are not.
///
/// roostd makes the group, because the kernel lets it bound groups only once roostd itself is out of the way; the
/// worker makes a group below for each run, and its sandbox lets it write there.
struct JobGroups: Sendable {
  private let claim: Result<DelegatedGroup, DelegatedGroup.Missing>

  /// Takes what was delegated; before anything is started.
  init() {
    claim = Result { () throws(DelegatedGroup.Missing) in
      try DelegatedGroup.claim(isService: getenv("INVOCATION_ID") != nil)
    }
  }

  /// The folder of the group for a worker's programs; nil where it has none, or needs none.
  func folder(for worker: WorkerConfiguration) throws(SystemFault) -> String? {
    guard worker.runsUserPrograms, case .success(let group) = claim else { return nil }
    return try group.jobs(of: worker.name).path
  }

  /// Which of the two holds for programs of the user's, and why.
  var sentence: String {
    switch claim {
    case .success(let group):
      let bounded = group.controllers.map(\.rawValue).sorted().joined(separator: ", ")
      let what =
        bounded.isEmpty
        ? "the kernel ends each as a whole; no controller is delegated, so roost looks at their bounds ten times a"
          + " second"
        : "the kernel bounds each (\(bounded)) and ends it as a whole"
      return "\(what), in groups below \(group.base.path)"
    case .failure(let missing):
      return "roost looks at their bounds ten times a second, and the kernel does not keep them: \(missing)"
    }
  }
}
