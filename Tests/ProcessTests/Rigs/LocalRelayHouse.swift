import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension Layout {
  /// A real local relay over a real store.
  static func localRelay(port: UInt16, _ settings: [String: String] = [:], beside layout: Layout = .store) -> Layout {
    var layout = layout
    var worker = Worker(name: "local-relay")
    worker.keys = [
      "role": "\"local-relay\"", "program": "\"\(SpawnedProcess.builtProgram("local-relay"))\"", "sandbox": "\"try\"",
      "listen": "[\"127.0.0.1:\(port)\"]",
    ]
    worker.keys.merge(settings) { _, new in new }
    layout.workers.append(worker)
    return layout
  }
}

/// A real roostd with a local relay, and whoever visits it.
struct LocalRelayHouse {
  let roost: RunningRoost
  let client: BusPeer
  let port: UInt16

  /// How clients know it.
  var url: String { "ws://127.0.0.1:\(port)" }

  static func run(
    _ settings: [String: String] = [:], beside layout: Layout = .store, _ body: (LocalRelayHouse) throws -> Void
  ) throws {
    let port = try RelayVisitor.freePort()
    try withRoost(.localRelay(port: port, settings, beside: layout)) { roost in
      try body(LocalRelayHouse(roost: roost, client: try roost.client(), port: port))
    }
  }

  /// A client that has just come.
  func visitor(_ fields: String..., path: String = "/") throws -> RelayVisitor {
    let visitor = try RelayVisitor(port: port, path: path, fields: fields)
    #expect(visitor.isUpgraded, "\(visitor.head)")
    return visitor
  }

  /// A client that comes as soon as the relay listens.
  func awaitVisitor() throws -> RelayVisitor {
    var visitor: RelayVisitor?
    try awaitSoon("the relay listens") {
      visitor = try? RelayVisitor(port: port)
      return visitor?.isUpgraded == true
    }
    return try #require(visitor)
  }

  /// An account of the signer, and what signs for it.
  func account(_ name: String = "alice") throws -> SignerAccount {
    try SignerRig(roost: roost, client: client).generate(name)
  }

  /// An account whose key a client has as well.
  func account(_ name: String = "alice", of author: Author) throws {
    let signer = SignerRig(roost: roost, client: client)
    let secret = author.key.withSecret { Hexadecimal.text(of: $0) }
    let wanted = SignerImport(name: name, secret: try signer.sealed(secret))
    _ = try signer.ask("signer.import", wanted, as: SignerAccount.self)
  }

  /// An event by an account.
  func sign(_ kind: Int64, _ tags: [[String]] = [], content: String = "", as account: String) throws -> Event {
    let template = JSONValue.object([
      "kind": .integer(kind), "tags": .array(tags.map { .array($0.map { .string($0) }) }), "content": .string(content),
    ])
    let arguments = JSONPayload.encode(SignerSign(account: account, event: template))
    let answer = try ask("signer.sign", String(decoding: arguments, as: UTF8.self), as: JSONValue.self)
    return try Event(json: JSONPayload.encode(try #require(answer["event"])))
  }

  func ask<Value: Decodable>(_ method: String, _ arguments: String = "{}", as type: Value.Type = Value.self) throws
    -> Value
  {
    let answer = try client.call(method, arguments)
    if let refusal = answer.refusal { throw refusal }
    return try JSONPayload.decode(type, from: answer.terminal.payload)
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

/// Somebody with a key who signs what a test likes.
struct Author {
  let key = SecretKey.generate()
  var publicKey: PublicKey { key.publicKey }

  func event(
    _ content: String = "", kind: UInt16 = 1, at time: Int64 = 1_700_000_000, _ tags: [[String]] = []
  ) -> Event {
    UnsignedEvent(pubkey: publicKey, createdAt: time, kind: kind, tags: tags, content: content).signed(by: key)
  }

  /// The answer to a challenge.
  func authentication(_ challenge: String, for relay: String) -> Event {
    event(kind: EventKind.relayAuthentication, at: Int64(time(nil)), [["relay", relay], ["challenge", challenge]])
  }
}

extension RelayVisitor {
  func publish(_ event: Event) throws -> Verdict { try publish(event.json, id: "\(event.id)") }

  /// Publishes what must be taken.
  func put(_ events: Event...) throws {
    for event in events {
      let verdict = try publish(event)
      #expect(verdict.isAccepted, "\(verdict.reason)")
    }
  }

  /// Shows who it is, in answer to the last challenge.
  func authenticate(_ author: Author, for relay: String) throws -> Verdict {
    let event = author.authentication(try #require(challenge), for: relay)
    let start = messages.count
    send("[\"AUTH\",\(String(decoding: event.json, as: UTF8.self))]")
    return try verdict(on: "\(event.id)", from: start)
  }

  /// Waits until an event has come under a name.
  func awaitEvent(_ event: Event, under name: String) throws {
    try wait("\(event.id) under \(name)") { ids(under: name).contains("\(event.id)") }
  }
}

extension Sequence<Event> {
  /// The ids, as messages have them.
  var ids: [String] { map { "\($0.id)" } }
}
