import Addresses
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Zaps (NIP-57)") struct NIP57Tests {
  private let payer = SecretKey.generate()
  private let payee = SecretKey.generate()
  private let wallet = SecretKey.generate()
  private let node = SecretKey.generate()
  private let now: Int64 = 1_800_000_000
  private let preimage = SHA256.hash([7])
  private let id = EventID(SHA256.hash([8]))

  private func request(
    amount: Int64 = 21_000, extra: [[String]] = [], without name: String = "-"
  ) throws -> Event {
    let template = try ZapRequest.template(
      for: payee.publicKey, by: payer.publicKey, createdAt: now, amountMillisatoshis: amount,
      relays: [RelayURL("wss://r.example")], lnurl: "lnurl1abc", target: (id, 7_000), comment: "thank you")
    let tags = template.tags.filter { $0[0] != name } + extra
    return UnsignedEvent(
      pubkey: payer.publicKey, createdAt: now, kind: 9_734, tags: tags, content: template.content
    ).signed(by: payer)
  }

  private func receipt(
    of request: Event, invoiced: Int64? = 21_000, describing description: String? = nil, tags: [[String]]? = nil
  ) throws -> Event {
    let json = String(decoding: request.json, as: UTF8.self)
    let terms = InvoiceTerms(
      amountMillisatoshis: invoiced, paymentHash: SHA256.hash(preimage.bytes), createdAt: now,
      descriptionHash: SHA256.hash(Array((description ?? json).utf8)))
    let invoice = try terms.signed(by: node)
    let all = [
      ["p", payee.publicKey.description], ["P", payer.publicKey.description], ["e", id.description],
      ["bolt11", invoice.text], ["description", json], ["preimage", preimage.description],
    ]
    return UnsignedEvent(pubkey: wallet.publicKey, createdAt: now, kind: 9_735, tags: tags ?? all).signed(by: wallet)
  }

  @Test("A request is read as it was written, and is good for its own amount only")
  func request() throws {
    let request = try ZapRequest(request())
    #expect(request.recipient == payee.publicKey && request.sender == payer.publicKey && request.target == id)
    #expect(request.amountMillisatoshis == 21_000 && request.comment == "thank you" && request.lnurl == "lnurl1abc")
    #expect(request.relays.map(\.text) == ["wss://r.example"] && request.targetKind == 7_000)
    #expect(request.targetAddress == nil && request.wallet == nil)
    try request.check(amountMillisatoshis: 21_000)
    #expect(throws: ZapFault.otherAmount(request: 21_000, other: 22_000)) {
      try request.check(amountMillisatoshis: 22_000)
    }
  }

  @Test("What appendix D demands of a request is demanded, one by one")
  func appendixD() throws {
    let key = payee.publicKey.description
    #expect(throws: ZapFault.wrongKind(1, expected: 9_734)) { try ZapRequest(testEvent(kind: 1)) }
    #expect(throws: ZapFault.notOneRecipient(count: 2)) { try ZapRequest(request(extra: [["p", key]])) }
    #expect(throws: ZapFault.notOneRecipient(count: 0)) { try ZapRequest(request(without: "p")) }
    #expect(throws: ZapFault.notOneRecipient(count: 1)) { try ZapRequest(request(extra: [["p", "x"]], without: "p")) }
    #expect(throws: ZapFault.badTag("e")) { try ZapRequest(request(extra: [["e", id.description]])) }
    #expect(throws: ZapFault.badTag("e")) { try ZapRequest(request(extra: [["e"]], without: "e")) }
    #expect(throws: ZapFault.badTag("a")) { try ZapRequest(request(extra: [["a", "1:\(key):"]])) }
    #expect(throws: ZapFault.badTag("P")) { try ZapRequest(request(extra: [["P", key], ["P", key]])) }
    for amount in ["0", "-1", "1.5", "2_1", "", "2100000000000000001"] {
      #expect(throws: ZapFault.badAmount) { try ZapRequest(request(extra: [["amount", amount]], without: "amount")) }
    }
    #expect(throws: ZapFault.badAmount) { try ZapRequest(request(extra: [["amount", "1"]])) }
    let bare = try ZapRequest(request(extra: [["a", "30023:\(key):x"], ["P", key]], without: "amount"))
    #expect(bare.amountMillisatoshis == nil && bare.targetAddress?.kind == 30_023 && bare.wallet == payee.publicKey)
    try bare.check(amountMillisatoshis: 5)
  }

  @Test("A request that no wallet would take is not written")
  func refused() throws {
    let relay = try RelayURL("wss://r.example")
    func template(_ amount: Int64 = 1, relays: [RelayURL], comment: String = "") throws -> UnsignedEvent {
      try ZapRequest.template(
        for: payee.publicKey, by: payer.publicKey, createdAt: 1, amountMillisatoshis: amount, relays: relays,
        comment: comment)
    }
    #expect(throws: ZapFault.noRelays) { try template(relays: []) }
    for amount: Int64 in [0, -5, 2_100_000_000_000_000_001] {
      #expect(throws: ZapFault.badAmount) { try template(amount, relays: [relay]) }
    }
    #expect(throws: ZapFault.tooLong(byteCount: 4_097, maximum: 4_096)) {
      try template(relays: [relay], comment: String(repeating: "x", count: 4_097))
    }
  }

  @Test("A receipt of the right wallet, for the right amount and request, with its preimage, is good")
  func receipt() throws {
    let receipt = try ZapReceipt(receipt(of: request()))
    try receipt.check(wallet: wallet.publicKey, lnurl: "LNURL1ABC")
    #expect(receipt.amountMillisatoshis == 21_000 && receipt.isBoundToRequest && receipt.isPreimageRight == true)
    #expect(receipt.request.target == id && receipt.recipient == payee.publicKey && receipt.wallet == wallet.publicKey)
  }

  @Test("What appendix F demands of a receipt is demanded, one by one")
  func appendixF() throws {
    let good = try ZapReceipt(receipt(of: request()))
    #expect(throws: ZapFault.otherWallet(wallet.publicKey)) { try good.check(wallet: payer.publicKey) }
    #expect(throws: ZapFault.otherAddress) { try good.check(wallet: wallet.publicKey, lnurl: "lnurl1other") }
    let named = try ZapReceipt(receipt(of: request(extra: [["P", payer.publicKey.description]])))
    #expect(throws: ZapFault.otherWallet(wallet.publicKey)) { try named.check(wallet: wallet.publicKey) }
    for amount: Int64? in [20_999, 21, nil] {
      let other = try ZapReceipt(receipt(of: request(), invoiced: amount))
      #expect(throws: ZapFault.otherAmount(request: 21_000, other: amount)) {
        try other.check(wallet: wallet.publicKey)
      }
    }
    let unbound = try ZapReceipt(receipt(of: request(), describing: "something else"))
    #expect(throws: ZapFault.otherDescription) { try unbound.check(wallet: wallet.publicKey) }
    try unbound.check(wallet: wallet.publicKey, mustBeBound: false)
    let tags = try receipt(of: request()).tags
    let wrong = try ZapReceipt(receipt(of: request(), tags: tags.dropLast() + [["preimage", id.description]]))
    #expect(throws: ZapFault.wrongPreimage) { try wrong.check(wallet: wallet.publicKey) }
    let silent = try ZapReceipt(receipt(of: request(), tags: tags.dropLast()))
    #expect(silent.isPreimageRight == nil)
    try silent.check(wallet: wallet.publicKey)
  }

  @Test("A receipt that contradicts its own request is none")
  func contradictions() throws {
    let tags = try receipt(of: request()).tags
    func without(_ name: String, _ extra: [String]...) throws -> Event {
      try receipt(of: request(), tags: tags.filter { $0[0] != name } + extra)
    }
    #expect(throws: ZapFault.wrongKind(1, expected: 9_735)) { try ZapReceipt(testEvent(kind: 1)) }
    #expect(throws: ZapFault.noInvoice) { try ZapReceipt(without("bolt11")) }
    #expect(throws: ZapFault.badInvoice(.notBech32(.noSeparator))) {
      try ZapReceipt(without("bolt11", ["bolt11", "x"]))
    }
    #expect(throws: ZapFault.noRequest) { try ZapReceipt(without("description")) }
    #expect(throws: ZapFault.self) { try ZapReceipt(without("description", ["description", "hello"])) }
    let forged = Event(try request().unsigned, signature: payee.sign(try request().id.octets))
    let text = String(decoding: forged.json, as: UTF8.self)
    #expect(throws: ZapFault.badRequest(.badSignature)) {
      try ZapReceipt(without("description", ["description", text]))
    }
    #expect(throws: ZapFault.otherRecipient) { try ZapReceipt(without("p", ["p", payer.publicKey.description])) }
    #expect(throws: ZapFault.otherRecipient) { try ZapReceipt(without("p")) }
    #expect(throws: ZapFault.otherTarget) { try ZapReceipt(without("e", ["e", preimage.description])) }
    #expect(throws: Never.self) { try ZapReceipt(without("e")) }
  }

  @Test("Every fault says what it is")
  func descriptions() {
    let faults: [ZapFault] = [
      .wrongKind(1, expected: 2), .notOneRecipient(count: 2), .badTag("e"), .noRelays, .badAmount,
      .otherAmount(request: 1, other: 2), .otherAmount(request: 1, other: nil), .noInvoice, .badInvoice(.tooShort),
      .noRequest, .badRequest(.badSignature), .otherDescription, .wrongPreimage, .otherWallet(payer.publicKey),
      .otherRecipient, .otherTarget, .otherAddress, .tooLong(byteCount: 2, maximum: 1),
    ]
    #expect(Set(faults.map(\.description)).count == faults.count)
  }

  private struct Row: Decodable {
    let bolt11: String, invoice: Decoded, preimageMatches: Bool?
    struct Decoded: Decodable {
      let amountMsat: Int64?, timestamp: Int64, paymentHash: String?, descriptionHash: String?, paymentSecret: String?,
        expiry: Int64
    }
  }

  @Test("Two hundred invoices of real receipts say what another decoder says")
  func realInvoices() throws {
    guard let lines = SharedFolder.lines(of: "vectors/nip57/zap-receipts-expected.jsonl") else { return }
    for line in lines {
      let row = try sharedRow(Row.self, line)
      guard let hash = row.invoice.paymentHash else {
        #expect(throws: InvoiceFault.noPaymentHash) { try Invoice(row.bolt11) }
        continue
      }
      let invoice = try Invoice(row.bolt11)
      #expect(invoice.amountMillisatoshis == row.invoice.amountMsat && invoice.createdAt == row.invoice.timestamp)
      #expect(invoice.paymentHash.description == hash)
      #expect(invoice.descriptionHash?.description == row.invoice.descriptionHash, "\(row.bolt11)")
      #expect(invoice.paymentSecret?.description == row.invoice.paymentSecret)
      #expect(invoice.expirySeconds == row.invoice.expiry, "\(row.bolt11)")
      let obstacle = invoice.obstacle(on: invoice.network, at: invoice.createdAt)
      #expect([nil, .noPaymentSecret].contains(obstacle), "\(row.bolt11)")
    }
    #expect(lines.count == 200)
  }
}
