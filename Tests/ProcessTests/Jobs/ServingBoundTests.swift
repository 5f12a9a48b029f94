import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

// Bounds on what a job's program takes of the kernel: threads, and memory in sockets, wherever it puts them.

extension ProcessTests.ServingHostileTests {
  /// Why a program in Python was ended.
  private func reasonOfPython(_ text: String, _ keys: [String: String] = [:]) throws -> String {
    try reason("exec /usr/bin/python3 -c '\(text)'", keys)
  }

  @Test("One that starts more threads than it may have is ended, in one process or in several")
  func threads() throws {
    let crowd = """
      import os, threading, time
      for i in range(%d):
          if os.fork() == 0: break
      for i in range(%d): threading.Thread(target=time.sleep, args=(600,)).start()
      """
    for (forks, threads) in [(0, 20), (3, 4)] {
      let text = crowd.replacing("%d", with: "\(forks)", maxReplacements: 1).replacing("%d", with: "\(threads)")
      // Where the kernel keeps the bound, the thread is not made and Python says so.
      let told = try reasonOfPython(text)
      #expect(told.contains("threads, and 8 processes and threads are allowed") || told.contains("start new thread"))
    }
  }

  @Test("One that leaves its session or its parents is ended at the bound all the same")
  func leaving() throws {
    let text = """
      import os, time
      def leave():
          for call in (os.setsid, lambda: os.setpgid(0, 0)):
              try: call()
              except OSError: pass
      leave()
      for i in range(20):
          if os.fork() == 0:
              leave()
              if os.fork() == 0:
                  leave()
                  time.sleep(600)
              os._exit(0)
      time.sleep(600)
      """
    let told = try reasonOfPython(text)
    #expect(told.contains("processes, and 8 are allowed") || told.contains("Resource temporarily unavailable"))
  }

  /// Fills sockets that it has not in hand, and sleeps.
  private static let network = ["network": "true"]

  @Test("One that hides sockets in messages between sockets is ended")
  func socketsInMessages() throws {
    let text = """
      import array, socket, time
      near, far = socket.socketpair()
      for i in range(40):
          a, b = socket.socketpair()
          a.setblocking(False)
          try:
              while True: a.send(b"x" * 65536)
          except BlockingIOError: pass
          near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [a.fileno(), b.fileno()]))])
          a.close(); b.close()
      time.sleep(600)
      """
    #expect(try reasonOfPython(text, Self.network).contains("sockets can hold"))
    // Without the network no message carries anything.
    #expect(try reasonOfPython(text).contains("Operation not permitted"))
  }

  @Test("One that hides a file in a message between sockets is ended")
  func filesInMessages() throws {
    let text = """
      import array, os, socket, time
      near, far = socket.socketpair()
      f = open("f", "wb"); os.unlink("f"); f.write(b"x" * (1 << 20)); f.flush()
      near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f.fileno()]))])
      f.close()
      time.sleep(600)
      """
    #expect(try reasonOfPython(text, Self.network).contains("messages between its sockets"))
  }

  @Test("One that fills connections which it does not accept, or has closed, is ended")
  func connectionsNotAccepted() throws {
    let text = """
      import socket, time
      listener = socket.socket()
      listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
      listener.bind(("127.0.0.1", 0)); listener.listen(100)
      for i in range(100):
          s = socket.create_connection(listener.getsockname())
          s.setblocking(False)
          end = time.time() + 0.2
          while time.time() < end:
              try: s.send(b"x" * 65536)
              except BlockingIOError: time.sleep(0.001)
          s.close()
      time.sleep(600)
      """
    #expect(try reasonOfPython(text, Self.network.merging(["time": "\"20s\""]) { $1 }).contains("its sockets hold"))
  }

  @Test("One with the network makes no connections of kinds that are not counted")
  func rareProtocols() throws {
    let text = """
      import socket
      for kind, number in ((socket.SOCK_STREAM, 262), (socket.SOCK_STREAM, 132), (socket.SOCK_SEQPACKET, 132)):
          try:
              socket.socket(socket.AF_INET, kind, number)
              print(number)
          except OSError: pass
      print("fine")
      """
    try ServingRig.run(script: "exec /usr/bin/python3 -c '\(text)'", Self.network) { rig in
      let result = try rig.awaitResult(rig.ask())
      #expect(result.content.text == "fine")
    }
  }
}

extension ProcessTests {
  /// A kernel without Landlock: one whose calls for it are denied to roostd and to all that it starts.
  @Suite("Jobs of strangers without Landlock")
  struct ServingWithoutLandlockTests {
    /// For `env`: makes the denial, then becomes what follows.
    private static func denial(_ directory: TemporaryDirectory) throws -> [String] {
      let text = """
        import ctypes, os, struct, sys
        LOAD, EQUAL, RETURN, ENOSYS = 0x20, 0x15, 0x06, 38
        code = [(LOAD, 0, 0, 0)]
        for number in (444, 445, 446): code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, 0x00050000 | ENOSYS)]
        code += [(RETURN, 0, 0, 0x7fff0000)]
        filter = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(filter)))
        call = ctypes.CDLL(None, use_errno=True).prctl
        assert call(38, 1, 0, 0, 0) == 0 and call(22, 2, program, 0, 0) == 0
        os.execv(sys.argv[1], sys.argv[1:])
        """
      let file = open(directory.path + "/deny.py", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll(text, to: file)
      return ["/usr/bin/python3", directory.path + "/deny.py"]
    }

    @Test("They are not done; the check, the log and the doctor say why and what to do")
    func without() throws {
      let directory = try TemporaryDirectory()
      let jobs = [Int(ServingRig.kind): ["program": "[\"/bin/echo\", \"hello\"]"]]
      var layout = ServingRig.layout(jobs: jobs)
      layout.environment = try Self.denial(directory)
      try ServingRig.run(layout) { rig in
        let reason = try rig.awaitError(rig.ask())
        #expect(reason.contains("sandbox cannot be made"))
        let doctor = try rig.client.call("supervisor.doctor").terminal.payload
        let result = try JSONPayload.decode(DoctorResult.self, from: doctor)
        let check = try #require(result.checks.first { $0.name == "programs for strangers" })
        #expect(!check.isGood && check.text.contains("customers = \"accounts\""))
        #expect(rig.roost.said.contains("this kernel has no Landlock in force (ENOSYS)"))
        let output = rig.roost.path("check.out")
        let file = open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { Descriptors.close(file) }
        let checking = try SpawnedProcess(
          "/usr/bin/env",
          layout.environment + [SpawnedProcess.builtProgram("roostd"), "--check", "--config", rig.roost.configuration],
          environment: ["PATH=/usr/bin:/bin", "HOME=\(directory.path)"], descriptors: [1: file, 2: file])
        #expect(try checking.waitForEnd() == .exited(0))
        let said = String(decoding: SharedFolder.bytes(ofFile: output) ?? [], as: UTF8.self)
        #expect(said.contains("[worker.dvm-provider] customers: this kernel has no Landlock in force"))
      }
    }
  }
}
