import Contracts
import Frames
import Glibc
import TestSupport
import Testing

/// Three real connectors: two with a relay each, and one that dials the relays of no group; and a relay of no group.
private struct GroupRig {
  let roost: RunningRoost
  let client: BusPeer
  let first: ScriptedRelay
  let second: ScriptedRelay
  let stranger: ScriptedRelay

  static let names = ["first", "second", "others"]

  static func run(dialsOthers: Bool = true, _ body: (GroupRig) throws -> Void) throws {
    let relays = try (0..<3).map { _ in
      try ScriptedRelay(
        .accept(),
        .forever(
          RelayStep("serve") { peer in
            switch try peer.expect(oneOf: ["REQ", "EVENT"]).label {
            case "REQ": try peer.send(WebSocketFrame.text("[\"EOSE\",\"\(peer.subscription)\"]").bytes)
            default: try peer.send(WebSocketFrame.text("[\"OK\",\"\(peer.eventID)\",true,\"\"]").bytes)
            }
          }))
    }
    var layout = Layout(workers: [])
    for (name, list) in zip(names, [relays[0].url, relays[1].url, nil]) {
      var worker = Layout.connector(list.map { "[\"\($0)\"]" } ?? "[]", ["connect": "\"on-demand\""]).workers[0]
      worker.name = name
      if name == "others", dialsOthers { worker.keys["ephemeral"] = "true" }
      layout.workers.append(worker)
    }
    try withRoost(layout) { roost in
      try body(
        GroupRig(
          roost: roost, client: try roost.client(), first: relays[0], second: relays[1], stranger: relays[2]))
    }
  }

  func endpoint(_ name: String) throws -> Endpoint {
    Endpoint(
      rawValue: try #require(client.welcome?.registry.members.first { $0.name == name }, "\(name)").endpoint)
  }

  /// The relays that a connector has, or had, a connection to.
  func dialled(by name: String) throws -> Set<String> {
    let answer = try client.call("relay.list", to: try endpoint(name))
    let states = try JSONPayload.decode(RelayStates.self, from: answer.terminal.payload)
    return Set(states.relays.filter { $0.connections > 0 || $0.failures > 0 }.map(\.relay))
  }

  func ask(_ relay: ScriptedRelay, _ method: String = "relay.request", to: Endpoint = .hub) throws -> BusPeer.Answer {
    let event = method == "relay.publish" ? #","event":"# + RelayStep.eventJSON(1) : ""
    return try client.call(method, #"{"relay":"\#(relay.url)"\#(event)}"#, to: to)
  }
}

extension ProcessTests {
  /// Requests to the role, where several connectors have different relays.
  @Suite("Several groups of relays")
  struct GroupTests {
    @Test("A request goes to the group that has the relay, and otherwise to the one for all others")
    func routed() throws {
      try GroupRig.run { rig in
        for _ in 0..<3 {
          for relay in [rig.first, rig.second, rig.stranger] {
            for method in ["relay.request", "relay.publish", "relay.retry"] {
              let answer = try rig.ask(relay, method)
              #expect(answer.isResponse, "\(method): \(answer.text)")
            }
            // These relays have no document, and its connector says so.
            #expect(try rig.ask(relay, "relay.information").refusal?.code == .noInformation)
          }
        }
        for (name, relay) in zip(GroupRig.names, [rig.first, rig.second, rig.stranger]) {
          #expect(try rig.dialled(by: name) == [relay.url], "\(name)")
          #expect(relay.visits.count == 1)
        }
      }
    }

    @Test("Many requests at once to the role all end, each at its relay")
    func crowd() throws {
      try GroupRig.run { rig in
        let relays = [rig.first, rig.second, rig.stranger]
        let asked = try (0..<60).map { number in
          (relays[number % 3].url, try rig.client.ask("relay.request", #"{"relay":"\#(relays[number % 3].url)"}"#))
        }
        for (url, id) in asked {
          let answer = try rig.client.answer(to: id)
          #expect(answer.isResponse && answer.text.contains(url.split(separator: ":").last ?? ""), "\(answer.text)")
        }
        for relay in relays { #expect(relay.visits.count == 1) }
      }
    }

    @Test("A program that speaks no frames asks the role as well: roost pipe, roost call and roost relay info")
    func otherLanguages() throws {
      try GroupRig.run { rig in
        for relay in [rig.first, rig.second, rig.stranger] {
          let line = #"{"id":1,"method":"relay.request","params":{"relay":"\#(relay.url)"},"atMostOnce":true}"#
          let output = try rig.roost.command(["pipe"], input: line + "\n").output
          #expect(output.contains(#""isComplete":true"#), "\(output)")
          let call = try rig.roost.command(["call", "relay.retry", #"{"relay":"\#(relay.url)"}"#])
          #expect(call.status == .exited(0) && call.output.contains("open"), "\(call.output)")
        }
      }
    }

    @Test("No connector for relays of no group: the refusal names the relay, and what to set")
    func noGroup() throws {
      try GroupRig.run(dialsOthers: false) { rig in
        for method in ["relay.request", "relay.publish", "relay.information"] {
          let refusal = try rig.ask(rig.stranger, method).refusal
          #expect(refusal?.code == .noSuchRelay && refusal?.outcome == .notStarted)
          let message = refusal?.message ?? ""
          #expect(
            message.hasPrefix("\(rig.stranger.url) is in no group of supervisor.conf")
              && message.contains("set 'ephemeral = true' there"), "\(message)")
        }
        #expect(try rig.ask(rig.second).isResponse)
        #expect(rig.stranger.visits.isEmpty)
      }
    }

    @Test("A worker that is named is asked, and refuses a relay of another group, also the one for all others")
    func named() throws {
      try GroupRig.run { rig in
        let refusal = try rig.ask(rig.first, to: try rig.endpoint("others")).refusal
        #expect(refusal?.code == .noSuchRelay)
        #expect(refusal?.message == "\(rig.first.url) is a relay of first, and others does not dial it")
        let other = try rig.ask(rig.stranger, to: try rig.endpoint("first")).refusal
        #expect(other?.message.contains("others dials such relays, and first does not") == true)
        #expect(rig.first.visits.isEmpty && rig.stranger.visits.isEmpty)
      }
    }

    @Test("A request waits for the connector that has the relay, and goes to no other meanwhile")
    func restarting() throws {
      try GroupRig.run { rig in
        #expect(try rig.ask(rig.second).isResponse)
        let before = try rig.roost.worker("second", rig.client)
        Glibc.kill(pid_t(try #require(before.pid)), SIGKILL)
        let asked = try (0..<20).map { _ in
          try rig.client.ask("relay.request", #"{"relay":"\#(rig.second.url)"}"#, ttlMilliseconds: 20_000)
        }
        for id in asked {
          let answer = try rig.client.answer(to: id)
          #expect(answer.isResponse, "\(answer.text)")
        }
        #expect(try rig.dialled(by: "others").isEmpty && rig.dialled(by: "first").isEmpty)

        _ = try rig.client.call("supervisor.stop", #"{"worker":"second"}"#)
        let refusal = try rig.ask(rig.second).refusal
        #expect(refusal?.code == .unavailable && refusal?.outcome == .notStarted, "\(String(describing: refusal))")
        #expect(try rig.dialled(by: "others").isEmpty)
      }
    }

    @Test("A relay that a reload brings into a group is left by the connector for all others, and is the group's")
    func reload() throws {
      try GroupRig.run { rig in
        #expect(try rig.ask(rig.stranger).isResponse)
        #expect(try rig.dialled(by: "others") == [rig.stranger.url])
        try rig.roost.rewrite { layout in
          guard let index = layout.workers.firstIndex(where: { $0.name == "first" }) else { return }
          layout.workers[index].keys["relays"] = "[\"\(rig.first.url)\", \"\(rig.stranger.url)\"]"
        }
        #expect(try rig.client.call("supervisor.reload").isResponse)
        try awaitSoon("it is the group's") {
          try rig.ask(rig.stranger).isResponse && rig.dialled(by: "first").contains(rig.stranger.url)
        }
        try rig.stranger.awaitVisits("the other connector has left it") { $0.first?.isOver == true }
        #expect(try rig.dialled(by: "others").isEmpty)
      }
    }
  }
}
