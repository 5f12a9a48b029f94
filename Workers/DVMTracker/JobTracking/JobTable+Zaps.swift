internal import Contracts
public import Cryptography
public import Nostr

// Zaps in the book: the request that is made once an intent says so, and the receipts that come for it.

/// What somebody says of a zap who lets it be paid.
public struct ZapWord: Sendable, Hashable {
  /// Who writes the receipts of the payee's wallet (`nostrPubkey` of its lnurl page), when somebody has looked.
  public var wallet: PublicKey?
  /// The invoice that the wallet has made for our request, when it was paid.
  public var invoice: Invoice?

  /// A zap of which nothing more is known.
  public init(wallet: PublicKey? = nil, invoice: Invoice? = nil) {
    self.wallet = wallet
    self.invoice = invoice
  }
}

/// Where receipts belong. The store hands out all that anybody writes, so most are told apart by a tag alone.
struct ZapIndex: Sendable {
  private var requests: [EventID: JobID] = [:]
  private var targets: [EventID: JobID] = [:]
  /// How many zaps each provider has been sent.
  private var payees: [PublicKey: Int] = [:]

  mutating func add(_ zap: ZapRequestFact, of job: JobID) {
    guard requests.updateValue(job, forKey: zap.id) == nil else { return }
    targets[zap.target] = job
    payees[zap.provider, default: 0] += 1
  }

  mutating func remove(_ zap: ZapRequestFact) {
    guard requests.removeValue(forKey: zap.id) != nil else { return }
    targets[zap.target] = nil
    payees[zap.provider, default: 1] -= 1
    if payees[zap.provider] == 0 { payees[zap.provider] = nil }
  }

  /// The job that a receipt seems to be for.
  func job(for event: Event) -> JobID? {
    if let target = event.firstValue(of: "e").flatMap({ EventID($0) }) { return targets[target] }
    // Some wallets leave out what was zapped. `try?`: what is no receipt is for nobody.
    guard let payee = event.firstValue(of: "p").flatMap({ PublicKey($0) }), payees[payee] != nil,
      let receipt = try? ZapReceipt(event)
    else { return nil }
    return requests[receipt.request.event.id]
  }
}

extension JobTable {
  // MARK: The request

  /// What the request for a zap is to say.
  public struct ZapTerms: Sendable, Hashable {
    /// Who pays.
    public var account: PublicKey
    /// Who is paid.
    public var provider: PublicKey
    /// What is zapped, and its kind.
    public var target: EventID
    /// The kind of what is zapped.
    public var targetKind: UInt16
    /// Millisatoshi.
    public var amount: Int64
    /// The request for the job that it is about.
    public var request: EventID
    /// Where the job says that answers are to be published; none: not said.
    public var relays: [String]
  }

  /// What the request for a zap of an event is to say; nil when none is to be made any more.
  public func zapTerms(_ id: JobID, _ target: EventID) -> ZapTerms? {
    guard let record = records[id], record.picture.endedAt == nil,
      let pair = record.picture.pairs.values.first(where: { $0.intent?.zapTarget == target }),
      pair.payment == .approved, let intent = pair.intent, record.picture.zap(for: intent) == nil
    else { return nil }
    return terms(of: intent, target, record)
  }

  /// What the request for the zap would say that an approval would have made. Whether a relay is known for its receipt
  /// is asked before anything is written down: nobody can take an approval further that has none.
  ///
  /// - Returns: nil when no zap would have to be made: it is an invoice, it is refused, or it was approved before.
  public func zapTerms(approving id: JobID, provider: PublicKey?, _ zap: ZapWord?, at now: Int64) -> ZapTerms? {
    // `try?`: what is refused is refused by the approval itself.
    guard let (record, pair) = try? payee(id, provider), pair.payment != .approved, pair.payment != .paid,
      problem(with: pair, record, zaps: zap != nil, at: now) == nil,
      let intent = Self.intent(pair, isAutomatic: false, zaps: zap != nil), let target = intent.zapTarget
    else { return nil }
    return terms(of: intent, target, record)
  }

  private func terms(of intent: PaymentIntent, _ target: EventID, _ record: JobRecord) -> ZapTerms? {
    guard let answer = record.answers.first(where: { $0.event == target }) else { return nil }
    return ZapTerms(
      account: record.order.account, provider: intent.provider, target: target, targetKind: answer.kind,
      amount: intent.amount, request: answer.request, relays: record.order.submit.relays ?? [])
  }

  /// Whether a zap was approved whose request is not signed.
  public func isZapWanted(_ id: JobID) -> Bool {
    records[id]?.picture.pairs.values.contains { pair in
      pair.payment == .approved && pair.intent?.zapTarget.map { zapTerms(id, $0) != nil } == true
    } ?? false
  }

  /// The request for a zap is signed. The event is verified by nobody: the signer is believed.
  public mutating func zapMade(_ id: JobID, _ target: EventID, event: Event, at now: Int64) -> [JobAction] {
    guard end(.zap(id, target)), let terms = zapTerms(id, target), !isDenialPending(id, terms.provider) else {
      return finish(at: now)
    }
    let fact = ZapRequestFact(
      provider: terms.provider, target: target, id: event.id, createdAt: event.createdAt, amount: terms.amount,
      json: event.json)
    note(id, .zapRequested(fact), at: now)
    return finish(at: now)
  }

  /// Whether an approval is being taken back. Its zap then counts for nothing, so its request must not come after that.
  private func isDenialPending(_ id: JobID, _ provider: PublicKey) -> Bool {
    hasPending(id) { if case .denied(provider, _) = $0 { true } else { false } }
  }

  /// The zap of an event cannot be made, whoever tries again; why.
  public mutating func unzapped(_ id: JobID, _ target: EventID, _ why: String, at now: Int64) -> [JobAction] {
    if end(.zap(id, target)), zapTerms(id, target) != nil { note(id, .unzapped(target, why), at: now) }
    return finish(at: now)
  }

  /// The request by which an intent is carried out; nil of an intent that is no zap.
  public func zap(_ id: JobID, for intent: PaymentIntent) -> ZapRequestFact? { records[id]?.picture.zap(for: intent) }
}
