import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Storage
import TestSupport
import Testing

extension ProcessTests {
  @Suite("A push relay and what it tells nobody")
  struct PushAbuseSecrecyTests {
    private let phone = Ed25519SecretKey.generate()
    private let friend = Ed25519SecretKey.generate()

    @Test("answers strangers alike for who is there, is not, has blocked them, has expired, is unproved (case 33)")
    func alike() throws {
      try PushRig.run { rig in
        let (blocking, expired, squatter, closed) =
          (
            Ed25519SecretKey.generate(), Ed25519SecretKey.generate(), Ed25519SecretKey.generate(),
            Ed25519SecretKey.generate()
          )
        let (stranger, nobody, token) = (Ed25519SecretKey.generate(), Ed25519SecretKey.generate(), PushRig.appleToken())
        try rig.register(phone, "ios", token)
        for owner in [blocking, expired, closed] { try rig.register(owner, "ios", PushRig.appleToken()) }
        try rig.register(squatter, "ios", token)
        try rig.contacts(of: blocking, block: [stranger])
        try rig.contacts(of: closed, policy: "contacts")
        try rig.change("UPDATE device SET expiresAt = 1000 WHERE owner = x'00\(Self.hex(expired))'")
        let recipients = [
          "registered": phone, "unregistered": nobody, "blocking": blocking, "expired": expired, "unproved": squatter,
          "contacts only": closed,
        ]
        var ids: [String: String] = [:]
        var shapes: [String: [String]] = [:]
        for (name, recipient) in recipients {
          let answer = try rig.wake(recipient, by: stranger)
          #expect(answer.status == 200)
          ids[name] = answer["wake_id"]
          shapes[PushRig.shape(answer), default: []].append(name)
        }
        #expect(shapes.count == 1, "\(shapes)")
        #expect(Set(ids.values).count == recipients.count && ids.values.allSatisfy { $0.utf8.count == 32 })
        try rig.await(2, at: .apns)
        try rig.awaitQuiet()
        // What became of them is the same, and what became of another's wake is nothing.
        var states: Set<String> = []
        for id in ids.values { states.insert(PushRig.shape(try rig.signed(stranger, "GET", "/wake/\(id)"))) }
        #expect(states.count == 1, "\(states)")
        let others = try rig.signed(friend, "GET", "/wake/\(ids["registered"] ?? "")")
        #expect(others["status"] == "unknown", "\(others.text)")
        // The challenge, and the one wake that reaches somebody.
        #expect(try rig.fakes.requests(to: .apns).count == 2)
        #expect(try rig.status().accepted == 1)
      }
    }

    @Test("tells who is blocked, where all are told how things are, what it tells others")
    func blockedUnderOpen() throws {
      try PushRig.run(["disclosure": "\"open\"", "sender-minute": "100"]) { rig in
        let (stranger, blocked) = (Ed25519SecretKey.generate(), Ed25519SecretKey.generate())
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        for policy in ["open", "contacts"] {
          try rig.contacts(of: phone, block: [blocked], policy: policy)
          var shapes: [String] = []
          for sender in [stranger, blocked] {
            let wake = try rig.wake(phone, by: sender, type: policy)
            var state = try rig.signed(sender, "GET", "/wake/\(wake["wake_id"])")
            try awaitSoon("it has ended") {
              if state["status"] == "queued" { state = try rig.signed(sender, "GET", "/wake/\(wake["wake_id"])") }
              return state["status"] != "queued"
            }
            shapes.append(PushRig.shape(wake) + "\n\(state.status) \(state["status"])")
          }
          #expect(Set(shapes).count == 1 && shapes[0].contains(policy == "open" ? "sent" : "failed"), "\(shapes)")
        }
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 1)
      }
    }

    @Test("lets through whom the recipient lets, by list and by ticket, and tells all others the same (case 39)")
    func standing() throws {
      try PushRig.run(["sender-minute": "100"]) { rig in
        let (stranger, holder, blocked) =
          (Ed25519SecretKey.generate(), Ed25519SecretKey.generate(), Ed25519SecretKey.generate())
        let nobody = Ed25519SecretKey.generate()
        try rig.register(phone, "ios", PushRig.appleToken(), capabilities: "[]")
        try rig.contacts(of: phone, allow: [friend], block: [blocked], policy: "contacts")
        let later = WallClock.seconds + 3_600
        let good = PushRig.ticket(by: phone, for: phone, holder: holder, expiresAt: later)
        let anybodys = PushRig.ticket(by: phone, for: phone, holder: nil, expiresAt: later)
        // Whoever gets through.
        #expect(try rig.wake(phone, by: friend, type: "a").status == 200)
        #expect(try rig.wake(phone, by: holder, type: "b", ticket: good).status == 200)
        #expect(try rig.wake(phone, by: stranger, type: "c", ticket: anybodys).status == 200)
        try rig.await(3, at: .apns)
        // Whoever does not, and is told nothing.
        let there = PushRig.shape(try rig.wake(phone, by: stranger, type: "d"))
        #expect(there.contains("queued"))
        #expect(PushRig.shape(try rig.wake(phone, by: blocked, type: "e")) == there)
        #expect(PushRig.shape(try rig.wake(phone, by: blocked, type: "f", ticket: anybodys)) == there)
        #expect(PushRig.shape(try rig.wake(nobody, by: stranger, type: "g")) == there)
        // Tickets that are none, told alike for whoever is there and whoever is not.
        for recipient in [phone, nobody] {
          let bad = [
            ("expired", PushRig.ticket(by: recipient, for: recipient, holder: nil, expiresAt: later - 7_200)),
            ("forged", PushRig.ticket(by: stranger, for: recipient, holder: nil, expiresAt: later)),
            ("another sender's", PushRig.ticket(by: recipient, for: recipient, holder: friend, expiresAt: later)),
            ("another recipient's", PushRig.ticket(by: friend, for: friend, holder: nil, expiresAt: later)),
            ("for ever", PushRig.ticket(by: recipient, for: recipient, holder: nil, expiresAt: later + 500 * 86_400)),
            ("cut", String(PushRig.ticket(by: recipient, for: recipient, holder: nil, expiresAt: later).dropLast())),
            ("no ticket", "x.y"),
          ]
          for (name, ticket) in bad {
            let answer = try rig.wake(recipient, by: stranger, type: "h", ticket: ticket)
            #expect(answer.status == 400 && answer["error"] == "invalid_ticket", "\(name): \(answer.text)")
          }
        }
        // With strangers blocked tickets count for nothing.
        try rig.contacts(of: phone, allow: [friend], block: [blocked], policy: "block_strangers")
        #expect(PushRig.shape(try rig.wake(phone, by: holder, type: "i", ticket: good)) == there)
        #expect(try rig.wake(phone, by: friend, type: "j").status == 200)
        // Whoever is blocked afterwards has lost his ticket as well.
        try rig.contacts(of: phone, allow: [friend], block: [blocked, holder])
        #expect(PushRig.shape(try rig.wake(phone, by: holder, type: "k", ticket: good)) == there)
        try rig.await(4, at: .apns)
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).count == 4)
      }
    }

    @Test("names nobody in any log, answer to the operator or message of the core, at any level (case 38)")
    func logs() throws {
      let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
      var layout = try PushRig.layout(fakes, port: port, directory: directory.path)
      layout.log["level"] = "\"trace\""
      try withRoost(layout) { roost in
        let rig = try PushRig(roost, fakes, port)
        let (ios, android, dead) = (PushRig.appleToken(), PushRig.googleToken(), PushRig.appleToken())
        let web = try #require(fakes.subscriptions.first)
        let payload = Array("a payload that is nobody's business".utf8)
        try rig.fakes.order(
          #"{"service":"apns","token":"\#(dead)","answers":"#
            + #"[{"status":410,"reason":"Unregistered","timestamp":\#((WallClock.seconds + 5) * 1_000)}]}"#
        )
        try rig.fakes.order(#"{"service":"fcm","answers":[{"status":503,"reason":"UNAVAILABLE"}]}"#)
        var secrets = [ios, android, dead, web.auth, web.p256dh, web.endpoint, Base64.encode(payload)]
        try rig.register(phone, "ios", ios, device: "one")
        try rig.register(phone, "android", android, device: "two")
        try rig.register(
          phone, "webpush",
          #"{"endpoint":"\#(web.endpoint)","p256dh":"\#(web.p256dh)","auth":"\#(web.auth)"}"#, device: "three")
        try rig.register(phone, "ios", dead, device: "four")
        try rig.register(friend, "ios", ios, device: "squatter")
        let stranger = Ed25519SecretKey.generate()
        let ticket = PushRig.ticket(by: phone, for: phone, holder: nil, expiresAt: WallClock.seconds + 60)
        secrets.append(ticket)
        try rig.contacts(of: phone, allow: [friend])
        try rig.wake(phone, by: friend, type: "payment_received", payload: payload)
        try awaitSoon("the dead token is gone") { try rig.status().devices == 4 }
        try rig.fakes.order(#"{"service":"apns","token":"\#(ios)","answers":[{"status":403,"reason":"BadTopic"}]}"#)
        _ = try rig.wake(phone, by: stranger, type: "noise_connect", ticket: ticket)
        // And what is refused, each with something that must not be repeated.
        let body = Array(PushRig.body(to: phone, by: friend, payload: payload).utf8)
        let fields = PushRig.signature(friend, "POST", "/wake", body)
        secrets += fields.filter { $0.hasPrefix("X-Pubky-Signature") }.map { String($0.split(separator: " ")[1]) }
        _ = try rig.send("POST", "/wake", body + [0x20], fields: fields)
        _ = try rig.send("POST", "/register", Array(#"{"platform":"ios","token":"\#(android)"}"#.utf8), fields: fields)
        _ = try rig.send("GET", "/wake/\(ios)?\(android)")
        let line = try PushLine(port: port)
        line.send("GARBAGE \(ios) \(android)\r\n\r\n")
        _ = try line.answer()
        try awaitSoon("the fault is told") { try rig.status().platforms.contains { $0.state == "away" } }

        secrets += [phone, friend, stranger].flatMap { [PushRig.name($0), Self.hex($0)] }
        let keys = roost.lines("state/push-relay/keys").filter { !$0.hasPrefix("#") }
        secrets += keys.flatMap { $0.split(separator: ":").dropFirst().map(String.init) }
        #expect(!keys.isEmpty)
        try awaitSoon("the fault is logged") { roost.lines("log/push-relay.log").joined().contains("BadTopic") }
        var told = ["roostd.out", "log/push-relay.log", "log/roostd.log"].map { ($0, roost.lines($0).joined()) }
        // `push.devices` names owners, which is what an operator asks it for; it has no tokens.
        for call in ["push.status", "supervisor.status"] { told.append((call, try rig.client.call(call).text)) }
        let why = try rig.client.call("supervisor.why", #"{"worker":"push-relay"}"#).text
        told.append(("supervisor.why", why))
        for path in ["/info", "/ready", "/health"] { told.append((path, try rig.send("GET", path).text)) }
        for (place, text) in told {
          #expect(!text.isEmpty || place == "roostd.out", "\(place) is empty")
          for secret in secrets { #expect(!text.contains(secret), "\(place) has \(secret)") }
        }
        let rows = try rig.client.call("push.devices").parts.map(\.text).joined()
        for secret in [ios, android, dead, web.auth, web.p256dh, web.endpoint] { #expect(!rows.contains(secret)) }
        #expect(told[1].1.contains("BadTopic"))
      }
    }

    @Test("keeps tokens so that the file alone gives none, and a row with another's opens nowhere (case 40)")
    func rest() throws {
      try PushRig.run { rig in
        let (other, third) = (Ed25519SecretKey.generate(), Ed25519SecretKey.generate())
        let (ios, others, android) = (PushRig.appleToken(), PushRig.appleToken(), PushRig.googleToken())
        let web = try #require(rig.fakes.subscriptions.first)
        try rig.register(phone, "ios", ios, capabilities: "[]")
        let registered = WallClock.seconds
        try rig.register(other, "ios", others)
        try rig.register(third, "android", android, device: "a")
        try rig.register(
          third, "webpush",
          #"{"endpoint":"\#(web.endpoint)","p256dh":"\#(web.p256dh)","auth":"\#(web.auth)"}"#, device: "w")
        var searched: [[UInt8]] = [ios, others, android, web.endpoint, web.auth, web.p256dh].map { Array($0.utf8) }
        searched += [ios, others].compactMap { Hexadecimal.decode($0.utf8) }
        searched += [web.auth, web.p256dh].compactMap { Base64URL.bytes($0) }
        let folder = rig.roost.directory.path + "/state/push-relay/push.db"
        func look() {
          for file in [folder, folder + "-wal"] {
            let bytes = SharedFolder.bytes(ofFile: file) ?? []
            for (number, secret) in searched.enumerated() {
              #expect(bytes.firstRange(of: secret) == nil, "\(file) has secret \(number)")
            }
          }
        }
        look()
        try rig.change(
          """
          CREATE TEMP TABLE swapped AS SELECT owner, sealed FROM device;
          UPDATE device SET sealed = (SELECT sealed FROM swapped WHERE owner = x'00\(Self.hex(other))')
            WHERE owner = x'00\(Self.hex(phone))';
          UPDATE device SET sealed = (SELECT sealed FROM swapped WHERE owner = x'00\(Self.hex(phone))')
            WHERE owner = x'00\(Self.hex(other))';
          """)
        look()
        let pid = try rig.worker()
        for recipient in [phone, other, third] { #expect(try rig.wake(recipient, by: friend).status == 200) }
        try rig.await(1, at: .fcm)
        try rig.await(1, at: .webpush)
        try awaitSoon("both rows are out of use") { try rig.status().unreadable == 2 }
        try rig.awaitQuiet()
        #expect(try rig.fakes.requests(to: .apns).isEmpty, "nobody is woken with another's token")
        #expect(try rig.worker() == pid)
        // To register again puts it right. In the same second it would be the same request, which does nothing.
        try awaitSoon("a second has passed") { WallClock.seconds > registered }
        #expect(try rig.register(phone, "ios", ios, capabilities: "[]").status == 200)
        #expect(try rig.wake(phone, by: friend, type: "again").status == 200)
        let push = try rig.await(1, at: .apns)
        #expect("\(push[0])".contains(ios))
        #expect(try rig.status().unreadable == 1)
      }
    }

    private static func hex(_ key: Ed25519SecretKey) -> String { Hexadecimal.text(of: key.publicKey.octets.bytes) }
  }
}
