import RoostConfiguration
import Contracts
import Frames
import Glibc

// Room on the disks. A full one stops everything that writes, and each worker says so then; what is said here comes
// before, while there is room to act. Programs that do jobs for others are ended earlier than all else, so that they
// cannot take the last of it.

extension ControlService {
  /// With less room on a disk than this the doctor says so, in bytes.
  private static let freeByteCountMinimum: UInt64 = 64 << 20

  /// The directories: whether they can be written, and have room.
  func directoryChecks() -> [DoctorResult.Check] {
    let settings = daemon.configuration.supervisor
    let kept = [
      stateCheck(settings.stateDirectory),
      check("run directory", settings.runDirectory, "on a full disk workers may not start"),
    ]
    return kept
      + [settings.logDirectory].compactMap { $0 }.map {
        check("log directory", $0, "on a full disk log lines are not kept")
      }
  }

  /// The directory in which workers keep what they have, and in which programs that do jobs for others work.
  private func stateCheck(_ path: String) -> DoctorResult.Check {
    let providers = daemon.workers.map(\.configuration).filter { worker in
      worker.enabled && worker.jobs.contains { $0.enabled && !$0.program.isEmpty }
    }
    let isFull = "on a full disk nothing more is stored or accepted"
    guard !providers.isEmpty else { return check("state directory", path, isFull) }
    let bound = ServingBounds.freeByteCountMinimum
    let names = providers.map(\.name).joined(separator: ", ")
    return check(
      "state directory", path,
      "below \(Amount.bytes(bound)) the programs that do jobs for others (\(names)) are ended, and their customers are "
        + "told an error; \(isFull)", below: bound)
  }

  /// - Parameter consequence: what comes of it when there is no more room.
  private func check(
    _ name: String, _ path: String, _ consequence: String, below bound: UInt64 = ControlService.freeByteCountMinimum
  ) -> DoctorResult.Check {
    var space = statvfs()
    guard access(path, W_OK) == 0, statvfs(path, &space) == 0 else {
      return .init(name: name, isGood: false, text: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
    let text = "\(path) has \(Amount.bytes(free)) free"
    guard free < bound else { return .init(name: name, isGood: true, text: text) }
    return .init(name: name, isGood: false, text: "\(text): make room; \(consequence)")
  }
}
