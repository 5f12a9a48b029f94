import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import NostrContracts
import TestSupport
import Testing

/// A real roostd with a real signer, and a client that speaks with it.
struct SignerRig {
  let roost: RunningRoost
  let client: BusPeer

  /// Where the key files are.
  var keys: String { roost.directory.path + "/state/signer/keys" }

  /// The signer beside two places for workers that a test plays itself.
  static func layout(_ keys: [String: String] = [:], environment: [String] = []) -> Layout {
    var signer = [
      "role": "\"signer\"", "program": "\"\(SpawnedProcess.builtProgram("signer"))\"", "sandbox": "\"try\"",
      "environment": "[\"CREDENTIALS_DIRECTORY\"]", "sign-kinds": "[\"example:1\"]",
    ]
    signer.merge(keys) { $1 }
    var layout = Layout()
    layout.workers = [Layout.Worker(name: "signer", keys: signer)]
    for name in ["main", "other"] {
      layout.workers.append(
        Layout.Worker(name: name, keys: ["role": "\"relay-connector\"", "enabled": "false"]))
    }
    layout.workers.append(Layout.Worker(name: "mine", keys: ["enabled": "false"]))
    layout.workers.append(Layout.Worker(name: "provider", keys: ["role": "\"dvm-provider\"", "enabled": "false"]))
    layout.roleKeys = ["may-call": "[\"signer.sign\"]"]
    layout.environment = environment
    return layout
  }

  static func run(_ layout: Layout = layout(), _ body: (SignerRig) throws -> Void) throws {
    try withRoost(layout, awaitsReady: false) { roost in
      let client = try roost.client()
      try roost.awaitWorker("signer", "is ready", client) { $0.state == "ready" }
      try body(SignerRig(roost: roost, client: client))
    }
  }

  /// A worker of this role, played by the test.
  func attach(_ name: String, role: String) throws -> BusPeer {
    let answer = try client.call("supervisor.attach", #"{"role":"\#(role)","name":"\#(name)"}"#)
    var hello = Hello(name: name, role: role)
    hello.token = try JSONPayload.decode(AttachGrant.self, from: answer.terminal.payload).token
    let peer = try BusPeer(socket: roost.socket, hello: hello)
    peer.send(FrameHeader(type: .ready))
    return peer
  }

  // MARK: Asking

  func ask<Value: Decodable>(
    _ method: String, _ arguments: some Encodable, by peer: BusPeer? = nil, as type: Value.Type = Value.self
  ) throws -> Value {
    let answer = try (peer ?? client).call(method, String(decoding: JSONPayload.encode(arguments), as: UTF8.self))
    if let refusal = answer.refusal { throw refusal }
    return try JSONPayload.decode(type, from: answer.terminal.payload)
  }

  /// The code of a refusal; nil if there was none.
  func refusal(_ method: String, _ arguments: some Encodable, by peer: BusPeer? = nil) throws -> String? {
    let answer = try (peer ?? client).call(method, String(decoding: JSONPayload.encode(arguments), as: UTF8.self))
    return answer.refusal?.code.rawValue
  }

  func accounts() throws -> SignerAccounts { try ask("signer.accounts", [String: String]()) }

  func sealed(_ text: String) throws -> SealedSecret {
    let key = try accounts().sealingKey
    return try Array(text.utf8).withUnsafeBytes { try SealedSecret.seal($0, for: key) }
  }

  @discardableResult
  func generate(_ name: String, _ passphrase: String? = nil) throws -> SignerAccount {
    try ask("signer.generate", SignerGenerate(name: name, passphrase: try passphrase.map { try sealed($0) }))
  }

  func unlock(_ name: String, _ passphrase: String) throws -> String? {
    try refusal("signer.unlock", SignerUnlock(account: name, passphrase: try sealed(passphrase)))
  }

  static func template(_ kind: Int64 = 1, _ content: String = "hello") -> JSONValue {
    .object(["kind": .integer(kind), "content": .string(content)])
  }

  /// An event out of an answer, verified.
  static func verified(_ json: RawJSON) throws -> Event {
    let event = try Event(json: json.bytes)
    try event.verify()
    return event
  }

  /// Ends the signer as a crash would, and waits for the next one.
  func kill() throws {
    let before = try roost.worker("signer", client)
    Glibc.kill(pid_t(try #require(before.pid)), SIGKILL)
    try roost.awaitWorker("signer", "is ready again", client) {
      $0.state == "ready" && $0.generation != before.generation
    }
  }

  // MARK: Commands

  /// Runs `roost` with lines on its standard input.
  func command(_ arguments: [String], _ input: String) throws -> (status: SpawnedProcess.Ending, output: String) {
    let pipe = try Descriptors.pipe()
    defer { Descriptors.close(pipe.first) }
    let process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket], descriptors: [0: pipe.first])
    try Descriptors.writeAll(input, to: pipe.second)
    Descriptors.close(pipe.second)
    let output = try process.readAllOutput()
    return (try process.waitForEnd(), output)
  }
}
