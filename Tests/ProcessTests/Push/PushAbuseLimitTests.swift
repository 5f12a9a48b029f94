import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and senders who want too much")
  struct PushAbuseLimitTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("keeps the contacts' share from strangers, who hear nothing of it, and tells contacts when to come (case 31)")
    func strangers() throws {
      let limits = ["recipient-hour": "30", "strangers-hour": "10", "sender-minute": "100"]
      try PushRig.run(limits) { rig in
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        try rig.contacts(of: phone, allow: [friend])
        var shapes: Set<String> = []
        // Of different types, so that none of them joins another; by different senders, so that no pair is used up.
        for number in 0..<15 {
          shapes.insert(PushRig.shape(try rig.wake(phone, by: .generate(), type: "s\(number)")))
        }
        try rig.await(10, at: .apns)
        #expect(shapes.count == 1 && shapes.first?.contains("queued") == true, "\(shapes)")
        // Two that would be one push: the first is dropped, and must not make way for the second.
        for _ in 0..<4 { #expect(try rig.wake(phone, by: .generate(), type: "twice").status == 200) }
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 10)

        for number in 0..<20 { #expect(try rig.wake(phone, by: friend, type: "c\(number)").status == 200) }
        try rig.await(30, at: .apns)
        let refused = try rig.wake(phone, by: friend, type: "c20")
        #expect(refused.status == 429 && refused["error"] == "rate_limited", "\(refused.text)")
        guard case .integer(let seconds) = refused.json["retry_after"] else { return #expect(Bool(false)) }
        #expect((1...4_200).contains(seconds))
        // A stranger still hears what he always heard.
        shapes.insert(PushRig.shape(try rig.wake(phone, by: .generate(), type: "last")))
        #expect(shapes.count == 1)
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 30)
      }
    }

    @Test("has a friend who may know nothing spend as much at a full recipient, and tells him of his own limit alone")
    func untold() throws {
      let limits = ["recipient-hour": "2", "strangers-hour": "1", "sender-minute": "6", "disclosure": "\"never\""]
      try PushRig.run(limits) { rig in
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        try rig.contacts(of: phone, allow: [friend])
        var statuses: [Ed25519PublicKey: [Int]] = [:]
        for recipient in [phone, Ed25519SecretKey.generate()] {
          let sender = recipient.publicKey == phone.publicKey ? friend : .generate()
          for number in 0..<8 {
            let status = try rig.wake(recipient, by: sender, type: "t\(number)").status
            statuses[recipient.publicKey, default: []].append(status)
          }
        }
        #expect(Set(statuses.values) == [[200, 200, 200, 200, 200, 200, 429, 429]], "\(statuses.values)")
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 2)
      }
    }

    @Test("takes lists of who has no device for an hour only, and not without end from one key or one network")
    func lists() throws {
      try PushRig.run { rig in
        // An app that says whom to hear from before it registers.
        try rig.contacts(of: phone, allow: [friend], policy: "contacts")
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        #expect(try rig.signed(phone, "GET", "/contacts").text.contains(PushRig.name(friend)))
        #expect(try rig.wake(phone, by: friend).status == 200)
        try rig.await(1, at: .apns)
        var counts: [Int: Int] = [:]
        for _ in 0..<70 {
          let body = #"{"allow":[],"policy":"contacts","block":["\#(PushRig.name(.generate()))"]}"#
          counts[try rig.signed(friend, "PUT", "/contacts", body).status, default: 0] += 1
        }
        #expect(counts == [200: 60, 429: 10])
        counts = [:]
        for _ in 0..<200 {
          counts[try rig.signed(.generate(), "PUT", "/contacts", #"{"policy":"open"}"#).status, default: 0] += 1
        }
        // 61 before these, and 240 in all.
        #expect(counts == [200: 179, 429: 21])
        // Registrations are counted apart.
        #expect(try rig.register(friend, "ios", PushRig.appleToken()).status == 200)
      }
    }

    @Test("names the limit that is reached where it is one's own, and takes as many registrations as is set")
    func named() throws {
      let limits = [
        "registrations-hour": "2", "address-registrations-hour": "3", "sender-minute": "1", "recipient-hour": "1",
        "strangers-hour": "1",
      ]
      try PushRig.run(limits) { rig in
        func refused(_ answer: PushRig.Answer, _ words: String) {
          #expect(answer.status == 429 && answer["error"] == "rate_limited", "\(answer.text)")
          #expect(answer["message"].hasPrefix("too many \(words): try again in "), "\(answer.text)")
        }
        func register(_ key: Ed25519SecretKey) throws -> PushRig.Answer {
          try rig.register(key, "ios", PushRig.appleToken(), capabilities: "[]")
        }
        for _ in 0..<2 { #expect(try register(phone).status == 200) }
        refused(try register(phone), "registrations by your key")
        #expect(try register(friend).status == 200)
        refused(try register(.generate()), "registrations from your address, which others may share")
        #expect(try rig.wake(phone, by: friend, type: "a").status == 200)
        refused(try rig.wake(phone, by: friend, type: "b"), "wakes by your key")
        // A limit of the recipient's has no name, also for who may know of it.
        let contact = Ed25519SecretKey.generate()
        try rig.contacts(of: phone, allow: [contact])
        refused(try rig.wake(phone, by: contact, type: "c"), "requests")
      }
      try PushRig.run(["prefix-minute": "1"]) { rig in
        #expect(try rig.send("GET", "/health").status == 200)
        let refused = try rig.send("GET", "/health")
        #expect(
          refused["message"].hasPrefix("too many requests from your address, which others may share: "),
          "\(refused.text)")
      }
    }

    @Test("counts a network of IPv6 as one and addresses as many, and believes proxies alone about them (case 32)")
    func addresses() throws {
      try PushRig.run(["trusted-proxies": "[\"127.0.0.5\"]", "prefix-minute": "100"]) { rig in
        /// Statuses of as many requests, by one connection.
        func ask(_ count: Int, from address: UInt16, _ forwarded: (Int) -> [String]) throws -> [Int: Int] {
          let line = try PushLine(port: rig.port, from: address)
          var statuses: [Int: Int] = [:]
          for start in stride(from: 0, to: count, by: 50) {
            for number in start..<min(start + 50, count) {
              let fields = forwarded(number).map { "X-Forwarded-For: \($0)" }
              line.send(PushRig.request("GET", "/health", fields: fields))
            }
            for _ in start..<min(start + 50, count) {
              statuses[try #require(try line.answer()).status, default: 0] += 1
            }
          }
          return statuses
        }
        // From a peer that is no proxy the field is his own invention.
        #expect(try ask(150, from: 9) { ["198.51.100.\($0)"] } == [200: 100, 429: 50])
        #expect(try ask(10, from: 10) { _ in [] } == [200: 10], "another address is another")
        // A thousand addresses of one /64 are one network, and a thousand networks a thousand.
        let network = try ask(1_000, from: 5) { ["2001:db8::\(String($0 + 1, radix: 16))"] }
        #expect(network == [200: 100, 429: 900])
        #expect(try ask(1_000, from: 5) { ["2001:db8:0:\(String($0 + 1, radix: 16))::1"] } == [200: 1_000])
        // What stands left of the proxy's own word was the client's; in one field or in two.
        #expect(try ask(150, from: 5) { ["198.51.100.\($0), 203.0.113.9"] } == [200: 100, 429: 50])
        #expect(try ask(120, from: 5) { ["198.51.100.\($0)", "203.0.113.10, 127.0.0.5"] } == [200: 100, 429: 20])
        let before = try rig.status().refused["rate_limited"] ?? 0
        #expect(before == 1_020)
      }
    }

    @Test("keeps ten devices of a key, or as many as is set, those renewed last, and pushes to no more (case 35)")
    func devices() throws {
      for (keys, maximum) in [([:], 10), (["devices-maximum": "2"], 2)] as [([String: String], Int)] {
        try PushRig.run(keys) { rig in
          let tokens = (0...maximum).map { _ in PushRig.appleToken() }
          let now = WallClock.seconds - 60
          for (number, token) in tokens.enumerated() {
            let body = #"{"platform":"ios","token":"\#(token)","device_id":"d\#(number)"}"#
            #expect(try rig.signed(phone, "POST", "/register", body, at: now + Int64(number)).status == 200)
          }
          #expect(try rig.status().devices == maximum)
          #expect(try rig.wake(phone, by: friend).status == 200)
          let pushes = try rig.await(maximum, at: .apns)
          try rig.awaitQuiet()
          let receivers = try rig.fakes.requests(to: .apns).map { "\($0["receiver"] ?? .null)" }
          #expect(receivers.count == maximum && pushes.count == maximum)
          for (number, token) in tokens.enumerated() {
            #expect(receivers.contains { $0.contains(token) } == (number > 0), "device \(number)")
          }
        }
      }
    }

    @Test("stays as large as it is under wakes to twenty thousand keys that nobody has (case 36)")
    func crowd() throws {
      let limits = ["prefix-minute": "60000", "global-minute": "60000"]
      try PushRig.run(limits) { rig in
        try rig.register(phone, "ios", PushRig.appleToken())
        let pid = try rig.worker()
        let line = try PushLine(port: rig.port)
        func flood(_ count: Int) throws -> Int {
          var accepted = 0
          var sender = Ed25519SecretKey.generate()
          for start in stride(from: 0, to: count, by: 100) {
            var bytes: [UInt8] = []
            for number in start..<start + 100 {
              // Ten wakes a minute are one key's.
              if number.isMultiple(of: 10) { sender = .generate() }
              let body =
                #"{"recipient_pubkey":"\#(Self.anyKey())","wake_type":"noise_connect","#
                + #""sender_pubkey":"\#(PushRig.name(sender))","#
                + #""nonce":"\#(Hexadecimal.text(of: RandomBytes.make(16)))"}"#
              bytes += PushRig.signedRequest(sender, "POST", "/wake", body)
            }
            line.send(bytes)
            for _ in 0..<100 where try #require(try line.answer()).status == 200 { accepted += 1 }
          }
          return accepted
        }
        // What any relay takes for its caches and threads is there after the first thousands.
        #expect(try flood(5_000) == 5_000)
        let before = rig.roost.memory(of: pid)
        #expect(try flood(15_000) == 15_000)
        let (after, peak) = (rig.roost.memory(of: pid), rig.roost.memory(peak: true, of: pid))
        print("push: 5,000 keys \(before >> 10) KiB, 20,000 keys \(after >> 10) KiB, peak \(peak >> 10) KiB")
        #expect(after - before < 64 << 20, "\(before) to \(after) bytes")
        #expect(peak < 400 << 20)
        // And it does its work beside.
        #expect(try rig.wake(phone, by: friend).status == 200)
        try rig.await(1, at: .apns)
        try rig.awaitQuiet()
        #expect(try rig.worker() == pid)
      }
    }

    /// A key that nobody has.
    private static func anyKey() -> String { PushRig.name(.generate()) }
  }
}
