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

    @Test("Figures over time come soon, and are there after a kill; a damaged file is set aside")
    func figures() throws {
      try withLocalRelay { roost, port in
        #expect(try PlainClient.get("/", port: port).contains("The first figures come within five minutes."))
        func isDrawn() throws -> Bool { try PlainClient.get("/", port: port).contains("<h3>Events stored</h3>") }
        try awaitSoon("the first sample", within: 30) { try isDrawn() }
        func again(_ what: String) throws {
          let pid = try #require(try roost.worker("local-relay").pid)
          kill(pid_t(pid), SIGKILL)
          try awaitSoon(what, within: 30) {
            // While it starts, nothing listens.
            guard let now = try roost.worker("local-relay").pid, now != pid,
              let page = try? PlainClient.get("/", port: port)
            else { return false }
            return page.contains("All is well") || page.contains("needs attention")
          }
        }
        try again("the page after a kill")
        #expect(try isDrawn())
        #expect(try roost.command(["stop", "local-relay"]).status == .exited(0))
        let path = roost.directory.path + "/state/local-relay/figures.db"
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        try Descriptors.writeAll(String(repeating: "not a database ", count: 1_000), to: file)
        Descriptors.close(file)
        #expect(try roost.command(["start", "local-relay"]).status == .exited(0))
        #expect(try !isDrawn())
        #expect(try roost.command(["logs", "local-relay"]).output.contains("the file of figures was damaged"))
        try awaitSoon("a new sample", within: 30) { try isDrawn() }
      }
    }
  }
}

/// Runs a test against a store and a local relay, which listens at a port of the loopback.
func withLocalRelay(_ body: (RunningRoost, UInt16) throws -> Void) throws {
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
