import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Storage
import Synchronization
import TestSupport
import Testing

extension ProcessTests {
  /// A disk that takes nothing, a ledger that another holds, and one that is damaged. The relay says so, promises
  /// nothing, and works again without anybody's help.
  @Suite("A push relay and its disk")
  struct PushDiskTests {
    private static func withFaults(_ keys: [String: String] = [:], _ body: (PushRig, Faults) throws -> Void) throws {
      let faults = try Faults()
      try PushRig.runWatched(keys, faults) { rig in
        // However the test ends: nothing more fails when the relay is stopped.
        defer { faults.end() }
        try body(rig, faults)
      }
    }

    /// Asks for a wake that cannot be accepted, and looks at what is said.
    private static func expectRefusal(_ rig: PushRig, _ phone: PushRig.Household) throws {
      let sender = Ed25519SecretKey.generate()
      let refused = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
      #expect(refused.status == 503 && refused["error"] == "unavailable", "\(refused.text)")
      #expect(refused.head.lowercased().contains("\r\nretry-after: "), "\(refused.head)")
      for path in ["/health", "/ready"] {
        let health = try rig.insist("GET", path)
        #expect(health.status == 503, "\(path): \(health.text)")
      }
      #expect(try rig.insist("GET", "/health").head.lowercased().contains("\r\nretry-after: "))
    }

    /// Waits until the relay is well by itself, and has it wake somebody.
    private static func expectRecovery(_ rig: PushRig, _ phone: PushRig.Household) throws {
      try awaitSoon("it is well again", within: 60) {
        try rig.insist("GET", "/health").status == 200 && rig.insist("GET", "/ready").status == 200
      }
      let sender = Ed25519SecretKey.generate()
      let wake = try rig.insistSigned(
        sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "recovered"))
      #expect(wake.status == 200, "\(wake.text)")
      try awaitSoon("it is sent") { try rig.pushes(of: wake["wake_id"], on: "ios").count == 1 }
    }

    @Test(
      "Full, read-only or broken: 503 with Retry-After, red health, and all is well when it is over (case 52)",
      arguments: [(Faults.Call.databaseWrite, ENOSPC), (.databaseWrite, EROFS), (.databaseSync, EIO)])
    func disk(call: Faults.Call, code: Int32) throws {
      try Self.withFaults { rig, faults in
        let phone = try rig.household(["ios"])
        let process = try rig.processID()
        faults.fail(call, with: code)
        try Self.expectRefusal(rig, phone)
        #expect(faults.hits(call) > 0)
        let other = PushRig.Household()
        let refused = try rig.insistSigned(
          other.key, "POST", "/register", other.body("x", "ios", try rig.token("ios")), from: other.address)
        #expect(refused.status == 503, "\(refused.text)")
        #expect(try rig.fakes.requests(to: .apns).isEmpty)
        faults.end()
        try Self.expectRecovery(rig, phone)
        #expect(try rig.processID() == process, "without a restart")
        #expect(try rig.status().devices == 1)
      }
    }

    @Test("How pushes ended is written when the disk takes it again, and none is sent twice for it (case 52)")
    func settlements() throws {
      try Self.withFaults { rig, faults in
        let (phone, sender) = (try rig.household(["ios"]), Ed25519SecretKey.generate())
        try rig.fakes.order(#"{"service":"apns","answers":[{"status":200,"delayMilliseconds":1500}]}"#)
        let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
        try awaitSoon("it is sent") { try rig.pushes(of: wake["wake_id"], on: "ios").count == 1 }
        faults.fail(.databaseWrite, with: ENOSPC)
        try awaitSoon("its end cannot be written") { faults.hits(.databaseWrite) > 0 }
        try awaitSoon("health is red") { try rig.insist("GET", "/health").status == 503 }
        faults.end()
        try rig.awaitDelivered()
        #expect(try rig.pushes(of: wake["wake_id"], on: "ios").count == 1)
        #expect(try rig.insist("GET", "/health").status == 200)
      }
    }

    @Test("What cannot be read is told as such: not that there is no wake and no list (case 52)")
    func reading() throws {
      try Self.withFaults { rig, faults in
        let phone = try rig.household(["ios"])
        let book = #"{"allow":["\#(PushRig.name(.generate()))"]}"#
        #expect(try rig.insistSigned(phone.key, "PUT", "/contacts", book).status == 200)
        let wake = try rig.insistSigned(phone.key, "POST", "/wake", PushRig.body(to: phone.key, by: phone.key))
        #expect(wake.status == 200, "\(wake.text)")
        try rig.awaitDelivered()
        let paths = ["/contacts", "/wake/\(wake["wake_id"])"]
        for path in paths { #expect(try rig.insistSigned(phone.key, "GET", path, "").status == 200) }
        // What another process has written is in nobody's memory.
        let file = try StorageFile(path: rig.ledgerPath, StorageSettings(durability: .normal), migrations: [])
        try file.writeNow { try $0.execute("UPDATE counter SET value = value WHERE name = 'total.removals'") }
        try file.close()
        // Not EIO, which SQLite takes for a damaged disk: then the process ends, to save what it can.
        faults.fail(.databaseRead, with: EACCES)
        for path in paths {
          let answer = try rig.insistSigned(phone.key, "GET", path, "")
          #expect(answer.status == 503 && answer["error"] == "unavailable", "\(path): \(answer.text)")
          #expect(answer.head.lowercased().contains("\r\nretry-after: "))
        }
        #expect(faults.hits(.databaseRead) > 0)
        faults.end()
        try awaitSoon("it is told") {
          rig.roost.lines("log/push-relay.log").contains { $0.contains("ledger cannot be read") }
        }
        for path in paths { #expect(try rig.insistSigned(phone.key, "GET", path, "").status == 200) }
      }
    }

    @Test("A ledger that another process holds: 503 with Retry-After, and all is well when it lets go (case 52)")
    func busy() throws {
      try Self.withFaults { rig, _ in
        let phone = try rig.household(["ios"])
        let file = try StorageFile(path: rig.ledgerPath, StorageSettings(durability: .normal), migrations: [])
        defer { try? file.close() }
        try file.writeNow { _ in try Self.expectRefusal(rig, phone) }
        try Self.expectRecovery(rig, phone)
      }
    }

    @Test("A log that was overwritten under it costs no answer but 503, and it serves again by itself (case 52)")
    func damagedLog() throws {
      try Self.withFaults { rig, _ in
        let phones = try (0..<12).map { _ in try rig.household(["ios"]) }
        try Self.spoil(rig.ledgerPath + "-wal")
        // It may notice at once or never; it must not answer anything but that it can, or cannot. What stood in the log
        // alone may be lost: that is the disk's doing.
        for phone in phones {
          let sender = Ed25519SecretKey.generate()
          let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender))
          #expect([200, 503].contains(wake.status), "\(wake.text)")
        }
        try Self.expectService(rig)
      }
    }

    @Test("A log that is nonsense at the start is no reason not to start (case 52)")
    func damagedStart() throws {
      // Time for the nonsense, before the next process.
      try Self.withFaults(PushRig.slowRestart) { rig, _ in
        _ = try rig.household(["ios"])
        let process = try rig.processID()
        try rig.kill()
        try awaitSoon("it is gone") { Glibc.kill(process, 0) != 0 }
        try Self.spoil(rig.ledgerPath + "-wal")
        try rig.awaitAnother(than: process)
        try Self.expectService(rig)
      }
    }

    /// Before long a new phone can register, and is woken. One that registers before the damage is noticed may be lost
    /// with it.
    private static func expectService(_ rig: PushRig) throws {
      try awaitSoon("a new phone is woken", within: 60) {
        // Refused while the relay cannot write.
        guard let phone = try? rig.household(["ios"]) else { return false }
        let sender = Ed25519SecretKey.generate()
        let body = PushRig.body(to: phone.key, by: sender)
        let wake = try rig.insistSigned(sender, "POST", "/wake", body)["wake_id"]
        return
          (try? awaitSoon("it is sent", within: 5) { try !wake.isEmpty && !rig.pushes(of: wake, on: "ios").isEmpty })
          != nil
      }
      #expect(try rig.insist("GET", "/health").status == 200)
      try rig.roost.awaitReady()
    }

    /// Writes nonsense over a file, from its second page on.
    private static func spoil(_ path: String) throws {
      let file = open(path, O_RDWR | O_CLOEXEC)
      #expect(file >= 0)
      defer { close(file) }
      let size = lseek(file, 0, SEEK_END)
      guard size > 4_200 else { throw DeadlinePassed(description: "the log has \(size) bytes") }
      let nonsense = [UInt8](repeating: 0xA5, count: Int(size) - 4_152)
      #expect(pwrite(file, nonsense, nonsense.count, 4_152) == nonsense.count)
    }
  }
}
