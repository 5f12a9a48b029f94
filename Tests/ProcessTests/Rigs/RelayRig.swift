import Contracts
import Frames
import TestSupport
import Testing

/// A real roostd with a real relay-connector, which has two relays: one that keeps to a script, and one beside it that
/// is as it should be.
struct RelayRig {
  let roost: RunningRoost
  let client: BusPeer
  let relay: ScriptedRelay
  private let neighbour: ScriptedRelay
  private let worker: WorkerStatus

  /// What the connector may ever use, whatever its relays send. A debug build has some 30 MiB to begin with.
  static let memoryMaximum = 64 << 20

  init(_ roost: RunningRoost, _ relay: ScriptedRelay, _ neighbour: ScriptedRelay) throws {
    self.roost = roost
    self.relay = relay
    self.neighbour = neighbour
    client = try roost.client()
    worker = try roost.worker("relays", client)
  }

  /// `relay.request` to the scripted relay, with further arguments.
  func ask(_ arguments: String = "") throws -> BusPeer.Answer {
    try client.call("relay.request", #"{"relay":"\#(relay.url)"\#(arguments.isEmpty ? "" : ",")\#(arguments)}"#)
  }

  /// `relay.publish` of the event with a number.
  func publish(_ number: Int) throws -> BusPeer.Answer {
    try client.call("relay.publish", #"{"relay":"\#(relay.url)","event":\#(RelayStep.eventJSON(number))}"#)
  }

  /// The ids of the events of an answer, as the numbers they were made of.
  func numbers(_ answer: BusPeer.Answer) -> [Int] {
    answer.parts.map { part in
      let id = part.text.firstRange(of: #""id":""#).map { part.text[$0.upperBound...].prefix(64) } ?? ""
      return Int(id, radix: 16) ?? -1
    }
  }

  /// How often a line stands in the connector's log, once it does: a log and an answer travel by different ways.
  func logCount(of message: String) throws -> Int {
    var count = 0
    try awaitSoon("'\(message)' in the log") {
      let answer = try client.call("supervisor.logs", #"{"worker":"relays","lines":1000}"#)
      let records = try (answer.parts + [answer.terminal]).flatMap { piece in
        try piece.payload.isEmpty ? [] : JSONPayload.decode([LogRecord].self, from: piece.payload)
      }
      count = records.count { $0.message == message }
      return count > 0
    }
    return count
  }

  /// That the other relay is served, the connector is the process it was, and it never took much memory.
  func expectSound(_ location: SourceLocation = #_sourceLocation) throws {
    // Not the first answer alone: its deadline may be as short as a test needs it for the other relay.
    try awaitSoon("the relay beside it answers") {
      try client.call("relay.request", #"{"relay":"\#(neighbour.url)"}"#).parts.count == 3
    }
    let now = try roost.worker("relays", client)
    #expect(
      now.pid == worker.pid && now.generation == 1 && now.state == "ready", "\(now)", sourceLocation: location)
    let peak = roost.memory(peak: true, of: worker.pid)
    #expect(peak < Self.memoryMaximum, "\(peak >> 20) MiB", sourceLocation: location)
  }
}

/// Runs a test against a relay that keeps to a script; whatever it does, the connector and its other relay must be well
/// afterwards.
///
/// - Parameters:
///   - settings: of the connector, TOML literals. Deadlines are long unless a test waits for one.
func withRelay(
  _ relay: ScriptedRelay, _ settings: [String: String] = [:], location: SourceLocation = #_sourceLocation,
  _ body: (RelayRig) throws -> Void
) throws {
  let neighbour = try ScriptedRelay.serving(3)
  try withRoost(.connector("[\"\(relay.url)\", \"\(neighbour.url)\"]", settings)) { roost in
    let rig = try RelayRig(roost, relay, neighbour)
    try body(rig)
    try rig.expectSound(location)
  }
}

extension ScriptedRelay {
  /// A relay as it should be, with so many events for whoever asks.
  static func serving(_ count: Int) throws -> ScriptedRelay {
    try ScriptedRelay(.accept(), .forever(.expect("REQ"), .events(0..<count), .endOfStored()))
  }
}

extension Layout {
  /// A real relay-connector of these relays, a TOML list, with further settings.
  static func connector(_ relays: String, _ settings: [String: String] = [:]) -> Layout {
    var worker = Worker(name: "relays")
    worker.keys = [
      "role": "\"relay-connector\"", "program": "\"\(SpawnedProcess.builtProgram("relay-connector"))\"",
      "relays": relays,
    ]
    worker.keys.merge(settings) { _, new in new }
    return Layout(workers: [worker])
  }
}
