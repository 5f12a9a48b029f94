import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension Layout {
  /// A real planner with a real store, and a connector that dials what it is told.
  static var publishing: Layout {
    var layout = Layout.store
    for (name, keys) in [
      ("relay-connector", ["ephemeral": "true", "connect-timeout": "\"1s\"", "request-timeout": "\"2s\""]),
      ("outbox-planner", [:]),
    ] {
      var worker = Worker(name: name)
      worker.keys = [
        "role": "\"\(name)\"", "program": "\"\(SpawnedProcess.builtProgram(name))\"", "sandbox": "\"try\"",
      ]
      worker.keys.merge(keys) { _, new in new }
      layout.workers.append(worker)
    }
    return layout
  }
}

/// `Tests/Peers/answering_relay.py`, running until this is gone or ``stop()``.
final class AnsweringRelay {
  let url: String
  private let log: String
  private var process: SpawnedProcess?
  private let input: DescriptorPair

  init(_ directory: TemporaryDirectory, _ name: String) throws {
    log = directory.path + "/" + name
    input = try Descriptors.pipe()
    let process = try Self.start([log], input)
    self.process = process
    url = try process.readLine { $0.hasPrefix("ws://") }
  }

  private static func start(_ arguments: [String], _ input: DescriptorPair) throws -> SpawnedProcess {
    try SpawnedProcess(
      "/usr/bin/python3", [SharedFolder.repository + "/Tests/Peers/answering_relay.py"] + arguments,
      descriptors: [0: input.first])
  }

  deinit {
    process?.send(SIGKILL)
    Descriptors.close(input.first)
    Descriptors.close(input.second)
  }

  func stop() throws {
    process?.send(SIGKILL)
    _ = try process?.waitForEnd()
    process = nil
  }

  /// Listens again where it did.
  func start() throws {
    let port = url.split(separator: ":").last.map(String.init) ?? ""
    let process = try Self.start(["--port", port, log], input)
    _ = try process.readLine { $0 == url }
    self.process = process
  }

  /// What it answers from now on; see there.
  func answer(_ text: String) throws {
    let file = open(log + ".answer.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try Descriptors.writeAll(text, to: file)
    Descriptors.close(file)
    #expect(rename(log + ".answer.new", log + ".answer") == 0)
  }

  /// The ids of the events it was sent, in order.
  var received: [String] {
    String(decoding: SharedFolder.bytes(ofFile: log) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
  }

  func count(of event: Event) -> Int { received.count { $0 == "\(event.id)" } }
}

/// What a planner is asked, in the words of the contract.
struct PublishClient {
  let peer: BusPeer

  init(_ roost: RunningRoost) throws { peer = try roost.client() }

  static func arguments(_ event: Event, _ relays: [AnsweringRelay], expiresAfter: Int64? = nil) throws -> String {
    let value = try JSONPayload.decode(JSONValue.self, from: event.json)
    let wanted = PlanPublish(event: RawJSON(value), relays: relays.map(\.url), expiresAfter: expiresAfter)
    return String(decoding: JSONPayload.encode(wanted), as: UTF8.self)
  }

  func publish(_ event: Event, to relays: [AnsweringRelay], expiresAfter: Int64? = nil) throws -> BusPeer.Answer {
    try peer.call("plan.publish", Self.arguments(event, relays, expiresAfter: expiresAfter))
  }

  /// Publishes what must be accepted.
  @discardableResult
  func accepted(_ event: Event, to relays: [AnsweringRelay], expiresAfter: Int64? = nil) throws -> Publication {
    let answer = try publish(event, to: relays, expiresAfter: expiresAfter)
    #expect(answer.isResponse, "\(answer.text)")
    return try JSONPayload.decode(Publication.self, from: answer.terminal.payload)
  }

  func publications(_ arguments: String = "{}") throws -> [Publication] {
    let answer = try peer.call("plan.publications", arguments)
    #expect(answer.isResponse, "\(answer.text)")
    return try answer.parts.map { try JSONPayload.decode(Publication.self, from: $0.payload) }
  }

  func publication(_ event: Event) throws -> Publication? {
    try publications(#"{"ids":["\#(event.id)"]}"#).first
  }

  func change(_ method: String, _ event: Event, _ relay: AnsweringRelay? = nil) throws -> Publication {
    let wanted = PlanPublication(id: "\(event.id)", relay: relay?.url)
    let answer = try peer.call(method, String(decoding: JSONPayload.encode(wanted), as: UTF8.self))
    #expect(answer.isResponse, "\(answer.text)")
    return try JSONPayload.decode(Publication.self, from: answer.terminal.payload)
  }

  @discardableResult
  func await(_ event: Event, _ state: Publication.State, within seconds: Double = 30) throws -> Publication {
    var last: Publication?
    do {
      try awaitSoon("\(event.id) is \(state)", within: seconds) {
        last = try publication(event)
        return last?.state == state
      }
    } catch { throw DeadlinePassed(description: "\(error); it is \(last as Any)") }
    return try #require(last)
  }
}
