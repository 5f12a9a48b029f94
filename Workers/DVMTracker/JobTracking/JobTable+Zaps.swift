internal import Contracts
public import Cryptography
public import Nostr

// Zaps in the table: the request that is made once an intent asks for it, and the receipts that come for it.

/// What a caller says about a zap that it approves.
public struct ZapWord: Sendable, Hashable {
  /// The key that writes the receipts of the payee's wallet (`nostrPubkey` of its lnurl page), if the caller has read
  /// it.
  public var wallet: PublicKey?
  /// The invoice that the wallet has made for our request, if it was paid.
  public var invoice: Invoice?

  /// A zap of which nothing more is known.
  public init(wallet: PublicKey? = nil, invoice: Invoice? = nil) {
    self.wallet = wallet
    self.invoice = invoice
  }
}

/// Finds the job of a receipt. The store delivers everyone's receipts, so a tag alone must rule most of them out.
struct ZapIndex: Sendable {
  private var requests: [EventID: JobID] = [:]
  private var targets: [EventID: JobID] = [:]
  /// How many zaps each provider was sent.
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
    // Some wallets leave out what was zapped. `try?`: what is not a receipt belongs to no job.
    guard let payee = event.firstValue(of: "p").flatMap({ PublicKey($0) }), payees[payee] != nil,
      let receipt = try? ZapReceipt(event)
    else { return nil }
    return requests[receipt.request.event.id]
  }
}

extension JobTable {
  // MARK: The request

  /// What the request for a zap says.
  public struct ZapTerms: Sendable, Hashable {
    /// The account that pays.
    public var account: PublicKey
    /// The provider that is paid.
    public var provider: PublicKey
    /// The zapped event.
    public var target: EventID
    /// The kind of the zapped event.
    public var targetKind: UInt16
    /// Millisatoshi.
    public var amount: Int64
    /// The request of the job that the zap is about.
    public var request: EventID
    /// Where the job wants answers published; empty if it does not say.
    public var relays: [String]
  }

  /// What the request for a zap of an event says; nil if no request is to be made.
  public func zapTerms(_ id: JobID, _ target: EventID) -> ZapTerms? {
    guard let record = records[id], record.picture.endedAt == nil,
      let pair = record.picture.pairs.values.first(where: { $0.intent?.zapTarget == target }),
      pair.payment == .approved, let intent = pair.intent, record.picture.zap(for: intent) == nil
    else { return nil }
    return terms(of: intent, target, record)
  }

  /// What the zap's request would say after this approval. With it, the shell checks before anything is written that a
  /// relay is known for the receipt: an approval without one could not be carried out.
  ///
  /// - Returns: nil if no zap would be made, because the payment is an invoice, is refused, or was approved before.
  public func zapTerms(approving id: JobID, provider: PublicKey?, _ zap: ZapWord?, at now: Int64) -> ZapTerms? {
    // `try?`: the approval itself returns the refusal.
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

  /// Whether an approved zap has no signed request yet.
  public func isZapWanted(_ id: JobID) -> Bool {
    records[id]?.picture.pairs.values.contains { pair in
      pair.payment == .approved && pair.intent?.zapTarget.map { zapTerms(id, $0) != nil } == true
    } ?? false
  }

  /// The request for a zap is signed. The event is not verified, because the signer is trusted.
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

  /// Whether a denial is on its way to the disk. The zap does not count after it, so its request must not follow.
  private func isDenialPending(_ id: JobID, _ provider: PublicKey) -> Bool {
    hasPending(id) { if case .denied(provider, _) = $0 { true } else { false } }
  }

  /// The zap of an event can never be made; why.
  public mutating func unzapped(_ id: JobID, _ target: EventID, _ why: String, at now: Int64) -> [JobAction] {
    if end(.zap(id, target)), zapTerms(id, target) != nil { note(id, .unzapped(target, why), at: now) }
    return finish(at: now)
  }

  /// The signed request by which an intent is carried out; nil if there is no such request.
  public func zap(_ id: JobID, for intent: PaymentIntent) -> ZapRequestFact? { records[id]?.picture.zap(for: intent) }
}
