internal import Contracts
public import Cryptography
public import Frames
internal import Nostr

// Money. An intent is written down before anybody pays, and never twice for one job, provider and payment hash. What is
// refused says why, and what was said of money stays visible.

extension JobBook {
  /// How long a payment counts against the bounds of a day.
  static let dayMilliseconds: Int64 = 86_400_000

  /// Millisatoshi approved in the last 24 hours.
  public func approvedToday(at now: Int64) -> Int64 {
    spendings.filter { $0.at > now - Self.dayMilliseconds }.reduce(0) { $0 + $1.amount }
  }

  // MARK: By the job's own rule

  mutating func decidePayments(_ id: JobID, _ record: JobRecord, at now: Int64) {
    let asking = record.picture.pairs.values.filter { $0.payment == .asked }.sorted { $0.provider < $1.provider }
    guard !asking.isEmpty else { return }
    switch record.order.paymentMode {
    case .ask: return
    case .never:
      for pair in asking { note(id, .denied(pair.provider, isAutomatic: true), at: now) }
    case .auto:
      guard !record.picture.isCollecting else { return }
      let payable = asking.filter { problem(with: $0, record, at: now) == nil }
      // One at a time, the cheapest; who has delivered before any other.
      guard !record.picture.pairs.values.contains(where: { $0.payment == .approved || $0.payment == .paid }),
        let best = payable.min(by: { isBetter($0, $1, record) }), let intent = Self.intent(best, isAutomatic: true)
      else { return }
      approve(intent, of: id, at: now)
    }
  }

  private func isBetter(_ left: JobPicture.Pair, _ right: JobPicture.Pair, _ record: JobRecord) -> Bool {
    let taken = record.picture.taken?.provider
    if (left.provider == taken) != (right.provider == taken) { return left.provider == taken }
    let (leftAmount, rightAmount) = (left.bill?.payable ?? .max, right.bill?.payable ?? .max)
    if leftAmount != rightAmount { return leftAmount < rightAmount }
    let (leftTime, rightTime) = (
      histories[left.provider]?.medianMilliseconds ?? .max, histories[right.provider]?.medianMilliseconds ?? .max
    )
    return leftTime == rightTime ? left.provider < right.provider : leftTime < rightTime
  }

  static func intent(_ pair: JobPicture.Pair, isAutomatic: Bool) -> PaymentIntent? {
    guard let bill = pair.bill, let hash = bill.paymentHash, let amount = bill.payable, let invoice = bill.invoice
    else { return nil }
    return PaymentIntent(
      provider: pair.provider, paymentHash: hash, amount: amount, invoice: invoice, isAutomatic: isAutomatic)
  }

  private mutating func approve(_ intent: PaymentIntent, of id: JobID, at now: Int64) {
    count(intent, of: id, at: now)
    note(id, .approved(intent), at: now)
  }

  /// What is approved counts against the bounds.
  mutating func count(_ intent: PaymentIntent, of id: JobID, at now: Int64) {
    spendings.removeAll { $0.at <= now - Self.dayMilliseconds }
    spendings.append(
      Spending(at: now, job: id, provider: intent.provider, paymentHash: intent.paymentHash, amount: intent.amount))
    approvedHere.insert(intent.paymentHash)
  }

  // MARK: What speaks against it

  /// Why a provider's invoice is not to be paid; nil when nothing speaks against it.
  func problem(with pair: JobPicture.Pair, _ record: JobRecord, at now: Int64) -> String? {
    guard let bill = pair.bill else { return "the provider has not said how" }
    if let problem = bill.problem { return problem }
    guard let amount = bill.payable, let hash = bill.paymentHash, let expiresAt = bill.expiresAt else {
      return "there is no invoice"
    }
    if expiresAt <= now / 1_000 { return "the invoice has expired" }
    if let taken = record.picture.taken, taken.provider != pair.provider {
      return "the result that is taken is of another provider"
    }
    if let other = spendings.first(where: { $0.paymentHash == hash }),
      other.job != record.order.id || other.provider != pair.provider
    {
      return "the same invoice was approved for another job or provider"
    }
    return beyond(amount, pair.provider, record, at: now)
  }

  private func beyond(_ amount: Int64, _ provider: PublicKey, _ record: JobRecord, at now: Int64) -> String? {
    if let bid = record.order.submit.bid, amount > bid { return "\(amount) millisatoshi are above the bid of \(bid)" }
    let rules = record.order.submit.payment
    let today = spendings.filter { $0.at > now - Self.dayMilliseconds }
    let bounds: [(Int64?, [Spending], String)] = [
      (record.order.payableMaximum, spendings.filter { $0.job == record.order.id }, "for this job"),
      (rules?.dayMaximum ?? limits.dayMaximum, today, "in 24 hours"),
      (
        rules?.providerMaximum ?? limits.providerDayMaximum, today.filter { $0.provider == provider },
        "for this provider in 24 hours"
      ),
    ]
    for case (let maximum?, let spent, let what) in bounds {
      let (sum, overflows) = spent.reduce(0) { $0 + $1.amount }.addingReportingOverflow(amount)
      guard overflows || sum > maximum else { continue }
      return "with it \(sum) millisatoshi would be paid \(what), and \(maximum) may be"
    }
    return nil
  }

  // MARK: By somebody's word

  /// What a provider asks for may be paid; with a preimage, it was.
  ///
  /// - Throws: `nothing-to-pay`, `provider-needed`, `invoice-refused`, `no-such-job`.
  public mutating func approve(
    _ id: JobID, provider: PublicKey?, preimage: Octets32?, at now: Int64
  ) throws(Refusal) -> [JobAction] {
    let (record, pair) = try payee(id, provider)
    if pair.payment == .paid { return finish(at: now) }
    if let preimage {
      guard let hash = pair.bill?.paymentHash else {
        throw Self.refusal(.invoiceRefused, "the provider has shown no invoice that the preimage could belong to")
      }
      guard SHA256.hash(preimage.bytes) == hash else {
        throw Self.refusal(.invoiceRefused, "the preimage is not that of this invoice, whose payment hash is \(hash)")
      }
      let isNoted = hasPending(id) { if case .paid(pair.provider, _, _) = $0 { true } else { false } }
      if pair.payment != .approved, !isNoted, let intent = Self.intent(pair, isAutomatic: false) {
        // The money is gone: it counts, and nobody is told to pay it again.
        records[id]?.begun.insert(hash)
        approve(intent, of: id, at: now)
      }
      if !isNoted { note(id, .paid(pair.provider, paymentHash: hash, preimage: preimage), at: now) }
      return finish(at: now)
    }
    // Approved already, or about to be: it is one intent.
    let isApproved = pair.payment == .approved || hasPending(id) { if case .approved = $0 { true } else { false } }
    guard !isApproved else { return finish(at: now) }
    if let problem = problem(with: pair, record, at: now) { throw Self.refusal(.invoiceRefused, problem) }
    guard let intent = Self.intent(pair, isAutomatic: false) else {
      throw Self.refusal(.invoiceRefused, "there is no invoice")
    }
    approve(intent, of: id, at: now)
    return finish(at: now)
  }

  /// What a provider asks for is not to be paid.
  ///
  /// - Throws: `nothing-to-pay`, `provider-needed`, `no-such-job`.
  public mutating func deny(_ id: JobID, provider: PublicKey?, at now: Int64) throws(Refusal) -> [JobAction] {
    let (_, pair) = try payee(id, provider)
    if pair.payment == .asked || pair.payment == .approved {
      note(id, .denied(pair.provider, isAutomatic: false), at: now)
    }
    return finish(at: now)
  }

  /// The provider that somebody means.
  private func payee(_ id: JobID, _ provider: PublicKey?) throws(Refusal) -> (JobRecord, JobPicture.Pair) {
    guard let record = records[id], record.picture.endedAt == nil else {
      throw Self.refusal(.nothingToPay, "the job has ended, and nobody waits for a payment")
    }
    if let provider {
      guard let pair = record.picture.pairs[provider], pair.payment != nil else {
        throw Self.refusal(.nothingToPay, "\(provider.npub) asks for no payment")
      }
      return (record, pair)
    }
    let asking = record.picture.pairs.values.filter { $0.payment != nil && $0.payment != .paid }
    let open = asking.filter { $0.payment != .denied }
    let meant = open.isEmpty ? asking : open
    guard let pair = meant.first else { throw Self.refusal(.nothingToPay, "nobody asks for a payment") }
    guard meant.count == 1 else {
      let names = meant.map(\.provider).sorted().map(\.npub).joined(separator: ", ")
      throw Self.refusal(.providerNeeded, "several ask for a payment: \(names)")
    }
    return (record, pair)
  }

  func hasPending(_ id: JobID, _ matches: (JobFact.What) -> Bool) -> Bool {
    (queued.entries + (outstanding?.batch.entries ?? [])).contains { $0.job == id && matches($0.fact.what) }
  }

  static func refusal(_ code: RefusalCode, _ message: String) -> Refusal {
    Refusal(code, message, outcome: .notStarted)
  }

  // MARK: The rail

  /// What has come of an intent.
  public mutating func settled(
    _ id: JobID, _ intent: PaymentIntent, _ outcome: PaymentOutcome, at now: Int64
  ) -> [JobAction] {
    let wasBegun = end(.pay(id, intent))
    guard end(.lookUp(id, intent)) || wasBegun else { return finish(at: now) }
    let hasEnded = records[id]?.picture.endedAt != nil
    switch outcome {
    case .paid(let preimage) where SHA256.hash(preimage.bytes) == intent.paymentHash:
      note(id, .paid(intent.provider, paymentHash: intent.paymentHash, preimage: preimage), at: now)
    case .failed where !hasEnded: note(id, .denied(intent.provider, isAutomatic: true), at: now)
    case .paid, .failed, .pending: break
    }
    if hasEnded { look(id, at: now) }
    return finish(at: now)
  }
}
