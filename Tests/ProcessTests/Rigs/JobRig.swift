import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

/// Everything that a job needs, with an ordinary client that keeps jobs, and providers that a test plays.
struct JobRig {
  let roost: RunningRoost
  var client: BusPeer
  let relay: AnsweringRelay

  /// Store, planner, connector, signer and tracker.
  static func layout(_ keys: [String: String] = [:]) -> Layout {
    var layout = Layout.publishing
    layout.workers += Layout.storeAndSigner.workers.filter { $0.name == "signer" }
    var tracker = [
      "role": "\"dvm-tracker\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-tracker"))\"",
      "sandbox": "\"try\"", "stable-after": "\"100ms\"",
    ]
    tracker.merge(keys) { $1 }
    layout.workers.append(Layout.Worker(name: "dvm-tracker", keys: tracker))
    return layout
  }

  static func run(_ keys: [String: String] = [:], _ body: (inout JobRig) throws -> Void) throws {
    let directory = try TemporaryDirectory()
    let relay = try AnsweringRelay(directory, "relay")
    try withRoost(layout(keys)) { roost in
      var rig = JobRig(roost: roost, client: try roost.client(), relay: relay)
      try body(&rig)
    }
  }

  // MARK: Asking

  /// Asks until somebody answers: a worker that is killed may be on its way back.
  func ask<Value: Decodable>(_ method: String, _ arguments: some Encodable, as type: Value.Type) throws -> Value {
    let text = String(decoding: JSONPayload.encode(arguments), as: UTF8.self)
    var value: Value?
    try awaitSoon("\(method) is answered") {
      let answer = try client.call(method, text)
      if let refusal = answer.refusal {
        if [.unavailable, .workerDied, .failed, .expired].contains(refusal.code) { return false }
        throw refusal
      }
      value = try JSONPayload.decode(Value.self, from: answer.terminal.payload)
      return true
    }
    return try #require(value)
  }

  func submit(_ submit: JobSubmit) throws -> Job { try ask("job.submit", submit, as: Job.self) }

  func show(_ job: Job) throws -> Job { try ask("job.show", JobReference(job: job.id), as: Job.self) }

  /// Waits until a job is as it should be.
  @discardableResult
  func await(
    _ job: Job, _ what: String, within seconds: Double = 30, _ condition: (Job) -> Bool
  ) throws -> Job {
    var last = job
    do {
      try awaitSoon("job \(what)", within: seconds) {
        last = try show(job)
        return condition(last)
      }
    } catch { throw DeadlinePassed(description: "\(error); it is \(last)") }
    return last
  }

  // MARK: Playing providers

  /// The request of a job, once the store has it.
  func request(_ job: Job, _ number: Int = 0) throws -> JobRequest {
    let told = try self.await(job, "has a request that the store has") {
      $0.requests.count > number && $0.requests[number].isStored
    }
    let answer = try client.call("store.query", #"{"filters":[{"ids":["\#(told.requests[number].event)"]}]}"#)
    let json = try #require(answer.parts.first?.payload)
    let event = try Event(json: json)
    try event.verify()
    return try JobRequest(event)
  }

  /// Puts what a provider says into the store, as a client of the local relay would.
  func say(_ event: Event) throws {
    let text = String(decoding: event.json, as: UTF8.self)
    try awaitSoon("the store takes it") { try client.call("store.publish", text).isResponse }
  }

  /// Ends a worker as a crash would, and waits for the next one.
  func kill(_ name: String) throws {
    let before = try roost.worker(name, client)
    guard let pid = before.pid else { return }
    Glibc.kill(pid_t(pid), SIGKILL)
    try roost.awaitWorker(name, "is ready again", client) {
      $0.state == "ready" && $0.generation != before.generation
    }
  }

  /// Ends roostd as a crash would, alone or with all workers at once, and starts it again.
  mutating func killDaemon(withWorkers: Bool) throws {
    if withWorkers { try roost.killDaemonAndWorkers() } else { try roost.killDaemon() }
    try roost.startAgain()
    client = try roost.client()
  }
}

/// A provider that a test plays.
struct JobMaker {
  let key = SecretKey.generate()

  private var now: Int64 { WallClock.seconds }

  func feedback(
    _ status: JobStatus, to request: JobRequest, remark: String? = nil, content: String = "", amount: JobAmount? = nil
  ) throws -> Event {
    try request.feedbackTemplate(
      status, remark: remark, content: content, by: key.publicKey, createdAt: now, amount: amount
    ).signed(by: key)
  }

  func result(_ content: String, to request: JobRequest, amount: JobAmount? = nil) throws -> Event {
    try request.resultTemplate(content, by: key.publicKey, createdAt: now, amount: amount).signed(by: key)
  }

  /// A job of text for this provider alone.
  func job(_ key: String? = nil, relay: AnsweringRelay? = nil) -> JobSubmit {
    var submit = JobSubmit(kind: 5_050)
    submit.key = key
    submit.inputs = [JobInputArgument(data: "what is the time?", type: "text")]
    submit.params = [["lang", "en"]]
    submit.providers = [self.key.publicKey.npub]
    if let relay { submit.relays = [relay.url] } else { submit.reach = .local }
    return submit
  }

  /// What a request to this provider says, opened.
  func opened(_ request: JobRequest) throws -> JobRequest {
    request.decrypted(try open(try #require(request.content.ciphertext), from: request.customer))
  }

  func open(_ text: String, from other: PublicKey) throws -> String {
    switch EncryptedForm(of: text) {
    case .nip04: try NIP04.decrypt(text, by: key, from: other)
    case .nip44: try NIP44.decryptText(text, with: ConversationKey(key, other))
    case nil: text
    }
  }

  func seal(_ text: String, _ form: EncryptedForm, for other: PublicKey) throws -> String {
    switch form {
    case .nip04: try NIP04.encrypt(text, by: key, for: other)
    case .nip44: try NIP44.encrypt(text, with: ConversationKey(key, other))
    }
  }
}

/// An invoice whose preimage is known.
struct PayableInvoice {
  let preimage: Octets32
  let invoice: Invoice

  init(_ amount: Int64) throws {
    preimage = SHA256.hash((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    let terms = InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: SHA256.hash(preimage.bytes), createdAt: WallClock.seconds,
      descriptionText: "a test")
    invoice = try terms.signed(by: .generate())
  }

  var amount: JobAmount { JobAmount(millisatoshis: invoice.amountMillisatoshis, invoice: invoice) }
}
