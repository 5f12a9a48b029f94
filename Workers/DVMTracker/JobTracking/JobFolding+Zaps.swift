internal import Cryptography
internal import Nostr

// Zaps: which request belongs to each event, and what its receipts prove.

/// What the facts of a job say about zaps. Of two facts about the same thing the first counts.
struct ZapFold {
  /// The first request that was made for each zapped event.
  private(set) var requests: [EventID: (at: Int64, fact: ZapRequestFact)] = [:]
  /// The same requests by their ids.
  private var known: [EventID: ZapRequestFact] = [:]
  /// When a zap of an event could last not be made, and why.
  private(set) var problems: [EventID: (at: Int64, why: String)] = [:]
  /// The keys that write the receipts of each provider's wallet, and since when each is known.
  private var wallets: [PublicKey: [PublicKey: Int64]] = [:]
  private(set) var receipts: [EventID: (at: Int64, fact: ZapReceiptFact)] = [:]
  /// Objections to receipts that were found when the receipts were already kept.
  private var objections: [EventID: ZapReceiptFact.Objection] = [:]

  mutating func take(_ request: ZapRequestFact, at: Int64) {
    guard requests[request.target] == nil, known[request.id] == nil else { return }
    requests[request.target] = (at, request)
    known[request.id] = request
  }

  mutating func take(problem: String, of target: EventID, at: Int64) { problems[target] = (at, problem) }

  mutating func take(wallet: PublicKey, of provider: PublicKey, at: Int64) {
    if wallets[provider]?[wallet] == nil { wallets[provider, default: [:]][wallet] = at }
  }

  mutating func take(_ receipt: ZapReceiptFact, at: Int64) {
    if receipts[receipt.event] == nil { receipts[receipt.event] = (at, receipt) }
  }

  mutating func take(_ objection: ZapReceiptFact.Objection, to receipt: EventID) {
    if objections[receipt] == nil { objections[receipt] = objection }
  }

  /// Applies the objections to the receipts; to be called after all facts were taken.
  mutating func object() {
    for (event, objection) in objections where receipts[event]?.fact.objection == nil {
      receipts[event]?.fact.object(objection)
    }
  }

  /// The request in a receipt.
  func request(of receipt: ZapReceiptFact) -> ZapRequestFact? { receipt.request.flatMap { known[$0] } }

  /// How a receipt for our request proves the payment, and since when that is known; nil if it does not.
  func proof(
    _ receipt: (at: Int64, fact: ZapReceiptFact), of provider: PublicKey
  ) -> (by: JobPicture.Receipt.Proof, at: Int64)? {
    if receipt.fact.preimage != nil { return (.preimage, receipt.at) }
    return wallets[provider]?[receipt.fact.wallet].map { (.wallet, max($0, receipt.at)) }
  }

  /// The word under which a receipt that proves nothing is counted.
  func diagnostic(_ receipt: (at: Int64, fact: ZapReceiptFact)) -> String {
    if let objection = receipt.fact.objection { return objection.word }
    guard let provider = request(of: receipt.fact)?.provider else {
      return ZapReceiptFact.Objection.otherRequest.word
    }
    return wallets[provider] == nil ? JobPicture.unknownWalletWord : JobPicture.otherWalletWord
  }
}

extension JobFolding {
  /// Gives each receipt to the provider that its zap pays. A proof after the job's end is shown, and does not change
  /// how the job ended.
  mutating func foldZaps() {
    zaps.object()
    for receipt in zaps.receipts.values {
      let request = receipt.fact.objection == nil ? zaps.request(of: receipt.fact) : nil
      let proof = request.flatMap { zaps.proof(receipt, of: $0.provider) }
      if proof == nil {
        let word = isLate(receipt.at) ? JobPicture.lateWord : zaps.diagnostic(receipt)
        picture.diagnostics[word, default: 0] += 1
      }
      guard let request else { continue }
      let told = JobPicture.Receipt(event: receipt.fact.event, wallet: receipt.fact.wallet, proof: proof?.by)
      pair(request.provider) { pair in
        pair.receipts.append(told)
        pair.receipts.sort { $0.event < $1.event }
      }
      if let proof { take(proof.at, receipt.fact.hash, request.provider) }
    }
    picture.zaps = zaps.requests.values.sorted { $0.at < $1.at }.map(\.fact)
  }

  private mutating func take(_ provenAt: Int64, _ hash: Octets32?, _ provider: PublicKey) {
    if let hash { take(PaymentProof(hash: hash, provider: provider, at: provenAt)) }
    if isLate(provenAt) {
      lateProofs[provider] = min(lateProofs[provider] ?? .max, provenAt)
    } else {
      pair(provider) { $0.paidAt = min($0.paidAt ?? .max, provenAt) }
    }
  }

  /// Of several proofs with one hash the earliest counts.
  mutating func take(_ proof: PaymentProof) {
    guard proofs[proof.hash].map({ PaymentProof.isEarlier(proof, $0) }) ?? true else { return }
    proofs[proof.hash] = proof
  }

  /// Whether something became known after the job's end.
  private func isLate(_ at: Int64) -> Bool { picture.endedAt.map { at > $0 } ?? false }
}
