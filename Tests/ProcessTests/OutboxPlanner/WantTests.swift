import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `plan.want`: draining on demand, at a relay by other people.
  @Suite("Wanting what is stored", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct WantTests {
    private let directory: TemporaryDirectory
    private let relay: RealRelay
    private static let count = 1_300

    init() throws {
      directory = try TemporaryDirectory()
      let path = directory.path + "/events.jsonl"
      let author = SecretKey.generate()
      let lines = (0..<Self.count).map { number in
        let event = UnsignedEvent(
          pubkey: author.publicKey, createdAt: WallClock.seconds - 10 * Int64(number) - 60, kind: 1, tags: [],
          content: "note \(number)"
        ).signed(by: author)
        return String(decoding: event.json, as: UTF8.self) + "\n"
      }
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(lines.joined(), to: descriptor)
      Descriptors.close(descriptor)
      relay = try RealRelay("--cap", "500", path)
    }

    private func want(_ rig: PlannerRig, _ more: String) throws -> PlanWantResult {
      let answer = try rig.client.call("plan.want", #"{"filters":[{"kinds":[1]}]\#(more)}"#)
      if let refusal = answer.refusal { throw refusal }
      return try JSONPayload.decode(PlanWantResult.self, from: answer.terminal.payload)
    }

    private func stored(_ rig: PlannerRig) throws -> Int {
      try rig.ask("store.count", StoreQuery(filters: [.object(["kinds": .array([.integer(1)])])]), as: StoreCount.self)
        .count
    }

    @Test("The newest are fetched, then everything, and a relay that is away is named and delays nothing")
    func depths() throws {
      try withRoost(PlannerRig.layout([relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let newest = try rig.client.call("plan.want", #"{"filters":[{"kinds":[1],"limit":7}],"depth":"newest"}"#)
        let result = try JSONPayload.decode(PlanWantResult.self, from: newest.terminal.payload)
        #expect(result.end == .complete && result.events == 7 && result.relays.map(\.relay) == [relay.url])
        #expect(try JSONPayload.decode(ObserveProgress.self, from: newest.parts[0].payload).isObserved)
        try awaitSoon("they are stored") { try stored(rig) == 7 }
        let all = try want(rig, #","relays":["ws://127.0.0.1:1"],"seconds":60"#)
        #expect(all.end == .complete, "\(all)")
        #expect(all.relays.first { $0.relay == "ws://127.0.0.1:1" }?.reason != nil, "\(all)")
        try awaitSoon("all are stored") { try stored(rig) == Self.count }
        let again = try want(rig, "")
        #expect(again.end == .complete && again.events < 100, "what is here is not asked for again: \(again)")
      }
    }

    @Test("What a person wrote is drained where the person's list says, also when the list has just come")
    func elsewhere() throws {
      let bob = SecretKey.generate()
      let home = try KeepingRelay()
      let note = UnsignedEvent(
        pubkey: bob.publicKey, createdAt: WallClock.seconds - 60, kind: 1, tags: [], content: "at home"
      ).signed(by: bob)
      let list = RelayList.template(
        [RelayList.Entry(try RelayURL(home.url))], by: bob.publicKey, createdAt: WallClock.seconds - 90
      ).signed(by: bob)
      try withRoost(OutboxReadingTests.layout([relay.url], indexers: [])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        try rig.put(note, on: home)
        #expect(try rig.client.call("store.publish", String(decoding: list.json, as: UTF8.self)).isResponse)
        for kind in [1, 6, 7, 30_023] {
          let wanted = #"{"filters":[{"authors":["\#(bob.publicKey)"],"kinds":[\#(kind)]}],"seconds":60}"#
          let answer = try rig.client.call("plan.want", wanted)
          let result = try JSONPayload.decode(PlanWantResult.self, from: answer.terminal.payload)
          #expect(result.end == .complete && result.relays.contains { $0.relay == home.url }, "\(kind): \(result)")
          #expect(kind != 1 || result.events == 1)
        }
      }
    }

    @Test("A wish ends when so many events have come")
    func bounded() throws {
      let author = SecretKey.generate()
      let notes = (0..<3).map { number in
        UnsignedEvent(
          pubkey: author.publicKey, createdAt: WallClock.seconds - 60 - Int64(number), kind: 1, tags: [], content: ""
        ).signed(by: author)
      }
      let sent = notes.map { RelayStep.event(String(decoding: $0.json, as: UTF8.self)) }
      let endless = try ScriptedRelay(scripts: [[.accept(), .expect("REQ")] + sent + [.hold("never")]])
      try withRoost(PlannerRig.layout([endless.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let some = try want(rig, #","eventMaximum":3,"urgency":"backfill""#)
        #expect(some.end == .events && some.events == 3, "\(some)")
        try awaitSoon("they are stored") { try stored(rig) == 3 }
      }
    }

    @Test("A wish ends at its bound also while a relay sends without a pause")
    func streaming() throws {
      let flood = try ScriptedRelay(scripts: [[.accept(), .expect("REQ"), .events(0..<2_000_000), .hold("never")]])
      try withRoost(PlannerRig.layout([flood.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let some = try want(rig, #","eventMaximum":500,"seconds":20"#)
        #expect(some.end == .events && (500..<500_000).contains(some.events), "\(some)")
      }
    }

    @Test("A wish ends at its time, with its caller, and not for bad arguments")
    func ends() throws {
      let silent = try ScriptedRelay(scripts: [[.accept(), .hold("never")]])
      try withRoost(PlannerRig.layout([silent.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        #expect(try want(rig, #","seconds":1"#).end == .time)
        let id = try rig.client.ask("plan.want", #"{"filters":[{"kinds":[7]}]}"#)
        try rig.client.wait("a first part") { !rig.client.parts(of: id).isEmpty }
        for wrong in [
          #","exclusiveRelays":true"#, #","seconds":0"#, #","seconds":86401"#, #","eventMaximum":0"#,
          #","relays":["http://x"]"#, #","depth":"deep""#,
        ] {
          let refusal = try #require(
            try rig.client.call("plan.want", #"{"filters":[{"kinds":[1]}]\#(wrong)}"#).refusal, "\(wrong)")
          #expect(refusal.code == .badRequest || refusal.code == .badPayload, "\(wrong): \(refusal)")
        }
      }
    }
  }
}
