internal import Contracts
internal import Cryptography
internal import Nostr

// Receipts for zaps, as they come. Anyone can write one, and once a receipt is public, anyone can write others that
// contain our request. So receipts that prove something have places of their own. Of the others, those stay that can
// become a proof if a wallet is named later.

/// How much a receipt is worth to a job.
private enum ReceiptWorth: Int, Comparable {
  /// It contains no request of ours.
  case stray
  /// It contains our request, and something is wrong with it.
  case refused
  /// Nothing is wrong with it, but it is not known whether the payee's wallet wrote it.
  case doubted
  /// It proves the payment.
  case proof

  static func < (left: ReceiptWorth, right: ReceiptWorth) -> Bool { left.rawValue < right.rawValue }

  /// Whether both count against the same limit.
  func sharesRoom(with other: ReceiptWorth) -> Bool {
    switch self {
    case .stray, .proof: self == other
    case .refused, .doubted: other == .refused || other == .doubted
    }
  }
}

extension JobTable {
  mutating func takeReceipt(_ event: Event, at now: Int64) {
    guard let id = zaps.job(for: event), let record = records[id], !record.known.contains(event.id) else { return }
    var receipt = ZapReceiptFact(event, to: record.picture.zaps)
    answerCount += 1
    let payee = record.picture.payee(of: receipt)
    let isProof = worth(receipt, id, record) == .proof
    if isProof, let hash = receipt.hash, let payee, isOther(receipt, hash, id, payee) {
      receipt.object(.otherPayment)
    }
    guard makeRoom(for: receipt, id, record) else {
      records[id]?.droppedCount += 1
      return
    }
    // A receipt that proves nothing claims no hash: anyone can write one with the hash of another provider's invoice.
    if isProof, receipt.objection == nil, let hash = receipt.hash, let payee {
      _ = claim(hash, id, payee, at: now)
    }
    note(id, .receipted(receipt), at: now)
  }

  /// Whether a payment hash belongs to another payment. If the receipt shows no preimage, an invoice that another
  /// provider has shown here is enough for that: the word of one provider's wallet must not take another provider's
  /// invoice.
  private func isOther(_ receipt: ZapReceiptFact, _ hash: Octets32, _ id: JobID, _ payee: PublicKey) -> Bool {
    if isSpentElsewhere(hash, than: id, payee) { return true }
    guard receipt.preimage == nil else { return false }
    return records.values.contains { record in
      record.picture.pairs.values.contains { $0.provider != payee && $0.bill?.paymentHash == hash }
    }
  }

  /// Whether a receipt can be kept; one of less worth makes room for it.
  private mutating func makeRoom(for receipt: ZapReceiptFact, _ id: JobID, _ record: JobRecord) -> Bool {
    let own = worth(receipt, id, record)
    let beside = receipts(id, record.facts).map { (event: $0.event, worth: worth($0, id, record)) }
      .filter { own.sharesRoom(with: $0.worth) }
    guard beside.count >= limits.receiptMaximum else { return true }
    guard let last = beside.last(where: { $0.worth < own }) else { return false }
    drop([last.event], of: id)
    return true
  }

  private func worth(_ receipt: ZapReceiptFact, _ id: JobID, _ record: JobRecord) -> ReceiptWorth {
    guard let payee = record.picture.payee(of: receipt) else { return .stray }
    guard receipt.objection == nil else { return .refused }
    let isProof = receipt.preimage != nil || isNamed(receipt.wallet, of: payee, id, record.facts)
    return isProof ? .proof : .doubted
  }

  /// The kept receipts of a job, on disk or on their way there.
  private func receipts(_ id: JobID, _ facts: [JobFact]) -> [ZapReceiptFact] {
    let gone = Set((queued.dropped + (outstanding?.batch.dropped ?? [])).filter { $0.job == id }.map(\.event))
    return (facts + factsOnTheWay(id)).compactMap { fact in
      guard case .receipted(let receipt) = fact.what, !gone.contains(receipt.event) else { return nil }
      return receipt
    }
  }

  // MARK: Wallets

  private func isNamed(_ wallet: PublicKey, of provider: PublicKey, _ id: JobID, _ facts: [JobFact]) -> Bool {
    let what = JobFact.What.walletNamed(provider, wallet: wallet)
    return facts.contains { $0.what == what } || hasPending(id) { $0 == what }
  }

  /// A caller names the key that writes the receipts of a provider's wallet. The receipts that are there prove the
  /// payment from now on, except those whose payment hash belongs to another payment.
  ///
  /// - Parameters:
  ///   - wallet: that key.
  ///   - provider: the provider that is paid.
  ///   - id: the job.
  ///   - picture: the job as it is on disk.
  ///   - facts: its facts on disk.
  ///   - now: milliseconds since 1970.
  mutating func name(
    _ wallet: PublicKey, of provider: PublicKey, _ id: JobID, _ picture: JobPicture, _ facts: [JobFact], at now: Int64
  ) {
    guard !isNamed(wallet, of: provider, id, facts) else { return }
    let last = facts.map(\.at).max() ?? 0
    for receipt in receipts(id, facts) {
      guard receipt.wallet == wallet, receipt.objection == nil, picture.payee(of: receipt) == provider,
        let hash = receipt.hash, isOther(receipt, hash, id, provider) || !claim(hash, id, provider, at: now)
      else { continue }
      noteLate(id, .objected(receipt.event, .otherPayment), behind: last, at: now)
    }
    noteLate(id, .walletNamed(provider, wallet: wallet), behind: last, at: now)
  }

  // MARK: After the end

  /// Until when receipts for an ended job are awaited, milliseconds since 1970; nil if it awaits no receipt. A provider
  /// that trusts its wallet sends its result before the receipt comes.
  func receiptsEnd(_ record: JobRecord) -> Int64? {
    guard let endedAt = record.picture.endedAt, record.picture.isReceiptDue else { return nil }
    return endedAt + limits.lateReceiptMilliseconds
  }
}

extension JobPicture {
  /// The provider that is paid by the zap of a receipt; nil if it is not a zap of ours.
  func payee(of receipt: ZapReceiptFact) -> PublicKey? {
    receipt.request.flatMap { request in zaps.first { $0.id == request }?.provider }
  }

  /// Whether a zap may have been paid for which no proof has come.
  var isReceiptDue: Bool {
    pairs.values.contains { $0.payment == .approved && $0.paidAt == nil && zap(for: $0.intent) != nil }
  }
}
