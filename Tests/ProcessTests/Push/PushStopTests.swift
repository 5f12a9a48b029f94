import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay that is stopped")
  struct PushStopTests {
    @Test("SIGTERM: nobody new is let in, who is in is answered, it ends with 0, and the next goes on (case 54)")
    func term() throws {
      try PushRig.runWatched(PushRig.slowRestart) { rig in
        let phone = try rig.household(["ios"])
        let sender = Ed25519SecretKey.generate()
        let first = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "one"))
        try awaitSoon("it is sent") { try rig.pushes(of: first["wake_id"], on: "ios").count == 1 }
        // One is under way and stays so, another waits behind it, and a request has come half.
        try rig.fakes.order(#"{"service":"apns","mode":"black-hole"}"#)
        let stuck = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "two"))
        let waiting = try rig.insistSigned(
          sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "three"))
        try awaitSoon("it is under way") { try rig.pushes(of: stuck["wake_id"], on: "ios").count == 1 }
        let half = try Half(rig, phone: phone, sender: sender)
        let process = try rig.processID()
        try rig.kill(SIGTERM)
        try awaitSoon("nobody is let in") { (try? PlainClient(port: rig.port)) == nil }
        #expect(Glibc.kill(process, 0) == 0, "it finishes what it has")
        let answer = try half.finish()
        #expect(answer.contains("200 OK") && answer.contains("queued"), "\(answer)")
        try awaitSoon("it has ended", within: 20) { Glibc.kill(process, 0) != 0 }
        let status = try rig.roost.awaitWorker("push-relay", "has ended", rig.client) { $0.lastExit != nil }
        #expect(status.lastExit?.hasPrefix("exited with 0") == true, "\(status.lastExit ?? "")")
        try rig.fakes.order(#"{"service":"apns","mode":"normal"}"#)
        try rig.awaitAnother(than: process)
        try rig.awaitDelivered()
        for wake in [stuck["wake_id"], waiting["wake_id"]] {
          let pushes = try rig.pushes(of: wake, on: "ios").filter { $0["status"] == .integer(200) }
          #expect(pushes.count == 1, "\(pushes)")
        }
        #expect(try rig.fakes.requests(to: .apns).contains { $0.text("payload").contains(#""four""#) })
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(1))
        #expect(try rig.status().addresses == ["127.0.0.1:\(rig.port)"])
      }
    }

    @Test("When nobody can be let in any more, the process ends, says so, and the next one serves")
    func door() throws {
      let faults = try Faults()
      try PushRig.runWatched([:], faults) { rig in
        defer { faults.end() }
        let phone = try rig.household(["ios"])
        let process = try rig.processID()
        faults.fail(.pushAccept, with: EPERM)
        _ = try rig.attempt("GET", "/health")
        try awaitSoon("it has ended", within: 20) { Glibc.kill(process, 0) != 0 }
        faults.end()
        try rig.awaitAnother(than: process)
        try awaitSoon("it is told") {
          rig.roost.lines("log/push-relay.log").contains { $0.contains("no client is let in any longer") }
        }
        let sender = Ed25519SecretKey.generate()
        let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
        try awaitSoon("it is sent") { try rig.pushes(of: wake["wake_id"], on: "ios").count == 1 }
      }
    }

    /// A request of which the last byte is missing.
    private final class Half {
      private let client: PlainClient
      private let last: UInt8

      init(_ rig: PushRig, phone: PushRig.Household, sender: Ed25519SecretKey) throws {
        client = try PlainClient(port: rig.port)
        let body = Array(PushRig.body(to: phone.key, by: sender, type: "four").utf8)
        let lines =
          ["POST /v1/wake HTTP/1.1", "Host: push.example", "Content-Type: application/json"]
          + ["Content-Length: \(body.count)"] + PushRig.signature(sender, "POST", "/wake", body) + ["", ""]
        last = try #require(body.last)
        try client.send(Array(lines.joined(separator: "\r\n").utf8) + body.dropLast())
        // Until it is read: behind it on the same machine comes an answer to another.
        _ = try rig.insist("GET", "/info")
      }

      func finish() throws -> String {
        try client.send([last])
        return try client.answer(until: "}")
      }
    }

    @Test("A relay that is restarted keeps its port, though clients hold their connections (case 54)")
    func port() throws {
      try PushRig.runWatched { rig in
        for _ in 0..<3 {
          let idle = try (0..<4).map { _ in try PlainClient(port: rig.port) }
          let process = try rig.processID()
          #expect(try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#).isResponse)
          try rig.awaitAnother(than: process)
          #expect(try rig.insist("GET", "/health").status == 200)
          withExtendedLifetime(idle) {}
        }
      }
    }
  }
}
