import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay's key ring")
  struct PushKeyTests {
    private static func log(_ rig: PushRig) -> String {
      (rig.roost.lines("log/push-relay.log") + rig.roost.lines("log/roostd.log")).joined(separator: "\n")
    }

    private static func rekey(_ rig: PushRig) throws -> PushRekeyed {
      let answer = try rig.client.call("push.rekey")
      return try JSONPayload.decode(PushRekeyed.self, from: answer.terminal.payload)
    }

    /// Has a phone woken by somebody new, and waits for the pushes.
    private static func wake(_ rig: PushRig, _ phone: PushRig.Household, _ type: String) throws {
      let sender = Ed25519SecretKey.generate()
      let wake = try rig.insistSigned(
        sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: type))
      #expect(wake.status == 200, "\(wake.text)")
      for platform in ["ios", "android", "webpush"] {
        try awaitSoon("\(platform) has it") { try rig.pushes(of: wake["wake_id"], on: platform).count == 1 }
      }
    }

    @Test("turns while it serves, from its file as it is, and the old key can go (case 55)")
    func turning() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        let old = try #require(rig.keyLines().first)
        let process = try rig.processID()
        try Self.wake(rig, phone, "before")
        for turn in 1...3 {
          try rig.addKey("new\(turn)")
          // What is asked for meanwhile is answered and brought.
          let id = try rig.client.ask("push.rekey")
          try Self.wake(rig, phone, "turn\(turn)")
          let answer = try rig.client.answer(to: id)
          let turned = try JSONPayload.decode(PushRekeyed.self, from: answer.terminal.payload)
          #expect(turned.changed == 3 && turned.keys == turn + 1, "\(answer.text)")
          #expect(try rig.status().underOlderKeys == 0)
          try Self.wake(rig, phone, "turned\(turn)")
        }
        #expect(try Self.rekey(rig).changed == 0)
        #expect(try rig.processID() == process, "without a restart")
        // Nothing is under the old keys: without them it goes on, now and after a restart, with one token for APNs.
        try rig.writeRing(Array(rig.keyLines().prefix(1)))
        #expect(!rig.keyLines().contains(old))
        #expect(try Self.rekey(rig).keys == 1)
        try Self.wake(rig, phone, "alone")
        try rig.kill()
        try rig.awaitAnother(than: process)
        try Self.wake(rig, phone, "again")
        #expect(try rig.status().unreadable == 0 && rig.status().devices == 3)
        #expect(try rig.fakes.counters()["providerTokens"] == .integer(1))
      }
    }

    @Test("is in no memory of the process as it stands in its file, neither made nor read")
    func wiped() throws {
      try PushRig.runWatched { rig in
        func found() throws -> [Int] {
          let memory = try ProcessMemory(try rig.processID())
          let lines = rig.keyLines().map { Array($0.utf8.suffix(44)) }
          #expect(!lines.isEmpty)
          // So that a search that finds nothing is known to find what is there.
          #expect(try memory.holds(Array("roost push-relay 1 ledger key".utf8)))
          return try lines.indices.filter { try memory.holds(lines[$0]) }
        }
        _ = try rig.household(["ios"])
        #expect(try found().isEmpty, "after it was made")
        // A text of many pages, so that what is freed is not all used again.
        let old = rig.keyLines()
        try rig.writeRing((0..<12).map { PushRig.keyLine("k\($0)") } + [String(repeating: "#", count: 9_000)] + old)
        for _ in 0..<3 { #expect(try Self.rekey(rig).remaining == 0) }
        #expect(try found().isEmpty, "after it was read")
        let process = try rig.processID()
        try rig.kill()
        try rig.awaitAnother(than: process)
        #expect(try found().isEmpty, "after a start")
      }
    }

    @Test("is read anew at a reload of the configuration (case 55)")
    func reload() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        try rig.addKey("reloaded")
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try awaitSoon("it is under the new key") { try rig.status().underOlderKeys == 3 }
        try awaitSoon("it is told") { Self.log(rig).contains("tokens are encrypted under a new key") }
        try Self.wake(rig, phone, "both")
        #expect(try Self.rekey(rig).changed == 3)
      }
    }

    @Test("is not taken when others can read it, a needed key is missing or another; the old one serves on (case 55)")
    func refused() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        let good = rig.keyLines()
        let name = try #require(good.first?.split(separator: ":").first)
        for (lines, mode, words) in [
          (good, mode_t(0o644), "can be read by others than its owner"),
          ([PushRig.keyLine("x")], 0o600, "put its line back"),
          ([PushRig.keyLine(String(name))], 0o600, "another key of the name '\(name)'"),
          (["nonsense"], 0o600, "line 1: is not NAME:KEY"),
        ] {
          try rig.writeRing(lines, mode: mode)
          let answer = try rig.client.call("push.rekey")
          #expect(!answer.isResponse && answer.text.contains(words), "\(words): \(answer.text)")
          #expect(!lines.contains { answer.text.contains($0.suffix(40)) }, "no key is told")
          try Self.wake(rig, phone, "w\(words.utf8.count)")
        }
        try rig.writeRing(good)
        #expect(try Self.rekey(rig).changed == 0)
      }
    }

    @Test("that is another refuses to start, in plain words, and starts with the right one (case 55)")
    func wrong() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household()
        let good = rig.keyLines()
        let name = try #require(good.first?.split(separator: ":").first)
        for (lines, words) in [
          ([PushRig.keyLine(String(name))], "was written under another key of the name '\(name)'"),
          ([PushRig.keyLine("other")], "which the key ring (other) does not have"),
        ] {
          try rig.writeRing(lines)
          _ = try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#)
          try rig.roost.awaitWorker("push-relay", "has failed", rig.client) { $0.state == "failed" }
          try awaitSoon("it says why: \(words)") { Self.log(rig).contains(words) }
          try rig.writeRing(good)
          _ = try rig.client.call("supervisor.start", #"{"worker":"push-relay"}"#)
          try rig.roost.awaitReady()
          try Self.wake(rig, phone, "w\(words.utf8.count)")
        }
      }
    }
  }
}
