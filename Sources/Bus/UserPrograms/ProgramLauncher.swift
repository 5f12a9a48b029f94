internal import Frames
internal import Glibc
internal import LinuxSystem

// The last step before a user's program. The exec shim has made a session, an environment and a working directory, and
// has arranged that the process dies with the worker. What is left is what the shim cannot do: limits that this program
// might not survive if they were set before it started, the kernel's group, and the sandbox.
//
//     WORKER --run-program PLAN -- PROGRAM ARGUMENT…
//
// Descriptors: 0 the input, 1 the output, 2 text that is kept for the reason of a failure, 3 reports while it works.
// All others are closed, also the worker's lock.

/// Becomes a user's program. A worker that runs programs calls it before everything else, when its first argument is
/// ``word``: it is the same file, because the sandbox needs the same code.
public enum ProgramLauncher {
  /// The argument that makes this program the launcher.
  public static let word = "--run-program"

  /// What is set up for the program.
  struct Plan: Codable, Sendable {
    /// One limit of the kernel.
    struct Limit: Codable, Sendable {
      var resource: ResourceLimit.Resource
      var value: UInt64
    }
    var profile: SandboxProfile
    var requirement: Sandbox.Requirement
    var limits: [Limit]
    /// The folder of the kernel's group for the program.
    var group: String?
  }

  private static let niceness: Int32 = 10

  /// EX_OSERR, and the codes of a shell for programs that cannot be started.
  private static let (failed, notExecutable, notFound): (Int32, Int32, Int32) = (71, 126, 127)

  /// Becomes the program; never returns.
  ///
  /// - Parameter arguments: what comes behind ``word``.
  public static func main(_ arguments: [String]) -> Never {
    guard arguments.count > 2, arguments[1] == "--" else { end("\(word) is for this worker's own use", 64) }
    let command = Array(arguments.dropFirst(2))
    do {
      let plan = try JSONPayload.decode(Plan.self, from: Array(arguments[0].utf8))
      try Descriptors.closeAll(from: 4)
      // What serves all goes before a program of one task, above all before one that forks without end.
      _ = nice(niceness)
      // Before the sandbox, which does not let the program write there.
      if let group = plan.group { try ControlGroup(path: group).enter() }
      for limit in plan.limits { try ResourceLimit.lower(limit.resource, to: limit.value) }
      _ = try Sandbox.apply(plan.profile, requirement: plan.requirement)
    } catch {
      end("the program's sandbox cannot be made: \(error)", failed)
    }
    var pointers: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execve(command[0], &pointers, environ)
    let code = errno
    end("\(command[0]): \(complaint(code, command[0]))", code == ENOENT || code == ENOTDIR ? notFound : notExecutable)
  }

  private static func complaint(_ code: Int32, _ path: String) -> String {
    let text = String(cString: strerror(code))
    return switch code {
    case ENOENT where access(path, F_OK) == 0: "the interpreter that its first line names is not there"
    case ENOEXEC: "\(text): a script begins with a line such as #!/usr/bin/python3"
    case EACCES: "\(text): its mode, or where it lies, does not let it be executed"
    default: text
    }
  }

  private static func end(_ text: String, _ code: Int32) -> Never {
    _ = (text + "\n").withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(code)
  }
}
