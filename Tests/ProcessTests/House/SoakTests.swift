import Contracts
import Frames
import Glibc
import TestSupport
import Testing

/// A whole number from the environment, for runs longer than the usual one.
func figure(_ name: String, _ standard: Int) -> Int {
  getenv(name).flatMap { Int(String(cString: $0)) } ?? standard
}

extension ProcessTests {
  @Suite("Soak")
  struct SoakTests {
    @Test(
      "Restarts, clients and streams without end: descriptors, memory and zombies come back to where they were"
    )
    func soak() throws {
      let seconds = Double(figure("ROOST_SOAK_SECONDS", 8))
      try withRoost { roost in
        let client = try roost.client()
        for _ in 0..<20 { try Self.round(roost, client) }
        let before = roost.memory()
        let end = Monotonic.seconds + seconds
        var rounds = 0
        while Monotonic.seconds < end {
          try Self.round(roost, client)
          rounds += 1
        }
        let after = roost.memory()
        let status = try roost.status(client)
        print(
          "\(rounds) rounds, generation \(status.workers[0].generation): \(before >> 10) KiB, then \(after >> 10) KiB")
        // The rings of log lines fill during the first 300 rounds; after that it stays where it is.
        #expect(after <= before + max(before / 20, 4 << 20), "memory grew")
        #expect(status.keptBytes == 0)
        #expect(status.clients.count == 1)
        try roost.awaitWorker("example", "has nothing left to do", client) { $0.inHand == 0 && $0.mailboxFrames == 0 }
        #expect(roost.zombieCount == 0)
      }
    }

    /// A death with work in hand, a client that comes and goes, a stream, a subscription.
    private static func round(_ roost: RunningRoost, _ client: BusPeer) throws {
      #expect(try client.call("example.die").isResponse)
      let visitor = try roost.client("visitor")
      try visitor.ask("supervisor.events", "", type: .subscribe)
      try visitor.ask("supervisor.logs", #"{"follow":true}"#)
      #expect(try visitor.call("example.parts", #"{"parts":30,"bytes":2000}"#).parts.count == 30)
      try visitor.ask("example.slow", #"{"milliseconds":5}"#)
    }
  }
}
