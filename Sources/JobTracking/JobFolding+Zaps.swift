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
  func diagnostic(_ receipt: (at: Int64, fact: ZapReceiptFact)) -> String? {
    if let objection = receipt.fact.objection { return objection.word }
    guard let provider = request(of: receipt.fact)?.provider else {
      return ZapReceiptFact.Objection.otherRequest.word
    }
    guard proof(receipt, of: provider) == nil else { return nil }
    return wallets[provider] == nil ? JobPicture.unknownWalletWord : JobPicture.otherWalletWord
  }
}

extension JobFolding {
  /// Gives each receipt to the provider whose zap it is of.
  mutating func foldZaps() {
    for receipt in zaps.receipts.values {
      if let word = zaps.diagnostic(receipt) { picture.diagnostics[word, default: 0] += 1 }
      guard receipt.fact.objection == nil, let request = zaps.request(of: receipt.fact) else { continue }
      let proof = zaps.proof(receipt, of: request.provider)
      let told = JobPicture.Receipt(event: receipt.fact.event, wallet: receipt.fact.wallet, proof: proof?.by)
      pair(request.provider) { pair in
        pair.receipts.append(told)
        pair.receipts.sort { $0.event < $1.event }
        if let proof { pair.paidAt = min(pair.paidAt ?? .max, proof.at) }
      }
    }
    picture.zaps = zaps.requests.values.sorted { $0.at < $1.at }.map(\.fact)
  }
}
