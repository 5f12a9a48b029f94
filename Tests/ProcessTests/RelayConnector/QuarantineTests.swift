import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Relays over whose bytes the connector dies, as often as it takes them in hand.
  @Suite("Quarantine")
  struct QuarantineTests {
    private func states(_ client: BusPeer) throws -> [RelayStates.Relay] {
      let answer = try client.call("relay.list")
      return try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload).relays
    }

    /// What a process has in hand, by its file.
    private func numberInHand(_ roost: RunningRoost) -> UInt32 {
      let bytes = SharedFolder.bytes(ofFile: roost.path("state/relays/in-hand")) ?? []
      return bytes.count < 16 ? 0 : bytes[12..<16].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether a process is stopped.
    private func isStopped(_ pid: pid_t) -> Bool {
      let text = String(decoding: SharedFolder.bytes(ofFile: "/proc/\(pid)/stat") ?? [], as: UTF8.self)
      return text.split(separator: ")").last?.hasPrefix(" T") == true
    }

    /// Kills the connector in the middle of a message: it is stopped at random, until it has one in hand.
    private func killInTheMiddle(_ roost: RunningRoost, _ client: BusPeer) throws -> pid_t {
      let worker = try roost.awaitWorker("relays", "is ready", client) { $0.state == "ready" }
      let pid = try #require(worker.pid)
      try awaitSoon("a message in hand") {
        kill(pid, SIGSTOP)
        try awaitSoon("it stands") { isStopped(pid) }
        if numberInHand(roost) != 0 { return true }
        kill(pid, SIGCONT)
        return false
      }
      kill(pid, SIGKILL)
      return pid
    }

    @Test("A relay in whose messages the connector dies three times is left alone, the others go on; retry tries it")
    func threeDeaths() throws {
      let notice = WebSocketFrame.text(#"["NOTICE","\#(String(repeating: "x", count: 2_000))"]"#).bytes
      let flood = RelayStep.sendBytes((0..<50).flatMap { _ in notice })
      let deadly = try ScriptedRelay(.accept(), .forever(flood))
      let neighbour = try ScriptedRelay.serving(3)
      try withRoost(.connector("[\"\(deadly.url)\", \"\(neighbour.url)\"]", ["sandbox": "\"try\""])) { roost in
        let client = try roost.client()
        for count in 1...3 {
          #expect(try states(client).allSatisfy { $0.state != "quarantined" }, "\(count)")
          let pid = try killInTheMiddle(roost, client)
          try roost.awaitWorker("relays", "is back", client) { $0.state == "ready" && $0.pid != pid }
        }
        let state = try #require(try states(client).first { $0.relay.hasPrefix(deadly.url) })
        #expect(state.state == "quarantined" && state.reason?.contains("3 times within an hour") == true, "\(state)")
        let visitCount = deadly.visits.count
        let refusal = try client.call("relay.request", #"{"relay":"\#(deadly.url)"}"#).refusal
        #expect(refusal?.code == "relay-unreachable" && refusal?.message.contains("in hand") == true)
        #expect(try client.call("relay.request", #"{"relay":"\#(neighbour.url)"}"#).parts.count == 3)
        try roost.awaitWorker("relays", "tells of it", client) { $0.text == "1 of 2 relays connected, 1 quarantined" }
        #expect(deadly.visits.count == visitCount)
        #expect(try client.call("relay.retry", #"{"relay":"\#(deadly.url)"}"#).isResponse)
        try deadly.awaitVisits("it is dialled again") { $0.count > visitCount }
      }
    }
  }
}
