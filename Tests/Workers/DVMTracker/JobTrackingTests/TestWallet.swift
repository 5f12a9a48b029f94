import Cryptography
import JobTracking
import Nostr

/// A wallet that makes invoices for zaps, and receipts for them.
struct TestWallet {
  let key = SecretKey.generate()
  let node = SecretKey.generate()
  let preimage = SHA256.hash((0..<16).map { _ in UInt8.random(in: .min ... .max) })

  var publicKey: PublicKey { key.publicKey }

  func invoice(
    for description: String, _ amount: Int64, at time: Int64, network: Invoice.Network = .bitcoin
  ) throws -> Invoice {
    var terms = InvoiceTerms(
      amountMillisatoshis: amount, paymentHash: SHA256.hash(preimage.bytes), createdAt: time, network: network)
    terms.descriptionHash = SHA256.hash(Array(description.utf8))
    return try terms.signed(by: node)
  }

  /// A receipt for a request; a parameter with another value makes it a forger's.
  func receipt(
    _ zap: ZapRequestFact, at time: Int64, amount: Int64? = nil, invoicedFor: String? = nil,
    network: Invoice.Network = .bitcoin, preimage: Octets32? = nil, payee: PublicKey? = nil, target: EventID? = nil,
    description: String? = nil, hasTarget: Bool = true
  ) throws -> Event {
    let text = description ?? String(decoding: zap.json, as: UTF8.self)
    let invoice = try invoice(for: invoicedFor ?? text, amount ?? zap.amount, at: time, network: network)
    var tags = [["p", (payee ?? zap.provider).description], ["bolt11", invoice.text], ["description", text]]
    if hasTarget { tags.append(["e", (target ?? zap.target).description]) }
    if let preimage { tags.append(["preimage", preimage.description]) }
    return UnsignedEvent(
      pubkey: key.publicKey, createdAt: time, kind: EventKind.zapReceipt, tags: tags, content: ""
    ).signed(by: key)
  }
}
