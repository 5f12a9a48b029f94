import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

/// A real roostd with a real store and a real connector that dials any relay.
private struct ReconcileRig {
  let roost: RunningRoost
  let store: StoreClient

  static func run(_ body: (ReconcileRig) throws -> Void) throws {
    var layout = Layout.store
    layout.workers += Layout.connector("[]", ["ephemeral": "true", "sandbox": "\"try\""]).workers
    try withRoost(layout) { roost in try body(ReconcileRig(roost: roost, store: try StoreClient(roost))) }
  }

  func fill(_ events: [Event]) throws {
    for start in stride(from: 0, to: events.count, by: 1_000) {
      let some = events[start..<min(start + 1_000, events.count)]
      let answer = try store.peer.answer(to: try store.importRun(some.map(\.json)))
      #expect(answer.isResponse, "\(answer.text)")
    }
  }

  func begin(_ relay: String, _ further: String = "") throws -> UInt64 {
    try store.peer.ask("relay.reconcile", #"{"relay":"\#(relay)","filter":{"kinds":[1]}\#(further)}"#)
  }

  func reconcile(_ relay: String, _ further: String = "") throws -> RelayReconcileResult {
    let id = try begin(relay, further)
    let answer = try store.peer.answer(to: id)
    #expect(answer.isResponse, "\(answer.text)")
    return try JSONPayload.decode(RelayReconcileResult.self, from: answer.terminal.payload)
  }

  func count() throws -> Int {
    let answer = try store.peer.call("store.count", #"{"filters":[{"kinds":[1]}]}"#)
    return try JSONPayload.decode(StoreCount.self, from: answer.terminal.payload).count
  }

  func seen(_ event: Event) throws -> [String] {
    let answer = try store.peer.call("store.seen", #"{"id":"\#(event.id)"}"#)
    return try JSONPayload.decode(SeenResult.self, from: answer.terminal.payload).relays.map(\.relay)
  }
}

extension ProcessTests {
  @Suite("Reconciling with a relay (NIP-77)")
  struct ReconcileRelayTests {
    private static let window = #","since":1700000000,"until":1700100000"#

    @Test("brings what the store lacks, once, and records what both have as seen there")
    func brings() throws {
      let (common, missing, alone) = (makeEvents(0..<400), makeEvents(50..<90), makeEvents(400..<410))
      let relay = try ScriptedRelay(.accept(), ReconcilingRelay(events: common + missing).step)
      try ReconcileRig.run { rig in
        try rig.fill(common + alone)
        let result = try rig.reconcile(relay.url, Self.window)
        #expect(result.end == .complete, "\(result)")
        #expect(result.counts.common == 400 && result.counts.needed == 40 && result.counts.fetched == 40)
        #expect(result.counts.unavailable == 0 && result.counts.windows == 1)
        #expect(try rig.count() == 450)
        for event in [common[0], common[399], missing[7]] { #expect(try rig.seen(event) == [relay.url]) }
        #expect(try rig.seen(alone[3]).isEmpty)
        let texts = relay.visits[0].texts
        #expect(relay.visits[0].texts("REQ").count == 1 && texts.contains { $0.hasPrefix("[\"NEG-CLOSE") })
        // Now nothing is missing: no REQ, and little is said.
        let again = try rig.reconcile(relay.url, Self.window)
        #expect(again.end == .complete && again.counts.needed == 0 && again.counts.common == 440, "\(again)")
        #expect(relay.visits[0].texts("REQ").count == 1)
      }
    }

    @Test("counts ids that no relay has as unavailable, and asks for them once")
    func phantoms() throws {
      let phantoms = (0..<30).map { EventID(SHA256.hash(Array("phantom \($0)".utf8))) }
      let events = makeEvents(0..<47)
      let relay = try ScriptedRelay(.accept(), ReconcilingRelay(events: events, phantoms: phantoms).step)
      try ReconcileRig.run { rig in
        let result = try rig.reconcile(relay.url, Self.window)
        #expect(result.end == .complete, "\(result)")
        #expect(result.counts.needed == 77 && result.counts.fetched == 47 && result.counts.unavailable == 30)
        #expect(try rig.count() == 47)
        let asked = relay.visits[0].texts("REQ").joined()
        #expect(asked.split(separator: "\(phantoms[4])", omittingEmptySubsequences: false).count == 2)
      }
    }

    @Test("cuts the window where the relay has too many events, and does not put the relay aside for the word")
    func tooMany() throws {
      let events = makeEvents(0..<2_000)
      var script = ReconcilingRelay(events: events)
      script.recordMaximum = 300
      script.cap = 100
      let relay = try ScriptedRelay(.accept(), script.step)
      try ReconcileRig.run { rig in
        try rig.fill(events.enumerated().filter { $0.offset % 5 > 0 }.map(\.element))
        let result = try rig.reconcile(relay.url, #","since":1700000000,"until":1700002000"#)
        #expect(result.end == .complete, "\(result)")
        #expect(result.counts.windows == 8 && result.counts.fetched == 400 && result.counts.common == 1_600)
        #expect(try rig.count() == 2_000)
        // It is asked as before.
        #expect(try rig.reconcile(relay.url, #","since":1700000000,"until":1700000100"#).end == .complete)
      }
    }

    @Test(
      "falls back at a relay that does not reconcile, and remembers it",
      arguments: [
        ("notice", .notice("ERROR: bad msg: negentropy disabled"), .unsupported),
        ("closed", .closed("unsupported: NEG-OPEN"), .unsupported),
        ("refused", .send(#"["NEG-ERR","$sub","blocked: reconciliation is for members"]"#), .unsupported),
        ("mutilated", .send(#"["NEG-MSG","$sub","61ffff"]"#), .failed),
        ("version", .send(#"["NEG-MSG","$sub","62"]"#), .failed), ("hung up", .hangUp, .unsupported),
      ] as [(String, RelayStep, RelayReconcileResult.End)])
    func fallsBack(name: String, answer: RelayStep, end: RelayReconcileResult.End) throws {
      let relay = try ScriptedRelay(.accept(), .expect("NEG-OPEN"), answer)
      try ReconcileRig.run { rig in
        let result = try rig.reconcile(relay.url)
        #expect(result.end == end && result.reason?.isEmpty == false, "\(name): \(result)")
        let again = try rig.reconcile(relay.url)
        #expect(again.end == .unsupported && again.reason?.contains("within an hour") == true, "\(again)")
        #expect(relay.visits.flatMap { $0.texts("NEG-OPEN") }.count == 1)
      }
    }

    @Test("ends after 15 s of silence, and relay.retry has the relay asked again")
    func silence() throws {
      let relay = try ScriptedRelay(.accept(), .expect("NEG-OPEN"))
      try ReconcileRig.run { rig in
        let result = try rig.reconcile(relay.url)
        #expect(result.end == .unsupported && result.reason?.contains("did not answer") == true, "\(result)")
        _ = try rig.store.peer.call("relay.retry", #"{"relay":"\#(relay.url)"}"#)
        _ = try rig.begin(relay.url)
        try relay.awaitVisits("another NEG-OPEN") { $0.flatMap { $0.texts("NEG-OPEN") }.count == 2 }
      }
    }

    @Test("ends with its caller: the relay gets NEG-CLOSE, the store gives up its session")
    func cancelled() throws {
      let relay = try ScriptedRelay(.accept(), .expect("NEG-OPEN"))
      try ReconcileRig.run { rig in
        let id = try rig.begin(relay.url)
        try relay.awaitVisits("NEG-OPEN") { !$0.flatMap { $0.texts("NEG-OPEN") }.isEmpty }
        rig.store.peer.send(FrameHeader(type: .cancel, re: id))
        #expect(try rig.store.peer.answer(to: id).refusal?.code == .cancelled)
        try relay.awaitVisits("NEG-CLOSE") { !$0.flatMap { $0.texts("NEG-CLOSE") }.isEmpty }
      }
    }

    @Test("refuses a window without seconds, and what a relay chooses in a way of its own")
    func badArguments() throws {
      try ReconcileRig.run { rig in
        for arguments in [
          #"{"relay":"ws://127.0.0.1:9","filter":{},"since":5,"until":4}"#,
          #"{"relay":"ws://127.0.0.1:9","filter":{"limit":3}}"#,
          #"{"relay":"ws://127.0.0.1:9","filter":{"search":"word"}}"#, #"{"relay":"nowhere","filter":{}}"#,
        ] {
          let answer = try rig.store.peer.call("relay.reconcile", arguments)
          #expect(answer.refusal?.code == .badRequest, "\(arguments): \(answer.text)")
        }
        // The asking side of the store is for connectors.
        let begin = try rig.store.peer.call("store.reconcile.begin", #"{"relay":"ws://127.0.0.1:9","filter":{}}"#)
        #expect(begin.refusal?.code == .denied, "\(begin.text)")
      }
    }
  }

  @Suite(
    "Reconciling with nostr-sdk's relay",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct ReconcileRealRelayTests {
    @Test("Of 5,000 events the one in a hundred that is missing comes, for a small part of the bytes of all")
    func missing() throws {
      let events = makeEvents(0..<5_000)
      let lines = Array(events.map(\.json).joined(separator: [UInt8(ascii: "\n")]))
      try ReconcileRig.run { rig in
        let relay = try RealRelay(try rig.roost.write(lines, to: "events.jsonl"))
        try rig.fill(events.enumerated().filter { $0.offset % 100 != 50 }.map(\.element))
        let result = try rig.reconcile(relay.url)
        #expect(result.end == .complete, "\(result)")
        #expect(result.counts.fetched == 50 && result.counts.unavailable == 0 && result.counts.common == 4_950)
        #expect(try rig.count() == 5_000)
        let all = events.reduce(0) { $0 + $1.json.count }
        #expect((result.counts.sentBytes + result.counts.receivedBytes) * 5 < all, "\(result) of \(all)")
        #expect(try rig.seen(events[0]) == [relay.url] && rig.seen(events[50]) == [relay.url])
      }
    }
  }
}
