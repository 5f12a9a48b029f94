import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `people.profiles` with a relay that counts, and with deaths of all who take part.
  @Suite("Profiles of people")
  struct PeopleProfilesTests {
    private static func profile(_ author: SecretKey, _ name: String, at createdAt: Int64) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: createdAt, kind: 0, tags: [], content: #"{"name":"\#(name)"}"#
      ).signed(by: author)
    }

    /// So many people with a profile each. Their secrets are gone: memory for secrets is small.
    private static func people(_ count: Int, at now: Int64) -> (keys: [PublicKey], events: [Event]) {
      let events = (0..<count).map { profile(SecretKey.generate(), "n\($0)", at: now - 1_000 - Int64($0)) }
      return (events.map(\.pubkey), events)
    }

    private static func arguments(_ keys: [PublicKey], _ more: String = "") -> String {
      #"{"keys":["# + keys.map { "\"\($0)\"" }.joined(separator: ",") + "]\(more)}"
    }

    /// The profiles of some parts, the last of each person, and how the network was asked.
    private static func read(
      _ parts: [BusPeer.Frame]
    ) throws -> (profiles: [String: KnownProfile], count: Int, asked: ProfilesAsked?) {
      var (profiles, count, asked): ([String: KnownProfile], Int, ProfilesAsked?) = ([:], 0, nil)
      for part in parts {
        let page = try JSONPayload.decode(ProfilePage.self, from: part.payload)
        for profile in page.profiles { profiles[profile.pubkey] = profile }
        count += page.profiles.count
        asked = page.asked ?? asked
      }
      return (profiles, count, asked)
    }

    private func publish(_ event: Event, _ client: BusPeer) throws {
      let answer = try client.call("store.publish", String(decoding: event.json, as: UTF8.self))
      #expect(answer.isResponse, "\(answer.text)")
    }

    @Test(
      "Ten thousand people: stored ones before any relay answers, the rest within its limits, each asked for once",
      .timeLimit(.minutes(5)))
    func many() throws {
      let directory = try TemporaryDirectory()
      let now = WallClock.seconds
      let (known, events) = Self.people(9_000, at: now)
      let keys = known + (0..<1_000).map { _ in SecretKey.generate().publicKey }
      let relay = try CountingRelay(events, in: directory)
      relay.holds(true)
      try withRoost(PeopleRig.layout([relay.url])) { roost in
        let client = try roost.client()
        for event in events.prefix(50) { try publish(event, client) }
        let id = try client.ask("people.profiles", Self.arguments(keys, #","maxAge":3600"#))
        try client.wait("the stored profiles") {
          (try? Self.read(client.parts(of: id)).profiles.count) == 50
        }
        // Others ask for some of the same at the same time.
        let other = try roost.client("other")
        let overlapping = try other.ask("people.profiles", Self.arguments(Array(keys[4_000...]), #","maxAge":3600"#))
        relay.holds(false)
        let first = try Self.read(try client.answer(to: id, within: 120).parts)
        let second = try Self.read(try other.answer(to: overlapping, within: 120).parts)
        #expect(first.profiles.count == 10_000 && first.count == 10_000)
        #expect(first.profiles.values.count { $0.state == .known } == 9_000)
        #expect(first.asked == ProfilesAsked(count: 10_000))
        #expect(second.profiles.count == 6_000 && second.profiles.values.count { $0.state == .known } == 5_000)
        #expect(first.profiles["\(keys[8_999])"]?.shownName == "n8999")
        #expect(first.profiles["\(keys[9_999])"]?.state == .absent)
        let requests = try relay.requests()
        #expect(requests.allSatisfy { $0.broken == nil }, "\(requests.compactMap(\.broken))")
        #expect(requests.flatMap(\.filters).allSatisfy { ($0.authors?.count ?? 0) <= 500 })
        let counts = try relay.askedCounts()
        #expect(counts.count == 10_000 && counts.values.allSatisfy { $0 == 1 }, "\(counts.values.max() ?? 0)")
        // Within the age no relay is asked again, also for those who have no profile.
        let again = try Self.read(
          try client.call("people.profiles", Self.arguments(keys, #","maxAge":3600"#), within: 60).parts)
        #expect(again.profiles.count == 10_000 && again.asked == ProfilesAsked(count: 0))
        #expect(again.profiles["\(keys[9_999])"]?.askedAt != nil)
        #expect(try relay.askedCounts() == counts)
        // Age 0: now, and only for the one.
        let one = try client.call("people.profiles", Self.arguments([keys[0]]))
        #expect(try Self.read(one.parts).asked == ProfilesAsked(count: 1))
      }
    }

    @Test("Changes come while the request is open, older events do not, and a deletion is an absence")
    func live() throws {
      let directory = try TemporaryDirectory()
      let relay = try CountingRelay([], in: directory)
      let (alice, bob) = (SecretKey.generate(), SecretKey.generate())
      let now = WallClock.seconds
      try withRoost(PeopleRig.layout([relay.url])) { roost in
        let client = try roost.client()
        let id = try client.ask(
          "people.profiles",
          Self.arguments([alice.publicKey, bob.publicKey], #","live":true,"policy":"cache-only""#))
        func shown(_ key: SecretKey) throws -> KnownProfile? {
          try Self.read(client.parts(of: id)).profiles["\(key.publicKey)"]
        }
        try client.wait("all are absent") { (try? Self.read(client.parts(of: id)).asked) != nil }
        #expect(try shown(alice)?.state == .absent && shown(bob)?.state == .absent)
        let first = Self.profile(alice, "first", at: now - 10)
        try publish(first, client)
        try client.wait("the first") { (try? shown(alice))?.shownName == "first" }
        try publish(Self.profile(alice, "second", at: now - 5), client)
        try client.wait("the second") { (try? shown(alice))?.shownName == "second" }
        // What is no profile, and names that deceive.
        let hostile = UnsignedEvent(
          pubkey: bob.publicKey, createdAt: now - 5, kind: 0, tags: [], content: #"{"name":"\u202e\u001b[2Jx"}"#
        ).signed(by: bob)
        try publish(hostile, client)
        try client.wait("the hostile one") { (try? shown(bob))?.shownName == #"\u{202E}\e[2Jx"# }
        let array = UnsignedEvent(pubkey: bob.publicKey, createdAt: now - 4, kind: 0, tags: [], content: "[1]")
          .signed(by: bob)
        try publish(array, client)
        try client.wait("the unreadable one") { (try? shown(bob))?.state == .unreadable }
        let deletion = UnsignedEvent(
          pubkey: bob.publicKey, createdAt: now, kind: 5, tags: [["e", "\(array.id)"]], content: ""
        ).signed(by: bob)
        try publish(deletion, client)
        try client.wait("the absence") { (try? shown(bob))?.state == .absent }
        #expect(try relay.askedCounts().isEmpty, "no relay is asked for what is stored only")
      }
    }

    @Test("Store, planner and worker die in the middle of it, and what was asked for is here at the end")
    func deaths() throws {
      let directory = try TemporaryDirectory()
      let now = WallClock.seconds
      let first = SecretKey.generate()
      let (others, written) = Self.people(1_199, at: now)
      let keys = [first.publicKey] + others
      let events = [Self.profile(first, "first", at: now - 1_000)] + written
      let relay = try CountingRelay(events, in: directory)
      try withRoost(PeopleRig.layout([relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        for victim in ["outbox-planner", "event-store", "people"] {
          let part =
            victim == "outbox-planner" ? keys[..<400] : victim == "event-store" ? keys[400..<800] : keys[800...]
          relay.holds(true)
          let before = try relay.requests().count
          let id = try rig.client.ask("people.profiles", Self.arguments(Array(part), #","maxAge":60"#))
          try awaitSoon("the relay is asked") { try relay.requests().count > before }
          try rig.kill(victim)
          relay.holds(false)
          var answer = try rig.client.answer(to: id, within: 60)
          if victim == "people" {
            // Its caller learns it, or the next one has answered.
            if !answer.isResponse {
              answer = try rig.client.call(
                "people.profiles", Self.arguments(Array(part), #","maxAge":60"#), within: 60)
            }
          }
          let found = try Self.read(answer.parts)
          #expect(answer.isResponse, "\(victim): \(answer.text)")
          #expect(found.profiles.values.count { $0.state == .known } == 400, "\(victim): \(found.profiles.count)")
          #expect(found.asked?.failed == nil, "\(victim)")
        }
        // After the store's death changes come as before.
        let live = try rig.client.ask(
          "people.profiles", Self.arguments([keys[0]], #","live":true,"policy":"cache-only""#))
        try rig.kill("event-store")
        try awaitSoon("the store takes events") {
          let newer = Self.profile(first, "newer", at: now)
          return try rig.client.call("store.publish", String(decoding: newer.json, as: UTF8.self)).isResponse
        }
        try rig.client.wait("the newer one") {
          (try? Self.read(rig.client.parts(of: live)).profiles["\(keys[0])"])??.shownName == "newer"
        }
      }
    }

    @Test("A caller that takes nothing delays no other, and wrong arguments are refused in words")
    func callers() throws {
      let directory = try TemporaryDirectory()
      let relay = try CountingRelay([], in: directory)
      let people = (0..<300).map { _ in SecretKey.generate() }
      let events = people.map { author in
        UnsignedEvent(
          pubkey: author.publicKey, createdAt: WallClock.seconds - 50, kind: 0, tags: [],
          content: #"{"name":"x","about":"\#(String(repeating: "a", count: 20_000))"}"#
        ).signed(by: author)
      }
      try withRoost(PeopleRig.layout([relay.url])) { roost in
        let client = try roost.client()
        for event in events { try publish(event, client) }
        let keys = people.map(\.publicKey)
        let slow = try roost.client("slow")
        // Six megabytes for it, of which it reads nothing.
        try slow.ask("people.profiles", Self.arguments(keys, #","policy":"cache-only","live":true"#))
        for _ in 0..<3 {
          let answer = try client.call("people.profiles", Self.arguments(keys, #","policy":"cache-only""#))
          #expect(try Self.read(answer.parts).profiles.count == 300)
        }
        for (arguments, words) in [
          (#"{"keys":[]}"#, "1 to 10000"), (#"{"keys":["npub1"]}"#, "'keys[0]' is no key"),
          (Self.arguments([keys[0]], #","policy":"network-only""#), "network-only"),
          (Self.arguments([keys[0]], #","maxAge":-1"#), "'maxAge'"), (#"{"key":["a"]}"#, "did you mean 'keys'"),
        ] {
          let refusal = try #require(try client.call("people.profiles", arguments).refusal)
          #expect(refusal.code == .badRequest && refusal.message.contains(words), "\(refusal)")
        }
        #expect(roost.memory(of: try roost.worker("people", client).pid) < 96 << 20)
      }
    }
  }
}
