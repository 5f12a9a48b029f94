import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("What is shown of jobs")
  struct JobFiguresTests {
    /// Everything that has to do with jobs, with a local relay that shows them.
    private func run(_ body: (RunningRoost, BusPeer, UInt16) throws -> Void) throws {
      let port = try RelayVisitor.freePort()
      var layout = JobRig.layout()
      layout.workers += ServingRig.layout(["customers": "\"accounts\""]).workers.filter { $0.name == "dvm-provider" }
      try withRoost(.localRelay(port: port, beside: layout)) { roost in
        let client = try roost.client()
        try awaitSoon("the provider says who answers") { try ServingRig.status(client).provider != nil }
        try body(roost, client, port)
      }
    }

    private func submit(_ text: String, _ client: BusPeer, until state: Job.State) throws {
      let answer = try client.call("job.submit", text)
      #expect(answer.isResponse, "\(answer.text)")
      let job = try JSONPayload.decode(Job.self, from: answer.terminal.payload)
      try awaitSoon("the job is \(state)") {
        let shown = try client.call("job.show", #"{"job":"\#(job.id)"}"#)
        return try JSONPayload.decode(Job.self, from: shown.terminal.payload).state == state
      }
    }

    private func figures(_ port: UInt16) throws -> String {
      let answer = try PlainClient.get("/metrics", port: port)
      let body = try #require(answer.firstRange(of: "\r\n\r\n"))
      return String(answer[body.upperBound...])
    }

    @Test("The figures and the page tell jobs that others do and those done for others, and come without the workers")
    func shown() throws {
      try run { roost, client, port in
        try submit(#"{"kind":5302,"params":[["search","hello"]]}"#, client, until: .settled)
        // The provider counts when the store has answered it, who may have told the tracker before.
        var text = ""
        try awaitSoon("it is counted") {
          text = try figures(port)
          return text.contains("roost_serving_answered_total{kind=\"5302\"} 1\n")
        }
        for line in [
          "roost_jobs{state=\"settled\"} 1", "roost_jobs_results_total 1", "roost_jobs_writable 1",
          "roost_serving_answered_total{kind=\"5302\"} 1", "roost_serving_failed_total{kind=\"5302\"} 0",
          "roost_serving_waiting 0", "roost_answers{part=\"jobs\"} 1", "roost_answers{part=\"serving\"} 1",
        ] {
          #expect(text.split(separator: "\n").contains(Substring(line)), "\(line) in \(text)")
        }
        try checkByPrometheus(text, roost.directory.path + "/figures")
        let page = try PlainClient.get("/", port: port)
        #expect(page.contains("<h2>Jobs</h2>") && page.contains("<span>0 open</span>") && page.contains("1 settled"))
        for worker in ["dvm-tracker", "dvm-provider"] {
          #expect(try roost.command(["stop", worker]).status == .exited(0))
        }
        #expect(try !figures(port).contains("roost_jobs") && !figures(port).contains("roost_serving"))
        let without = try PlainClient.get("/", port: port)
        #expect(without.hasPrefix("HTTP/1.1 200 ") && !without.contains("<h2>Jobs</h2>"))
      }
    }

    /// What Prometheus's own tool says, where it is there.
    private func checkByPrometheus(_ text: String, _ path: String) throws {
      let tool = "/usr/bin/promtool"
      guard access(tool, X_OK) == 0 else { return }
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll(text, to: file)
      lseek(file, 0, SEEK_SET)
      let process = try SpawnedProcess(tool, ["check", "metrics"], descriptors: [0: file])
      let said = try process.readAllOutput()
      #expect(try process.waitForEnd() == .exited(0), "\(said)")
    }

    @Test("The doctor tells jobs that no relay has, and ledgers that were damaged until their files are removed")
    func examined() throws {
      try run { roost, client, _ in
        #expect(try roost.command(["doctor"]).output.contains("none without a relay"))
        let wanted = #"{"kind":5050,"reach":"relays","inputs":[{"data":"hello","type":"text"}]}"#
        try submit(wanted, client, until: .published)
        try awaitSoon("no relay is known") { try roost.command(["doctor"]).output.contains("1 open job has no relay") }
        #expect(try roost.command(["doctor"]).status == .exited(1))

        #expect(try roost.command(["stop", "dvm-tracker"]).status == .exited(0))
        let state = roost.directory.path + "/state/dvm-tracker"
        let file = open(state + "/jobs.db", O_WRONLY | O_TRUNC | O_CLOEXEC)
        try Descriptors.writeAll(String(repeating: "nonsense", count: 8_192), to: file)
        Descriptors.close(file)
        #expect(try roost.command(["start", "dvm-tracker"]).status == .exited(0))
        try roost.awaitReady()
        let told = try roost.command(["doctor"]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
          told.contains("dvm-tracker found its ledger jobs.db damaged") && told.contains("jobs.db.damaged-"), "\(told)")
        let checks = try JSONPayload.decode(
          DoctorResult.self, from: try client.call("supervisor.doctor").terminal.payload
        ).checks
        let text = try #require(checks.first { $0.name == "ledgers" }?.text)
        let path = try #require(text.split(separator: " ").first { $0.contains(".damaged-") })
        #expect(unlink(String(path)) == 0, "\(text)")
        #expect(try roost.command(["doctor"]).output.contains("none is known to have been damaged"))

        #expect(try roost.command(["stop", "dvm-tracker"]).status == .exited(0))
        #expect(truncate(state + "/jobs.db", 0) == 0)
        #expect(try roost.command(["start", "dvm-tracker"]).status == .exited(0))
        try roost.awaitReady()
        let empty = try roost.command(["doctor"]).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
          empty.contains("dvm-tracker found its ledger jobs.db empty") && empty.contains("jobs.db.damaged-"), "\(empty)"
        )
        let log = try roost.command(["logs", "dvm-tracker"]).output
        #expect(log.contains("had no bytes"), "\(log)")
      }
    }

    @Test(
      "The doctor tells a disk that is too full for programs, and what it stops", .enabled(if: SmallDisk.isPossible))
    func nearlyFull() throws {
      let disk = try SmallDisk(kibibytes: 100 << 10)
      var layout = ServingRig.layout(jobs: [Int(ServingRig.kind): ["program": "[\"/bin/cat\"]"]])
      layout.supervisor = ["state-directory": "\"\(disk.path)\""]
      try withRoost(layout) { roost in
        let doctor = try roost.command(["doctor"])
        let told = doctor.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(doctor.status == .exited(1), "\(told)")
        #expect(told.contains("✗ state directory \(disk.path) has ") && told.contains("below 128 MiB"), "\(told)")
        #expect(told.contains("(dvm-provider) are ended"), "\(told)")
        // Without a program nothing is stopped yet.
        try roost.rewrite { $0.workers.removeAll { $0.name == "dvm-provider" } }
        #expect(try roost.command(["reload"]).status == .exited(0))
        // It is there until it has ended.
        try awaitSoon("nothing is stopped", within: 30, every: 200) {
          try roost.command(["doctor"]).output.contains("✓ state directory")
        }
      }
    }
  }
}
