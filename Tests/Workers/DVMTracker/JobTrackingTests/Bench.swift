import Addresses
import Contracts
import Cryptography
import Frames
import JobTracking
import Nostr
import Testing

/// A provider of a test's.
struct Maker {
  let key = SecretKey.generate()

  var publicKey: PublicKey { key.publicKey }

  func feedback(
    _ status: JobStatus, to request: JobRequest, at time: Int64, remark: String? = nil, content: String = "",
    amount: JobAmount? = nil
  ) throws -> Event {
    try request.feedbackTemplate(
      status, remark: remark, content: content, by: publicKey, createdAt: time, amount: amount
    ).signed(by: key)
  }

  /// A request to be paid, with any values in the tag `amount`.
  func bill(_ amount: String..., to request: JobRequest, at time: Int64) -> Event {
    let tags = [
      ["status", "payment-required"], ["amount"] + amount, ["e", request.id.description],
      ["p", request.customer.description],
    ]
    return UnsignedEvent(
      pubkey: publicKey, createdAt: time, kind: EventKind.jobFeedback, tags: tags, content: ""
    ).signed(by: key)
  }

  func result(_ content: String, to request: JobRequest, at time: Int64, amount: JobAmount? = nil) throws -> Event {
    try request.resultTemplate(content, by: publicKey, createdAt: time, amount: amount).signed(by: key)
  }
}

/// An invoice that can be paid in a test: whose preimage is known.
struct TestInvoice {
  let preimage: Octets32
  let invoice: Invoice

  init(
    _ amount: Int64?, at time: Int64, expires: Int64 = 86_400, network: Invoice.Network = .bitcoin,
    preimage: Octets32? = nil
  ) throws {
    self.preimage = preimage ?? SHA256.hash((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    var terms = InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: SHA256.hash(self.preimage.bytes), createdAt: time, network: network)
    terms.descriptionText = "a test"
    terms.expirySeconds = expires
    invoice = try terms.signed(by: .generate())
  }

  var amount: JobAmount { JobAmount(millisatoshis: invoice.amountMillisatoshis, invoice: invoice) }
}

/// The machine with a disk that is a list, and with other workers that do each task at once.
final class Bench {
  let customer = SecretKey.generate()
  var book: JobTable
  /// What is on the disk.
  var orders: [JobOrder] = []
  var facts: [JobID: [JobFact]] = [:]
  var payments: [(JobID, Int64, PaymentIntent)] = []
  var proofs: [(JobID, PaymentProof)] = []
  var closed: Set<JobID> = []
  var histories: [PublicKey: ProviderHistory] = [:]
  var cursor: Int64 = 0
  /// Milliseconds since 1970.
  var now: Int64 = 1_800_000_000_000
  var tasks: [JobTask] = []
  var told: [JobID] = []
  var timer: Int64?
  /// Whether transactions succeed.
  var isDiskGood = true
  /// Whether the disk, and others, do what they are asked at once.
  var isPrompt = true
  var batches: [JobBatch] = []
  /// Where receipts are to be published; none: no zap can be made.
  var zapRelays = ["wss://relay.example"]
  /// Whether the signer signs requests for zaps.
  var signsZaps = true
  private var lastID: UInt64 = 0
  private var seq: Int64 = 0

  init(limits: TrackingLimits = TrackingLimits()) {
    book = JobTable(limits: limits)
    perform(book.began(at: now))
  }

  var seconds: Int64 { now / 1_000 }

  // MARK: The shell

  func perform(_ actions: [JobAction]) {
    for action in actions {
      switch action {
      case .write(let batch):
        batches.append(batch)
        if isPrompt { write(batch) }
      case .perform(let task):
        tasks.append(task)
        if isPrompt { carryOut(task) }
      case .tell(let id): told.append(id)
      case .setTimer(let at): timer = at
      case .observe: break
      }
    }
  }

  func write(_ batch: JobBatch) {
    guard isDiskGood else { return perform(book.notWritten(batch.number, at: now)) }
    keep(batch)
    let actions = book.written(batch.number, at: now)
    // What is held of a job is what another process would make of the disk.
    for id in Set(batch.entries.map(\.job)) {
      guard let held = book.picture(id), let order = orders.first(where: { $0.id == id }) else { continue }
      #expect(held == JobPicture(order, facts[id] ?? []))
    }
    perform(actions)
  }

  /// Puts a batch on the disk without a word to the machine.
  func keep(_ batch: JobBatch) {
    orders += batch.accepted
    for (job, event) in batch.dropped {
      facts[job]?.removeAll { fact in
        switch fact.what {
        case .answered(let answer): answer.event == event
        case .receipted(let receipt): receipt.event == event
        default: false
        }
      }
    }
    for entry in batch.entries {
      facts[entry.job, default: []].append(entry.fact)
      if case .approved(let intent) = entry.fact.what {
        payments.removeAll { job, _, known in
          job == entry.job && known.provider == intent.provider && known.key == intent.key
        }
        payments.append((entry.job, entry.fact.at, intent))
      }
    }
    for (job, intent) in batch.voided {
      payments.removeAll { $0.0 == job && $0.2.provider == intent.provider && $0.2.key == intent.key }
    }
    for (job, proof) in batch.proofs where !proofs.contains(where: { $0.1.hash == proof.hash }) {
      proofs.append((job, proof))
    }
    closed.formUnion(batch.closed)
    histories.merge(batch.histories) { $1 }
    cursor = batch.cursor ?? cursor
  }

  func carryOut(_ task: JobTask) {
    switch task {
    case .make(let job, let attempt):
      guard let terms = book.terms(job, attempt: attempt) else { return }
      let ciphertext = terms.isEncrypted ? Self.ciphertext : nil
      for date in RequestDate.candidates(from: seconds) {
        guard let draft = try? terms.template(by: customer.publicKey, createdAt: date, ciphertext: ciphertext) else {
          return perform(book.undone(job, attempt: attempt, "it makes no request", at: now))
        }
        if book.isRequest(draft.id) { continue }
        return perform(book.made(job, attempt: attempt, event: draft.signed(by: customer), at: now))
      }
      perform(book.failed(task, "no second is free", at: now))
    case .publish(let job, let request):
      let isLocal = book.order(job)?.isLocal == true
      perform(book.published(job, request, confirmed: isLocal ? 0 : 1, of: isLocal ? 0 : 2, isStored: true, at: now))
    case .open(let job, let event): perform(book.opened(job, event, plaintext: "in clear", at: now))
    case .withdraw(let job, let request): perform(book.withdrawn(job, request, at: now))
    case .zap(let job, let target): zap(job, target)
    case .pay(let job, let intent), .lookUp(let job, let intent):
      perform(book.settled(job, intent, .pending, at: now))
    }
  }

  private func zap(_ job: JobID, _ target: EventID) {
    guard signsZaps, let terms = book.zapTerms(job, target) else { return }
    let relays = zapRelays.compactMap { try? RelayURL($0) }
    guard
      let draft = try? ZapRequest.template(
        for: terms.provider, by: terms.account, createdAt: seconds, amountMillisatoshis: terms.amount, relays: relays,
        target: (terms.target, terms.targetKind))
    else { return perform(book.unzapped(job, target, "no relay is known", at: now)) }
    perform(book.zapMade(job, target, event: draft.signed(by: customer), at: now))
  }

  static let ciphertext = "aGVsbG9oZWxsb2hlbGxvaA==?iv=aGVsbG9oZWxsb2hlbGxvaA=="

  /// The process dies, and another one reads the disk.
  func die() {
    let limits = book.limits
    book = JobTable(limits: limits)
    tasks = []
    timer = nil
    for (job, proof) in proofs { book.restored(proof, of: job) }
    for order in orders {
      let known = facts[order.id] ?? []
      if closed.contains(order.id) {
        let requests = JobPicture(order, known).requests.map(\.id)
        book.kept(order.id, key: order.key, requests: requests)
      } else {
        book.restored(order, known)
      }
    }
    for (job, at, intent) in payments { book.restored(intent, of: job, at: at) }
    for (provider, history) in histories { book.restored(provider, history) }
    book.restored(cursor: cursor)
    for id in book.missingDependencies {
      book.learned(id, orders.first { $0.id == id }, facts[id] ?? [])
    }
    perform(book.began(at: now))
  }

  /// A job that is done with is kept no longer; what was approved and proven of it is.
  func forget(_ job: JobID) {
    orders.removeAll { $0.id == job }
    facts[job] = nil
    closed.remove(job)
  }

  // MARK: What a test does

  @discardableResult
  func submit(_ submit: JobSubmit, isServedHere: Bool = false, host: Maker? = nil) throws -> JobID {
    lastID += 1
    for id in book.unknownDependencies(of: submit) {
      book.learned(id, orders.first { $0.id == id }, facts[id] ?? [])
    }
    let (job, actions) = try book.submitted(
      submit, as: JobID(lastID), account: customer.publicKey, isServedHere: isServedHere,
      host: host?.publicKey, at: now)
    perform(actions)
    return job
  }

  /// A job of text, for these providers.
  func text(
    _ providers: [Maker] = [], key: String? = nil, payment: JobSubmit.Payment? = nil, bid: Int64? = nil,
    oneByOne: Bool = false
  ) throws -> JobID {
    var wanted = JobSubmit(kind: 5_050)
    wanted.key = key
    wanted.inputs = [JobInputArgument(data: "what is the time?", type: "text")]
    wanted.providers = providers.map(\.publicKey.description)
    wanted.payment = payment
    wanted.bid = bid
    if oneByOne { wanted.turns = .oneByOne }
    return try submit(wanted)
  }

  func request(_ job: JobID, _ number: Int = 0) throws -> JobRequest {
    let requests = picture(job).requests
    try #require(requests.count > number)
    return try JobRequest(Event(json: requests[number].json))
  }

  func receive(_ events: Event...) { receive(events) }

  func receive(_ events: [Event]) {
    seq += Int64(events.count)
    perform(book.received(events, cursor: seq, at: now))
  }

  func pass(seconds: Int64) {
    now += seconds * 1_000
    while let at = timer, at <= now {
      timer = nil
      perform(book.timerFired(at: now))
    }
  }

  func picture(_ job: JobID) -> JobPicture {
    if let picture = book.picture(job) { return picture }
    guard let order = orders.first(where: { $0.id == job }) else { preconditionFailure("no such job") }
    return JobPicture(order, facts[job] ?? [])
  }

  func state(_ job: JobID) -> Job.State { picture(job).state }

  func pair(_ job: JobID, _ maker: Maker) throws -> JobPicture.Pair {
    try #require(picture(job).pairs[maker.publicKey])
  }
}
