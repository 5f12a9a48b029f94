import Contracts
import Frames
import Testing

@testable import Rendering

@Suite("Relays and routes, as people see them")
struct RelayTextTests {
  private var list: PlanRelayList {
    var open = RelayStates.Relay(relay: "wss://nos.lol", state: "open")
    (open.latencyMilliseconds, open.events, open.connections) = (120, 1_204, 2)
    (open.bytes, open.openSince) = (4_096, 1_700_000_000)
    var waiting = RelayStates.Relay(relay: "wss://down.example", state: "waiting")
    waiting.reason = "no such host"
    return PlanRelayList(relays: [
      .init(
        relay: "wss://dm.example", sources: ["alice's dm-list"], reads: false, writes: false),
      .init(
        relay: "wss://down.example", sources: ["added"], reads: true, writes: false, connector: "relays", state: waiting
      ),
      .init(
        relay: "wss://nos.lol", sources: ["supervisor.conf [worker.relays]", "alice's list"], reads: true, writes: true,
        connector: "relays", state: open),
    ])
  }

  @Test("Relays are a table: how each is, what for, and who names it")
  func relays() {
    #expect(
      RelayText.list(list, .plain) == [
        "RELAY               STATE        USE         LATENCY  EVENTS  FROM",
        "wss://dm.example    not dialled  -                 -       -  alice's dm-list",
        "wss://down.example  waiting      read              -       -  added; no such host",
        "wss://nos.lol       open         read write    120ms    1204  supervisor.conf [worker.relays], alice's list",
        "", "3 relays, 1 connected",
      ])
    #expect(RelayText.list(PlanRelayList(relays: []), .plain).count == 1)
  }

  @Test("Of one relay all is told, a line each")
  func info() {
    #expect(
      RelayText.info(list.relays[2], .unknown("it is away"), now: 0, .plain) == [
        "wss://nos.lol  open", "  from         supervisor.conf [worker.relays], alice's list",
        "  use          read write", "  dialled by   relays", "  open since   2023-11-14 22:13:20",
        "  connections  2, 0 failed attempts", "  latency      120ms for the last answer",
        "  received     1204 events, 4.0 KiB",
        "  published    0 taken, 0 refused", "  says         nothing: it is away",
      ])
  }

  @Test("The figures of a relay stand in words with their units")
  func figures() {
    var relay = list.relays[2]
    var state = RelayStates.Relay(relay: relay.relay, state: "open")
    (state.latencyMilliseconds, state.connections) = (120, 2)
    state.openMilliseconds = 3_564_000
    state.dialledMilliseconds = 3_600_000
    (state.connectMilliseconds, state.storedMilliseconds) = (210, 45)
    (state.failures, state.failuresInRow) = (7, 2)
    (state.subscriptionCount, state.subscriptionMaximum, state.queuedCount) = (3, 10, 1)
    (state.refusals, state.refusalsByClass) = (5, ["rate": 3, "blocked": 1, "authentication": 1])
    (state.invalidEvents, state.accepted) = (2, 9)
    (state.authenticate, state.authenticated) = (.throwAway, [String(repeating: "2", count: 64)])
    relay.state = state
    let lines = RelayText.info(relay, .unknown("it is away"), now: 0, .plain)
    for line in [
      "  connections  2, 7 failed attempts, the last 2 in a row",
      "  connected    99 % of the 1h since it was first dialled",
      "  latency      210ms to connect, 45ms from a request to its end, 120ms for the last answer",
      "  open         3 of 10 subscriptions, 1 request waiting",
      "  rejected     2 events not signed by their author, or damaged", "  published    9 taken, 5 refused",
      "  refused for  rate (3), authentication (1), blocked (1)",
    ] { #expect(lines.contains(line), "\(line) is not in \(lines)") }
    #expect(lines.contains { $0.hasPrefix("  shown as     npub1") && $0.hasSuffix(", a throw-away key") })
    (state.authenticate, state.authenticated) = (.never, [])
    relay.state = state
    #expect(
      RelayText.info(relay, .unknown(""), now: 0, .plain).contains("  shown as     no key: AUTH is never answered"))
  }

  @Test("Ten thousand relays are a table too, and one of 80 columns where the terminal has no more")
  func many() {
    let relays = (0..<10_000).map { number in
      var relay = list.relays[2]
      relay.relay = "wss://relay-\(number).example"
      relay.state?.refusalsByClass = ["rate": 3]
      return relay
    }
    let lines = RelayText.list(PlanRelayList(relays: relays), .plain)
    #expect(lines.count == 10_003 && lines.last == "10000 relays, 10000 connected")
    let narrow = RelayText.list(PlanRelayList(relays: Array(relays.prefix(100))), Style(isColoured: false, columns: 80))
    #expect(narrow.allSatisfy { $0.count <= 80 })
  }

  @Test("What a relay says of itself stands beneath what is known, made harmless")
  func information() throws {
    let text = #"""
      {"name":"A\u001b[2J relay","description":"One.\n\nTwo.","contact":"mailto:a@b.example","supported_nips":[1,11],
      "software":"https://s.example","version":"2","limitation":{"max_subscriptions":1,"max_limit":500,
      "max_message_length":65536,"auth_required":true,"restricted_writes":false,"min_pow_difficulty":0,
      "created_at_lower_limit":86400},"fees":{"admission":[{"amount":1000,"unit":"msats"}],
      "subscription":[{"amount":5,"unit":"sats","period":2592000}]}}
      """#
    let document = try JSONPayload.decode(JSONValue.self, from: Array(text.utf8))
    let result = RelayInformationResult(
      relay: "wss://dm.example", fetchedAt: 100, document: document, dropped: ["banner is not a text"])
    let relay = PlanRelayList.Relay(relay: "wss://dm.example", sources: [], reads: false, writes: false)
    #expect(
      RelayText.info(relay, .document(result), now: 160, .plain) == [
        "wss://dm.example  not dialled", "  from        nothing that is known here", "  dialled by  no worker",
        "  says        of itself, fetched 1m ago:", "  name        A\\e[2J relay", "  about       One.", "",
        "              Two.", "  contact     mailto:a@b.example", "  software    https://s.example, version 2",
        "  NIPs        1, 11", "  wants       to know who asks (AUTH)",
        "  bounds      1 subscription, 500 events a filter, messages of 64 KiB, events",
        "              no older than 1d",
        "  costs       1000 msats to be let in; 5 sats for 30d", "  ignored     banner is not a text",
      ])
    let json = String(decoding: JSONPayload.encode(RelayInfoJSON(relay, .document(result))), as: UTF8.self)
    #expect(json.contains(#""relay":"wss://dm.example""#) && json.contains(#""information":{"#))
    let none = String(decoding: JSONPayload.encode(RelayInfoJSON(relay, .unknown("away"))), as: UTF8.self)
    #expect(none.contains(#""noInformation":"away""#) && none.contains(#""reads":false"#))
  }

  @Test("A route says who, where and why, what is left out, and why there is none")
  func routes() {
    let key = String(repeating: "ab", count: 32)
    let stop = Route.Stop(
      relay: "wss://nos.lol", why: ["alice's list", "configured"], people: [key], connector: "relays", state: "open")
    let skipped = Route.Stop(relay: "ws://10.0.0.1", why: ["a private address, and named by others"])
    #expect(
      RouteText.lines(Route(stops: [stop], skipped: [skipped]), names: [key: "bob"], .plain) == [
        "RELAY          STATE  FOR  BY      WHY", "wss://nos.lol  open   bob  relays  alice's list, configured", "",
        "Left out:", "  ws://10.0.0.1  a private address, and named by others",
      ])
    #expect(RouteText.lines(Route(stops: [], problem: "no\u{1B} way"), names: [:], .plain) == [#"Nowhere: no\e way."#])
    #expect(RouteText.lines(Route(stops: [stop]), names: [:], .plain)[1].contains("npub14w46h2…6zts"))
  }

  @Test("A route for many people counts them, and says who has no list, who is at none of their relays, and what waits")
  func cover() {
    let keys = (0..<300).map { number in
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 64 - digits.count) + digits
    }
    var stop = Route.Stop(relay: "wss://nos.lol", why: ["the lists of 300 people"], people: Array(keys.prefix(100)))
    (stop.peopleCount, stop.state, stop.reason) = (300, "waiting", "the dial budget")
    var route = Route(stops: [stop])
    route.cover = Route.Cover(counts: [5, 15, 30, 0, 250], unlisted: Array(keys.prefix(3)), missing: [keys[9]])
    let text = RouteText.lines(route, names: [keys[0]: "bob"], .plain).joined(separator: "\n")
    #expect(text.contains("waiting  300 people  -   the lists of 300 people; the dial budget"), "\(text)")
    #expect(text.contains("Of 300 people: 250 at four or more, 30 at 2, 15 at one, 5 at none of their own relays."))
    #expect(text.contains("five largest: bob, npub1"), "\(text)")
  }
}
