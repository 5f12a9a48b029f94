import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and its settings")
  struct PushSettingsTests {
    private static let appleKeys = ["apns-key-file", "apns-key-id", "apns-team-id", "apns-topic"]

    @Test("Without Apple's key phones register and wakes wait; with it, after a reload, they are brought (case 56)")
    func noKey() throws {
      let none = Dictionary(uniqueKeysWithValues: Self.appleKeys.map { ($0, "\"\"") })
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      let whole = try PushRig.layout(fakes, port: port, directory: directory.path)
      let layout = try PushRig.layout(fakes, port: port, directory: directory.path, none)
      try withRoost(layout) { roost in
        let rig = try PushRig(roost, fakes, port)
        let phone = try rig.household()
        let sender = Ed25519SecretKey.generate()
        let ready = try rig.insist("GET", "/ready")
        #expect(ready.status == 200, "\(ready.text)")
        #expect(ready.json["platforms"]?["ios"] == .string("off"), "\(ready.text)")
        #expect(ready.json["platforms"]?["android"] == .string("ok"), "\(ready.text)")
        #expect(ready.json["platforms"]?["webpush"] == .string("ok"), "\(ready.text)")
        let wake = try rig.insistSigned(sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "early"))
        #expect(wake.status == 200 && wake["status"] == "queued", "\(wake.text)")
        for platform in ["android", "webpush"] {
          try awaitSoon("\(platform) has it") { try rig.pushes(of: wake["wake_id"], on: platform).count == 1 }
        }
        let apple = try #require(try rig.status().platforms.first { $0.name == "ios" })
        #expect(apple.state == "off" && apple.reason == "apns-key-file is not set")
        #expect(try rig.status().waiting == 1)
        let process = try rig.processID()
        try roost.rewrite { $0 = whole }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try rig.awaitAnother(than: process)
        try awaitSoon("Apple has it") { try rig.pushes(of: wake["wake_id"], on: "ios").count == 1 }
        try rig.awaitDelivered()
        #expect(try rig.insist("GET", "/ready").json["platforms"]?["ios"] == .string("ok"))
        // Those who had it before are not woken again.
        for platform in ["android", "webpush"] { #expect(try rig.pushes(of: wake["wake_id"], on: platform).count == 1) }
      }
    }

    @Test("With no platform at all it is alive and not ready (case 56)")
    func nothing() throws {
      var keys = Dictionary(uniqueKeysWithValues: Self.appleKeys.map { ($0, "\"\"") })
      keys.merge(["fcm-account-file": "\"\"", "web-push": "false"]) { _, new in new }
      try PushRig.runWatched(keys) { rig in
        #expect(try rig.insist("GET", "/health").status == 200)
        let ready = try rig.insist("GET", "/ready")
        #expect(ready.status == 503 && !ready.text.contains("ok"), "\(ready.text)")
        #expect(try rig.household(["ios"]).key.publicKey.octets.bytes.count == 32)
      }
    }

    @Test("A setting that changes is taken at a reload, and what is registered stays (case 56)")
    func reload() throws {
      try PushRig.runWatched { rig in
        let phone = try rig.household(["ios"])
        let process = try rig.processID()
        try rig.roost.rewrite { $0.workers[0].keys["sender-minute"] = "2" }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try rig.awaitAnother(than: process)
        let sender = Ed25519SecretKey.generate()
        let answers = try (0..<3).map { number in
          try rig.insistSigned(
            sender, "POST", "/wake", PushRig.body(to: phone.key, by: sender, type: "n\(number)")
          ).status
        }
        #expect(answers == [200, 200, 429])
        #expect(try rig.status().devices == 1)
      }
    }

    @Test("A certificate that was replaced is taken at a reload and by itself, and nonsense is not (case 56)")
    func certificate() throws {
      let directory = try TemporaryDirectory()
      let file = directory.path + "/certificate.pem"
      try Self.put("home", file)
      try PushRig.runWatched(["certificate-file": "\"\(file)\"", "key-file": "\"\(file)\""]) { rig in
        let process = try rig.processID()
        let first = try Self.fingerprint(rig.port)
        // Somebody who is there already stays.
        try Self.put("renewed", file)
        #expect(try rig.client.call("supervisor.reload").isResponse)
        var second = ""
        try awaitSoon("the new certificate is shown") {
          second = try Self.fingerprint(rig.port)
          return second != first
        }
        try Self.put(nil, file)
        try awaitSoon("it is told that this is none") {
          rig.roost.lines("log/push-relay.log").contains {
            $0.contains("the new certificate is not taken, and the old one stays in use")
          }
        }
        #expect(try Self.fingerprint(rig.port) == second)
        try Self.put("home", file)
        try awaitSoon("the first one is shown again") { try Self.fingerprint(rig.port) == first }
        #expect(try rig.processID() == process, "without a restart")
      }
    }

    /// Puts one of the tests' certificates in a file's place, or no certificate.
    private static func put(_ name: String?, _ path: String) throws {
      let found = try name.map { SharedFolder.bytes(ofFile: try TestCertificates.path($0)) ?? [] }
      let bytes = found ?? Array("none".utf8)
      let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(String(decoding: bytes, as: UTF8.self), to: file)
      Descriptors.close(file)
      guard rename(path + ".new", path) == 0 else { throw DeadlinePassed(description: "\(path) cannot be replaced") }
    }

    /// What the certificate of who listens there is known by.
    private static func fingerprint(_ port: UInt16) throws -> String {
      let shown = "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null"
      let process = try SpawnedProcess("/bin/sh", ["-c", "\(shown) | openssl x509 -noout -fingerprint"])
      let output = try process.readAllOutput()
      guard output.contains("ingerprint=") else {
        throw DeadlinePassed(description: "no certificate is shown: \(output)")
      }
      return output
    }
  }
}
