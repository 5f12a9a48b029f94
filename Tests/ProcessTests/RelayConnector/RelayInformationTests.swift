import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// What relays say of themselves (NIP-11): a real relay-connector in its sandbox, and relays by other people.
  @Suite("Information of relays")
  struct RelayInformationTests {
    private static func sandboxed(_ more: [String: String] = [:]) throws -> [String: String] {
      let settings = [
        "ca-file": "\"\(try TestCertificates.path("authority"))\"", "sandbox": "\"try\"", "ephemeral": "true",
        "connect": "\"on-demand\"",
      ]
      return settings.merging(more) { _, new in new }
    }

    private func ask(_ client: BusPeer, _ relay: String, _ more: String = "") throws -> BusPeer.Answer {
      try client.call("relay.information", #"{"relay":"\#(relay)"\#(more)}"#)
    }

    @Test("A document is fetched over TLS in the sandbox, with what was dropped of it")
    func encrypted() throws {
      let peer = try WebServer("good")
      let relay = "wss" + peer.url.dropFirst(5) + "/relay"
      try withRoost(.connector("[\"\(relay)\"]", Self.sandboxed())) { roost in
        let answer = try ask(try roost.client(), relay)
        #expect(answer.isResponse, "\(answer.text)")
        let result = try JSONPayload.decode(RelayInformationResult.self, from: answer.terminal.payload)
        #expect(result.relay == relay && result.fetchedAt > 1_700_000_000)
        #expect(
          result.document
            == .object(["name": .string("a peer"), "supported_nips": .array([.integer(1), .integer(11)])]))
        #expect(result.dropped == ["version is not a text"])
      }
    }

    @Test("At the first connection a document is fetched without being asked for, and its bounds are obeyed")
    func obeyed() throws {
      let relay = try ScriptedRelay(
        scripts: [[.accept()]],
        information: #"{"name":"small","limitation":{"max_subscriptions":2,"max_message_length":-1,"max_limit":0}}"#)
      try withRoost(.connector("[\"\(relay.url)\"]", Self.sandboxed())) { roost in
        let client = try roost.client()
        for number in 0..<4 {
          _ = try client.ask("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[\#(number)]}]}"#)
        }
        try awaitSoon("the document is fetched") { relay.informationRequests == 1 }
        let answer = try ask(client, relay.url)
        #expect(answer.isResponse, "\(answer.text)")
        let result = try JSONPayload.decode(RelayInformationResult.self, from: answer.terminal.payload)
        #expect(
          result.bounds == [
            .init(name: "max_subscriptions", value: 2, source: .said),
            .init(name: "max_message_length", value: 131_072, source: .assumed),
            .init(name: "max_limit", value: 5_000, source: .assumed),
            .init(name: "default_limit", value: 100, source: .assumed),
          ])
        #expect(
          result.dropped == [
            "limitation.max_message_length is not a whole number from 0",
            "limitation.max_limit is 0, which is not believed; 5000 is assumed",
          ])
        #expect(relay.informationRequests == 1)
      }
    }

    @Test("A relay of few subscriptions gets no more REQs at a time, and those that wait are sent when one is over")
    func slots() throws {
      let relay = try ScriptedRelay(
        scripts: [[.accept(), .expect("REQ"), .hold("document"), .endOfStored()]],
        information: #"{"limitation":{"max_subscriptions":1}}"#)
      try withRoost(.connector("[\"\(relay.url)\"]", Self.sandboxed())) { roost in
        let client = try roost.client()
        let first = try client.ask("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[1]}]}"#)
        try awaitSoon("the document is fetched") { relay.informationRequests == 1 }
        try awaitSoon("it is obeyed") {
          let list = try client.call("relay.list")
          let states = try JSONPayload.decode(RelayStates.self, from: list.terminal.payload)
          return states.relays.first?.subscriptionMaximum == 1
        }
        for kind in 2...5 {
          _ = try client.ask("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[\#(kind)]}]}"#)
        }
        let list = try client.call("relay.list")
        let state = try #require(try JSONPayload.decode(RelayStates.self, from: list.terminal.payload).relays.first)
        #expect(state.subscriptionCount == 1 && state.queuedCount == 4)
        #expect(relay.visits.first?.texts("REQ").count == 1)
        relay.release("document")
        #expect(try client.answer(to: first).isResponse)
        try relay.awaitVisits("the next is sent") { $0.first?.texts("REQ").count == 2 }
      }
    }

    @Test("An event beyond a bound that its relay publishes fails at once, with both numbers, and is not sent")
    func eventBounds() throws {
      let relay = try ScriptedRelay(
        scripts: [[.accept()]], information: #"{"limitation":{"max_event_tags":2,"created_at_upper_limit":60}}"#)
      try withRoost(.connector("[\"\(relay.url)\"]", Self.sandboxed())) { roost in
        let client = try roost.client()
        _ = try client.ask("relay.request", #"{"relay":"\#(relay.url)","filters":[{"kinds":[1]}]}"#)
        try awaitSoon("the document is fetched") { relay.informationRequests == 1 }
        let tags = [["t", "a"], ["t", "b"], ["t", "c"]]
        let key = SecretKey.generate()
        let event = UnsignedEvent(
          pubkey: key.publicKey, createdAt: WallClock.seconds, kind: 1, tags: tags, content: ""
        ).signed(by: key)
        let wanted = RelayPublish(relay: relay.url, event: RawJSON(event.json), isForeign: false)
        try awaitSoon("it is refused") {
          let answer = try client.call("relay.publish", String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
          return answer.refusal?.code == "out-of-bounds"
            && answer.refusal?.message.hasSuffix("it has 3 tags, and the relay takes 2") == true
        }
      }
    }

    @Test("A document is fetched once an hour, however many ask")
    func kept() throws {
      let document = #"{"name":"scripted"}"#
      let relay = try ScriptedRelay(
        information: .answer("HTTP/1.1 200 OK\r\nContent-Length: \(document.utf8.count)\r\n\r\n\(document)"))
      try withRoost(.connector("[\"\(relay.url)\"]", Self.sandboxed())) { roost in
        let client = try roost.client()
        #expect(relay.visits.isEmpty)
        let ids = try (0..<5).map { _ in try client.ask("relay.information", #"{"relay":"\#(relay.url)"}"#) }
        for id in ids {
          let answer = try client.answer(to: id)
          #expect(answer.isResponse, "\(answer.text)")
        }
        let later = try ask(client, relay.url)
        #expect(later.text.contains("scripted"))
        #expect(relay.visits.count == 1)
        #expect(relay.visits.first?.request.contains("Accept: application/nostr+json") == true)
      }
    }

    @Test("What keeps a document from being had is told in words, and asked for again the next time")
    func refused() throws {
      func server(_ head: String) throws -> ScriptedRelay { try ScriptedRelay(information: .answer(head), .hangUp) }
      let large = RelayInformationTests.byteCountMaximum + 1
      let cases: [(ScriptedRelay, String, String)] = [
        (try server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "no-information", "127.0.0.1 answers 404"),
        (try server("HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html>"), "no-information", "something else than a JSON object"),
        (
          try server("HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n"),
          "no-information", "points to \"https://elsewhere.example/\", which is not followed"
        ),
        (
          try server("HTTP/1.1 200 OK\r\nContent-Length: \(large)\r\n\r\n"), "no-information",
          "has more than 65536 bytes"
        ),
        (try server(""), "no-information", "closed the connection without an answer"),
      ]
      let expired = try WebServer("expired")
      try withRoost(.connector("[]", Self.sandboxed())) { roost in
        let client = try roost.client()
        for (relay, code, words) in cases {
          for _ in 0..<2 {
            let refusal = try ask(client, relay.url).refusal
            #expect(refusal?.code.rawValue == code)
            #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
          }
          #expect(relay.visits.count == 2)
        }
        let refusal = try ask(client, "wss" + expired.url.dropFirst(5)).refusal
        #expect(refusal?.code == "relay-unreachable" && refusal?.message.contains("has expired") == true)
        let foreign = try ask(client, cases[0].0.url, #","isForeign":true"#).refusal
        let words = "a loopback address; relays that other people name are not dialled there"
        #expect(foreign?.code == "relay-unreachable" && foreign?.message.contains(words) == true)
        let address = try ask(client, "https://relay.example").refusal
        #expect(address?.code == .badRequest)
      }
    }

    private static let byteCountMaximum = 64 << 10

    @Test(
      "Names are looked up in the sandbox",
      .enabled(if: resolves(hostName), "skipped: this machine does not know its own name"))
    func names() throws {
      try withRoost(.connector("[]", Self.sandboxed())) { roost in
        let client = try roost.client()
        let refusal = try ask(client, "ws://\(hostName):1").refusal
        #expect(
          refusal?.message.contains("no program answers at \(hostName) port 1: Connection refused") == true,
          "\(refusal?.message ?? "")")
        let unknown = try ask(client, "ws://no-such-host.invalid").refusal
        #expect(unknown?.message.contains("no-such-host.invalid was not found") == true)
      }
    }

    @Test("A relay outside the group is asked only where the connector dials others")
    func outside() throws {
      let relay = try ScriptedRelay(.hangUp)
      try withRoost(.connector("[]", Self.sandboxed(["ephemeral": "false"]))) { roost in
        let refusal = try ask(try roost.client(), relay.url).refusal
        #expect(refusal?.code == .noSuchRelay)
        #expect(relay.visits.isEmpty)
      }
    }

    @Test(
      "roost relay info shows what nostr-relay says of itself",
      .enabled(if: NostrRelay.isAvailable, "skipped: \(NostrRelay.absence)"))
    func nostrRelay() throws {
      let relay = try NostrRelay()
      try withRoost(PlannerRig.layout([relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let (output, ending) = try rig.command("relay", "info", relay.url)
        #expect(ending == .exited(0))
        for words in [
          relay.url, "  from ", "supervisor.conf [worker.relays]", "  says         of itself, fetched just now:",
          "  name         python\\u{202E} relay", "  about        relay written in python",
          "  contact      mailto:a@b.example",
          "  owner        npub1", "  software     https://code.pobblelabs.org/fossil/nostr_relay, version 1.14",
          "  NIPs         1, 2, 5, 9, 11, 12, 15, 20, 26, 33, 40",
        ] {
          #expect(output.contains(words), "\(words)\n\(output)")
        }
        let (json, _) = try rig.command("relay", "info", relay.url, "--json")
        let value = try JSONPayload.decode(JSONValue.self, from: Array(json.utf8))
        #expect(value["relay"] == .string(relay.url))
        #expect(value["information"]?["document"]?["version"] == .string("1.14"))
      }
    }

    @Test(
      "roost relay info says in one line that a relay closes the connection instead of answering",
      .enabled(if: PythonPeer.isAvailable, "skipped: no .venv, see Scripts/python-environment.sh"))
    func closing() throws {
      let relay = try RealRelay()
      try withRoost(PlannerRig.layout([relay.url])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let (output, ending) = try rig.command("relay", "info", relay.url)
        let says = output.split(separator: "\n").filter { $0.contains("  says ") }
        #expect(ending == .exited(0) && says.count == 1)
        #expect(
          says.first?.contains("has no information document (NIP-11)") == true
            && says.first?.contains("closed the connection without an answer") == true, "\(output)")
        let (json, _) = try rig.command("relay", "info", relay.url, "--json")
        #expect(json.contains("\"noInformation\":\"") && !json.contains("\"information\":"))
        // A relay that nothing names is asked as well, by who may dial others.
        let (silent, silentEnding) = try rig.command("relay", "info", "ws://127.0.0.1:1")
        #expect(silentEnding == .exited(1) && silent.contains("nothing names ws://127.0.0.1:1"), "\(silent)")
        #expect(silent.contains("Connection refused"))
        let document = #"{"name":"unnamed"}"#
        let other = try ScriptedRelay(
          information: .answer("HTTP/1.1 200 OK\r\nContent-Length: \(document.utf8.count)\r\n\r\n\(document)"))
        let (told, toldEnding) = try rig.command("relay", "info", other.url)
        #expect(toldEnding == .exited(0) && told.contains("  from        nothing that is known here"), "\(told)")
        #expect(told.contains("  name        unnamed"))
      }
    }
  }
}

/// This machine's own name.
private let hostName: String = {
  var bytes = [CChar](repeating: 0, count: 256)
  guard gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
  return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).lowercased()
}()

/// Whether the system finds an address for a name.
private func resolves(_ name: String) -> Bool {
  var answer: UnsafeMutablePointer<addrinfo>?
  defer { if let answer { freeaddrinfo(answer) } }
  return getaddrinfo(name, nil, nil, &answer) == 0
}
