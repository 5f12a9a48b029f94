import RoostConfiguration
import Contracts
import Frames
import LinuxSystem

extension ControlService {
  /// What keeps the bounds of jobs' programs, and whether strangers' jobs can be done on this machine; nothing where no
  /// program does any.
  func programBoundChecks() -> [DoctorResult.Check] {
    guard daemon.configuration.workers.contains(where: { $0.enabled && $0.runsJobPrograms }) else { return [] }
    let bounds = DoctorResult.Check(name: "bounds of programs", isGood: true, text: daemon.jobGroups.sentence)
    return [bounds] + strangerChecks()
  }

  private func strangerChecks() -> [DoctorResult.Check] {
    guard daemon.configuration.workers.contains(where: \.servesStrangers) else { return [] }
    let support = LandlockSupport.current
    let text = support.complaint ?? "programs that do them are held by Landlock"
    return [.init(name: "programs for strangers", isGood: support.holdsStrangers, text: text)]
  }

  /// The programs of jobs: a provider is ready without them, and says of one that is missing only to the log, when a
  /// request for it has failed. A check for each that is not run; one for all of them when each is run; no check when
  /// no job has a program.
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
