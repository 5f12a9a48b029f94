import Clocks
import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Publishing while everything is killed: what was accepted is never lost, and what is written down as taken is never
  /// sent again.
  @Suite("Publishing through deaths")
  struct PublishKillTests {
    @Test(
      "Planner, store, connector and roostd are killed at random: each event reaches both relays, none again after its OK",
      arguments: seeds(1))
    func matrix(seed: UInt64) throws {
      let directory = try TemporaryDirectory()
      let relays = [try AnsweringRelay(directory, "alpha"), try AnsweringRelay(directory, "beta")]
      var layout = Layout.publishing
      // With it the planner knows at once whose events there are.
      layout.workers += Layout.storeAndSigner.workers.filter { $0.name == "signer" }
      try withRoost(layout) { roost in
        var play = try Play(roost, relays, seed: seed)
        try play.run(kills: amount("ROOST_PUBLISH_KILLS", standard: 24))
        try play.settle()
        #expect(play.violations.isEmpty, "\(play.violations.prefix(5))")
        #expect(play.acceptedCount > 24, "\(play.acceptedCount) were accepted, and \(play.againCount) asked for again")
      }
    }

    /// A relay's part in an event.
    private struct Way: Hashable {
      var id: String
      var relay: Int
    }

    private struct Play {
      let roost: RunningRoost
      let relays: [AnsweringRelay]
      var random: SeededGenerator
      var client: PublishClient
      var pending: [UInt64: Event] = [:]
      var toAsk: [Event] = []
      var accepted: [String: Event] = [:]
      /// How often a relay had been sent what was known by then to be written down as taken.
      var final: [Way: Int] = [:]
      var violations: [String] = []
      var againCount = 0
      var acceptedCount: Int { accepted.count }
      let author = SecretKey.generate()
      var number: Int64 = 0

      static let pendingMaximum = 8

      init(_ roost: RunningRoost, _ relays: [AnsweringRelay], seed: UInt64) throws {
        self.roost = roost
        self.relays = relays
        random = SeededGenerator(seed: seed)
        client = try PublishClient(roost)
      }

      mutating func run(kills: Int) throws {
        for _ in 0..<kills {
          let end = Monotonic.seconds + Double.random(in: 0.05...0.8, using: &random)
          while Monotonic.seconds < end { try turn(asksMore: true) }
          if Bool.random(using: &random) { try look() }
          try killSomebody()
        }
      }

      /// Everything is answered, and everything accepted is confirmed.
      mutating func settle() throws {
        let end = Monotonic.seconds + 60
        while !pending.isEmpty || !toAsk.isEmpty, Monotonic.seconds < end { try turn(asksMore: false) }
        try roost.awaitReady()
        client = try PublishClient(roost)
        try awaitSoon("all are confirmed", within: 60) {
          try client.publications(#"{"states":["optimistic","partial"],"limit":10000}"#).isEmpty
        }
        try look()
        for (id, event) in accepted {
          let told = try client.accepted(event, to: relays)
          if told.state != .confirmed { violations.append("\(id) is \(told.state)") }
        }
        let counts = self.counts
        for id in accepted.keys {
          for relay in relays.indices where counts[Way(id: id, relay: relay)] == nil {
            violations.append("\(id) never came to relay \(relay)")
          }
        }
        for (way, count) in final where counts[way] != count {
          violations.append("\(way) was taken at \(count), and came \(counts[way] ?? 0) times")
        }
      }

      private var counts: [Way: Int] {
        var counts: [Way: Int] = [:]
        for relay in relays.indices {
          for id in relays[relay].received { counts[Way(id: id, relay: relay), default: 0] += 1 }
        }
        return counts
      }

      /// What is told as taken is taken: how often it came by now is how often it comes.
      private mutating func look() throws {
        guard let known = try? client.publications(#"{"limit":10000}"#) else { return }
        let counts = self.counts
        for publication in known {
          for target in publication.targets where target.state == .confirmed {
            guard let relay = relays.firstIndex(where: { $0.url == target.relay }) else { continue }
            let way = Way(id: publication.id, relay: relay)
            if final[way] == nil { final[way] = counts[way, default: 0] }
          }
        }
      }

      private mutating func turn(asksMore: Bool) throws {
        client.peer.receive(withinMilliseconds: 2)
        if client.peer.isEnded { return try reconnect() }
        for (id, event) in pending {
          guard let answer = client.peer.takeAnswer(to: id) else { continue }
          pending[id] = nil
          note(answer, event)
        }
        while pending.count < Self.pendingMaximum, client.peer.hasCredit, let event = next(asksMore) {
          let arguments = try PublishClient.arguments(event, relays)
          pending[try client.peer.ask("plan.publish", arguments)] = event
        }
      }

      private mutating func next(_ asksMore: Bool) -> Event? {
        if let event = toAsk.popLast() { return event }
        guard asksMore else { return nil }
        number += 1
        return UnsignedEvent(
          pubkey: author.publicKey, createdAt: 1_700_000_000 + number, kind: 1, content: "\(number)"
        ).signed(by: author)
      }

      private mutating func note(_ answer: BusPeer.Answer, _ event: Event) {
        if answer.isResponse {
          accepted["\(event.id)"] = event
        } else if [.unavailable, .workerDied, .expired, .gone].contains(answer.refusal?.code) {
          againCount += 1
          toAsk.append(event)
        } else {
          violations.append("refused: \(answer.text)")
        }
      }

      private mutating func killSomebody() throws {
        let name = ["outbox-planner", "outbox-planner", "outbox-planner", "event-store", "relay-connector", "roostd"]
          .randomElement(using: &random)!
        if name == "roostd" {
          try roost.killDaemon()
          try awaitSoon("all workers are gone") { roost.livingProcesses.isEmpty }
          return try roost.startAgain()
        }
        guard let pid = try? roost.worker(name).pid, pid > 0 else { return }
        kill(pid_t(pid), SIGKILL)
      }

      private mutating func reconnect() throws {
        againCount += pending.count
        toAsk += pending.values
        pending = [:]
        client = try PublishClient(roost)
      }
    }
  }
}
