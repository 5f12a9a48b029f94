import Addresses
import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import Storage
import TestSupport
import Testing

/// A push relay beside an event store, and phones that register with Nostr keys.
struct NostrWakeRig {
  let push: PushRig
  let store: StoreClient
  let me: SecretKey
  var now: Int64 { WallClock.seconds }

  /// Runs with `me` as the one key that may register, unless `keys` say otherwise.
  static func run(
    pause: String = "1s", _ keys: [String: String] = [:], _ faults: Faults? = nil, more: [Layout.Worker] = [],
    _ body: (NostrWakeRig) throws -> Void
  ) throws {
    let (fakes, directory, port) = (try PushFakes(), try TemporaryDirectory(), try PlainClient.freePort())
    let me = SecretKey.generate()
    var all = [
      "public-url": "\"http://127.0.0.1:\(port)\"", "nostr-owners": "[\"\(me.publicKey.npub)\"]",
      "nostr-pause": "\"\(pause)\"",
    ]
    all.merge(keys) { _, new in new }
    var layout = try PushRig.layout(fakes, port: port, directory: directory.path, all)
    layout.workers += Layout.store.workers + more
    layout.environment += faults?.environment ?? []
    // Workers that a test plays itself are never ready.
    try withRoost(layout, awaitsReady: more.isEmpty) { roost in
      for name in ["push-relay", "event-store"] { try roost.awaitWorker(name, "is ready") { $0.state == "ready" } }
      let push = try PushRig(roost, fakes, port)
      try body(NostrWakeRig(push: push, store: StoreClient(roost), me: me))
    }
  }

  // MARK: Requests

  /// The header field that signs a request (NIP-98).
  func authorization(
    _ method: String, _ path: String, _ body: String, by key: SecretKey? = nil, url: String? = nil, age: Int64 = 0
  ) -> String {
    let key = key ?? me
    let event = HTTPAuthorization.template(
      method: method, url: url ?? "http://127.0.0.1:\(push.port)/v1\(path)",
      bodyHash: body.isEmpty ? nil : SHA256.hash(Array(body.utf8)), by: key.publicKey, createdAt: now - age)
    return "Authorization: " + HTTPAuthorization.header(of: event.signed(by: key))
  }

  func ask(_ method: String, _ path: String, _ body: String = "", by key: SecretKey? = nil) throws -> PushRig.Answer {
    let field = authorization(method, path, body, by: key)
    return try push.send(method, path, body.isEmpty ? nil : Array(body.utf8), fields: [field])
  }

  static func registration(_ token: String = PushRig.appleToken(), more: String = "") -> String {
    #"{"platform":"ios","token":"\#(token)","device_id":"phone"\#(more)}"#
  }

  @discardableResult
  func register(by key: SecretKey? = nil, more: String = "") throws -> PushRig.Answer {
    let answer = try ask("POST", "/register", Self.registration(more: more), by: key)
    #expect(answer.status == 200, "\(answer.text)")
    return answer
  }

  // MARK: The ledger

  /// Changes the relay's ledger beside it.
  func change(_ sql: String) throws {
    let file = try StorageFile(path: push.ledgerPath, StorageSettings(durability: .normal), migrations: [])
    defer { try? file.close() }
    try file.writeNow { try $0.execute(sql) }
  }

  /// Kills the relay, and waits until it is gone.
  ///
  /// - Returns: the process that there was.
  func killRelay() throws -> Int32 {
    let process = try push.processID()
    try push.kill()
    try awaitSoon("it is gone") { Glibc.kill(process, 0) != 0 }
    return process
  }

  // MARK: Events

  @discardableResult
  func publish(
    _ kind: UInt16, by author: SecretKey = .generate(), age: Int64 = 0, tags: [[String]]? = nil, content: String = ""
  ) throws -> Event {
    let event = UnsignedEvent(
      pubkey: author.publicKey, createdAt: now - age, kind: kind, tags: tags ?? [["p", me.publicKey.description]],
      content: content
    ).signed(by: author)
    let answer = try store.publish(event)
    #expect(answer.isResponse, "\(answer.text)")
    return event
  }

  func zap(by sender: SecretKey) throws {
    let request = try ZapRequest.template(
      for: me.publicKey, by: sender.publicKey, createdAt: now, amountMillisatoshis: 21_000,
      relays: [RelayURL("wss://r.example")]
    ).signed(by: sender)
    let json = String(decoding: request.json, as: UTF8.self)
    let invoice = try InvoiceTerms(
      amountMillisatoshis: 21_000, paymentHash: SHA256.hash([7]), createdAt: now,
      descriptionHash: SHA256.hash(Array(json.utf8))
    ).signed(by: SecretKey.generate())
    try publish(
      9_735, tags: [["p", me.publicKey.description], ["bolt11", invoice.text], ["description", json]])
  }

  // MARK: Pushes

  /// What the fake APNs was sent.
  func pushes() throws -> [String] { try push.fakes.requests(to: .apns).map { "\($0)" } }

  func events() throws -> PushStatus.Events { try #require(try push.status().events) }

  /// Waits until so many events have woken nobody, whatever why.
  func awaitDismissed(_ count: UInt64, _ why: String) throws {
    try awaitSoon("\(count) events are \(why)") { try events().dismissed[why] == count }
  }

  /// Waits for a push of a class.
  func awaitPush(_ topic: String, count: Int = 1) throws {
    try awaitSoon("\(count) pushes for \(topic)") { try pushes(of: topic).count >= count }
  }

  func pushes(of topic: String) throws -> [String] { try pushes().filter { $0.contains("nostr-\(topic)") } }
}
