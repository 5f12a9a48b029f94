import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import NostrContracts
import TestSupport
import Testing

/// A Roost with `link-feed`, and one account. Two of them speak over the same relays.
struct LinkRig {
  let rig: PlannerRig
  let key: SecretKey
  let name: String
  var client: BusPeer { rig.client }
  var publicKey: PublicKey { key.publicKey }

  static func layout(_ relays: [String], links: [String]? = nil, page: [String: String]? = nil) -> Layout {
    var layout = PlannerRig.layout(relays)
    for index in layout.workers.indices where layout.workers[index].name == "outbox-planner" {
      layout.workers[index].keys["allow-private-relays"] = "true"
      layout.workers[index].keys["indexers"] = "[]"
    }
    let list = (links ?? []).map { "\"\($0)\"" }.joined(separator: ", ")
    layout.workers.append(
      Layout.Worker(
        name: "link-feed",
        keys: [
          "role": "\"link-feed\"", "program": "\"\(SpawnedProcess.builtProgram("link-feed"))\"",
          "sandbox": "\"try\"", "relays": "[\(list)]",
        ]))
    guard let page else { return layout }
    let keys = [
      "role": "\"link-page\"", "program": "\"\(SpawnedProcess.builtProgram("link-page"))\"", "sandbox": "\"try\"",
    ]
    layout.workers.append(Layout.Worker(name: "link-page", keys: keys.merging(page) { $1 }))
    return layout
  }

  /// A Roost with an account of this name, whose list of relays for gift wraps is at its relays.
  static func run(
    _ name: String, _ relays: [String], inbox: [String]? = nil, links: [String]? = nil,
    page: [String: String]? = nil, key: SecretKey = SecretKey.generate(), faults: Faults? = nil,
    _ body: (LinkRig) throws -> Void
  ) throws {
    var layout = layout(relays, links: links, page: page)
    if let faults {
      layout.environment += faults.environment
      for index in layout.workers.indices where layout.workers[index].name == "link-feed" {
        layout.workers[index].keys["environment"] = #"["LD_PRELOAD", "ROOST_TEST_FAULTS"]"#
      }
    }
    try withRoost(layout) { roost in
      let rig = LinkRig(rig: PlannerRig(roost: roost, client: try roost.client()), key: key, name: name)
      try roost.awaitWorker("link-feed", "is ready", rig.client) { $0.state == "ready" }
      try rig.account(rig.key, name)
      if inbox?.isEmpty != true { try rig.publish(rig.inboxList(inbox ?? relays)) }
      try body(rig)
    }
  }

  /// Makes an account of a key.
  func account(_ key: SecretKey, _ name: String) throws {
    let signer = SignerRig(roost: rig.roost, client: client)
    let secret = key.withSecret { Hexadecimal.text(of: $0) }
    _ = try signer.ask(
      "signer.import", SignerImport(name: name, secret: try signer.sealed(secret)), as: SignerAccount.self)
  }

  func inboxList(_ relays: [String]) -> Event {
    UnsignedEvent(
      pubkey: publicKey, createdAt: WallClock.seconds, kind: 10_050, tags: relays.map { ["relay", $0] }
    ).signed(by: key)
  }

  /// Publishes an event of the account, and waits until every relay has it.
  func publish(_ event: Event) throws {
    let wanted = PlanPublish(event: RawJSON(event.json))
    try awaitSoon("an event is taken for publishing", within: 30, every: 100) {
      try rig.refusal("plan.publish", wanted) == nil
    }
    try awaitSoon("an event is published", within: 30, every: 50) {
      let answer = try client.call("plan.publications", #"{"ids":["\#(event.id)"]}"#)
      return try answer.parts.contains {
        try JSONPayload.decode(Publication.self, from: $0.payload).state == .confirmed
      }
    }
  }

  // MARK: Links

  func post(_ url: String, note: String? = nil, to: String, token: String? = nil, wait: Int64 = 20_000) throws
    -> SentLink
  {
    var wanted = LinksPost(to: to, url: url, note: note)
    (wanted.token, wanted.waitMilliseconds) = (token, wait)
    return try rig.ask("links.post", wanted)
  }

  func reply(_ text: String, to post: String) throws -> SentLink {
    var wanted = LinksReply(post: post, text: text)
    wanted.waitMilliseconds = 20_000
    return try rig.ask("links.reply", wanted)
  }

  /// Gives the store a gift wrap for the account, as an author's program makes it now.
  func give(_ rumor: UnsignedEvent, by author: SecretKey) throws {
    var random = SystemRandomNumberGenerator()
    let now = WallClock.seconds
    let seal = try Seal(rumor, for: publicKey, by: author, now: now, using: &random)
    let wrap = try GiftWrap(seal, for: publicKey, now: now, using: &random)
    #expect(try client.call("store.publish", String(decoding: wrap.event.json, as: UTF8.self)).isResponse)
  }

  func rows<Row: Decodable>(_ method: String, _ arguments: some Encodable, as type: Row.Type = Row.self) throws -> [Row]
  {
    let answer = try client.call(method, String(decoding: JSONPayload.encode(arguments), as: UTF8.self))
    if let refusal = answer.refusal { throw refusal }
    return try answer.parts.map { try JSONPayload.decode(type, from: $0.payload) }
  }

  func conversations() throws -> [LinkConversationRow] { try rows("links.list", LinksList()) }

  func posts(with peer: PublicKey, limit: Int = 1_000) throws -> [LinkRow] {
    var wanted = LinksShow(conversation: "\(peer)")
    wanted.limit = limit
    return try rows("links.show", wanted)
  }

  func thread(_ post: String) throws -> [LinkRow] { try rows("links.show", LinksShow(post: post)) }

  /// Waits until so many posts of a peer are here.
  func await(_ count: Int, postsWith peer: PublicKey, within seconds: Double = 60) throws -> [LinkRow] {
    var found: [LinkRow] = []
    try awaitSoon("\(count) posts are here", within: seconds, every: 50) {
      found = try posts(with: peer)
      return found.count >= count
    }
    return found
  }

  /// Kills link-feed while what it sends is at a worker, which is stopped for as long as that takes to get there:
  /// nothing says from outside that it has.
  func killLinkFeed(at worker: String) throws {
    let pid = pid_t(try #require(try rig.roost.worker(worker, client).pid))
    Glibc.kill(pid, SIGSTOP)
    usleep(500_000)
    client.receive()
    try rig.kill("link-feed")
    Glibc.kill(pid, SIGCONT)
  }

  /// Subscribes to changes from now on.
  func follow() throws {
    #expect(try client.answer(to: try client.ask("links.changes", type: .subscribe)).isResponse)
  }

  /// The notices that came, in their order.
  func notices() throws -> [LinkChange.Notice] {
    client.receive(withinMilliseconds: 5)
    let number = try client.number(of: "links.changes")
    return try client.topicEvents.filter { $0.header.method == number }
      .compactMap { try JSONPayload.decode(LinkChange.self, from: $0.payload).notice }
  }

  /// The directory of the workers' files.
  var directory: String { rig.roost.directory.path + "/state" }
}
