import Contracts
import Cryptography
import Frames
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and its connection to APNs")
  struct AppleStreamsTests {
    /// So many devices of one owner: one wake is as many pushes at once.
    private func devices(_ rig: PushRig, _ count: Int) throws -> [PushRig.Phone] {
      let owner = Ed25519SecretKey.generate()
      return try (0..<count).map { try rig.phone(owner: owner, device: "phone-\($0)") }
    }

    @Test("sends again, once, what a GOAWAY left behind, and nothing that it did not (case 45)")
    func goodbye() throws {
      try PushRig.run { rig in
        let phones = try devices(rig, 10)
        try rig.wake(phones[0])
        try rig.awaitPlatform("ios", "has taken the first") { $0.delivered == 10 }
        try rig.mood(.apns, "hold")
        try rig.wake(phones[0], type: "second")
        try rig.awaitHeld(10, .apns)
        try rig.fakes.order(#"{"service":"apns","release":true,"left":4,"reason":"Shutdown"}"#)
        let apple = try rig.awaitPlatform("ios", "has taken all") { $0.delivered == 20 }
        #expect(apple.repeated == 0 && apple.state == "ready")
        #expect(try rig.count("connections", "apns") == 2)
        #expect(try rig.count("handshakes", "apns") == 2)
        let requests = Array(try rig.fakes.requests(to: .apns).dropFirst(10))
        #expect(requests.count == 14)
        let left = requests.filter { $0["outcome"] == .string("left behind") }
        #expect(left.count == 4)
        for phone in phones {
          let own = requests.filter { $0["receiver"] == .string(phone.receiver) }
          let isLeft = left.contains { $0["receiver"] == .string(phone.receiver) }
          #expect(own.count == (isLeft ? 2 : 1))
          #expect(own.count { $0["status"] == .integer(200) } == 1)
          #expect(Set(own.map { "\($0["headers"]?["apns-id"] ?? .null)" }).count == 1)
          if isLeft { #expect(own[0]["connection"] != own[1]["connection"]) }
        }
        #expect(try rig.count("providerTokens") == 1)
      }
    }

    @Test("opens no stream too many and stalls at none: 1 at the start, 1 after an error, then 1,000 (case 46)")
    func streamMaximum() throws {
      try PushRig.run { rig in
        let phones = try devices(rig, 6)
        func awaitAllUnderWay() throws {
          try rig.awaitPlatform("ios", "has six under way") { $0.inFlight == 6 }
        }
        // Before a push came through there is one, whatever waits.
        try rig.mood(.apns, "hold")
        try rig.wake(phones[0])
        try awaitAllUnderWay()
        try rig.awaitHeld(1, .apns)
        #expect(try rig.count("streamPeaks", "apns") == 1)
        try rig.fakes.order(#"{"service":"apns","release":true}"#)
        try rig.awaitPlatform("ios", "has taken six") { $0.delivered == 6 && $0.inFlight == 0 }

        let acknowledged = try rig.count("acknowledgements", "apns")
        try rig.order(.apns, to: phones[0].receiver, [#"{"status":400,"reason":"BadPriority"}"#])
        try rig.fakes.order(#"{"service":"apns","streamMaximum":1}"#)
        try awaitSoon("the relay knows") { try rig.count("acknowledgements", "apns") > acknowledged }
        try rig.wake(phones[0], type: "second")
        try rig.awaitPlatform("ios", "has taken five more") { $0.delivered == 11 && $0.failed == 1 }
        #expect(try rig.count("streamPeaks", "apns") == 1)

        try rig.mood(.apns, "hold")
        try rig.wake(phones[0], type: "third")
        try awaitAllUnderWay()
        try rig.awaitHeld(1, .apns)
        #expect(try rig.count("streamPeaks", "apns") == 1)
        // Nothing else happens that could wake the sender: those that wait go for the new number alone.
        try rig.fakes.order(#"{"service":"apns","streamMaximum":1000}"#)
        try rig.awaitHeld(6, .apns)
        try rig.fakes.order(#"{"service":"apns","release":true}"#)
        let apple = try rig.awaitPlatform("ios", "has taken all") { $0.delivered == 17 }
        #expect(apple.repeated == 0)
        #expect(try rig.fakes.requests(to: .apns).count == 18)
        #expect(try rig.count("connections", "apns") == 1)
      }
    }

    /// Of what bounds pushes under way, the least applies. APNs allows 1,000 at a time as a rule, and the sender takes
    /// no more (`HTTP2SenderSettings.streamMaximum`); before both comes the board, which gives each platform 256
    /// (`DeliveryLimits.appleInFlightMaximum`), so that 256 is what 600 pushes at once come to.
    @Test("has as many pushes under way as it may and none more, in a burst of 600 to an APNs that is slow (case 46)")
    func burst() throws {
      let keys = PushRig.unlimited.merging(["devices-maximum": "30", "trusted-proxies": "[\"127.0.0.1\"]"]) { $1 }
      try PushRig.run(keys) { rig in
        let owners = try crowd(rig, owners: 20, devices: 30)
        func wakeAll(_ type: String) throws {
          for owner in owners { #expect(try rig.wake(owner, by: .generate(), type: type).status == 200) }
        }
        // The first push lifts the bound of one that APNs has for whoever has shown no token yet.
        try rig.wake(owners[0], by: .generate(), type: "first")
        try rig.awaitPlatform("ios", "has taken the first") { $0.delivered == 30 }
        var taken: UInt64 = 30
        for (streams, bound) in [(1_000, 256), (100, 100), (1, 1), (1_000, 256)] as [(Int64, Int64)] {
          let acknowledged = try rig.count("acknowledgements", "apns")
          try rig.fakes.order(#"{"service":"apns","streamMaximum":\#(streams)}"#)
          try awaitSoon("the relay knows") { try rig.count("acknowledgements", "apns") > acknowledged }
          try rig.mood(.apns, "hold")
          try wakeAll("burst_\(taken)")
          try rig.awaitPlatform("ios", "has all under way that may be") { $0.inFlight == 256 }
          try rig.awaitHeld(bound, .apns)
          // All that is held is let go at once, and the rest follows: at each answer one goes.
          try rig.fakes.order(#"{"service":"apns","release":true}"#)
          taken += 600
          try rig.awaitPlatform("ios", "has taken \(taken)", within: 120) { $0.delivered == taken && $0.inFlight == 0 }
          #expect(try rig.count("streamPeaks", "apns") == bound, "\(streams) are allowed")
        }
        #expect(try rig.platform("ios").repeated == 0)
        #expect(try rig.count("requests", "apns") == Int64(taken) && rig.count("connections", "apns") == 1)
      }
    }

    /// So many owners with so many devices each, every owner from a network of his own: he may register 30 times an
    /// hour, and a network 120 times.
    private func crowd(_ rig: PushRig, owners: Int, devices: Int) throws -> [Ed25519SecretKey] {
      var keys: [Ed25519SecretKey] = []
      for number in 0..<owners {
        let owner = Ed25519SecretKey.generate()
        for device in 0..<devices {
          let body = Array(#"{"platform":"ios","token":"\#(PushRig.appleToken())","device_id":"\#(device)"}"#.utf8)
          let fields = ["X-Forwarded-For: 10.0.\(number).1"] + PushRig.signature(owner, "POST", "/register", body)
          #expect(try rig.send("POST", "/register", body, fields: fields).status == 200)
        }
        keys.append(owner)
      }
      return keys
    }

    @Test("sends one push for five wakes of a kind within two seconds, and another for another kind (case 50)")
    func coalescing() throws {
      try PushRig.run { rig in
        let phone = try rig.phone()
        let start = Monotonic.seconds
        for _ in 0..<5 { try rig.wake(phone, type: "channel_update") }
        let isQuick = Monotonic.seconds - start < 1.9
        try rig.wake(phone, type: "payment_received")
        try rig.awaitEnded(6)
        let ended = try rig.status().ended
        let requests = try rig.requests(.apns, to: phone.receiver)
        #expect(UInt64(requests.count) == ended["delivered"])
        #expect((ended["coalesced"] ?? 0) + (ended["delivered"] ?? 0) == 6)
        #expect(requests.count { "\($0)".contains("payment_received") } == 1)
        // A machine that took longer for five requests has shown nothing of two seconds.
        if isQuick { #expect(requests.count == 2, "\(ended)") }
      }
    }
  }
}
