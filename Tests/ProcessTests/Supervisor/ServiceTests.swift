import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A service manager: the socket to which roostd reports.
final class FakeServiceManager {
  let directory: TemporaryDirectory
  var address: String { directory.path + "/notify" }
  private let socket: Int32
  /// All lines so far, in order.
  private(set) var lines: [String] = []

  init() throws {
    directory = try TemporaryDirectory()
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { [address] in $0.copyBytes(from: address.utf8) }
    let result = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  deinit { Descriptors.close(socket) }

  /// Takes what has come.
  func take() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return }
      lines += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  /// Waits for a line that was not there before the last `forget`.
  func await(_ what: String, _ condition: (String) -> Bool) throws {
    try awaitSoon("the service manager hears \(what); so far \(lines)") {
      take()
      return lines.contains(where: condition)
    }
  }

  func forget() {
    take()
    lines = []
  }
}

extension ProcessTests {
  /// roostd as systemd sees it: NOTIFY_SOCKET, WATCHDOG_USEC and LISTEN_FDS.
  @Suite("A good citizen of systemd")
  struct ServiceTests {
    private func with(
      _ layout: Layout, _ variables: [String] = [], awaitsReady: Bool = false,
      _ body: (RunningRoost, FakeServiceManager) throws -> Void
    ) throws {
      let manager = try FakeServiceManager()
      var layout = layout
      layout.environment = ["NOTIFY_SOCKET=\(manager.address)"] + variables
      try withRoost(layout, awaitsReady: awaitsReady) { try body($0, manager) }
    }

    @Test("It is ready when its workers are, says how it is, reloads between two lines, and says that it stops")
    func life() throws {
      try with(.one(["--ready-after", "700"])) { roost, manager in
        try manager.await("that it is coming") { $0 == "STATUS=Starting; 0 of 1 worker ready; coming: example" }
        try manager.await("READY") { $0 == "READY=1" }
        #expect(try roost.worker().state == "ready")
        try manager.await("the tally") { $0 == "STATUS=1 of 1 worker ready" }
        manager.forget()
        try roost.rewrite { $0.bus["hello-deadline"] = "\"6s\"" }
        roost.daemon.send(SIGHUP)
        try manager.await("READY after the reload") { $0 == "READY=1" }
        let began = try #require(manager.lines.firstIndex(of: "RELOADING=1"))
        #expect(began < manager.lines.firstIndex(of: "READY=1") ?? 0)
        let time = try #require(manager.lines.first { $0.hasPrefix("MONOTONIC_USEC=") }?.split(separator: "=").last)
        #expect((UInt64(time) ?? 0) / 1_000_000 <= SystemClock.monotonicNanoseconds() / 1_000_000_000)
        manager.forget()
        // A reload that is refused ends as well, and a dry run is no reload.
        _ = try roost.client().call("supervisor.reload", #"{"dryRun":true}"#)
        try roost.rewrite { $0.bus["hello-deadline"] = "\"never\"" }
        _ = try roost.client().call("supervisor.reload")
        try manager.await("READY after the refused reload") { $0 == "READY=1" }
        #expect(manager.lines.count { $0 == "RELOADING=1" } == 1, "\(manager.lines)")
        kill(try #require(roost.worker().pid), SIGKILL)
        try manager.await("the death") { $0.hasPrefix("STATUS=0 of 1 worker ready; example") }
        manager.forget()
        try roost.awaitReady()
        roost.daemon.send(SIGTERM)
        try manager.await("STOPPING") { $0 == "STOPPING=1" }
        #expect(manager.lines.contains("EXTEND_TIMEOUT_USEC=23000000"), "\(manager.lines)")
      }
    }

    @Test("The loop itself says that it is alive: stopped, it says nothing; a stopped worker changes nothing")
    func watchdog() throws {
      try with(.one(), ["WATCHDOG_USEC=200000"], awaitsReady: true) { roost, manager in
        try manager.await("WATCHDOG") { $0 == "WATCHDOG=1" }
        roost.daemon.send(SIGSTOP)
        // What was sent before the stop is taken first.
        usleep(100_000)
        manager.forget()
        usleep(500_000)
        manager.take()
        #expect(manager.lines.isEmpty)
        roost.daemon.send(SIGCONT)
        try manager.await("WATCHDOG again") { $0 == "WATCHDOG=1" }
        kill(try #require(roost.worker().pid), SIGSTOP)
        manager.forget()
        try manager.await("WATCHDOG beside a stopped worker") { $0 == "WATCHDOG=1" }
      }
      // Meant for another process, such as a parent that forgot to clear it.
      try with(.one(), ["WATCHDOG_USEC=200000", "WATCHDOG_PID=1"], awaitsReady: true) { _, manager in
        try manager.await("READY") { $0 == "READY=1" }
        usleep(300_000)
        manager.take()
        #expect(!manager.lines.contains("WATCHDOG=1"))
      }
    }

    @Test("A worker that asks for more time at its start, as for a rescue, has the service manager wait for it")
    func rescue() throws {
      let layout = Layout.one(["--extend", "300000", "--ready-after", "1500"], ["start-deadline": "\"1s\""])
      try with(layout) { roost, manager in
        func asked() -> [Int] {
          manager.lines.filter { $0.hasPrefix("EXTEND_TIMEOUT_USEC=") }
            .compactMap { Int($0.drop { $0 != "=" }.dropFirst()) }
        }
        try manager.await("more time") { _ in (asked().max() ?? 0) > 250_000_000 }
        #expect(!manager.lines.contains("READY=1"))
        try manager.await("READY") { $0 == "READY=1" }
        #expect(try roost.worker().restarts == 0)
      }
    }

    @Test("Sockets that were opened before it are taken: its own by the path, a worker's by the name")
    func sockets() throws {
      let home = try TemporaryDirectory()
      let path = home.path + "/run/roost.sock"
      let script = """
        import os, socket, sys
        os.mkdir(os.path.dirname(sys.argv[1]), 0o700)
        bus = socket.socket(socket.AF_UNIX); bus.bind(sys.argv[1]); bus.listen(8); os.chmod(sys.argv[1], 0o640)
        relay = socket.socket(); relay.bind(("127.0.0.1", 0)); relay.listen(8)
        print(relay.getsockname()[1], flush=True)
        for number, one in ((30, bus), (31, relay)): os.dup2(one.fileno(), number)
        os.dup2(30, 3); os.dup2(31, 4)
        os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2", "LISTEN_FDNAMES": "roost.sock:local-relay"}
        text = open(sys.argv[2]).read().replace("PORT", str(relay.getsockname()[1]))
        open(sys.argv[2], "w").write(text)
        os.execv(sys.argv[3], [sys.argv[3], "--config", sys.argv[2]])
        """
      let configuration = home.path + "/supervisor.conf"
      let programs = SpawnedProcess.builtProgram("roostd").dropLast("/roostd".count)
      let text = """
        [supervisor]
        state-directory = "\(home.path)/state"
        run-directory = "\(home.path)/run"
        log-directory = "none"
        socket = "\(path)"
        allow-uids = [1]
        program-directories = ["\(programs)"]
        [worker.event-store]
        sandbox = "off"
        [worker.local-relay]
        sandbox = "off"
        listen = ["127.0.0.1:PORT"]

        """
      let file = open(configuration, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(text, to: file)
      Descriptors.close(file)
      let daemon = try SpawnedProcess(
        "/usr/bin/python3", ["-c", script, path, configuration, SpawnedProcess.builtProgram("roostd")],
        environment: ["PATH=/usr/bin:/bin", "HOME=\(home.path)"])
      let port = try daemon.readLine { Int($0) != nil }
      for _ in 0..<2 {
        try awaitSoon("the relay answers at its inherited port") {
          let hello = Hello(name: "test", role: "client")
          guard let client = try? BusPeer(socket: path, hello: hello) else { return false }
          let answer = try client.call("supervisor.status")
          let status = try JSONPayload.decode(SupervisorStatus.self, from: answer.terminal.payload)
          return status.workers.allSatisfy { $0.state == "ready" } && status.workers.count == 2
        }
        let page = try SpawnedProcess(
          "/usr/bin/python3",
          [
            "-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).status)",
            "http://127.0.0.1:\(port)/",
          ])
        #expect(try page.readAllOutput().contains("200"))
        // Its next process takes the same socket.
        let client = try BusPeer(socket: path, hello: Hello(name: "test", role: "client"))
        let answer = try client.call("supervisor.status")
        let status = try JSONPayload.decode(SupervisorStatus.self, from: answer.terminal.payload)
        kill(try #require(status.workers.first { $0.name == "local-relay" }?.pid), SIGKILL)
      }
      // Other users may pass its directory; the rights of the socket are the service manager's.
      var status = stat()
      #expect(stat(home.path + "/run", &status) == 0 && status.st_mode & 0o777 == 0o711)
      #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
      daemon.send(SIGTERM)
      #expect(try daemon.waitForEnd() == .exited(0))
      // The file is the service manager's, and so are logs that go to no file.
      #expect(access(path, F_OK) == 0 && access(home.path + "/state/logs", F_OK) != 0)
      #expect(access(home.path + "/run/logs", F_OK) != 0)
    }
  }
}
