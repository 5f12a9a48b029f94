import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("How a Roost shows itself")
  struct StatusPageTests {
    @Test("The page and the figures tell what is so, and come while workers are away")
    func page() throws {
      try withLocalRelay { roost, port in
        let whole = try PlainClient.get("/", port: port)
        #expect(whole.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(whole.contains("All is well") && whole.contains("<code>ws://127.0.0.1:\(port)</code>"))
        #expect(whole.contains("X-Frame-Options: DENY\r\n") && whole.contains("default-src 'none'"))
        let figures = try PlainClient.get("/metrics", port: port)
        #expect(figures.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(figures.contains("\nroost_store_events 0\n") && figures.contains("roost_answers{part=\"store\"} 1"))
        #expect(try roost.command(["stop", "event-store"]).status == .exited(0))
        let without = try PlainClient.get("/", port: port)
        #expect(without.contains("no event store is running") && without.contains("<span>stopped</span>"))
        #expect(try !PlainClient.get("/metrics", port: port).contains("roost_store_events"))
      }
    }

    @Test("A store that answers nothing is told as such, and the page comes all the same")
    func silence() throws {
      try withLocalRelay { roost, port in
        let store = try #require(try roost.worker("event-store").pid)
        kill(pid_t(store), SIGSTOP)
        let page = try PlainClient.get("/", port: port)
        kill(pid_t(store), SIGCONT)
        #expect(page.contains("the event store does not answer") && page.contains("Event store:"))
      }
    }

    @Test("A page of the web waits until its origin is allowed, by the command that is shown, and is cut when denied")
    func clients() throws {
      try withLocalRelay { roost, port in
        let origin = "https://client.example"
        let waiting = try PlainClient.webSocket(port: port, ["Origin: \(origin)"])
        #expect(try PlainClient.get("/", port: port).contains("<code>roost client allow \(origin)</code>"))
        let list = try roost.command(["client", "list"])
        #expect(list.status == .exited(0) && list.output.contains("page \(origin)") && list.output.contains("wait"))
        #expect(try roost.command(["client", "allow", "HTTPS://Client.Example/"]).output.contains("  \(origin)\n"))
        _ = try waiting.answer()
        let admitted = try PlainClient.webSocket(port: port, ["Origin: \(origin)"])
        let clients = try JSONPayload.decode(
          LocalRelayClients.self, from: try roost.command(["client", "list", "--json"]).output.utf8)
        #expect(clients.clients.map(\.isAdmitted) == [true] && clients.allowed == [origin])
        #expect(try roost.command(["client", "deny", origin]).output.contains("No web page is allowed"))
        _ = try admitted.answer()
        let wrong = try roost.command(["client", "allow", "client.example"])
        #expect(wrong.status == .exited(1) && wrong.output.contains("is not an origin"))
      }
    }

    @Test("Without a local relay the commands say what is missing")
    func absence() throws {
      try withRoost(.store) { roost in
        let list = try roost.command(["client", "list"])
        #expect(list.status == .exited(1) && list.output.contains("[worker.local-relay]"))
      }
    }

    @Test(
      "A real Prometheus takes the figures",
      .enabled(if: access(prometheus, X_OK) == 0, "needs Prometheus (Debian: prometheus)"))
    func prometheusTakesThem() throws {
      try withLocalRelay { roost, port in
        let own = try PlainClient.freePort()
        let directory = roost.directory.path
        let text =
          "scrape_configs: [{job_name: roost, scrape_interval: 1s, static_configs: [{targets: ['127.0.0.1:\(port)']}]}]\n"
        let file = open(directory + "/prometheus.yml", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll(text, to: file)
        Descriptors.close(file)
        let process = try SpawnedProcess(
          prometheus,
          [
            "--config.file=\(directory)/prometheus.yml", "--storage.tsdb.path=\(directory)/prometheus",
            "--web.listen-address=127.0.0.1:\(own)", "--log.level=error",
          ])
        func value(_ query: String) throws -> String? {
          // Until it is ready it refuses, in words.
          guard let answer = try? PlainClient.get("/api/v1/query?query=\(query)", port: own),
            answer.hasPrefix("HTTP/1.1 200 "), let body = answer.firstRange(of: "\r\n\r\n")
          else { return nil }
          let told = try JSONPayload.decode(JSONValue.self, from: answer[body.upperBound...].utf8)
          guard case .array(let results)? = told["data"]?["result"], case .array(let pair)? = results.first?["value"],
            case .string(let text)? = pair.last
          else { return nil }
          return text
        }
        try awaitSoon("Prometheus has looked", within: 60) { try value("up") == "1" }
        #expect(try value("roost_store_writable") == "1")
        #expect(try value("sum(roost_worker_up)") == "2")
        process.send(SIGTERM)
        _ = try process.waitForEnd()
      }
    }
  }
}

private let prometheus = "/usr/bin/prometheus"

/// Runs a test against a store and a local relay, which listens at a port of the loopback.
private func withLocalRelay(_ body: (RunningRoost, UInt16) throws -> Void) throws {
  let port = try PlainClient.freePort()
  var layout = Layout.store
  layout.workers.append(
    Layout.Worker(
      name: "local-relay",
      keys: [
        "role": "\"local-relay\"", "program": "\"\(SpawnedProcess.builtProgram("local-relay"))\"",
        "sandbox": "\"try\"", "listen": "[\"127.0.0.1:\(port)\"]",
      ]))
  try withRoost(layout) { roost in try body(roost, port) }
}
