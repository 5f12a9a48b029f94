// swift-format-ignore-file: NeverForceUnwrap
// (A probe that was asked wrongly should trap: the test sees it.)
import Glibc
import LinuxSystem

/// Plays a supervisor whose workers leave orphans: which are reaped, and is a managed child left alone?
struct Adoption: Encodable {
  var reaped: [String] = []
  var managedStatus: Int32 = -1

  static func run() throws -> Adoption {
    try ProcessAttributes.becomeSubreaper()
    // The managed child ends first and stays waitable, in front of the orphans.
    let managed = try spawnShell("exit 7")
    var ended = Adoption()
    while ProcessTable.entry(of: managed)?.state != .ended { usleep(2_000) }
    // A second child leaves two orphans and ends; it is managed as well, by this function.
    let parent = try spawnShell("(sleep 0.05; exit 3) & (kill -9 $(sh -c 'echo $PPID')) & exit 0")
    while ended.reaped.count < 2 {
      for orphan in OrphanReaper.reap(except: [managed, parent]) {
        precondition(orphan.session == getsid(0), "an orphan keeps its session")
        ended.reaped.append("\(orphan.ending)")
      }
      usleep(2_000)
    }
    ended.reaped.sort()
    var status: Int32 = 0
    precondition(waitpid(managed, &status, 0) == managed, "the managed child was not to be reaped")
    ended.managedStatus = status >> 8
    precondition(waitpid(parent, &status, 0) == parent, "nor was the other")
    return ended
  }

  private static func spawnShell(_ script: String) throws -> pid_t {
    var pid: pid_t = 0
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
    let code = posix_spawn(&pid, "/bin/sh", nil, nil, &arguments, environ)
    guard code == 0 else { throw SystemFault(call: "posix_spawn", subject: "/bin/sh", code: code) }
    return pid
  }
}
