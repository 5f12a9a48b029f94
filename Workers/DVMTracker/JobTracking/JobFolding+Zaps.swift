internal import Cryptography
internal import Nostr

// Zaps: which request is the one of an event, and what its receipts prove.

/// What the facts of a job say of zaps. Of two facts about the same the first counts.
struct ZapFold {
  /// The first one that was made, by what is zapped.
  private(set) var requests: [EventID: (at: Int64, fact: ZapRequestFact)] = [:]
  /// The same by their ids.
  private var known: [EventID: ZapRequestFact] = [:]
  /// The last time at which a zap of an event could not be made, and why.
  private(set) var problems: [EventID: (at: Int64, why: String)] = [:]
  /// Who writes the receipts of each provider's wallet, since when that is known.
  private var wallets: [PublicKey: [PublicKey: Int64]] = [:]
  private(set) var receipts: [EventID: (at: Int64, fact: ZapReceiptFact)] = [:]
  /// What was found against receipts when they were there.
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

  /// Puts to each receipt what was found against it: to be done once all facts are taken.
  mutating func object() {
    for (event, objection) in objections where receipts[event]?.fact.objection == nil {
      receipts[event]?.fact.object(objection)
    }
  }

  /// The request that a receipt is for.
  func request(of receipt: ZapReceiptFact) -> ZapRequestFact? { receipt.request.flatMap { known[$0] } }

  /// By what a receipt for our request proves that it was paid, and since when that is known; nil: it does not.
  func proof(
    _ receipt: (at: Int64, fact: ZapReceiptFact), of provider: PublicKey
  ) -> (by: JobPicture.Receipt.Proof, at: Int64)? {
    if receipt.fact.preimage != nil { return (.preimage, receipt.at) }
    return wallets[provider]?[receipt.fact.wallet].map { (.wallet, max($0, receipt.at)) }
  }

  /// What is counted of a receipt that proves nothing.
  func diagnostic(_ receipt: (at: Int64, fact: ZapReceiptFact)) -> String {
    if let objection = receipt.fact.objection { return objection.word }
    guard let provider = request(of: receipt.fact)?.provider else {
      return ZapReceiptFact.Objection.otherRequest.word
    }
    return wallets[provider] == nil ? JobPicture.unknownWalletWord : JobPicture.otherWalletWord
  }
}

extension JobFolding {
  /// Gives each receipt to the provider whose zap it is of. What is proven behind the end is told, and changes nothing
  /// of how it came about.
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

  /// Of several proofs with one hash the first one counts.
  mutating func take(_ proof: PaymentProof) {
    guard proofs[proof.hash].map({ PaymentProof.isEarlier(proof, $0) }) ?? true else { return }
    proofs[proof.hash] = proof
  }

  /// Whether something became known behind the end.
  private func isLate(_ at: Int64) -> Bool { picture.endedAt.map { at > $0 } ?? false }
}
