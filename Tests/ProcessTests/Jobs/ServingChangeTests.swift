import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What a provider makes of changes around it: of its settings, and of the files that its jobs are.
  @Suite("Serving jobs while things change")
  struct ServingChangeTests {
    /// Writes an executable file as programs are updated: aside, then in the place of the old one.
    private static func put(_ script: String, at path: String, mode: mode_t = 0o700) throws {
      let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
      try Descriptors.writeAll("#!/bin/sh\n\(script)\n", to: file)
      Descriptors.close(file)
      #expect(rename(path + ".new", path) == 0)
    }

    private static func layout(_ program: String, _ keys: [String: String] = [:]) -> Layout {
      var job = ["program": "[\"\(program)\"]"]
      job.merge(keys) { _, new in new }
      return ServingRig.layout(jobs: [Int(ServingRig.kind): job])
    }

    private static func logged(_ rig: ServingRig, _ text: String) throws -> Bool {
      let process = try SpawnedProcess("/usr/bin/grep", ["-ra", "-D", "skip", text, rig.roost.path("log")])
      let found = try process.readAllOutput()
      _ = try process.waitForEnd()
      return !found.isEmpty
    }

    @Test("A request made before its kind was served is taken up once it is, and what was answered is not again")
    func addedKind() throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/job"
      try Self.put("echo done", at: program)
      try ServingRig.run { rig in
        let answered = try rig.ask(5_400, content: #"[{"kinds":[1]}]"#)
        try rig.awaitResult(answered)
        try awaitSoon("it is told") { try rig.job(answered)?.state == .answered }
        let customer = SecretKey.generate()
        let late = UnsignedEvent(
          pubkey: customer.publicKey, createdAt: WallClock.seconds - 7_200, kind: ServingRig.kind, content: "too old"
        ).signed(by: customer)
        #expect(try rig.store.publish(late).isResponse)
        let early = try rig.ask(content: "before")
        let calledOff = try rig.ask(by: customer)
        let deletion = try JobRequest(calledOff).cancellation(createdAt: WallClock.seconds).signed(by: customer)
        #expect(try rig.store.publish(deletion).isResponse)
        // The seq behind them is on the disk when a later request was taken up.
        let next = try rig.ask(5_400, content: #"[{"kinds":[1]}]"#)
        try rig.awaitResult(next)
        try rig.roost.rewrite { layout in
          for index in layout.workers.indices where layout.workers[index].name == "dvm-provider" {
            layout.workers[index].jobs = [Int(ServingRig.kind): ["program": "[\"\(program)\"]"]]
          }
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        #expect(try rig.awaitResult(early).content.text == "done")
        #expect(try rig.results(late).isEmpty && rig.results(calledOff).isEmpty)
        #expect(try rig.results(answered).count == 1 && rig.results(next).count == 1)
        #expect(try rig.jobs().count == 3)
        try rig.kill("dvm-provider")
        let again = try rig.ask(5_400, content: #"[{"kinds":[1]}]"#)
        try rig.awaitResult(again)
        #expect(try rig.jobs().count == 4)
        let status = try ServingRig.status(rig.client)
        #expect(status.services.map(\.taken) == [0, 1, 0], "counters begin with the process")
        #expect(status.countedSince > 1_700_000_000 && status.countedSince <= WallClock.seconds)
      }
    }

    @Test("A program that was replaced is run in its new form, wherever it lies", arguments: [true, false])
    func replaced(isFlat: Bool) throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/job"
      // With a folder beside it, its own folder is not open to the provider: another process is.
      if !isFlat { #expect(mkdir(directory.path + "/models", 0o700) == 0) }
      try Self.put("echo one", at: program)
      try ServingRig.run(Self.layout(program)) { rig in
        let first = try rig.ask()
        #expect(try rig.awaitResult(first).content.text == "one")
        try awaitSoon("it is told") { try rig.job(first)?.state == .answered }
        let pid = try rig.roost.worker("dvm-provider", rig.client).pid
        try Self.put("echo two", at: program)
        #expect(try rig.awaitResult(try rig.ask()).content.text == "two")
        let after = try rig.roost.worker("dvm-provider", rig.client).pid
        #expect((pid == after) == isFlat)
        // More often than a worker may be restarted.
        for number in 3...(isFlat ? 3 : 8) {
          try Self.put("echo \(number)", at: program)
          #expect(try rig.awaitResult(try rig.ask()).content.text == "\(number)")
        }
        #expect(try rig.results(first).count == 1)
      }
    }

    @Test("A program that others may write to, or that is not executable, is not run, and its customer learns no path")
    func unfit() throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/job"
      try Self.put("echo one", at: program)
      try ServingRig.run(Self.layout(program)) { rig in
        for (mode, word) in [(0o777, "Others may write to it: chmod go-w"), (0o600, "is not executable: chmod +x")] {
          #expect(chmod(program, mode_t(mode)) == 0)
          let reason = try rig.awaitError(try rig.ask())
          #expect(!reason.contains("/"), "\(reason)")
          try awaitSoon("the log says what to do") { try Self.logged(rig, word) }
        }
        #expect(chmod(program, 0o700) == 0)
        #expect(try rig.awaitResult(try rig.ask()).content.text == "one")
      }
    }

    @Test("A customer learns why a program has failed and not where anything lies; the log has all of it")
    func pathsStay() throws {
      let script = "echo \"cannot open '/home/alice/My Files/x': no such file\" >&2; exit 3"
      try ServingRig.run(script: script) { rig in
        let request = try rig.ask()
        #expect(try rig.awaitError(request).hasSuffix("ended with code 3: cannot open '…': no such file"))
        try awaitSoon("the log has it") { try Self.logged(rig, "/home/alice/My Files/x") }
        #expect(try rig.job(request)?.reason?.contains("alice") == false)
      }
    }

    @Test("Why a program's words were not passed on is in the log")
    func dropped() throws {
      let script = """
        echo nonsense >&3
        for i in 1 2 3 4 5 6 7 8; do echo '{"status":"processing"}' >&3; done
        echo done
        """
      try ServingRig.run(script: script) { rig in
        try rig.awaitResult(try rig.ask())
        try awaitSoon("the log has it") {
          try Self.logged(rig, "4 faster than one a second, after the first 5; 1 no JSON object")
        }
      }
    }

    @Test("The program among the examples works by hand as its page says")
    func byHand() throws {
      let script = SharedFolder.repository + "/examples/shorten.py"
      let request = #"{"inputs":[{"data":"One. Two.","type":"text"},{"data":"x","type":"url"}]}"#
      let process = try SpawnedProcess("/bin/sh", ["-c", "echo '\(request)' | '\(script)' 3>&1"])
      #expect(
        try process.readAllOutput() == "{\"status\":\"processing\",\"message\":\"reading\"}\nOne\n")
      _ = try process.waitForEnd()
    }

    @Test("A bill that is not paid ends by itself, with a reason that its customer is told")
    func unpaid() throws {
      try ServingRig.run(script: "echo free", ["price": "21000"], worker: ["payment-time": "\"1s\""]) { rig in
        let request = try rig.ask()
        try awaitSoon("it is asked for") { try rig.job(request)?.state == .paymentRequired }
        #expect(try ServingRig.status(rig.client).unpaid == 1 && ServingRig.status(rig.client).waiting == 0)
        // What is due is looked for once a minute, and at a start.
        try awaitSoon("its time is over") { try rig.job(request).map { WallClock.seconds > $0.takenAt + 1 } == true }
        try rig.kill("dvm-provider")
        #expect(try rig.awaitError(request) == "it was not paid in time")
        try awaitSoon("it is over") { try rig.job(request)?.state == .failed }
        #expect(try ServingRig.status(rig.client).unpaid == 0)
      }
    }
  }
}
