import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

// What tests with relays by other people share.

extension PlannerRig {
  /// A planner, a store, a signer and a connector of these relays.
  static func run(relays: [String], _ body: (PlannerRig) throws -> Void) throws {
    try withRoost(layout(relays)) { roost in try body(PlannerRig(roost: roost, client: try roost.client())) }
  }

  /// `relay.publish` of an event as it is, good or not.
  func publish(_ json: [UInt8], at relay: String) throws -> RelayPublishResult {
    let event = try JSONPayload.decode(JSONValue.self, from: json)
    return try ask(
      "relay.publish", RelayPublish(relay: relay, event: RawJSON(event), isForeign: false), as: RelayPublishResult.self)
  }

  /// Puts events on a relay that takes them, good or not.
  func fill(_ relay: String, _ events: [[UInt8]]) throws {
    for event in events {
      let result = try publish(event, at: relay)
      #expect(result.isAccepted, "\(result.message)")
    }
  }

  func seen(_ id: EventID) throws -> Set<String> {
    let result = try ask("store.seen", StoreSeen(id: "\(id)"), as: SeenResult.self)
    return Set(result.relays.map(\.relay))
  }

  func storeStatus() throws -> StoreStatus { try ask("store.status", NoArguments()) }

  /// What `roost observe --json` shows of what these relays have: each event as often as it is shown, in its order.
  ///
  /// That no other comes is known by `last`, which must match the filter: it is stored when all relays have sent what
  /// they had, and what is committed before is shown before.
  ///
  /// - Parameter relays: those that are configured or added, which are asked.
  func observed(_ filter: String, at relays: [String], last: Event) throws -> [Event] {
    let process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), ["observe", filter, "--json", "--socket", roost.socket])
    let progress = try client.ask("plan.progress", #"{"filters":[\#(filter)]}"#)
    try client.wait("all relays have sent what they had", within: 60) {
      let told = client.parts(of: progress).last.flatMap {
        try? JSONPayload.decode(ObserveProgress.self, from: $0.payload)
      }
      return told.map { $0.isComplete && $0.isObserved && Set($0.relays.map(\.relay)) == Set(relays) } ?? false
    }
    client.send(FrameHeader(type: .cancel, re: progress))
    _ = try client.call("store.publish", String(decoding: last.json, as: UTF8.self))
    _ = try process.readLine { $0.contains("\(last.id)") }
    process.send(SIGINT)
    let lines = try process.readAllOutput().split(separator: "\n").filter { $0.contains(#""event":"#) }
    let events = try lines.map { line in
      let event = try #require(try JSONPayload.decode(JSONValue.self, from: line.utf8)["event"])
      return try Event(json: JSONPayload.encode(event))
    }
    #expect(events.last == last)
    return events.dropLast()
  }
}
