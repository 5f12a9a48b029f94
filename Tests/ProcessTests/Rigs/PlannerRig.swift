import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// `Tests/Peers/keeping_relay.py`, running until this is gone, or the test process is.
final class KeepingRelay {
  let url: String
  private let process: SpawnedProcess
  private let input: DescriptorPair

  init(port: UInt16 = 0) throws {
    let script = SharedFolder.repository + "/Tests/Peers/keeping_relay.py"
    input = try Descriptors.pipe()
    process = try SpawnedProcess(
      "/usr/bin/python3", [script, "--port", "\(port)"], descriptors: [0: input.first])
    url = try process.readLine { $0.hasPrefix("ws://") }
  }

  deinit {
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

  /// Waits for a REQ whose filters have this text in them.
  func awaitRequest(_ text: String) throws {
    _ = try process.readLine { $0.hasPrefix("[") && $0.contains(text) }
  }

  /// Ends it as if its machine had failed.
  func kill() throws {
    process.send(SIGKILL)
    _ = try process.waitForEnd()
  }
}

/// A real planner with store, signer and one connector, and a client that speaks with them.
struct PlannerRig {
  let roost: RunningRoost
  let client: BusPeer

  static func layout(_ relays: [String]) -> Layout {
    var layout = Layout.storeAndSigner
    layout.workers.append(
      Layout.Worker(
        name: "outbox-planner",
        keys: [
          "role": "\"outbox-planner\"", "program": "\"\(SpawnedProcess.builtProgram("outbox-planner"))\"",
          "sandbox": "\"try\"",
        ]))
    let list = "[" + relays.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    layout.workers += Layout.connector(list, ["connect": "\"on-demand\"", "ephemeral": "true"]).workers
    return layout
  }

  static func run(_ relays: [KeepingRelay], _ body: (PlannerRig) throws -> Void) throws {
    try withRoost(layout(relays.map(\.url))) { roost in
      try body(PlannerRig(roost: roost, client: try roost.client()))
    }
  }

  /// Makes alice an account with this key.
  func importAlice(_ key: SecretKey) throws {
    let signer = SignerRig(roost: roost, client: client)
    let secret = key.withSecret { Hexadecimal.text(of: $0) }
    _ = try signer.ask(
      "signer.import", SignerImport(name: "alice", secret: try signer.sealed(secret)), as: SignerAccount.self)
  }

  func ask<Value: Decodable>(
    _ method: String, _ arguments: some Encodable, as type: Value.Type = Value.self
  ) throws -> Value {
    let answer = try client.call(method, String(decoding: JSONPayload.encode(arguments), as: UTF8.self))
    if let refusal = answer.refusal { throw refusal }
    return try JSONPayload.decode(type, from: answer.terminal.payload)
  }

  func refusal(_ method: String, _ arguments: some Encodable) throws -> Refusal? {
    try client.call(method, String(decoding: JSONPayload.encode(arguments), as: UTF8.self)).refusal
  }

  /// Puts an event on a relay, as somebody else's client would.
  func put(_ event: Event, on relay: KeepingRelay) throws {
    let value = try JSONPayload.decode(JSONValue.self, from: event.json)
    let result = try ask(
      "relay.publish", RelayPublish(relay: relay.url, event: RawJSON(value), isForeign: false),
      as: RelayPublishResult.self)
    #expect(result.isAccepted)
  }

  /// Puts it on a relay and waits until an observer has it.
  func awaitArrival(of event: Event, on relay: KeepingRelay, at observer: UInt64) throws {
    try put(event, on: relay)
    try client.wait("\(event.id)") { client.parts(of: observer).contains { $0.text.contains("\(event.id)") } }
  }

  func awaitComplete(_ observe: String) throws -> ObserveProgress {
    let id = try client.ask("plan.progress", observe)
    var progress: ObserveProgress?
    try client.wait("all relays have sent what they had") {
      progress = client.parts(of: id).last.flatMap {
        try? JSONPayload.decode(ObserveProgress.self, from: $0.payload)
      }
      return progress?.isComplete == true
    }
    return try #require(progress)
  }

  /// Runs `roost`; what it printed, and its exit status.
  func command(_ arguments: String...) throws -> (output: String, ending: SpawnedProcess.Ending) {
    let process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket])
    let output = try process.readAllOutput()
    return (output, try process.waitForEnd())
  }

  /// An event by the only account.
  func sign(_ kind: Int64, _ tags: [[String]]) throws -> Event {
    let template = JSONValue.object([
      "kind": .integer(kind), "tags": .array(tags.map { .array($0.map { .string($0) }) }),
    ])
    let answer = try ask("signer.sign", SignerSign(account: "alice", event: template), as: JSONValue.self)
    return try Event(json: JSONPayload.encode(try #require(answer["event"])))
  }

  /// Ends a worker as a crash would, and waits for the next one.
  func kill(_ name: String) throws {
    let before = try roost.worker(name, client)
    Glibc.kill(pid_t(try #require(before.pid)), SIGKILL)
    try roost.awaitWorker(name, "is ready again", client) {
      $0.state == "ready" && $0.generation != before.generation
    }
  }
}
