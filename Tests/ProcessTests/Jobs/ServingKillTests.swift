import Clocks
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Jobs while everything is killed: one result for each request, however often anything dies.
  @Suite("Serving jobs through deaths")
  struct ServingKillTests {
    @Test("Provider, store and signer are killed at random: each request has one result", arguments: seeds(1))
    func matrix(seed: UInt64) throws {
      let jobs = [
        Int(ServingRig.kind): [
          "program": "[\"/bin/sh\", \"-c\", 'sleep 0.05; echo worked']", "repeatable": "true", "concurrent": "4",
        ]
      ]
      try ServingRig.run(ServingRig.layout(jobs: jobs)) { rig in
        var random = SeededGenerator(seed: seed)
        var requests: [Event] = []
        for _ in 0..<amount("ROOST_SERVING_KILLS", standard: 12) {
          for kind in [ServingRig.kind, 5_400] {
            requests.append(try rig.ask(kind, until: 30, content: kind == 5_400 ? "[{}]" : ""))
          }
          // At some moment of their work: nothing is awaited here, and any moment will do.
          usleep(UInt32.random(in: 0...120_000, using: &random))
          try rig.kill(["dvm-provider", "event-store", "signer"].randomElement(using: &random) ?? "signer")
        }
        try rig.roost.awaitReady()
        for request in requests { try rig.awaitResult(request, within: 60) }
        // Another look, when everything that could still come has come.
        try awaitSoon("nothing is under way") { try rig.jobs().allSatisfy { $0.endedAt != nil } }
        for request in requests { #expect(try rig.results(request).count == 1) }
      }
    }

    @Test("Supervisor and workers die at once behind each step of a request, and it has one result", arguments: 1...3)
    func everything(step: Int) throws {
      let job = ["program": "[\"/bin/sh\", \"-c\", 'sleep 0.5; echo worked']", "repeatable": "true"]
      try ServingRig.run(ServingRig.layout(jobs: [Int(ServingRig.kind): job])) { first in
        let requests = [try first.ask(), try first.ask(5_400, content: "[{\"kinds\":[2]}]")]
        if step > 1 { try awaitSoon("it runs") { try first.job(requests[0])?.state == .running } }
        if step > 2 { for request in requests { try first.awaitResult(request) } }
        try first.roost.killDaemonAndWorkers()
        try first.roost.startAgain()
        let rig = try ServingRig(first.roost)
        #expect(rig.provider == first.provider)
        for request in requests { try rig.awaitResult(request, within: 60) }
        try awaitSoon("nothing is under way") { try rig.jobs().allSatisfy { $0.endedAt != nil } }
        for request in requests { #expect(try rig.results(request).count == 1) }
      }
    }

    @Test("A program that may not be run again is run once, and its customer is told that it was interrupted")
    func interrupted() throws {
      try ServingRig.run(script: "sleep 600") { rig in
        let request = try rig.ask()
        try awaitSoon("it runs") { try rig.job(request)?.state == .running && !rig.jobProcesses.isEmpty }
        try rig.kill("dvm-provider")
        #expect(try rig.awaitError(request).hasPrefix("interrupted"))
        #expect(try rig.job(request)?.state == .failed)
        try awaitSoon("nothing of it is left") { rig.jobProcesses.isEmpty }
      }
    }

    @Test("A killed provider leaves nothing that its programs have started")
    func orphans() throws {
      try ServingRig.run(script: "(sleep 600 &) ; (sleep 600 &) ; sleep 600") { rig in
        let request = try rig.ask()
        try awaitSoon("it has children") { rig.sleepers.count >= 3 }
        try rig.kill("dvm-provider")
        try awaitSoon("they are gone") { rig.sleepers.isEmpty }
        _ = try rig.awaitError(request)
      }
    }

    @Test("What was asked while the provider was stopped is answered when it starts, and never twice")
    func stopped() throws {
      try ServingRig.run { rig in
        let before = try rig.ask(5_400, content: "[{\"kinds\":[2]}]")
        try rig.awaitResult(before)
        #expect(try rig.client.call("supervisor.stop", #"{"worker":"dvm-provider"}"#).isResponse)
        let request = try rig.ask(5_400, content: "[{\"kinds\":[2]}]")
        #expect(try rig.client.call("supervisor.start", #"{"worker":"dvm-provider"}"#).isResponse)
        #expect(try rig.awaitResult(request).content.text == "0")
        #expect(try rig.results(before).count == 1)
      }
    }

    @Test("What was answered is not answered again when the ledger is gone")
    func ledgerGone() throws {
      try ServingRig.run { rig in
        let before = try rig.ask(5_400, content: "[{\"kinds\":[2]}]")
        try rig.awaitResult(before)
        #expect(try rig.client.call("supervisor.stop", #"{"worker":"dvm-provider"}"#).isResponse)
        let ledger = rig.roost.directory.path + "/state/dvm-provider/served-jobs.db"
        #expect(unlink(ledger) == 0)
        // They may be gone with the last connection.
        for ending in ["-wal", "-shm"] { _ = unlink(ledger + ending) }
        #expect(try rig.client.call("supervisor.start", #"{"worker":"dvm-provider"}"#).isResponse)
        let after = try rig.ask(5_400, content: "[{\"kinds\":[3]}]")
        try rig.awaitResult(after)
        #expect(try rig.results(before).count == 1, "requests are looked at in the order in which they came")
        #expect(try rig.job(before) == nil)
      }
    }

    @Test("An answer waits for a signer that is away, and is one")
    func signerAway() throws {
      try ServingRig.run { rig in
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"signer"}"#).isResponse)
        try rig.roost.awaitWorker("signer", "is held", rig.client) { $0.state == "held" }
        let request = try rig.ask(5_400, content: "[{\"kinds\":[2]}]")
        try awaitSoon("it is taken up") { try rig.job(request) != nil }
        #expect(try rig.results(request).isEmpty)
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"signer","hold":false}"#).isResponse)
        #expect(try rig.awaitResult(request).content.text == "0")
      }
    }
  }
}

extension ServingRig {
  /// Asks again and again while the store is away.
  func ask(_ kind: UInt16, until seconds: Double, content: String) throws -> Event {
    let customer = SecretKey.generate()
    let request = UnsignedEvent(pubkey: customer.publicKey, createdAt: WallClock.seconds, kind: kind, content: content)
      .signed(by: customer)
    try awaitSoon("the store has the request", within: seconds) { try store.publish(request).isResponse }
    return request
  }
}
