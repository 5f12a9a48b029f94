import Contracts
import Frames
import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// Changed configurations, also while an earlier change is not done with.
  @Suite("Reloads")
  struct ReloadTests {
    @Test("A worker that comes back into the configuration before it has left it is started anew, once")
    func backBeforeGone() throws {
      try withRoost(.one(["--ignore-term"])) { roost in
        let workers = roost.layout.workers
        let client = try roost.client()
        let old = try roost.worker("example", client).pid
        try roost.rewrite { $0.workers = [] }
        _ = try client.call("supervisor.reload")
        #expect(try client.call("supervisor.start", #"{"worker":"example"}"#).refusal?.code == .unavailable)
        try roost.rewrite { $0.workers = workers }
        _ = try client.call("supervisor.reload")
        try awaitSoon("one worker, and another than before", within: 20) {
          let all = try roost.status(client).workers
          return all.count == 1 && all[0].state == "ready" && all[0].pid != old
        }
      }
    }

    @Test("Reloads that take a worker out and put it back, at any moment, end with one that runs")
    func reloadStorm() throws {
      try withRoost { roost in
        let workers = roost.layout.workers
        for round in 0..<40 {
          try roost.rewrite { $0.workers = round % 2 == 0 ? [] : workers }
          roost.daemon.send(SIGHUP)
          usleep(UInt32.random(in: 0...60_000))
        }
        let client = try roost.client()
        try awaitSoon("one worker that runs", within: 20) {
          let all = try roost.status(client).workers
          return all.count == 1 && all[0].state == "ready"
        }
        #expect(try client.call("example.echo", "here").text == "here")
      }
    }

    @Test("A worker whose role changes leaves, and comes again with the new one")
    func otherRole() throws {
      try withRoost { roost in
        let client = try roost.client()
        try roost.rewrite { $0.workers[0].keys["role"] = "\"other\"" }
        let file = open(roost.configuration, O_WRONLY | O_APPEND)
        let role = Array("[role.other]\nserves = [\"other.*\"]\n".utf8)
        #expect(write(file, role, role.count) == role.count)
        close(file)
        let answer = try client.call("supervisor.reload")
        #expect(answer.isResponse, "\(answer.text)")
        try awaitSoon("the new role", within: 20) { try roost.worker("example", client).role == "other" }
      }
    }

    @Test("A reload starts a failed worker whose settings changed, and says of one whose did not that it stays so")
    func failed() throws {
      var layout = Layout.one()
      layout.workers[0].keys["breaker-restarts"] = "1"
      try withRoost(layout) { roost in
        let client = try roost.client()
        try roost.rewrite { $0.workers[0].keys["program"] = "\"/bin/false\"" }
        func reload(_ json: String = "{}") throws -> ReloadResult {
          let answer = try client.call("supervisor.reload", json)
          return try JSONPayload.decode(ReloadResult.self, from: answer.terminal.payload)
        }
        #expect(try reload().changes.first?.contains("changed, restarts") == true)
        try roost.awaitWorker("example", "has failed", within: 60, client) { $0.state == "failed" }
        let idle = try reload()
        #expect(idle.changes.isEmpty && idle.remarks == ["example stays failed: roost start example"], "\(idle)")
        try roost.rewrite { $0.workers[0].keys["program"] = nil }
        let told = try reload(#"{"dryRun":true}"#)
        #expect(told.changes.first?.contains("changed, is started: it had failed") == true, "\(told)")
        #expect(try roost.worker("example", client).state == "failed")
        let done = try reload()
        #expect(done.changes == told.changes && done.remarks == nil, "\(done)")
        try roost.awaitReady()
        _ = try client.call("supervisor.hold", #"{"worker":"example"}"#)
        try roost.rewrite { $0.workers[0].keys["program"] = "\"/bin/false\"" }
        #expect(try reload().changes.first?.contains("in force when it is started") == true)
        #expect(try roost.worker("example", client).state == "held")
      }
    }

    @Test("A reload, and one that only asks, tell what is allowed and hardly meant")
    func warnings() throws {
      try withRoost { roost in
        let client = try roost.client()
        func warnings(_ json: String) throws -> [String]? {
          let answer = try client.call("supervisor.reload", json)
          return try JSONPayload.decode(ReloadResult.self, from: answer.terminal.payload).warnings
        }
        #expect(try warnings("{}") == nil)
        try roost.rewrite { $0.log["levels"] = #"{ relya = "debug" }"# }
        for json in [#"{"dryRun":true}"#, "{}"] {
          let told = try warnings(json) ?? []
          #expect(told.count == 1 && told[0].contains("category 'relya'"), "\(told)")
        }
        let lines = try client.call("supervisor.logs", #"{"worker":"roostd","lines":50}"#).text
        #expect(lines.contains("category 'relya'"), "\(lines)")
      }
    }
  }
}
