import EventLoop
import Glibc
import LinuxSystem

/// A small process that outlives roostd by seconds: when its pipe ends, it kills whatever still carries this start's
/// mark.
///
/// PDEATHSIG ends the workers; the guardian finds their descendants (`docs/decisions/0001-death-of-the-supervisor.md`).
@EventLoopActor
final class Guardian {
  private var child: ChildProcess?
  private var descriptor: Int32
  private var onGone: (@EventLoopActor () -> Void)?
  /// Called when it ends without having been dismissed: it was killed.
  var onLost: (@EventLoopActor () -> Void)?

  /// From roostd's death to the first kill: the workers' time to finish a write.
  static let graceMilliseconds = 1_500

  init(shim: String, instance: String) throws {
    let pipe = try Descriptors.pipe()
    defer { Descriptors.close(pipe.first) }
    // From here on it is `deinit` that closes it, which also runs when the child cannot be started.
    descriptor = pipe.second
    child = try ChildProcess(
      path: shim, arguments: ["--guard", "--instance", instance, "--grace", "\(Self.graceMilliseconds)"],
      environment: [], descriptors: [nil, nil, 2, pipe.first]
    ) { [weak self] _ in
      self?.ended()
    }
  }

  isolated deinit { if descriptor >= 0 { Descriptors.close(descriptor) } }

  var pid: Int32 { child?.pid ?? 0 }

  private func ended() {
    let callback = descriptor >= 0 ? onLost : onGone
    onLost = nil
    onGone = nil
    callback?()
  }

  /// An orderly end: nothing is left to kill. `gone` is called when the guardian has been reaped.
  func dismiss(_ gone: @escaping @EventLoopActor () -> Void) {
    guard descriptor >= 0, child?.isRunning == true else {
      gone()
      return
    }
    onGone = gone
    // If it cannot be told, it finds nothing to kill and ends as well.
    _ = write(descriptor, "q", 1)
    Descriptors.close(descriptor)
    descriptor = -1
  }
}
