import Clocks
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite("Invoices (BOLT-11)") struct BOLT11Tests {
  /// The key, the hash and the time of BOLT-11's examples.
  private let payee = "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad"
  private let hash = "0001020304050607080900010203040506070809000102030405060708090102"
  private let secret = String(repeating: "11", count: 32)
  private let now: Int64 = 1_496_314_658

  static let donation =
    "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rq"
    + "wzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls08"
    + "7fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql"
  static let coffee =
    "lnbc2500u1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqc"
    + "yq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu9qrsgquk0rl77nj30yxdy8j9vdx85fkpmdla2087ne0xh8nhedh8w27kyke0lp53ut353s"
    + "06fv3qfegext0eh0ymjpf39tuven09sam30g4vgpfna3rh"

  @Test("The examples that everybody knows say what BOLT-11 says of them")
  func examples() throws {
    let donation = try Invoice(Self.donation)
    #expect(donation.network == .bitcoin && donation.amountMillisatoshis == nil && donation.createdAt == now)
    #expect(donation.descriptionText == "Please consider supporting this project" && donation.descriptionHash == nil)
    #expect(donation.paymentHash.description == hash && donation.paymentSecret?.description == secret)
    #expect(donation.payee.description == payee && !donation.namesPayee && donation.features == [8, 14])
    #expect(donation.expirySeconds == 3_600 && donation.finalExpiryDeltaBlocks == 18)
    let coffee = try Invoice("LIGHTNING:" + Self.coffee.uppercased())
    #expect(coffee.amountMillisatoshis == 250_000_000 && coffee.expirySeconds == 60)
    #expect(coffee.text == Self.coffee && "\(coffee)" == Self.coffee)
  }

  @Test("An invoice is good until its last second, on its own network only")
  func expiry() throws {
    let coffee = try Invoice(Self.coffee)
    #expect(!coffee.isExpired(at: now + 59) && coffee.isExpired(at: now + 60) && coffee.expiresAt == now + 60)
    #expect(coffee.obstacle(at: now) == nil && coffee.obstacle(at: now + 60) == .expired(at: now + 60))
    #expect(coffee.obstacle(on: .testnet, at: now) == .otherNetwork(.bitcoin))
  }

  @Test("What proves the payment is what its hash is of, and nothing else")
  func preimage() throws {
    let preimage = try #require(Octets32(Array(0..<32)))
    var terms = InvoiceTerms(amountMillisatoshis: 1, paymentHash: SHA256.hash(preimage.bytes), createdAt: 5)
    terms.descriptionText = "x"
    let invoice = try terms.signed(by: .generate())
    #expect(invoice.isPaid(by: preimage) && !invoice.isPaid(by: SHA256.hash(preimage.bytes)))
  }

  // MARK: Amounts

  @Test(
    "An amount is exact to the millisatoshi, in every unit",
    arguments: [
      ("", nil as Int64?), ("1", 100_000_000_000), ("21000000", 2_100_000_000_000_000_000), ("20m", 2_000_000_000),
      ("2500u", 250_000_000), ("250n", 25_000), ("10p", 1), ("9678785340p", 967_878_534), ("1m", 100_000_000),
    ])
  func amounts(text: String, amount: Int64?) throws {
    #expect(try invoice(prefix: "lnbc" + text).amountMillisatoshis == amount)
  }

  @Test(
    "An amount that is none, has fractions or is too large is refused",
    arguments: [
      ("2500x", InvoiceFault.badAmount), ("m", .unknownNetwork("bcm")), ("0", .badAmount), ("0u", .badAmount),
      ("01u", .badAmount), ("1uu", .badAmount), ("1_0u", .badAmount), ("1.5u", .badAmount),
      ("-1", .unknownNetwork("bc-")),
      ("1p", .fractionalAmount), ("2500000001p", .fractionalAmount), ("21000001", .amountTooLarge),
      ("92233720368547758", .amountTooLarge),
    ])
  func badAmounts(text: String, fault: InvoiceFault) {
    #expect(throws: fault) { try invoice(prefix: "lnbc" + text) }
  }

  @Test(
    "The network is told by the prefix",
    arguments: [("lnbc", Invoice.Network.bitcoin), ("lntb", .testnet), ("lntbs", .signet), ("lnbcrt", .regtest)])
  func networks(prefix: String, network: Invoice.Network) throws {
    #expect(try invoice(prefix: prefix).network == network && invoice(prefix: prefix + "10u").network == network)
    #expect(throws: InvoiceFault.notAnInvoice) { try invoice(prefix: String(prefix.dropFirst())) }
    #expect(throws: InvoiceFault.unknownNetwork("sb")) { try invoice(prefix: "lnsb") }
  }

  // MARK: Whole invoices

  @Test("What was signed is read as it was, and from its key", arguments: seeds(6))
  func roundTrip(seed: UInt64) throws {
    var random = EventGenerator(seed: seed)
    for _ in 0..<10 {
      let key = SecretKey.generate()
      var terms = InvoiceTerms(
        amountMillisatoshis: random.oneIn(4) ? nil : Int64(1 + random.below(1_000_000_000)),
        paymentHash: try random.octets(), createdAt: Int64(random.below(1 << 34)),
        network: Invoice.Network.allCases[random.below(4)])
      if random.oneIn(2) { terms.descriptionText = random.text(40) }
      if terms.descriptionText == nil { terms.descriptionHash = try random.octets() }
      if random.oneIn(2) { terms.expirySeconds = Int64(1 + random.below(1 << 30)) }
      terms.namesPayee = random.oneIn(2)
      terms.features = (0..<random.below(4)).map { _ in 8 + random.below(60) }
      let invoice = try terms.signed(by: key)
      #expect(invoice.network == terms.network && invoice.amountMillisatoshis == terms.amountMillisatoshis)
      #expect(invoice.createdAt == terms.createdAt && invoice.expirySeconds == terms.expirySeconds ?? 3_600)
      #expect(invoice.paymentHash == terms.paymentHash && invoice.paymentSecret == terms.paymentSecret)
      #expect(invoice.descriptionText == terms.descriptionText && invoice.descriptionHash == terms.descriptionHash)
      #expect(invoice.features == Set(terms.features).sorted() && invoice.skippedFieldCount == 0)
      #expect(invoice.payee == key.compressedPublicKey && invoice.namesPayee == terms.namesPayee)
      #expect(try Invoice(invoice.text.uppercased()) == invoice)
    }
  }

  @Test("A character that was changed anywhere is found by the checksum", arguments: seeds(2))
  func mistyped(seed: UInt64) {
    var random = EventGenerator(seed: seed)
    var letters = Array(Self.coffee.utf8)
    for place in letters.indices {
      let before = letters[place]
      letters[place] = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)[random.below(32)]
      if letters[place] != before {
        #expect(throws: InvoiceFault.self) { try Invoice(String(decoding: letters, as: UTF8.self)) }
      }
      letters[place] = before
    }
  }

  @Test("A text that is cut anywhere is no invoice")
  func cut() {
    for count in 0..<Self.coffee.count {
      #expect(throws: InvoiceFault.self) { try Invoice(String(Self.coffee.prefix(count))) }
    }
    #expect(throws: InvoiceFault.self) { try Invoice(String(repeating: "q", count: 8_000)) }
  }

  @Test(
    "A text that begins as an invoice is told from an address",
    arguments: [
      (Self.coffee, true), ("lntb1x", true), ("LNBCRT", true), ("lightning:lnbc1", true), ("botlab@zeuspay.com", false),
      ("lnbc@wallet.example", false), ("lnurl1dp68", false), ("", false), ("lightning:", false),
    ])
  func suggested(text: String, isSuggested: Bool) { #expect(Invoice.isSuggested(by: text) == isSuggested) }

  @Test("Every fault says what it is")
  func descriptions() {
    let faults: [InvoiceFault] = [
      .notAnInvoice, .notBech32(.badChecksum), .unknownNetwork("x"), .badAmount, .fractionalAmount, .amountTooLarge,
      .tooShort, .fieldTooLong("p"), .fieldWithLeadingZeros("x"), .fieldTooLarge("x"), .badField("d"), .noPaymentHash,
      .notOneDescription, .noPaymentSecret, .badSignature, .unknownFeature(100), .otherNetwork(.signet),
      .expired(at: 5),
    ]
    #expect(Set(faults.map(\.description)).count == faults.count)
  }

  /// An invoice of any prefix, signed.
  private func invoice(prefix: String) throws -> Invoice { try InvoiceBytes(prefix: prefix).signed() }

  // MARK: Collected vectors

  private struct Examples: Decodable {
    let examples: [Example]
    struct Example: Decodable { let section: String, title: String, invoice: String }
  }

  @Test("All examples of BOLT-11 are read, or refused for their reason")
  func boltExamples() throws {
    guard let examples = try sharedVectors(Examples.self, "bolt11/spec-examples.json")?.examples else { return }
    // What is readable and must not be paid is told by the obstacle.
    let reasons: [InvoiceFault] = [
      .unknownFeature(100), .notBech32(.badChecksum), .notBech32(.noSeparator), .notBech32(.mixedCase), .badSignature,
      .tooShort, .badAmount, .fractionalAmount, .noPaymentSecret, .badSignature,
    ]
    var found: [InvoiceFault] = []
    for example in examples {
      do throws(InvoiceFault) {
        let invoice = try Invoice(example.invoice)
        let obstacle = invoice.obstacle(on: invoice.network, at: invoice.createdAt)
        #expect((example.section == "valid") == (obstacle == nil), "\(example.title)")
        if let obstacle { found.append(obstacle) }
        if example.section == "valid" {
          #expect(invoice.payee.description == payee || example.title.contains("high-S"), "\(example.title)")
        }
      } catch {
        #expect(example.section == "invalid", "\(example.title): \(error)")
        found.append(error)
      }
    }
    #expect(examples.count == 26 && found == reasons)
  }

  private struct Library: Decodable {
    let decode: Cases
    struct Cases: Decodable { let valid: [Case], invalid: [Refused] }
    struct Case: Decodable {
      let paymentRequest: String, millisatoshis: String?, timestamp: Int64, payeeNodeKey: String
    }
    struct Refused: Decodable {
      let paymentRequest: Either
      enum Either: Decodable {
        case text(String), number
        init(from decoder: any Decoder) throws {
          let text = try? decoder.singleValueContainer().decode(String.self)
          self = text.map { .text($0) } ?? .number
        }
      }
    }
  }

  @Test("What another library reads is read the same, and what it refuses is refused")
  func library() throws {
    guard let library = try sharedVectors(Library.self, "bolt11/bitcoinjs-fixtures.json") else { return }
    for row in library.decode.valid where !row.paymentRequest.hasPrefix("lnsb") {
      let invoice = try Invoice(row.paymentRequest)
      #expect(invoice.createdAt == row.timestamp && invoice.payee.description == row.payeeNodeKey)
      #expect(invoice.amountMillisatoshis == row.millisatoshis.flatMap { Int64($0) }, "\(row.paymentRequest)")
    }
    for row in library.decode.invalid {
      if case .text(let text) = row.paymentRequest { #expect(throws: InvoiceFault.self) { try Invoice(text) } }
    }
    #expect(library.decode.valid.count == 15 && library.decode.invalid.count == 7)
  }
}
