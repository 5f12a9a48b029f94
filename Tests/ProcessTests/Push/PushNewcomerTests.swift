import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and who has it for the first time")
  struct PushNewcomerTests {
    @Test("says from the first refusal what a platform has against a token, and what to look at")
    func wrongEnvironment() throws {
      try PushRig.run { rig in
        let phone = try rig.phone()
        try rig.order(.apns, to: phone.receiver, [#"{"status":400,"reason":"BadDeviceToken"}"#])
        try rig.wake(phone)
        let apple = try rig.awaitPlatform("ios", "has refused it") { $0.failed == 1 && $0.reason == "BadDeviceToken" }
        #expect(apple.state == "ready" && apple.advice?.contains("sandbox") == true, "\(apple)")
        try rig.awaitLog("refuses a device's token")
        try rig.wake(phone, type: "again")
        try rig.awaitPlatform("ios", "has nothing against it") { $0.delivered == 1 && $0.reason == nil }
      }
    }

    @Test("tells the operator what became of a wake at each device")
    func outcomes() throws {
      try PushRig.run { rig in
        let owner = Ed25519SecretKey.generate()
        let phone = try rig.phone(owner: owner)
        let other = try rig.phone("android", owner: owner, device: "tablet")
        let refusal = #"{"status":400,"reason":"TopicDisallowed"}"#
        try rig.order(.apns, to: phone.receiver, Array(repeating: refusal, count: 64))
        let name = ZBase32.text(of: owner.publicKey.octets)
        func send(_ milliseconds: Int) throws -> PushSent {
          let answer = try rig.client.call(
            "push.send", #"{"owner":"\#(name)","type":"noise_connect","waitMilliseconds":\#(milliseconds)}"#)
          return try JSONPayload.decode(PushSent.self, from: answer.terminal.payload)
        }
        let sent = try send(1_500)
        let outcomes = try #require(sent.outcomes)
        #expect(outcomes.first { $0.device == other.device }?.state == "delivered", "\(outcomes)")
        let apple = try #require(outcomes.first { $0.device == phone.device })
        #expect(apple.state == "waiting" && apple.reason == "TopicDisallowed", "\(apple)")
        #expect(apple.advice?.contains("apns-topic") == true)
      }
    }

    @Test("takes the code of a challenge in base64 as it came in the push, and answers a wrong one with 400")
    func challenge() throws {
      try PushRig.run { rig in
        let first = try rig.phone()
        let second = Ed25519SecretKey.generate()
        #expect(try rig.register(second, "ios", first.token)["verification"] == "challenge_sent")
        let push = try #require(try rig.await(1, at: .apns).first)
        guard case .string(let text)? = push["payload"],
          case .string(let payload)? = try JSONPayload.decode(JSONValue.self, from: Array(text.utf8))["payload"]
        else {
          Issue.record("no payload: \(push)")
          return
        }
        let wrong = try rig.register(second, "ios", first.token, more: #","challenge":"0123456789abcdef""#)
        #expect(wrong.status == 400 && wrong["error"] == "wrong_challenge", "\(wrong.text)")
        let right = try rig.register(second, "ios", first.token, more: #","challenge":"\#(payload)""#)
        #expect(right.status == 200 && right["verification"] == "", "\(right.text)")
        #expect(try rig.owners() == [ZBase32.text(of: second.publicKey.octets)])
      }
    }

    @Test("tells the sender of a payload that is too long how much fits, and keeps its own types to itself")
    func senders() throws {
      try PushRig.run { rig in
        let phone = try rig.phone()
        let sender = Ed25519SecretKey.generate()
        let long = try rig.wake(phone.key, by: sender, payload: Array(repeating: 0, count: 3_072))
        #expect(long.status == 400 && long["error"] == "invalid_payload", "\(long.text)")
        let words = long["message"].split(separator: " ").compactMap { Int($0) }
        #expect(words.first == 3_072, "\(long.text)")
        let room = try #require(words.dropFirst().first, "\(long.text)")
        let fitting = try rig.wake(phone.key, by: sender, payload: Array(repeating: 0, count: room))
        #expect(fitting.status == 200, "\(fitting.text)")
        let tooLong = try rig.wake(phone.key, by: sender, payload: Array(repeating: 0, count: room + 1))
        #expect(tooLong.status == 400, "\(tooLong.text)")
        for type in ["nostr", "registration_challenge"] {
          let answer = try rig.wake(phone.key, by: sender, type: type)
          #expect(answer.status == 400 && answer["error"] == "invalid_request", "\(answer.text)")
        }
      }
    }

    @Test("makes no key ring where its ledger is there and the ring is gone, and starts with the copy")
    func ringGone() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      try withRoost(try PushRig.layout(fakes, port: port, directory: directory.path)) { roost in
        let rig = try PushRig(roost, fakes, port)
        let phone = try rig.phone()
        let ring = roost.directory.path + "/state/push-relay/keys"
        #expect(rename(ring, ring + ".copy") == 0)
        _ = try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#)
        try roost.awaitWorker("push-relay", "has failed", rig.client) { $0.state == "failed" }
        try rig.awaitLog("put your copy of it back")
        #expect(access(ring, F_OK) != 0)
        // Whoever starts it again before that is told once more what is wrong, and where more is said.
        let refusal = try #require(try rig.client.call("supervisor.start", #"{"worker":"push-relay"}"#).refusal)
        #expect(refusal.message.contains("put your copy of it back"), "\(refusal)")
        #expect(refusal.message.contains("'roost why push-relay'"), "\(refusal)")
        #expect(rename(ring + ".copy", ring) == 0)
        _ = try rig.client.call("supervisor.start", #"{"worker":"push-relay"}"#)
        try roost.awaitReady()
        #expect(try rig.isRegistered(phone))
      }
    }

    @Test("makes no key for Web Push where browsers have subscribed under one, and tells of another until it is back")
    func webPushKeyGone() throws {
      try PushRig.run { rig in
        let path = rig.roost.directory.path + "/state/push-relay/web-push.pem"
        _ = try rig.browser(0)
        func restart(_ state: String) throws {
          let generation = try rig.roost.worker("push-relay", rig.client).generation
          _ = try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#)
          try rig.roost.awaitWorker("push-relay", "is \(state)", within: 60, rig.client) {
            $0.generation > generation && $0.state.rawValue == state
          }
        }
        #expect(try rig.status().webPushFault == nil)
        #expect(rename(path, path + ".copy") == 0)
        try restart("failed")
        try rig.awaitLog("is gone while 1 device of Web Push subscribed under it")
        #expect(access(path, F_OK) != 0)
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try Descriptors.writeAll(P256SecretKey.generate().pem, to: file)
        Descriptors.close(file)
        for _ in 0..<2 {
          try restart("ready")
          #expect(try rig.status().webPushFault?.contains("under which 1 device subscribed") == true)
        }
        let told = try rig.roost.tool(["doctor"])
        #expect(told.output.contains("web-push.pem is another key"), "\(told)")
        #expect(rename(path + ".copy", path) == 0)
        try restart("ready")
        #expect(try rig.status().webPushFault == nil)
      }
    }

    @Test("sends each of the operator's wakes, however soon one follows the other")
    func operatorTwice() throws {
      try PushRig.run { rig in
        let phone = try rig.phone()
        let name = ZBase32.text(of: phone.key.publicKey.octets)
        for number in 1...3 {
          let answer = try rig.client.call(
            "push.send", #"{"owner":"\#(name)","type":"noise_connect","waitMilliseconds":20000}"#)
          let sent = try JSONPayload.decode(PushSent.self, from: answer.terminal.payload)
          #expect(sent.outcomes?.map(\.state) == ["delivered"], "\(sent)")
          #expect(try rig.requests(.apns, to: phone.receiver).count == number)
        }
      }
    }

    @Test("tells why it is not there while that is so, and forgets it once it was ready")
    func presentCause() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      try withRoost(try PushRig.layout(fakes, port: port, directory: directory.path)) { roost in
        let rig = try PushRig(roost, fakes, port)
        _ = try rig.phone()
        func complaint() throws -> String? {
          let answer = try rig.client.call("supervisor.why", #"{"worker":"push-relay"}"#)
          return try JSONPayload.decode(WhyResult.self, from: answer.terminal.payload).complaint
        }
        let ring = roost.directory.path + "/state/push-relay/keys"
        #expect(rename(ring, ring + ".copy") == 0)
        _ = try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#)
        try roost.awaitWorker("push-relay", "has failed", rig.client) { $0.state == "failed" }
        #expect(try complaint()?.contains("put your copy of it back") == true)
        let told = try roost.tool(["push"])
        #expect(told.ending != .exited(0) && told.output.contains("put your copy of it back"), "\(told)")
        #expect(rename(ring + ".copy", ring) == 0)
        _ = try rig.client.call("supervisor.start", #"{"worker":"push-relay"}"#)
        try roost.awaitReady()
        #expect(try complaint() == nil)
        // It fails in another way, and says nothing of it.
        try roost.rewrite {
          $0.workers[0].keys["program"] = "\"/bin/false\""
          $0.workers[0].keys["breaker-restarts"] = "1"
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try roost.awaitWorker("push-relay", "has failed", within: 60, rig.client) { $0.state == "failed" }
        #expect(try complaint() == nil)
      }
    }

    @Test("is waited for by its commands while it is held or starting, with a word for what")
    func waited() throws {
      try PushRig.run { rig in
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"push-relay"}"#).isResponse)
        let process = try rig.roost.startTool(["push", "devices"])
        let line = try process.readLine { $0.hasPrefix("roost: ") }
        #expect(line.contains("push-relay is held: the call waits"), "\(line)")
        #expect(try rig.client.call("supervisor.hold", #"{"worker":"push-relay","hold":false}"#).isResponse)
        #expect(try process.readAllOutput().contains("No device is registered"))
        #expect(try process.waitForEnd() == .exited(0))
        // A reload restarts it, and answers at once.
        try rig.roost.rewrite { $0.workers[0].keys["sender-minute"] = "3" }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        let told = try rig.roost.tool(["push"])
        #expect(told.ending == .exited(0) && told.output.contains("APNs"), "\(told)")
      }
    }

    @Test("says where a connection failed and why, of each platform")
    func troubleWords() throws {
      let closed = try PlainClient.freePort()
      let address = "https://localhost:\(closed)"
      try PushRig.run(["apns-url": "\"\(address)\"", "fcm-url": "\"\(address)\""]) { rig in
        let owner = Ed25519SecretKey.generate()
        _ = try rig.phone(owner: owner)
        _ = try rig.phone("android", owner: owner, device: "tablet")
        let name = ZBase32.text(of: owner.publicKey.octets)
        let answer = try rig.client.call(
          "push.send", #"{"owner":"\#(name)","type":"noise_connect","waitMilliseconds":3000}"#)
        let sent = try JSONPayload.decode(PushSent.self, from: answer.terminal.payload)
        #expect(sent.outcomes?.map(\.reason) == ["unreachable", "unreachable"], "\(sent)")
        for outcome in sent.outcomes ?? [] {
          #expect(outcome.advice == "\(address): connection refused", "\(outcome)")
        }
      }
    }

    @Test("says in the user's words that its port is taken, and the doctor says so until it is free")
    func portTaken() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      try withRoost(try PushRig.layout(fakes, port: port, directory: directory.path)) { roost in
        let rig = try PushRig(roost, fakes, port)
        _ = try rig.client.call("supervisor.stop", #"{"worker":"push-relay"}"#)
        try roost.awaitWorker("push-relay", "is stopped", rig.client) { $0.state == "stopped" }
        let other = try TakenPort(port)
        _ = try rig.client.call("supervisor.start", #"{"worker":"push-relay"}"#)
        try rig.awaitLog("127.0.0.1:\(port) is taken by another program")
        func check() throws -> DoctorResult.Check {
          let doctor = try rig.client.call("supervisor.doctor")
          let result = try JSONPayload.decode(DoctorResult.self, from: doctor.terminal.payload)
          return try #require(result.checks.first { $0.name == "worker push-relay" })
        }
        try awaitSoon("it has ended for it") { try !check().isGood }
        for _ in 0..<20 {
          let check = try check()
          #expect(!check.isGood && check.text.contains("is taken by another program"), "\(check)")
          usleep(50_000)
        }
        other.free()
        try roost.awaitReady()
      }
    }

    @Test("ends without a word of SwiftNIO's when clients are connected")
    func quietEnd() throws {
      try PushRig.run { rig in
        for _ in 0..<3 {
          let clients = try (0..<50).map { _ in try PlainClient(port: rig.port) }
          for client in clients { try client.send(Array("GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n".utf8)) }
          let before = try rig.roost.worker("push-relay", rig.client)
          _ = try rig.client.call("supervisor.restart", #"{"worker":"push-relay"}"#)
          try rig.roost.awaitWorker("push-relay", "is back", within: 60, rig.client) {
            $0.generation > before.generation && $0.state == "ready"
          }
        }
        #expect(!rig.log.contains("Cannot schedule tasks"), "\(rig.log)")
      }
    }
  }

  /// A port that somebody else listens at.
  private final class TakenPort {
    private var descriptor: Int32

    init(_ port: UInt16) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var one: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let bound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(bound == 0 && listen(descriptor, 1) == 0, "errno \(errno)")
    }

    func free() {
      if descriptor >= 0 { close(descriptor) }
      descriptor = -1
    }

    deinit { free() }
  }
}
