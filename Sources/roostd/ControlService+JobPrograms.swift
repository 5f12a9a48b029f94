import RoostConfiguration
import Contracts
import Frames

extension ControlService {
  /// The programs of jobs: a provider is ready without them, and says of one that is missing only to the log, when a
  /// request for it has failed. A check for each that is not run; one for all of them when each is; none without any.
  func jobProgramChecks() -> [DoctorResult.Check] {
    var checks: [DoctorResult.Check] = []
    var count = 0
    for worker in daemon.configuration.workers where worker.enabled {
      for job in worker.jobs where job.enabled {
        guard let path = job.program.first else { continue }
        count += 1
        guard let complaint = ProgramFinding(at: path).complaint(aboutJobAt: path) else { continue }
        checks.append(
          .init(
            name: "job \(job.kind)", isGood: false,
            text: "the program of [worker.\(worker.name)], \(path), \(complaint)"))
      }
    }
    guard checks.isEmpty, count > 0 else { return checks }
    let text = count == 1 ? "1 program of jobs can be run" : "\(count) programs of jobs can each be run"
    return [.init(name: "job programs", isGood: true, text: text)]
  }
}
