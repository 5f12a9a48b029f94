import Glibc
import TestSupport
import Testing

@Suite struct LaunchTests {
  @Test("A worker leads its own session, cannot gain privileges, and has umask 077")
  func identity() throws {
    let process = try Shim.shell([], "grep NoNewPrivs /proc/self/status; umask; cut -d' ' -f5,6 /proc/$$/stat; echo $$")
    let lines = try process.readAllOutput().split(separator: "\n")
    #expect(lines == ["NoNewPrivs:\t1", "0077", "\(process.pid) \(process.pid)", "\(process.pid)"])
    #expect(try process.waitForEnd() == .exited(0))
  }

  @Test("Signals that the spawner ignored or blocked act as usual in the worker")
  func signals() throws {
    let ignoring = try SpawnedProcess(
      "/bin/sh", ["-c", "trap '' TERM HUP INT PIPE; exec \(Shim.path) -- /bin/cat /proc/self/status"],
      blocked: [SIGTERM, SIGUSR1, SIGCHLD])
    let output = try ignoring.readAllOutput()
    let masks = output.split(separator: "\n").filter { $0.hasPrefix("SigBlk") || $0.hasPrefix("SigIgn") }
    #expect(masks == ["SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"])

    let blocked = try Shim.shell([], "echo up; exec sleep 1000", blocked: [SIGTERM])
    _ = try blocked.readLine { $0 == "up" }
    blocked.send(SIGTERM)
    #expect(try blocked.waitForEnd() == .signalled(SIGTERM))
  }

  @Test("Only descriptors 0 to 4 reach the worker", arguments: [false, true])
  func descriptors(withStatus: Bool) throws {
    let pipe = try Pipe()
    let extra = Dictionary(uniqueKeysWithValues: (Int32(3)...60).map { ($0, pipe.reader) })
    let options = withStatus ? ["--status-fd", "5"] : []
    let process = try Shim.shell(options, "ls /proc/$$/fd; true", descriptors: extra)
    let numbers = try process.readAllOutput().split(separator: "\n")
    #expect(numbers == ["0", "1", "2", "3", "4"])
  }

  @Test("A closed standard descriptor becomes /dev/null")
  func standardDescriptors() throws {
    let process = try Shim.shell([], "readlink /proc/$$/fd/0 /proc/$$/fd/2", closed: [0, 2])
    #expect(try process.readAllOutput() == "/dev/null\n/dev/null\n")
  }

  @Test("Only named variables reach the worker, and a set one wins over a kept one")
  func environment() throws {
    let environment = ["PATH=/bin", "HOME=/h", "SECRET=s", "KEEPER=no", "KEEP=yes=1", "ROOST_INSTANCE=old"]
    let process = try SpawnedProcess(
      Shim.path,
      [
        "--env", "KEEP", "--env", "ABSENT", "--env", "ROOST_INSTANCE", "--set", "ROOST_INSTANCE=new", "--set", "EMPTY=",
        "--", "/usr/bin/env",
      ],
      environment: environment)
    let lines = Set(try process.readAllOutput().split(separator: "\n"))
    #expect(lines == ["KEEP=yes=1", "ROOST_INSTANCE=new", "EMPTY="])
  }

  @Test("Limits bind soft and hard, and never rise")
  func limits() throws {
    let process = try Shim.shell(
      ["--limit", "nofile=77", "--limit", "core=0", "--limit", "fsize=1048576", "--limit", "as=4294967296"],
      "ulimit -n; ulimit -Hn; ulimit -c; ulimit -f; ulimit -v")
    #expect(try process.readAllOutput() == "77\n77\n0\n2048\n4194304\n")

    let above = try SpawnedProcess(
      "/bin/sh", ["-c", "ulimit -n 90; exec \(Shim.path) --limit nofile=200 -- /bin/sh -c 'ulimit -Hn'"])
    #expect(try above.readAllOutput() == "90\n")
  }

  @Test("The worker starts in the directory asked for")
  func directory() throws {
    let directory = try TemporaryDirectory()
    let process = try Shim.shell(["--directory", directory.path], "pwd -P")
    #expect(try process.readAllOutput() == directory.path + "\n")
  }

  @Test("The worker's arguments, exit status and signal are its own")
  func result() throws {
    let exited = try SpawnedProcess(Shim.path, ["--", "/bin/sh", "-c", "echo \"$0|$1\"; exit 9", "--env", "--"])
    #expect(try exited.readAllOutput() == "--env|--\n")
    #expect(try exited.waitForEnd() == .exited(9))
    #expect(try Shim.shell([], "kill -9 $$").waitForEnd() == .signalled(SIGKILL))
  }

  @Test("The status pipe ends without a byte when exec succeeds, while the worker runs")
  func statusOfSuccess() throws {
    let status = try Pipe()
    let process = try Shim.shell(["--status-fd", "5"], "exec sleep 1000", descriptors: [5: status.writer])
    #expect(try status.readAll() == "")
    #expect(!process.hasEnded())
  }

  @Test("A worker dies with its supervisor, also one that is stopped or ignores every signal")
  func deathOfParent() throws {
    let script = """
      \(Shim.path) --parent $$ --env PATH -- /bin/sh -c 'trap "" TERM HUP INT; echo $$; exec sleep 1000' &
      \(Shim.path) --parent $$ --env PATH -- /bin/sh -c 'echo $$; kill -STOP $$' &
      wait
      """
    let supervisor = try SpawnedProcess("/bin/sh", ["-c", script])
    var workers: Set<pid_t> = []
    for _ in 0..<2 {
      let line = try supervisor.readLine { line in pid_t(line).map { !workers.contains($0) } ?? false }
      workers.insert(pid_t(line)!)
    }
    supervisor.send(SIGKILL)
    #expect(try supervisor.waitForEnd() == .signalled(SIGKILL))
    // Their pipe ends when the last of them has gone; a killed orphan may stay as a zombie where nobody reaps.
    _ = try supervisor.readAllOutput()
  }
}
