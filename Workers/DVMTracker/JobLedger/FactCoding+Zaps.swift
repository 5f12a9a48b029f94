internal import Cryptography
internal import JobTracking
internal import Nostr

extension FactWriter {
  mutating func zapRequest(_ request: ZapRequestFact) {
    for octets in [request.provider.octets, request.target.octets, request.id.octets] { self.octets(octets) }
    number(request.createdAt)
    number(request.amount)
    data(request.json)
  }

  /// The payment hash comes last, and only if it is known: earlier versions did not keep it, and wrote nothing here.
  mutating func receipt(_ receipt: ZapReceiptFact) {
    for octets in [receipt.event.octets, receipt.wallet.octets] { self.octets(octets) }
    number(receipt.createdAt)
    maybe(receipt.request) { $0.octets($1.octets) }
    maybe(receipt.preimage) { $0.octets($1) }
    maybe(receipt.objection) { $0.byte($1.rawValue) }
    if let hash = receipt.paymentHash { octets(hash) }
  }
}

extension FactReader {
  mutating func zapRequest() -> ZapRequestFact? {
    guard let provider = octets(), let target = octets(), let id = octets(), let createdAt = number(),
      let amount = number(), let json = data()
    else { return nil }
    return ZapRequestFact(
      provider: PublicKey(provider), target: EventID(target), id: EventID(id), createdAt: createdAt, amount: amount,
      json: json)
  }

  mutating func receipt() -> ZapReceiptFact? {
    guard let event = octets(), let wallet = octets(), let createdAt = number(), let request = maybe({ $0.octets() }),
      let preimage = maybe({ $0.octets() }),
      let objection = maybe({ $0.byte().flatMap(ZapReceiptFact.Objection.init(rawValue:)) })
    else { return nil }
    var receipt = ZapReceiptFact(event: EventID(event), wallet: PublicKey(wallet), createdAt: createdAt)
    (receipt.request, receipt.preimage, receipt.objection) = (request.map { EventID($0) }, preimage, objection)
    return receipt
  }

  mutating func objected() -> JobFact.What? {
    guard let receipt = octets(), let objection = byte().flatMap(ZapReceiptFact.Objection.init(rawValue:)) else {
      return nil
    }
    return .objected(EventID(receipt), objection)
  }

  mutating func receiptWithHash() -> ZapReceiptFact? {
    guard var receipt = receipt(), let hash = octets() else { return nil }
    receipt.paymentHash = hash
    return receipt
  }
}
