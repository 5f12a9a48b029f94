import RoostConfiguration
import Contracts
import Frames
import LinuxSystem

extension ControlService {
  /// What keeps the bounds of the user's programs, and whether strangers' jobs can be done on this machine; nothing if
  /// there is no such program.
  func programBoundChecks() -> [DoctorResult.Check] {
    guard daemon.configuration.workers.contains(where: { $0.enabled && $0.runsUserPrograms }) else { return [] }
    let bounds = DoctorResult.Check(name: "bounds of programs", isGood: true, text: daemon.jobGroups.sentence)
    return [bounds] + strangerChecks()
  }

  private func strangerChecks() -> [DoctorResult.Check] {
    guard daemon.configuration.workers.contains(where: \.servesStrangers) else { return [] }
    let support = LandlockSupport.current
    let text = support.complaint ?? "programs that do them are held by Landlock"
    return [.init(name: "programs for strangers", isGood: support.holdsStrangers, text: text)]
  }

  /// The programs of jobs, and those of `link-page`: their worker is ready without them, and only its log says that one
  /// is missing, when the worker needs it. A check for each that is not run; otherwise one for those of jobs and one
  /// for those of links.
  func userProgramChecks() -> [DoctorResult.Check] {
    var checks: [DoctorResult.Check] = []
    var (jobCount, otherCount) = (0, 0)
    for worker in daemon.configuration.workers where worker.enabled {
      let isProvider = worker.role == Role.dvmProvider.name
      for program in worker.userPrograms {
        if isProvider { jobCount += 1 } else { otherCount += 1 }
        let path = program.path
        guard let complaint = ProgramFinding(at: path).complaint(aboutJobAt: path) else { continue }
        let what = isProvider ? "the program" : "'\(program.name)'"
        checks.append(
          .init(name: program.name, isGood: false, text: "\(what) of [worker.\(worker.name)], \(path), \(complaint)"))
      }
    }
    guard checks.isEmpty else { return checks }
    return Self.summary(jobCount, of: "jobs", "job programs") + Self.summary(otherCount, of: "links", "link programs")
  }

  private static func summary(_ count: Int, of what: String, _ name: String) -> [DoctorResult.Check] {
    guard count > 0 else { return [] }
    let text = count == 1 ? "1 program of \(what) can be run" : "\(count) programs of \(what) can each be run"
    return [.init(name: name, isGood: true, text: text)]
  }
}
