internal import Contracts
public import Cryptography
public import Frames
internal import Nostr

// Money. An intent is written down before it can be paid, once for each job, provider and payment hash. A refusal says
// why, and what was said about money stays visible.

extension JobTable {
  /// How long an approval counts against the limits of a day.
  static let dayMilliseconds: Int64 = 86_400_000
  /// How long an approval is remembered, in milliseconds, so that nothing is approved twice.
  public static let spendingMilliseconds: Int64 = 90 * dayMilliseconds

  /// Millisatoshi approved in the last 24 hours.
  public func approvedToday(at now: Int64) -> Int64 {
    Self.sum(spendings.filter { $0.at > now - Self.dayMilliseconds })
  }

  /// The sum in millisatoshi; it stops at the largest number.
  private static func sum(_ spendings: [Spending]) -> Int64 {
    spendings.reduce(0) { sum, next in
      let (total, overflows) = sum.addingReportingOverflow(next.amount)
      return overflows ? .max : total
    }
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
      let payable = asking.filter {
        record.order.isPaidUnasked($0, record.picture) && problem(with: $0, record, at: now) == nil
      }
      // One at a time, the cheapest first; but the provider of the taken result before all others.
      let ends = record.picture.pairs.values.filter(\.holdsTurn).map { $0.payableUntil ?? .max }
      guard ends.allSatisfy({ $0 <= now }) else {
        if let next = ends.filter({ $0 > now && $0 < .max }).min() { wake(id, at: next) }
        return
      }
      guard
        let best = payable.min(by: { isBetter($0, $1, record) }), let intent = Self.intent(best, isAutomatic: true)
      else { return }
      approve(intent, of: id, at: now)
    }
  }

  private func isBetter(_ left: JobPicture.Pair, _ right: JobPicture.Pair, _ record: JobRecord) -> Bool {
    let taken = record.picture.taken?.provider
    if (left.provider == taken) != (right.provider == taken) { return left.provider == taken }
    let (leftAmount, rightAmount) = (Self.price(left), Self.price(right))
    if leftAmount != rightAmount { return leftAmount < rightAmount }
    let (leftTime, rightTime) = (
      histories[left.provider]?.medianMilliseconds ?? .max, histories[right.provider]?.medianMilliseconds ?? .max
    )
    return leftTime == rightTime ? left.provider < right.provider : leftTime < rightTime
  }

  private static func price(_ pair: JobPicture.Pair) -> Int64 { intent(pair, isAutomatic: true)?.amount ?? .max }

  /// The payment to a provider: its invoice; or a zap, if it shows no invoice or the caller wants a zap.
  static func intent(_ pair: JobPicture.Pair, isAutomatic: Bool, zaps: Bool = false) -> PaymentIntent? {
    guard let bill = pair.bill else { return nil }
    if zaps || bill.isForZap {
      guard let amount = bill.zappable, let target = pair.billedBy else { return nil }
      return PaymentIntent(provider: pair.provider, way: .zap(target), amount: amount, isAutomatic: isAutomatic)
    }
    return intent(bill, of: pair.provider, isAutomatic: isAutomatic)
  }

  /// The payment of an invoice; nil if no invoice is in order.
  static func intent(_ bill: JobBill, of provider: PublicKey, isAutomatic: Bool = false) -> PaymentIntent? {
    guard let hash = bill.paymentHash, let amount = bill.payable, let invoice = bill.invoice else { return nil }
    return PaymentIntent(
      provider: provider, way: .invoice(invoice, paymentHash: hash), amount: amount, isAutomatic: isAutomatic)
  }

  mutating func approve(_ intent: PaymentIntent, of id: JobID, at now: Int64) {
    count(intent, of: id, at: now)
    note(id, .approved(intent), at: now)
  }

  /// Counts an approval against the limits.
  mutating func count(_ intent: PaymentIntent, of id: JobID, at now: Int64) {
    // A job in memory counts all of its payments, however old they are.
    let records = records
    spendings.removeAll { $0.at <= now - Self.spendingMilliseconds && records[$0.job] == nil }
    let spending = Spending(at: now, job: id, provider: intent.provider, key: intent.key, amount: intent.amount)
    if let known = spendings.firstIndex(where: spending.isSame) {
      // It was approved before, and denied since. It may have been paid, also by an earlier process.
      spendings[known].at = now
    } else {
      spendings.append(spending)
      approvedHere.insert(intent.key)
    }
  }

  /// Whether an intent counts against the limits.
  func isCounted(_ intent: PaymentIntent, of id: JobID) -> Bool {
    spendings.contains { $0.job == id && $0.provider == intent.provider && $0.key == intent.key }
  }

  /// A payment that can no longer be made counts against no limit. If it is approved again, it counts again.
  mutating func discount(_ intent: PaymentIntent, of id: JobID) {
    spendings.removeAll { $0.job == id && $0.provider == intent.provider && $0.key == intent.key }
  }

  // MARK: Objections

  /// Why a provider must not be paid what it asks for; nil if it may be.
  func problem(with pair: JobPicture.Pair, _ record: JobRecord, zaps: Bool = false, at now: Int64) -> String? {
    guard let bill = pair.bill else { return "the provider has not said how" }
    if let problem = bill.problem, !bill.isForZap, !(zaps && bill.invoice == nil) { return problem }
    guard let intent = Self.intent(pair, isAutomatic: false, zaps: zaps) else {
      return bill.invoice == nil ? "the provider has not said how much" : JobBill.noInvoice
    }
    if intent.zapTarget == nil, let expiresAt = bill.expiresAt, expiresAt <= now / 1_000 {
      return Self.expiredInvoice
    }
    if let taken = record.picture.taken, taken.provider != pair.provider {
      return "the result that is taken is of another provider"
    }
    if isSpentElsewhere(intent.key, than: record.order.id, pair.provider) {
      return "the same invoice was approved for another job or provider, or a payment of its hash proves that of one"
    }
    if let known = Self.approved(record.facts, pair.provider, intent.key), known.way != intent.way {
      // It would count only once, with the other invoice's amount, but both could be paid.
      return "another invoice of the same payment hash was approved, of \(Amount.satoshis(known.amount))"
    }
    return beyond(
      Spending(at: now, job: record.order.id, provider: pair.provider, key: intent.key, amount: intent.amount),
      record.order)
  }

  /// The last approval for a provider with a payment hash, whatever was decided since.
  static func approved(_ facts: [JobFact], _ provider: PublicKey, _ hash: Octets32) -> PaymentIntent? {
    let intents = facts.compactMap { if case .approved(let intent) = $0.what { intent } else { nil } }
    return intents.last { $0.provider == provider && $0.zapTarget == nil && $0.key == hash }
  }

  /// The problem of an expired invoice.
  static let expiredInvoice = "the invoice has expired"

  private func beyond(_ next: Spending, _ order: JobOrder) -> String? {
    let amount = next.amount
    if let excess = order.excess(amount) { return excess }
    let rules = order.submit.payment
    let others = spendings.filter { !$0.isSame(next) }
    let today = others.filter { $0.at > next.at - Self.dayMilliseconds }
    let bounds: [(Int64?, [Spending], String)] = [
      (order.payableMaximum, others.filter { $0.job == order.id }, "for this job"),
      // The configured limit is the highest for every caller; a job may have a lower one.
      (min(rules?.dayMaximum ?? .max, limits.dayMaximum), today, "in 24 hours"),
      (
        min(rules?.providerMaximum ?? .max, limits.providerDayMaximum), today.filter { $0.provider == next.provider },
        "for this provider in 24 hours"
      ),
    ]
    for case (let maximum?, let spent, let what) in bounds {
      let (sum, overflows) = Self.sum(spent).addingReportingOverflow(amount)
      guard overflows || sum > maximum else { continue }
      let all = Amount.satoshis(overflows ? .max : sum)
      return "with it \(all) would be approved \(what), and \(Amount.satoshis(maximum)) may be"
    }
    return nil
  }

  // MARK: By a caller's decision

  /// Approves what a provider asks for; with a preimage, takes it as paid.
  ///
  /// - Parameters:
  ///   - id: the job.
  ///   - provider: the provider; nil if only one asks, or the preimage identifies it.
  ///   - preimage: the proof that it was paid.
  ///   - zap: what the caller says about a zap in place of the invoice; nil: a zap only if there is no invoice.
  ///   - now: milliseconds since 1970.
  /// - Throws: `nothing-to-pay`, `provider-needed`, `invoice-refused`, `no-such-job`.
  public mutating func approve(
    _ id: JobID, provider: PublicKey?, preimage: Octets32?, zap: ZapWord? = nil, at now: Int64
  ) throws(Refusal) -> [JobAction] {
    if let preimage {
      try prove(id, provider, preimage, zap?.invoice, at: now)
      return finish(at: now)
    }
    let (record, pair) = try payee(id, provider)
    if pair.payment == .paid { return finish(at: now) }
    try approve(id, record, pair, zap, at: now)
    if let wallet = zap?.wallet { name(wallet, of: pair.provider, id, record.picture, record.facts, at: now) }
    return finish(at: now)
  }

  private mutating func approve(
    _ id: JobID, _ record: JobRecord, _ pair: JobPicture.Pair, _ zap: ZapWord?, at now: Int64
  ) throws(Refusal) {
    let zaps = zap != nil
    // Approved already, or about to be: there is one intent.
    let isApproved =
      pair.payment == .approved
      || hasPending(id) { if case .approved(let intent) = $0 { intent.provider == pair.provider } else { false } }
    if isApproved {
      guard !zaps || pair.intent.map({ $0.zapTarget != nil }) ?? true else {
        throw Self.refusal(.invoiceRefused, "its invoice is approved already: deny that first")
      }
      return
    }
    if let problem = problem(with: pair, record, zaps: zaps, at: now) { throw Self.refusal(.invoiceRefused, problem) }
    guard let intent = Self.intent(pair, isAutomatic: false, zaps: zaps) else {
      throw Self.refusal(.invoiceRefused, JobBill.noInvoice)
    }
    approve(intent, of: id, at: now)
  }

  /// Denies the payment that a provider asks for.
  ///
  /// - Throws: `nothing-to-pay`, `provider-needed`, `no-such-job`.
  public mutating func deny(_ id: JobID, provider: PublicKey?, at now: Int64) throws(Refusal) -> [JobAction] {
    let (_, pair) = try payee(id, provider)
    if pair.payment == .asked || pair.payment == .approved {
      note(id, .denied(pair.provider, isAutomatic: false), at: now)
    }
    return finish(at: now)
  }

  /// The provider that a caller means.
  func payee(_ id: JobID, _ provider: PublicKey?) throws(Refusal) -> (JobRecord, JobPicture.Pair) {
    guard let record = records[id], record.picture.endedAt == nil else { throw Self.over }
    if let provider {
      guard let pair = record.picture.pairs[provider], pair.payment != nil else {
        throw Self.refusal(.nothingToPay, "\(provider.npub) asks for no payment")
      }
      return (record, pair)
    }
    let asking = record.picture.pairs.values.filter { $0.payment != nil && $0.payment != .paid }
    let open = asking.filter { $0.payment != .denied }
    let meant = open.isEmpty ? asking : open
    guard let pair = meant.first else { throw Self.refusal(.nothingToPay, "no provider asks for a payment") }
    guard meant.count == 1 else {
      let names = meant.map(\.provider).sorted().map(\.npub).joined(separator: ", ")
      throw Self.refusal(.providerNeeded, "several ask for a payment: \(names)")
    }
    return (record, pair)
  }

  func hasPending(_ id: JobID, _ matches: (JobFact.What) -> Bool) -> Bool {
    (queued.entries + (outstanding?.batch.entries ?? [])).contains { $0.job == id && matches($0.fact.what) }
  }

  /// The facts of a job that are not on disk yet.
  func factsOnTheWay(_ id: JobID) -> [JobFact] {
    ((outstanding?.batch.entries ?? []) + queued.entries).filter { $0.job == id }.map(\.fact)
  }

  static func refusal(_ code: RefusalCode, _ message: String) -> Refusal {
    Refusal(code, message, outcome: .notStarted)
  }

  // MARK: The rail

  /// The outcome of an intent.
  public mutating func settled(
    _ id: JobID, _ intent: PaymentIntent, _ outcome: PaymentOutcome, at now: Int64
  ) -> [JobAction] {
    let wasBegun = end(.pay(id, intent))
    guard end(.lookUp(id, intent)) || wasBegun else { return finish(at: now) }
    let hasEnded = records[id]?.picture.endedAt != nil
    switch outcome {
    // For a zap the receipt is the proof: the invoice that its wallet has made is not known here.
    case .paid(let preimage) where intent.zapTarget == nil && SHA256.hash(preimage.bytes) == intent.key:
      guard claim(intent.key, id, intent.provider, at: now) else { break }
      note(id, .paid(intent.provider, paymentHash: intent.key, preimage: preimage), at: now)
    case .failed where !hasEnded:
      // Another intent may have been approved meanwhile, or another bill shown.
      let pair = records[id]?.picture.pairs[intent.provider]
      if pair?.payment == .approved, pair?.intent?.key == intent.key {
        note(id, .denied(intent.provider, isAutomatic: true), at: now)
      }
    case .paid, .failed, .pending: break
    }
    if hasEnded { look(id, at: now) }
    return finish(at: now)
  }
}
