internal import Contracts
internal import Cryptography
internal import Nostr

// Receipts for zaps, as they come. Anybody can write one, and once one was published anybody can write one that holds
// our request. So those that prove something have places of their own, and of the others those stay of which a wallet
// that is named later may make a proof.

/// What a receipt is worth in a job.
private enum ReceiptWorth: Int, Comparable {
  /// It holds no request of ours.
  case stray
  /// It holds our request, and something is wrong with it.
  case refused
  /// Nothing is wrong with it, and nobody knows whether the payee's wallet wrote it.
  case doubted
  /// It proves that it was paid.
  case proof

  static func < (left: ReceiptWorth, right: ReceiptWorth) -> Bool { left.rawValue < right.rawValue }

  /// Whether both are counted together.
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
    // What does not prove anything claims nothing: whoever likes can write it, with the hash of another's invoice.
    if isProof, receipt.objection == nil, let hash = receipt.hash, let payee {
      _ = claim(hash, id, payee, at: now)
    }
    note(id, .receipted(receipt), at: now)
  }

  /// Whether a payment hash is that of another payment: also of one that somebody else has asked for here, where the
  /// receipt shows no preimage. Its wallet's word alone takes nobody's invoice from him.
  private func isOther(_ receipt: ZapReceiptFact, _ hash: Octets32, _ id: JobID, _ payee: PublicKey) -> Bool {
    if isSpentElsewhere(hash, than: id, payee) { return true }
    guard receipt.preimage == nil else { return false }
    return records.values.contains { record in
      record.picture.pairs.values.contains { $0.provider != payee && $0.bill?.paymentHash == hash }
    }
  }

  /// Whether a receipt can be kept; one that is worth less makes room for it.
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

  /// The receipts of a job that are kept, written down or about to be.
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

  /// Somebody says who writes the receipts of a provider's wallet: those that are there prove from now on that it was
  /// paid, but for those whose payment is another's.
  ///
  /// - Parameters:
  ///   - wallet: who writes them.
  ///   - provider: who is paid.
  ///   - id: the job.
  ///   - picture: the job as it is on the disk.
  ///   - facts: what is on the disk of it.
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

  /// Until when receipts are looked for of a job that has ended, milliseconds since 1970; nil when none is due. A
  /// provider that trusts its wallet is faster with its result than the receipt is.
  func receiptsEnd(_ record: JobRecord) -> Int64? {
    guard let endedAt = record.picture.endedAt, record.picture.isReceiptDue else { return nil }
    return endedAt + limits.lateReceiptMilliseconds
  }
}

extension JobPicture {
  /// Who is paid by the zap that a receipt is for; nil when it is none of ours.
  func payee(of receipt: ZapReceiptFact) -> PublicKey? {
    receipt.request.flatMap { request in zaps.first { $0.id == request }?.provider }
  }

  /// Whether somebody may have paid a zap here of which no proof has come.
  var isReceiptDue: Bool {
    pairs.values.contains { $0.payment == .approved && $0.paidAt == nil && zap(for: $0.intent) != nil }
  }
}
