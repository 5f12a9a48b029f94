// Puts itself under a sandbox as a worker would, tries things, and prints what became of each as one JSON object. What
// a process may do after `Sandbox.apply` can only be seen from a process that did it: a test cannot leave a sandbox
// again.
//
//     sandbox-probe PROFILE-JSON required|try|off [--thread-first] [--within N] ATTEMPT...
//                                        with another thread running; within N sandboxes already
//     sandbox-probe --adopt              become a subreaper, orphan two processes, reap them
//     sandbox-probe --limit RESOURCE N   lower a limit of its own
// swift-format-ignore-file: NeverForceUnwrap
// (A probe that was asked wrongly should trap: the test sees it.)
import FoundationEssentials
import Glibc
import LinuxSystem

struct Report: Encodable {
  var level: SandboxLevel?
  var text: String?
  var fault: String?
  var outcomes: [String: String] = [:]
}

func printed(_ value: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  print(String(decoding: try encoder.encode(value), as: UTF8.self))
}

func startIdleThread() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      pause()
      return nil
    }, nil)
}

var arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "--adopt":
  try printed(try Adoption.run())
case "--limit":
  let resource = ResourceLimit.Resource(rawValue: arguments.dropFirst().first!)!
  let limit = try ResourceLimit.lower(resource, to: UInt64(arguments.last!)!)
  print("\(limit.soft) \(limit.hard) \(try ResourceLimit.current(resource).hard)")
default:
  let profile = try JSONDecoder().decode(SandboxProfile.self, from: Data(arguments.removeFirst().utf8))
  let requirement = Sandbox.Requirement(rawValue: arguments.removeFirst())!
  if arguments.first == "--thread-first" {
    arguments.removeFirst()
    startIdleThread()
  }
  if arguments.first == "--within" {
    arguments.removeFirst()
    let count = Int(arguments.removeFirst())!
    for _ in 0..<count { _ = try Sandbox.apply(profile, requirement: .required) }
  }
  var report = Report()
  do throws(SystemFault) {
    let level = try Sandbox.apply(profile, requirement: requirement)
    report.level = level
    report.text = level.description
    for attempt in arguments { report.outcomes[attempt] = Attempt.run(attempt) }
  } catch {
    report.fault = error.description
  }
  try printed(report)
}
