internal import Contracts
public import Cryptography
public import Frames
public import Nostr

// Preimages. Each has one payment hash, and so identifies the payment that it proves: of an invoice that was approved
// or shown, or of one that a wallet has made for a zap's request. So it is accepted for whatever it fits: if several
// providers ask, if another invoice was approved since, and if the job has ended. A provider that is paid first may
// send its result before the customer has the preimage from the wallet. After the job's end, the proof does not change
// how the job ended, only what is said about the money.

/// The payment that a preimage proves.
private struct Evidence {
  var provider: PublicKey
  var hash: Octets32
  /// What was paid; nil for a zap, which was approved before its request was signed.
  var intent: PaymentIntent?
}

extension JobTable {
  /// Whether a job has ended, or is about to.
  public func isOver(_ id: JobID) -> Bool {
    records[id].map { $0.picture.endedAt != nil || $0.picture.state.isFinal } ?? true
  }

  /// Takes the proof of a payment for a job that has ended.
  ///
  /// - Parameters:
  ///   - order: the job.
  ///   - facts: its facts on disk.
  ///   - provider: the provider that was paid; nil: the preimage identifies it.
  ///   - preimage: the proof.
  ///   - invoice: the invoice that a wallet has made for a zap's request.
  ///   - now: milliseconds since 1970.
  /// - Throws: `nothing-to-pay`, `provider-needed`, `invoice-refused`.
  public mutating func proven(
    _ order: JobOrder, _ facts: [JobFact], provider: PublicKey?, preimage: Octets32, invoice: Invoice? = nil,
    at now: Int64
  ) throws(Refusal) -> [JobAction] {
    let picture = JobPicture(order, facts)
    guard let found = try Self.evidence(picture, facts, provider, preimage, invoice) else {
      let asking = picture.pairs.values.filter { $0.bill != nil && (provider == nil || $0.provider == provider) }
      guard !asking.isEmpty else {
        throw Self.refusal(.nothingToPay, "the job has ended, and no provider has asked for a payment")
      }
      throw Self.objection(to: picture.zaps.filter { provider == nil || $0.provider == provider }, invoice)
        ?? Self.refusal(.invoiceRefused, "the preimage is of no invoice that was shown for this job")
    }
    guard !isNoted(found, order.id, facts) else { return finish(at: now) }
    guard claim(found.hash, order.id, found.provider, at: now) else { throw Self.spentElsewhere }
    let last = facts.map(\.at).max() ?? 0
    // A zap has no payment hash until its wallet makes an invoice.
    let standing = picture.pairs[found.provider]?.intent
    let isZapCounted = standing.map { $0.zapTarget != nil && !picture.voidIntents.contains($0) } ?? false
    let isCounted = isZapCounted || Self.approved(facts, found.provider, found.hash) != nil
    if !isCounted, let intent = found.intent {
      count(intent, of: order.id, at: now)
      noteLate(order.id, .approved(intent), behind: last, at: now)
    }
    noteLate(order.id, .paid(found.provider, paymentHash: found.hash, preimage: preimage), behind: last, at: now)
    // It has no picture in memory whose change would be counted.
    if records[order.id] == nil { counters.paid((found.intent ?? standing)?.amount ?? 0) }
    return finish(at: now)
  }

  /// The key that writes the receipts of a provider's wallet became known after the job's end. A receipt that is there
  /// then proves the payment.
  ///
  /// - Throws: `nothing-to-pay`, `provider-needed`.
  public mutating func walletNamed(
    _ order: JobOrder, _ facts: [JobFact], provider: PublicKey?, wallet: PublicKey, at now: Int64
  ) throws(Refusal) -> [JobAction] {
    let picture = JobPicture(order, facts)
    let payees = Set(picture.zaps.map(\.provider)).filter { provider == nil || $0 == provider }
    guard let payee = payees.first else {
      throw Self.refusal(.nothingToPay, "the job has ended, and no zap of it was requested")
    }
    guard payees.count == 1 else { throw Self.several("were to be paid by a zap", payees) }
    name(wallet, of: payee, order.id, picture, facts, at: now)
    return finish(at: now)
  }

  /// Notes a fact of a job that has ended, whether it is in memory or not.
  ///
  /// - Parameters:
  ///   - id: the job.
  ///   - what: the fact.
  ///   - last: the time of a fact that the job is known to have.
  ///   - now: milliseconds since 1970.
  mutating func noteLate(_ id: JobID, _ what: JobFact.What, behind last: Int64 = 0, at now: Int64) {
    guard records[id] == nil else { return note(id, what, at: now) }
    let stamp = max(now, max(last, lateStamps[id] ?? 0) + 1)
    lateStamps[id] = stamp
    queued.entries.append(JobBatch.Entry(job: id, fact: JobFact(at: stamp, what)))
  }

  // MARK: Jobs that continue

  /// Takes the proof of a payment, whether it was approved before or not, because the money is spent.
  mutating func prove(
    _ id: JobID, _ provider: PublicKey?, _ preimage: Octets32, _ invoice: Invoice?, at now: Int64
  ) throws(Refusal) {
    guard let record = records[id], record.picture.endedAt == nil else { throw Self.over }
    guard let found = try Self.evidence(record.picture, record.facts, provider, preimage, invoice) else {
      throw Self.objection(to: record.picture, try payee(id, provider).1, invoice)
    }
    guard !isNoted(found, id, record.facts) else { return }
    guard claim(found.hash, id, found.provider, at: now) else { throw Self.spentElsewhere }
    let pair = record.picture.pairs[found.provider]
    let isStanding = pair?.payment == .approved && pair?.intent?.key == found.hash
    let isCounted = pair?.payment == .paid && Self.approved(record.facts, found.provider, found.hash) != nil
    if !isStanding, !isCounted, let intent = found.intent {
      // It counts as approved, but must not be paid again.
      records[id]?.begun.insert(found.hash)
      approve(intent, of: id, at: now)
    }
    note(id, .paid(found.provider, paymentHash: found.hash, preimage: preimage), at: now)
  }

  /// Whether a proof is on disk, or on its way there.
  private func isNoted(_ found: Evidence, _ id: JobID, _ facts: [JobFact]) -> Bool {
    func isProof(_ what: JobFact.What) -> Bool {
      if case .paid(found.provider, found.hash, _) = what { true } else { false }
    }
    return facts.contains { isProof($0.what) } || hasPending(id, isProof)
  }

  // MARK: What a preimage proves

  /// The payment that a preimage proves: of a zap, if the invoice was made for its request; else of the invoice with
  /// its hash, where an approved one goes before one that was only shown; nil if there is no such payment.
  private static func evidence(
    _ picture: JobPicture, _ facts: [JobFact], _ provider: PublicKey?, _ preimage: Octets32, _ invoice: Invoice?
  ) throws(Refusal) -> Evidence? {
    let zaps = picture.zaps.filter { provider == nil || $0.provider == provider }
    if let invoice, let zap = zaps.first(where: { isMade(invoice, for: $0) }) {
      return try evidence(of: zap, preimage, invoice)
    }
    let hash = SHA256.hash(preimage.bytes)
    let intents = facts.compactMap { if case .approved(let intent) = $0.what { intent } else { nil } }
    let approved = intents.last { $0.zapTarget == nil && $0.key == hash && (provider ?? $0.provider) == $0.provider }
    if let approved { return Evidence(provider: approved.provider, hash: hash, intent: approved) }
    let bills = bills(facts, of: provider).filter { $0.bill.paymentHash == hash }
    // The maker of invoices can give several of them one hash, and which of them was paid is not visible: the highest
    // amount counts against the limits.
    guard let shown = bills.max(by: { ($0.bill.payable ?? -1) < ($1.bill.payable ?? -1) }) else { return nil }
    let payees = Set(bills.map(\.provider))
    guard payees.count == 1 else { throw several("have shown this invoice", payees) }
    return Evidence(provider: shown.provider, hash: hash, intent: intent(shown.bill, of: shown.provider))
  }

  /// Whether a wallet has made an invoice for the request of a zap.
  private static func isMade(_ invoice: Invoice, for zap: ZapRequestFact) -> Bool {
    invoice.commits(toDescription: String(decoding: zap.json, as: UTF8.self))
  }

  /// Checks that the invoice was made for a zap's request and has its amount, and that the preimage is the invoice's.
  private static func evidence(
    of zap: ZapRequestFact, _ preimage: Octets32, _ invoice: Invoice
  ) throws(Refusal) -> Evidence {
    guard invoice.amountMillisatoshis == zap.amount else {
      throw refusal(.invoiceRefused, "the invoice is of another amount than the zap, \(Amount.satoshis(zap.amount))")
    }
    guard invoice.isPaid(by: preimage) else { throw mismatch(invoice.paymentHash) }
    return Evidence(provider: zap.provider, hash: invoice.paymentHash)
  }

  /// What providers have asked for, in the order in which it came.
  private static func bills(
    _ facts: [JobFact], of provider: PublicKey?
  ) -> [(provider: PublicKey, bill: JobBill)] {
    facts.compactMap { fact in
      guard case .answered(let answer) = fact.what, answer.counts, let bill = answer.bill,
        (provider ?? answer.provider) == answer.provider
      else { return nil }
      return (answer.provider, bill)
    }
  }

  // MARK: Why it proves nothing

  private static func objection(to picture: JobPicture, _ pair: JobPicture.Pair, _ invoice: Invoice?) -> Refusal {
    let zaps = picture.zaps.filter { $0.provider == pair.provider }
    let isZapMeant = invoice != nil || pair.bill?.paymentHash == nil && pair.intent?.zapTarget != nil
    if isZapMeant {
      return objection(to: zaps, invoice) ?? refusal(.invoiceRefused, "no zap of it was requested")
    }
    guard let hash = pair.bill?.paymentHash else {
      return refusal(.invoiceRefused, "the provider has shown no invoice that the preimage could belong to")
    }
    return mismatch(hash)
  }

  /// Why a preimage does not prove one of these zaps; nil without zaps.
  private static func objection(to zaps: [ZapRequestFact], _ invoice: Invoice?) -> Refusal? {
    guard !zaps.isEmpty else { return nil }
    return invoice == nil
      ? refusal(.invoiceRefused, "the preimage proves a zap only with the invoice that was paid: 'invoice'")
      : refusal(.invoiceRefused, "the invoice was not made for this zap's request")
  }

  private static func mismatch(_ hash: Octets32) -> Refusal {
    refusal(.invoiceRefused, "the preimage is not that of this invoice, whose payment hash is \(hash)")
  }

  private static func several(_ what: String, _ providers: Set<PublicKey>) -> Refusal {
    let names = providers.sorted().map(\.npub).joined(separator: ", ")
    return refusal(.providerNeeded, "several \(what), and one has to be named as 'provider': \(names)")
  }

  /// The refusal of a preimage that proves another payment.
  static let spentElsewhere = refusal(
    .invoiceRefused, "the preimage proves a payment for another job or provider, and one payment settles one")
  /// The refusal of a decision about payments after the job's end.
  static let over = refusal(.nothingToPay, "the job has ended, and no provider waits for a payment")
}
