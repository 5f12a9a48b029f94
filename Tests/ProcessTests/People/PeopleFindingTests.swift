import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `people.find` and `people.name`, and the command line on top of them.
  @Suite("Finding and naming people", .enabled(if: NginxNames.isAvailable, "no nginx: run Scripts/nginx.sh"))
  struct PeopleFindingTests {
    private let directory: TemporaryDirectory
    private let alice = SecretKey.generate()
    private let bob = SecretKey.generate()
    private let robert = SecretKey.generate()
    private let carol = SecretKey.generate()

    init() throws { directory = try TemporaryDirectory() }

    private func event(_ author: SecretKey, _ kind: UInt16, _ content: String, _ tags: [[String]] = []) -> Event {
      UnsignedEvent(
        pubkey: author.publicKey, createdAt: WallClock.seconds - 60, kind: kind, tags: tags, content: content
      ).signed(by: author)
    }

    /// Alice follows Bob, and Carol as "Bobby"; a stranger is called Bob too.
    private func run(_ nginx: NginxNames, _ body: (PlannerRig) throws -> Void) throws {
      let connector = [
        "ca-file": "\"\(try TestCertificates.path("authority"))\"", "name-server": "\"\(nginx.url)\"",
      ]
      try withRoost(PeopleRig.layout([], connector: connector)) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.importAlice(alice)
        for event in [
          event(alice, 3, "", [["p", "\(bob.publicKey)"], ["p", "\(carol.publicKey)", "", "Bobby"]]),
          event(bob, 0, #"{"name":"Bób","nip05":"bob@people.example"}"#),
          event(robert, 0, #"{"name":"bob","display_name":"\u202eBob","nip05":"bob@people.example"}"#),
          event(carol, 0, #"{"display_name":"Carol","nip05":"carol@slow.example"}"#),
        ] {
          #expect(try rig.client.call("store.publish", String(decoding: event.json, as: UTF8.self)).isResponse)
        }
        try body(rig)
      }
    }

    private func nginx() throws -> NginxNames {
      try NginxNames(in: directory, names: #"{"names":{"bob":"\#(bob.publicKey)","other":"zz"}}"#)
    }

    private func find(_ rig: PlannerRig, _ text: String, _ more: String = "") throws -> [FoundPerson] {
      let answer = try rig.client.call("people.find", #"{"text":"\#(text)"\#(more)}"#)
      if let refusal = answer.refusal { throw refusal }
      return try answer.parts.flatMap { try JSONPayload.decode(FoundPeople.self, from: $0.payload).people }
    }

    private func claim(_ rig: PlannerRig, _ name: String?, _ key: SecretKey) throws -> NameClaim {
      try rig.ask("people.name", PeopleName(pubkey: "\(key.publicKey)", name: name), as: NameClaim.self)
    }

    @Test("Whom letters mean: those who are followed first, then strangers; accents make no difference")
    func finding() throws {
      try run(try nginx()) { rig in
        try awaitSoon("the store has indexed them") { try find(rig, "bob").count == 3 }
        let found = try find(rig, "BOB")
        #expect(found.map(\.pubkey) == [bob, carol, robert].map { "\($0.publicKey)" })
        #expect(found.map(\.isFollowed) == [true, true, false] && found[1].petname == "Bobby")
        #expect(found[0].field == .name && found[0].way == .exact && found[1].field == .petname)
        #expect(try find(rig, "car").map(\.pubkey) == ["\(carol.publicKey)"])
        #expect(try find(rig, "bob", #","limit":1"#).count == 1)
        #expect(try find(rig, "bob", #","account":"alice""#).count == 3)
        // Of a stranger the beginning of a key is enough once the profile was shown.
        _ = try rig.client.call("people.profiles", #"{"keys":["\#(robert.publicKey)"],"policy":"cache-only"}"#)
        #expect(try find(rig, String(robert.publicKey.npub.prefix(14))).first?.field == .key)
        let stranger = SecretKey.generate().publicKey
        #expect(try find(rig, stranger.npub).map(\.pubkey) == ["\(stranger)"])
        for (arguments, code): (String, RefusalCode) in [
          (#"{"text":"!!"}"#, .badRequest), (#"{"text":""}"#, .badRequest), (#"{"text":"a","limit":0}"#, .badRequest),
          (#"{"text":"a","account":"zoe"}"#, .noSuchAccount),
        ] {
          #expect(try rig.client.call("people.find", arguments).refusal?.code == code, "\(arguments)")
        }
        let (output, ending) = try rig.command("find", "bob")
        #expect(ending == .exited(0) && output.contains("followed, name: the same"), "\(output)")
        #expect(!output.contains("\u{202E}") && output.contains(robert.publicKey.npub), "\(output)")
        #expect(try rig.command("find", "zzzz").ending == .exited(1))
      }
    }

    @Test("Names at nginx: the person's, another's, unknown, a redirect, 10 MB, HTML; a byte a second is unreachable")
    func verdicts() throws {
      try run(try nginx()) { rig in
        #expect(try claim(rig, nil, bob).verdict == .verified)
        let foreign = try claim(rig, nil, robert)
        #expect(foreign.verdict == .another && foreign.otherPubkey == "\(bob.publicKey)")
        for (name, reason) in [
          ("carol@people.example", "does not know 'carol'"), ("bob@redirect.example", "not followed"),
          ("bob@huge.example", "1048576"), ("bob@page.example", "something else"), ("bob@missing.example", "404"),
        ] {
          let claim = try claim(rig, name, bob)
          #expect(claim.verdict == .unknown && claim.reason?.contains(reason) == true, "\(claim)")
        }
        let slow = try claim(rig, nil, carol)
        #expect(slow.verdict == .unreachable, "\(slow)")
        // It is remembered: the same verdict at the same second, although the server would take five seconds again.
        let began = Monotonic.seconds
        #expect(try claim(rig, nil, carol) == slow && Monotonic.seconds - began < 4)
        #expect(try rig.refusal("people.name", PeopleName(pubkey: "\(alice.publicKey)"))?.code == .noSuchName)
        #expect(try rig.refusal("people.name", PeopleName(pubkey: "x"))?.code == .badRequest)
        // The verdict is beside the profile from then on, and the command line says it.
        let answer = try rig.client.call(
          "people.profiles", #"{"keys":["\#(bob.publicKey)"],"policy":"cache-only"}"#)
        #expect(answer.parts.first?.text.contains(#""claim":"verified""#) == true)
        let shown = try rig.command("profile", "bob@people.example").output
        #expect(shown.contains(bob.publicKey.npub) && shown.contains("bob@people.example (verified)"), "\(shown)")
        let others = try rig.command("profile", "\(robert.publicKey)").output
        #expect(others.contains("(claimed; it is another's)"), "\(others)")
        let several = try rig.command("profile", "bob@people.example", robert.publicKey.npub, "--stored").output
        #expect(several.contains(bob.publicKey.npub) && several.contains(robert.publicKey.npub), "\(several)")
        #expect(!several.contains("\u{202E}"), "\(several)")
        // A name stands wherever a key does.
        let route = try rig.command("plan", "read", "--kind", "1", "--author", "bob@people.example", "--json").output
        #expect(route.contains("\(bob.publicKey)") || !route.contains("no key"), "\(route)")
        let missing = try rig.command("profile", "carol@people.example")
        #expect(missing.ending == .exited(1))
      }
    }

    @Test("A name whose host is this machine is not asked")
    func loopback() throws {
      let connector = ["ca-file": "\"\(try TestCertificates.path("authority"))\""]
      try withRoost(PeopleRig.layout([], connector: connector)) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        // libcurl has every name below localhost at 127.0.0.1 (RFC 6761).
        let claim = try claim(rig, "bob@names.localhost", bob)
        #expect(claim.verdict == .unreachable && claim.reason?.contains("not dialled there") == true, "\(claim)")
      }
    }
  }
}
