import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("The clock")
  struct ClockTests {
    static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

    @Test(
      "A wall clock that jumps an hour ahead and back changes no wait before a restart",
      .enabled(if: access(library, R_OK) == 0, "needs libfaketime (Debian: faketime)"))
    func jumps() throws {
      // 69 always waits and is never counted: restarts without end, each after up to two seconds.
      var layout = Layout.one(
        ["--die-at", "ready", "--exit", "69"],
        ["backoff-base": "\"2s\"", "backoff-ceiling": "\"2s\"", "breaker-restarts": "5"])
      let directory = try TemporaryDirectory()
      let stamp = directory.path + "/offset"
      try Self.set("+0", stamp)
      layout.environment = [
        "LD_PRELOAD=\(Self.library)", "FAKETIME_TIMESTAMP_FILE=\(stamp)", "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
      ]
      try withRoost(layout, awaitsReady: false) { roost in
        let client = try roost.client()
        var last = try roost.worker("example", client)
        var jumps = ["+3600", "-3600", "+0", "+86400", "-86400"][...]
        var lastJump = Monotonic.seconds
        let start = (Monotonic.seconds, try roost.status(client).uptimeMilliseconds)
        while !jumps.isEmpty || Monotonic.seconds - lastJump < 1 {
          let now = try roost.worker("example", client)
          if let next = now.nextAttemptMilliseconds {
            #expect(next <= 2_000)
            if now.generation == last.generation, let before = last.nextAttemptMilliseconds {
              #expect(next <= before, "a wait grew")
            }
          }
          last = now
          if Monotonic.seconds - lastJump > 0.7, let jump = jumps.popFirst() {
            try Self.set(jump, stamp)
            lastJump = Monotonic.seconds
          }
          usleep(5_000)
        }
        let passed = Double(try roost.status(client).uptimeMilliseconds - start.1) / 1_000
        #expect(abs(passed - (Monotonic.seconds - start.0)) < 0.5, "roostd's own time went on as ours")
        #expect(last.generation > 2, "there were restarts meanwhile")
      }
    }

    private static func set(_ offset: String, _ path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(offset + "\n", to: file)
      Descriptors.close(file)
    }
  }
}
