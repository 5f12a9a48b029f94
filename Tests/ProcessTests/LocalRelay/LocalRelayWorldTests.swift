import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What goes from the local relay to the relays out there, and what stays.
  @Suite(
    "The local relay and the world", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh")
  )
  struct LocalRelayWorldTests {
    private func run(_ body: (LocalRelayHouse, RelayVisitor) throws -> Void) throws {
      let relay = try RealRelay()
      let port = try #require(relay.url.split(separator: ":").last.flatMap { UInt16($0.prefix { $0.isNumber }) })
      try LocalRelayHouse.run(beside: PlannerRig.layout([relay.url])) { house in
        try body(house, try RelayVisitor(port: port))
      }
    }

    private func expect(_ event: Event, at relay: RelayVisitor) throws {
      try awaitSoon("the relay has \(event.id)") {
        try relay.request("{\"ids\":[\"\(event.id)\"]}").ids == ["\(event.id)"]
      }
    }

    @Test("What an account signs goes out; what a stranger signs stays here, unless an account brings it")
    func publishing() throws {
      try run { house, relay in
        let (visitor, alice, stranger) = (try house.visitor(), Author(), Author())
        try house.account(of: alice)
        let (kept, brought, mine) = (stranger.event("stays"), stranger.event("is brought"), alice.event("mine"))
        #expect(try visitor.publish(kept).isAccepted)
        #expect(try visitor.publish(mine) == .init(isAccepted: true, reason: ""))
        try expect(mine, at: relay)
        _ = try visitor.authenticate(showing: alice, to: house)
        #expect(try visitor.publish(brought).isAccepted)
        try expect(brought, at: relay)
        #expect(try relay.request("{\"ids\":[\"\(kept.id)\"]}").ids.isEmpty)
        #expect(try Set(visitor.request("{\"kinds\":[1]}").ids) == Set([kept, mine, brought].ids))
      }
    }

    @Test("Who has become an account a moment ago is known for one, however the news and what he sends race")
    func newAccount() throws {
      try LocalRelayHouse.run(beside: PlannerRig.layout([])) { house in
        let pid = pid_t(try #require(try house.roost.worker("local-relay", house.client).pid))
        for round in 0..<9 {
          let (alice, visitor) = (Author(), try house.visitor())
          let page = try house.visitor("Origin: https://page.example")
          _ = try page.request("{}")
          let (note, shown) = (
            alice.event("mine"), alice.authentication(try #require(page.challenge), for: house.url)
          )
          func send() {
            visitor.send("[\"EVENT\",\(String(decoding: note.json, as: UTF8.self))]")
            page.send("[\"AUTH\",\(String(decoding: shown.json, as: UTF8.self))]")
          }
          // The news come before the messages; in one moment with them; in one moment with them, and behind them.
          if round % 3 != 0 { Glibc.kill(pid, SIGSTOP) }
          defer { Glibc.kill(pid, SIGCONT) }
          if round % 3 == 2 { send() }
          try house.account("a\(round)", of: alice)
          if round % 3 != 2 { send() }
          Glibc.kill(pid, SIGCONT)
          let verdict = try visitor.verdict(on: "\(note.id)")
          #expect(verdict.isAccepted && verdict.reason.contains("sent nowhere"), "for the world: \(verdict)")
          #expect(try page.verdict(on: "\(shown.id)").isAccepted)
          #expect(try page.request("{}").refusal == nil)
        }
      }
    }

    @Test("Who the accounts are is known from the first event on, whoever dies and whoever starts first")
    func knownAccount() throws {
      try run { house, relay in
        let alice = Author()
        try house.account(of: alice)
        try house.visitor().put(alice.event("before"))
        for name in ["local-relay", "signer"] {
          try house.kill(name)
          let event = alice.event("after \(name)")
          try house.visitor().put(event)
          try expect(event, at: relay)
        }
        try house.roost.killDaemon()
        try awaitSoon("all workers are gone") { house.roost.livingProcesses.isEmpty }
        try house.roost.startAgain()
        let event = alice.event("after all")
        try house.awaitVisitor().put(event)
        try expect(event, at: relay)
      }
    }
  }
}
