import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

/// Publications, events handed to the store, imports and jobs, with relays' events between them.
struct AccountPlay {
  enum Fact {
    case account(String)
    /// Accepted by `plan.publish`.
    case publication(String)
    /// Answered for by the store.
    case stored([String])
    case seq(Int64)
    /// Accepted by `job.submit`; whether a provider of this machine does it.
    case job(String, isServed: Bool)
    case settled(job: String, result: String)
  }

  let roost: RunningRoost
  let relay: AnsweringRelay
  let store: StoreClient
  let publishing: PublishClient
  let client: BusPeer
  let told: ToldBook<Fact>
  private let author = SecretKey.generate()
  private var eventCount = 0
  private var turnCount = 0
  private var underWay: [String] = []
  private var relayed: [Event] = []

  /// A relay that nobody is: what is for it stays pending.
  private static let nowhere = "ws://127.0.0.1:1"

  static var layout: Layout {
    var layout = JobRig.layout()
    layout.workers += ServingRig.layout().workers.filter { $0.name == "dvm-provider" }
    return layout
  }

  init(_ roost: RunningRoost, _ relay: AnsweringRelay, _ told: ToldBook<Fact>) throws {
    self.roost = roost
    self.relay = relay
    self.told = told
    store = try StoreClient(roost)
    publishing = try PublishClient(roost)
    client = try roost.client()
    let made = try client.call("signer.generate", #"{"name":"alice"}"#)
    #expect(made.isResponse, "\(made.text)")
    told.note(.account(try JSONPayload.decode(SignerAccount.self, from: made.terminal.payload).publicKey))
    try awaitSoon("the provider says who answers") { try ServingRig.status(client).provider != nil }
  }

  private mutating func event() -> Event {
    eventCount += 1
    return UnsignedEvent(
      pubkey: author.publicKey, createdAt: 1_700_000_000 + Int64(eventCount), kind: 1, content: "\(eventCount)"
    ).signed(by: author)
  }

  // MARK: Acting

  mutating func turn() throws {
    turnCount += 1
    try publish()
    try hand()
    try takeFromRelays(count: 40)
    if turnCount % 4 == 1 { try importAll((0..<120).map { _ in event() }) }
    // What is in a file is known here by then, and not on the disk for that.
    if turnCount % 3 == 0 { try importAll(relayed) }
    if turnCount % 5 == 2 { try submit(isServed: true) }
    if turnCount % 7 == 3 { try submit(isServed: false) }
    try lookAtJobs()
  }

  /// One to a relay that takes it, and one to a relay that is not there.
  private mutating func publish() throws {
    for url in [relay.url, Self.nowhere] {
      let event = event()
      let value = try JSONPayload.decode(JSONValue.self, from: event.json)
      let wanted = JSONPayload.encode(PlanPublish(event: RawJSON(value), relays: [url]))
      let answer = try client.call("plan.publish", String(decoding: wanted, as: UTF8.self))
      #expect(answer.isResponse, "\(answer.text)")
      told.note(.publication("\(event.id)"))
    }
  }

  private mutating func hand() throws {
    let event = event()
    let answer = try store.publish(event)
    #expect(answer.isResponse, "\(answer.text)")
    told.note(.stored(["\(event.id)"]))
    told.note(.seq(try #require(try JSONPayload.decode(PublishResult.self, from: answer.terminal.payload).seq)))
    let offered = (0..<3).map { _ in self.event() }
    for case .stored(let seq) in try store.offer(offered.map(\.json)) { told.note(.seq(seq)) }
    told.note(.stored(offered.map { "\($0.id)" }))
  }

  private func importAll(_ events: [Event]) throws {
    let answer = try store.peer.answer(to: try store.importRun(events.map(\.json)), within: 60)
    #expect(answer.isResponse, "\(answer.text)")
    told.note(.stored(events.map { "\($0.id)" }))
    told.note(.seq(try JSONPayload.decode(IngestResult.self, from: answer.terminal.payload).seq))
  }

  /// What relays send: nobody is told that it is kept, but its seqs are given.
  private mutating func takeFromRelays(count: Int) throws {
    var run: [UInt8] = []
    IngestRecord.append(.relayName, relay: 1, receivedNanoseconds: 0, Array("wss://relay.example".utf8), to: &run)
    relayed = (0..<count).map { _ in event() }
    for event in relayed { IngestRecord.append(.event, relay: 1, receivedNanoseconds: 0, event.json, to: &run) }
    let answer = try store.peer.answer(to: try store.sendRun(run), within: 60)
    told.note(.seq(try JSONPayload.decode(IngestResult.self, from: answer.terminal.payload).seq))
  }

  private mutating func submit(isServed: Bool) throws {
    var submit = JobSubmit(kind: isServed ? 5_400 : 5_050)
    let input = isServed ? #"[{"kinds":[\#(2 + turnCount)]}]"# : "turn \(turnCount)"
    submit.inputs = [JobInputArgument(data: input, type: "text")]
    (submit.account, submit.encryption, submit.reach) = ("alice", JobSubmit.Encryption.none, .local)
    if !isServed { submit.providers = [SecretKey.generate().publicKey.npub] }
    // Longer than anybody looks at what the power has left.
    var deadlines = JobDeadlines()
    (deadlines.answer, deadlines.result) = (86_400, 86_400)
    submit.deadlines = deadlines
    let answer = try client.call("job.submit", String(decoding: JSONPayload.encode(submit), as: UTF8.self))
    #expect(answer.isResponse, "\(answer.text)")
    let id = try JSONPayload.decode(Job.self, from: answer.terminal.payload).id
    told.note(.job(id, isServed: isServed))
    if isServed { underWay.append(id) }
  }

  private mutating func lookAtJobs() throws {
    for id in underWay {
      guard let job = try Self.job(id, client), job.state == .settled, let result = job.result else { continue }
      told.note(.settled(job: id, result: result.event))
      underWay.removeAll { $0 == id }
    }
  }

  private static func job(_ id: String, _ client: BusPeer) throws -> Job? {
    let answer = try client.call("job.show", #"{"job":"\#(id)"}"#)
    return answer.isResponse ? try JSONPayload.decode(Job.self, from: answer.terminal.payload) : nil
  }

  // MARK: Looking

  /// What of all that was told does not hold.
  static func violations(_ roost: RunningRoost, _ facts: [Fact]) throws -> [String] {
    let client = try roost.client()
    let store = try StoreClient(roost)
    var lines: [String] = []
    var wanted: [String: String] = [:]
    let known = Set(try PublishClient(roost).publications(#"{"limit":10000}"#).map(\.id))
    for fact in facts {
      switch fact {
      case .account(let key):
        if !(try client.call("signer.accounts").text.contains(key)) { lines.append("the account is lost") }
      case .publication(let id):
        wanted[id] = "a publication"
        if !known.contains(id) { lines.append("publication \(id) is lost from the ledger") }
      case .stored(let ids): for id in ids { wanted[id] = "what was handed in" }
      case .seq, .job, .settled: break
      }
    }
    var kept = try kept(Array(wanted.keys), store)
    let missing = Set(wanted.keys).subtracting(kept)
    if !missing.isEmpty {
      // What is under way is offered again.
      try? awaitSoon("publications are offered again", within: 5) {
        kept.formUnion(try self.kept(Array(missing), store))
        return missing.isSubset(of: kept)
      }
      for (what, ids) in Dictionary(grouping: missing, by: { wanted[$0] ?? "" }).sorted(by: { $0.key < $1.key }) {
        let gone = ids.filter { !kept.contains($0) }.count
        if gone > 0 { lines.append("\(gone) times \(what) is lost from the store") }
        if ids.count > gone { lines.append("\(ids.count - gone) times \(what) was missing until it was offered again") }
      }
    }
    return lines + (try jobViolations(facts, client, store)) + (try seqViolations(facts, store))
  }

  /// Those of these ids that the store has.
  private static func kept(_ ids: [String], _ store: StoreClient) throws -> Set<String> {
    var kept: Set<String> = []
    for start in stride(from: 0, to: ids.count, by: 200) {
      let some = ids[start..<min(start + 200, ids.count)].map { "\"\($0)\"" }.joined(separator: ",")
      for text in try store.query("{\"ids\":[\(some)]}") { kept.insert("\(try Event(json: Array(text.utf8)).id)") }
    }
    return kept
  }

  private static func jobViolations(_ facts: [Fact], _ client: BusPeer, _ store: StoreClient) throws -> [String] {
    var lines: [String] = []
    let served = facts.compactMap { fact in if case .job(let id, true) = fact { id } else { nil } }
    try? awaitSoon("jobs are done", within: Double(amount("ROOST_POWER_PATIENCE", standard: 20))) {
      try served.allSatisfy { try job($0, client)?.state.isFinal ?? true }
    }
    for fact in facts {
      switch fact {
      case .job(let id, let isServed):
        guard let job = try self.job(id, client) else {
          lines.append("job \(id) is lost")
          continue
        }
        if isServed ? job.state != .settled : job.state.isFinal { lines.append("job \(id) is \(job.state)") }
        let requests = job.requests.filter(\.isStored).map(\.event)
        if try kept(requests, store).count < requests.count { lines.append("the store has no request of job \(id)") }
      case .settled(let id, let result):
        if try job(id, client)?.result?.event != result { lines.append("job \(id) has another result") }
        if try kept([result], store).isEmpty { lines.append("the store has lost the result of job \(id)") }
      case .account, .publication, .stored, .seq: break
      }
    }
    return lines
  }

  private static func seqViolations(_ facts: [Fact], _ store: StoreClient) throws -> [String] {
    let told = facts.compactMap { fact -> Int64? in if case .seq(let seq) = fact { seq } else { nil } }.max() ?? 0
    let answer = try store.publish(makeEvents(0..<1)[0])
    let next = try JSONPayload.decode(PublishResult.self, from: answer.terminal.payload).seq ?? 0
    return next > told ? [] : ["seq \(next) is given, and \(told) was told before"]
  }
}
