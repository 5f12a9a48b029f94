import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What must not keep a provider's loop: the disk. And what it is asked while it has no room.
  @Suite("A provider that has to wait, or has no room")
  struct ServingStallTests {
    private static func put(
      _ script: String, at path: String, mode: mode_t = 0o700, interpreter: String = "/bin/sh"
    ) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
      try Descriptors.writeAll("#!\(interpreter)\n\(script)\n", to: file)
      Descriptors.close(file)
    }

    @Test("While the folders of programs cannot be looked through, nor removed, it answers all the same")
    func folders() throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/job"
      try Self.put("echo done", at: program)
      let faults = try Faults()
      let variables = #"["PATH", "LD_PRELOAD", "ROOST_TEST_FAULTS"]"#
      var layout = ServingRig.layout(
        ["environment": variables], jobs: [Int(ServingRig.kind): ["program": "[\"\(program)\"]"]])
      layout.environment = faults.environment
      try ServingRig.run(layout) { rig in
        faults.holdFolders()
        // However the test ends: roostd waits for its workers.
        defer { faults.end() }
        let request = try rig.ask()
        // The look at what the program takes; and when that has ended, the removal of its folder.
        try awaitSoon("two walks are held up") { faults.hits(.folder) >= 2 }
        #expect(try ServingRig.status(rig.client).services.contains { $0.kind == ServingRig.kind && $0.running == 1 })
        let count = try rig.ask(5_400, content: #"[{"kinds":[1]}]"#)
        #expect(try rig.awaitResult(count).content.text == "0")
        #expect(try rig.results(request).isEmpty)
        faults.end()
        #expect(try rig.awaitResult(request).content.text == "done")
      }
    }

    @Test("A clock that was ahead when the provider began, and is set right, leaves it deaf to nobody")
    func clockSetBack() throws {
      let faults = try Faults()
      faults.setClock(ahead: 3 * 3_600)
      var layout = ServingRig.layout(["environment": #"["PATH", "LD_PRELOAD", "ROOST_TEST_FAULTS"]"#])
      layout.environment = faults.environment
      try ServingRig.run(layout) { rig in
        let early = try rig.ask(5_400, content: #"[{"kinds":[1]}]"#)
        // By its clock that request is three hours old, and it takes those of one hour.
        #expect(try rig.results(early).isEmpty)
        faults.setClock(ahead: 0)
        #expect(try rig.awaitResult(early).content.text == "0")
        #expect(try rig.awaitResult(rig.ask(5_400, content: #"[{"kinds":[1]}]"#)).content.text == "0")
        faults.setClock(ahead: -2 * 3_600)
        #expect(try rig.jobs().count == 2, "nobody is answered twice")
      }
    }

    @Test(
      "What strangers ask for while there is no room is done when there is, also by the next process",
      arguments: [false, true])
    func room(isKilled: Bool) throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/job"
      try Self.put("while [ ! -e \(directory.path)/go ]; do sleep 0.1; done; echo done", at: program)
      let job = ["program": "[\"\(program)\"]", "read": "[\"\(directory.path)\"]", "repeatable": "true"]
      let worker = ["waiting-maximum": "8", "concurrent": "1"]
      try ServingRig.run(ServingRig.layout(worker, jobs: [Int(ServingRig.kind): job])) { rig in
        let customers = (0..<8).map { _ in SecretKey.generate() }
        var requests = try customers.map { try rig.ask(by: $0) }
        // One has the place, four wait, three find no room.
        try awaitSoon("some are passed over") {
          let status = try ServingRig.status(rig.client)
          return status.passedOver == 3 && status.waiting == 4
        }
        if isKilled {
          // One is called off: that is written, and with it how far the store was looked at. Two have no room still.
          let gone = requests.remove(at: 1)
          let deletion = try JobRequest(gone).cancellation(createdAt: WallClock.seconds).signed(by: customers[1])
          #expect(try rig.store.publish(deletion).isResponse)
          try awaitSoon("another one has its place") { try rig.jobs().count == 6 }
          try rig.kill("dvm-provider")
        }
        try Self.put("", at: directory.path + "/go")
        for request in requests { #expect(try rig.awaitResult(request).content.text == "done") }
      }
    }

    @Test("A last line of a program's errors that is blank is no reason: the last one before it is")
    func blankReason() throws {
      try ServingRig.run(script: "printf '\\n no such model\\n  \\n\\n' >&2; exit 3") { rig in
        let reason = try rig.awaitError(try rig.ask())
        #expect(reason.hasSuffix("ended with code 3:  no such model"), "\(reason)")
      }
    }

    @Test("The doctor tells the program of a job that is missing, or not executable, and when all are well")
    func doctor() throws {
      let directory = try TemporaryDirectory()
      let (good, bad) = (directory.path + "/good", directory.path + "/bad")
      try Self.put("echo done", at: good)
      try Self.put("echo done", at: bad, mode: 0o600)
      let astray = directory.path + "/astray"
      try Self.put("", at: astray, interpreter: "/usr/bin/python9")
      let programs = [5_001: good, 5_002: bad, 5_003: directory.path + "/none", 5_004: astray]
      let jobs = programs.mapValues { ["program": "[\"\($0)\"]"] }
      try ServingRig.run(ServingRig.layout(jobs: jobs)) { rig in
        func checks() throws -> [DoctorResult.Check] {
          let answer = try rig.client.call("supervisor.doctor")
          return try JSONPayload.decode(DoctorResult.self, from: answer.terminal.payload).checks
            .filter { $0.name.hasPrefix("job") }
        }
        let found = try checks()
        #expect(found.map(\.name) == ["job 5002", "job 5003", "job 5004"], "\(found)")
        #expect(found.allSatisfy { !$0.isGood }, "\(found)")
        #expect(found.first?.text.contains("is not executable: chmod +x \(bad)") == true, "\(found)")
        #expect(found.dropFirst().first?.text.contains("/none, is not there") == true, "\(found)")
        #expect(found.last?.text.contains("asks in its first line for /usr/bin/python9, which") == true, "\(found)")
        #expect(chmod(bad, 0o700) == 0)
        try Self.put("echo done", at: directory.path + "/none")
        try Self.put("echo done", at: astray)
        let mended = try checks()
        #expect(mended.map(\.name) == ["job programs"] && mended.allSatisfy(\.isGood), "\(mended)")
      }
    }
  }
}
