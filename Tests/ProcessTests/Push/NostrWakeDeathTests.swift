import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay beside an event store, when it dies or is stopped")
  struct NostrWakeDeathTests {
    @Test("wakes him who renewed his registration just before it died for what came meanwhile")
    func renewal() throws {
      try NostrWakeRig.run(PushRig.slowRestart) { rig in
        try rig.register()
        let kept = try keptPlace(rig)
        try awaitSoon("the clock is past it") { rig.now > kept }
        try rig.register()
        let process = try rig.killRelay()
        try rig.publish(1)
        try rig.push.awaitAnother(than: process)
        try rig.awaitPush("mention")
      }
    }

    @Test("asks its ledger again at the start until it says who has devices, and forgets nobody's past")
    func unreadableLedger() throws {
      try NostrWakeRig.run(PushRig.slowRestart) { rig in
        try rig.register()
        _ = try keptPlace(rig)
        let process = try rig.killRelay()
        try rig.publish(1)
        try rig.change("ALTER TABLE rules RENAME TO rulesAside")
        try rig.push.awaitAnother(than: process)
        try rig.push.awaitLog("it cannot be read who has devices")
        try rig.change("ALTER TABLE rulesAside RENAME TO rules")
        try rig.awaitPush("mention")
      }
    }

    @Test("writes wakes that its disk would not take at its end, and its place not without them")
    func fullDisk() throws {
      let faults = try Faults()
      try NostrWakeRig.run(pause: "0s", PushRig.watchedKeys(PushRig.slowRestart), faults) { rig in
        defer { faults.end() }
        try rig.register()
        try rig.publish(1)
        try rig.awaitPush("mention")
        // Something is under way, so that the end takes its time.
        try rig.push.fakes.order(#"{"service":"apns","mode":"black-hole"}"#)
        try rig.publish(1_059)
        try rig.awaitPush("message")
        faults.fail(.databaseWrite, with: ENOSPC)
        try rig.zap(by: .generate())
        try awaitSoon("it is looked at") { try rig.events().waking == 3 }
        let process = try rig.push.processID()
        try rig.push.kill(SIGTERM)
        try awaitSoon("nobody is let in") { (try? PlainClient(port: rig.push.port)) == nil }
        let hits = faults.hits(.databaseWrite)
        try awaitSoon("its wake cannot be written once more") { faults.hits(.databaseWrite) > hits }
        faults.end()
        try awaitSoon("it has ended", within: 20) { Glibc.kill(process, 0) != 0 }
        try rig.push.fakes.order(#"{"service":"apns","mode":"normal"}"#)
        try rig.push.awaitAnother(than: process)
        try rig.awaitPush("zap")
      }
    }

    @Test("is not killed by rules that grow in lower case, and keeps the largest that there are")
    func largestRules() throws {
      try NostrWakeRig.run { rig in
        let process = try rig.push.processID()
        func body(_ word: (Int) -> String) -> String {
          func list(_ count: Int, _ entry: (Int) -> String) -> String {
            "[" + (0..<count).map { "\"\(entry($0))\"" }.joined(separator: ",") + "]"
          }
          func key(_ number: Int) -> String { SHA256.hash(Array("\(number)".utf8)).description }
          return #"{"mute":{"pubkeys":\#(list(1_000, key)),"events":\#(list(500, key)),"#
            + #""words":\#(list(200, word)),"hashtags":\#(list(200, word))}}"#
        }
        // 64 bytes, in lower case 91: it is Turkish.
        let growing = try rig.ask("PUT", "/rules", body { "\($0 + 1_000)abcdef" + String(repeating: "İ", count: 27) })
        #expect(growing.status == 400 && growing.text.contains("[0]"), "\(growing.text.prefix(200))")
        let largest = try rig.ask("PUT", "/rules", body { "\($0 + 1_000)" + String(repeating: #"\""#, count: 60) })
        #expect(largest.status == 200 && largest.text.utf8.count > 140_000, "\(largest.text.prefix(200))")
        #expect(try rig.ask("GET", "/rules").text == largest.text)
        #expect(try rig.push.processID() == process)
        // What an older version may have kept.
        try rig.change("UPDATE rules SET rules = x'7b'")
        #expect(try rig.ask("GET", "/rules").text.contains(#""words":[]"#))
        try rig.push.awaitLog("rules in the ledger cannot be read")
      }
    }

    @Test("asks a signer that says nothing once for all who come meanwhile, and tells them to come again")
    func silentSigner() throws {
      let signer = Layout.Worker(name: "signer", keys: ["role": "\"signer\"", "enabled": "false"])
      try NostrWakeRig.run(more: [signer]) { rig in
        let client = rig.push.client
        let answer = try client.call("supervisor.attach", #"{"role":"signer","name":"signer"}"#)
        var hello = Hello(name: "signer", role: "signer")
        hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
        hello.methods = ["signer.accounts"]
        let silent = try BusPeer(socket: rig.push.roost.socket, hello: hello)
        silent.send(FrameHeader(type: .ready))
        try awaitSoon("the relay knows of the signer") {
          try rig.ask("POST", "/register", NostrWakeRig.registration(), by: .generate()).status == 503
        }
        silent.receive()
        let before = silent.requests.count
        let body = NostrWakeRig.registration()
        let strangers = try (0..<4).map { _ in
          let stranger = try PlainClient(port: rig.push.port)
          let lines = [
            "POST /v1/register HTTP/1.1", "Host: push.example", "Content-Type: application/json",
            "Content-Length: \(body.utf8.count)", rig.authorization("POST", "/register", body, by: .generate()), "", "",
          ]
          try stranger.send(Array((lines.joined(separator: "\r\n") + body).utf8))
          return stranger
        }
        for stranger in strangers {
          let text = try stranger.answer(until: "}")
          #expect(text.contains(" 503 ") && text.lowercased().contains("retry-after"), "\(text)")
        }
        silent.receive()
        #expect(silent.requests.count <= before + 1)
      }
    }

    /// When the place that is kept was read.
    private func keptPlace(_ rig: NostrWakeRig) throws -> Int64 {
      var place: Int?
      try awaitSoon("a place is kept") {
        place = try rig.push.column("SELECT value FROM counter WHERE name = 'event.readAt'").first
        return place != nil
      }
      return Int64(try #require(place))
    }
  }
}
