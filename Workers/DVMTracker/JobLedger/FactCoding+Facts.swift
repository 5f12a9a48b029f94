internal import Contracts
internal import Cryptography
internal import JobTracking
internal import Nostr

extension JobFact.What {
  /// The code of this kind of fact; never reused.
  private var code: UInt8 {
    switch self {
    case .attempted: 1
    case .fed: 2
    case .requested: 3
    case .stored: 4
    case .relayed: 5
    case .unpublished: 6
    case .undone: 7
    case .answered: 8
    case .approved: 9
    case .paid: 10
    case .denied: 11
    case .lapsed: 12
    case .withdrawn: 13
    case .ended: 14
    case .zapRequested: 15
    case .unzapped: 16
    case .walletNamed: 17
    case .receipted(let receipt): receipt.paymentHash == nil ? 18 : 19
    case .objected: 20
    }
  }

  /// The fact as it is stored.
  var bytes: [UInt8] {
    var writer = FactWriter()
    writer.byte(code)
    switch self {
    case .attempted(let number, let providers):
      writer.number(Int64(number))
      writer.number(Int64(providers.count))
      for provider in providers { writer.octets(provider.octets) }
    case .fed(let feed):
      writer.number(Int64(bitPattern: feed.job.number))
      writer.text(feed.data)
      writer.flag(feed.isText)
    case .requested(let request):
      writer.number(Int64(request.attempt))
      writer.octets(request.id.octets)
      writer.number(request.createdAt)
      writer.data(request.json)
    case .stored(let id), .withdrawn(let id): writer.octets(id.octets)
    case .relayed(let id, let confirmed, let count):
      writer.octets(id.octets)
      writer.number(Int64(confirmed))
      writer.number(Int64(count))
    case .unpublished(let id, let why), .unzapped(let id, let why):
      writer.octets(id.octets)
      writer.text(why)
    case .undone(let attempt, let why):
      writer.number(Int64(attempt))
      writer.text(why)
    case .answered(let answer): writer.answer(answer)
    case .approved(let intent): writer.intent(intent)
    case .zapRequested(let request): writer.zapRequest(request)
    case .walletNamed(let provider, let wallet):
      for key in [provider, wallet] { writer.octets(key.octets) }
    case .receipted(let receipt): writer.receipt(receipt)
    case .objected(let receipt, let objection):
      writer.octets(receipt.octets)
      writer.byte(objection.rawValue)
    case .paid(let provider, let hash, let preimage):
      for octets in [provider.octets, hash, preimage] { writer.octets(octets) }
    case .denied(let provider, let isAutomatic):
      writer.octets(provider.octets)
      writer.flag(isAutomatic)
    case .lapsed(let phase, let attempt, let provider):
      writer.byte(phase.rawValue)
      writer.maybe(attempt) { $0.number(Int64($1)) }
      writer.maybe(provider) { $0.octets($1.octets) }
    case .ended(let state, let reason):
      writer.text(state.rawValue)
      writer.maybe(reason) { $0.text($1) }
    }
    return writer.bytes
  }

  /// Reads a fact; nil if the bytes are not one.
  init?(bytes: [UInt8]) {
    var reader = FactReader(bytes)
    guard let code = reader.byte(), let what = Self.read(code, &reader), reader.isAtEnd else { return nil }
    self = what
  }

  private static func read(_ code: UInt8, _ reader: inout FactReader) -> Self? {
    switch code {
    case 1: return attempt(&reader)
    case 2:
      guard let job = reader.number(), let data = reader.text(), let isText = reader.flag() else { return nil }
      return .fed(JobFeed(job: JobID(UInt64(bitPattern: job)), data: data, isText: isText))
    case 3:
      guard let attempt = reader.integer(), let id = reader.octets(), let createdAt = reader.number(),
        let json = reader.data()
      else { return nil }
      return .requested(JobRequestFact(attempt: attempt, id: EventID(id), createdAt: createdAt, json: json))
    case 4: return reader.octets().map { .stored(EventID($0)) }
    case 5:
      guard let id = reader.octets(), let confirmed = reader.integer(), let count = reader.integer() else { return nil }
      return .relayed(EventID(id), confirmed: confirmed, of: count)
    case 6:
      guard let id = reader.octets(), let why = reader.text() else { return nil }
      return .unpublished(EventID(id), why)
    case 7:
      guard let attempt = reader.integer(), let why = reader.text() else { return nil }
      return .undone(attempt, why)
    case 8: return reader.answer().map { .answered($0) }
    case 9: return reader.intent().map { .approved($0) }
    default: return readLater(code, &reader)
    }
  }

  private static func readLater(_ code: UInt8, _ reader: inout FactReader) -> Self? {
    switch code {
    case 10:
      guard let provider = reader.octets(), let hash = reader.octets(), let preimage = reader.octets() else {
        return nil
      }
      return .paid(PublicKey(provider), paymentHash: hash, preimage: preimage)
    case 11:
      guard let provider = reader.octets(), let isAutomatic = reader.flag() else { return nil }
      return .denied(PublicKey(provider), isAutomatic: isAutomatic)
    case 12:
      guard let phase = reader.byte().flatMap(JobPhase.init(rawValue:)), let attempt = reader.maybe({ $0.integer() }),
        let provider = reader.maybe({ $0.octets() })
      else { return nil }
      return .lapsed(phase, attempt: attempt, provider: provider.map { PublicKey($0) })
    case 13: return reader.octets().map { .withdrawn(EventID($0)) }
    case 14:
      guard let state = reader.text().flatMap(Job.State.init(rawValue:)), let reason = reader.maybe({ $0.text() })
      else { return nil }
      return .ended(state, reason)
    case 15: return reader.zapRequest().map { .zapRequested($0) }
    case 16:
      guard let id = reader.octets(), let why = reader.text() else { return nil }
      return .unzapped(EventID(id), why)
    case 17:
      guard let provider = reader.octets(), let wallet = reader.octets() else { return nil }
      return .walletNamed(PublicKey(provider), wallet: PublicKey(wallet))
    case 18: return reader.receipt().map { .receipted($0) }
    case 19: return reader.receiptWithHash().map { .receipted($0) }
    case 20: return reader.objected()
    default: return nil
    }
  }

  private static func attempt(_ reader: inout FactReader) -> Self? {
    guard let number = reader.integer(), let count = reader.integer(), (0...JobSubmit.providerMaximum).contains(count)
    else { return nil }
    var providers: [PublicKey] = []
    for _ in 0..<count {
      guard let octets = reader.octets() else { return nil }
      providers.append(PublicKey(octets))
    }
    return .attempted(number, providers)
  }
}

extension FactWriter {
  /// An intent with an empty invoice is a zap's; its key is the id of the zapped event.
  mutating func intent(_ intent: PaymentIntent) {
    octets(intent.provider.octets)
    octets(intent.key)
    number(intent.amount)
    switch intent.way {
    case .invoice(let invoice, _): text(invoice)
    case .zap: text("")
    }
    flag(intent.isAutomatic)
  }

  mutating func answer(_ answer: JobAnswerFact) {
    for octets in [answer.event.octets, answer.request.octets, answer.provider.octets] { self.octets(octets) }
    number(Int64(answer.kind))
    number(answer.createdAt)
    maybe(answer.status) { $0.text($1.rawValue) }
    maybe(answer.content) { $0.text($1) }
    flag(answer.isCut)
    maybe(answer.remark) { $0.text($1) }
    maybe(answer.bill) { $0.bill($1) }
    number(Int64(answer.diagnostics.count))
    for (word, count) in answer.diagnostics.sorted(by: { $0.key < $1.key }) {
      text(word)
      number(Int64(count))
    }
    maybe(answer.objection) { $0.byte($1.rawValue) }
    maybe(answer.sealed) { $0.data($1) }
    flag(answer.isOpened)
  }

  private mutating func bill(_ bill: JobBill) {
    maybe(bill.amount) { $0.number($1) }
    maybe(bill.invoice) { $0.text($1) }
    maybe(bill.payable) { $0.number($1) }
    maybe(bill.paymentHash) { $0.octets($1) }
    maybe(bill.expiresAt) { $0.number($1) }
    maybe(bill.problem) { $0.text($1) }
  }
}

extension FactReader {
  /// Most different diagnostics of one answer.
  private static let diagnosticMaximum = 256

  mutating func intent() -> PaymentIntent? {
    guard let provider = octets(), let key = octets(), let amount = number(), let invoice = text(),
      let isAutomatic = flag()
    else { return nil }
    let way: PaymentIntent.Way = invoice.isEmpty ? .zap(EventID(key)) : .invoice(invoice, paymentHash: key)
    return PaymentIntent(provider: PublicKey(provider), way: way, amount: amount, isAutomatic: isAutomatic)
  }

  mutating func answer() -> JobAnswerFact? {
    guard let event = octets(), let request = octets(), let provider = octets(),
      let kind = number().flatMap({ UInt16(exactly: $0) }), let createdAt = number()
    else { return nil }
    var answer = JobAnswerFact(
      event: EventID(event), request: EventID(request), provider: PublicKey(provider), kind: kind, createdAt: createdAt)
    guard let status = maybe({ $0.text().flatMap(JobStatus.init(rawValue:)) }), let content = maybe({ $0.text() }),
      let isCut = flag(), let remark = maybe({ $0.text() }), let bill = maybe({ $0.bill() }),
      let count = integer(), (0...Self.diagnosticMaximum).contains(count)
    else { return nil }
    (answer.status, answer.content, answer.isCut, answer.remark, answer.bill) = (status, content, isCut, remark, bill)
    for _ in 0..<count {
      guard let word = text(), let count = integer() else { return nil }
      answer.diagnostics[word] = count
    }
    guard let objection = maybe({ $0.byte().flatMap(JobAnswerFact.Objection.init(rawValue:)) }),
      let sealed = maybe({ $0.data() }), let isOpened = flag()
    else { return nil }
    (answer.objection, answer.sealed, answer.isOpened) = (objection, sealed, isOpened)
    return answer
  }

  private mutating func bill() -> JobBill? {
    guard let amount = maybe({ $0.number() }), let invoice = maybe({ $0.text() }), let payable = maybe({ $0.number() }),
      let paymentHash = maybe({ $0.octets() }), let expiresAt = maybe({ $0.number() }),
      let problem = maybe({ $0.text() })
    else { return nil }
    var bill = JobBill()
    (bill.amount, bill.invoice, bill.payable) = (amount, invoice, payable)
    (bill.paymentHash, bill.expiresAt, bill.problem) = (paymentHash, expiresAt, problem)
    return bill
  }
}
