import Cryptography
import Testing

@testable import Nostr

/// An invoice put together field by field, right or wrong, with a right signature and checksum.
struct InvoiceBytes {
  var prefix = "lnbc10u"
  /// Type and five-bit values of each field.
  var fields: [(Character, [UInt8])] = [
    ("p", [UInt8](repeating: 1, count: 51) + [16]), ("s", [UInt8](repeating: 2, count: 51) + [0]), ("d", [15, 0]),
  ]
  var key = SecretKey.generate()
  /// What stands between the fields and the signature.
  var rest: [UInt8] = []

  static let letters = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l")

  func signed() throws -> Invoice {
    var values = [UInt8](repeating: 1, count: 7)
    for (type, data) in fields {
      values.append(UInt8(try #require(Self.letters.firstIndex(of: type))))
      values += [UInt8(data.count >> 5), UInt8(data.count & 31)] + data
    }
    values += rest
    let signature = key.signRecoverably(InvoiceReader.digest(prefix: prefix, values: values[...]))
    values += Self.values(of: signature.bytes)
    return try Invoice(Bech32.encode(hrp: prefix, values: values))
  }

  /// Bytes as five-bit values, filled up with zeros.
  static func values(of bytes: [UInt8]) -> [UInt8] {
    var bits: [UInt8] = []
    for byte in bytes { for place in 0..<8 { bits.append(byte >> UInt8(7 - place) & 1) } }
    while !bits.count.isMultiple(of: 5) { bits.append(0) }
    return stride(from: 0, to: bits.count, by: 5).map { start in
      bits[start..<(start + 5)].reduce(0) { $0 << 1 | $1 }
    }
  }

  func with(_ type: Character, _ data: [UInt8]) -> InvoiceBytes {
    var other = self
    other.fields.append((type, data))
    return other
  }

  func without(_ type: Character) -> InvoiceBytes {
    var other = self
    other.fields.removeAll { $0.0 == type }
    return other
  }
}

@Suite("Fields of invoices (BOLT-11)") struct BOLT11FieldTests {
  private let plain = InvoiceBytes()
  /// When the invoices of these tests were made.
  private let now: Int64 = (0..<7).reduce(0) { sum, _ in sum << 5 | 1 }

  @Test("that are unknown, of a wrong length, or there before are passed over and counted")
  func skipped() throws {
    let invoice = try plain.with("2", [0, 0]).with("p", [0]).with("h", [UInt8](repeating: 0, count: 51))
      .with("s", [UInt8](repeating: 9, count: 51) + [0]).with("n", []).with("f", [19, 1, 1]).with("r", [0, 0])
      .with("d", [15, 0]).signed()
    #expect(invoice.skippedFieldCount == 8 && invoice.obstacle(at: now) == nil)
    #expect(invoice.paymentSecret?.bytes.first == 0x10 && invoice.descriptionText?.utf8.count == 1)
    #expect(invoice.fallbacks.isEmpty && invoice.routes.isEmpty && !invoice.namesPayee)
  }

  @Test("that go beyond the end make the invoice unreadable")
  func beyondEnd() {
    for rest: [UInt8] in [[1], [1, 0], [1, 1, 20], [13, 0, 4, 1, 2, 3]] {
      var bytes = plain
      bytes.rest = rest
      #expect(throws: InvoiceFault.fieldTooLong(InvoiceBytes.letters[Int(rest[0])])) { try bytes.signed() }
    }
  }

  @Test("whose last bits mean something are refused")
  func padding() {
    let ones = [UInt8](repeating: 31, count: 52)
    for type: Character in ["p", "s", "h"] {
      #expect(throws: InvoiceFault.badField(type)) { try plain.without(type).with(type, ones).signed() }
    }
    #expect(throws: InvoiceFault.badField("d")) { try plain.without("d").with("d", [31, 31]).signed() }
    // A lone byte of 0xFF is no text.
    #expect(throws: InvoiceFault.badField("d")) { try plain.without("d").with("d", [31, 28]).signed() }
    #expect(throws: InvoiceFault.badField("n")) { try plain.with("n", [UInt8](repeating: 0, count: 53)).signed() }
  }

  @Test("that an invoice needs to be paid are missed by name")
  func missing() throws {
    #expect(throws: InvoiceFault.noPaymentHash) { try plain.without("p").signed() }
    #expect(try plain.without("s").signed().obstacle(at: now) == .noPaymentSecret)
    #expect(try plain.without("d").signed().obstacle(at: now) == .notOneDescription)
    let both = plain.with("h", [UInt8](repeating: 0, count: 52))
    #expect(try both.signed().obstacle(at: now) == .notOneDescription)
    #expect(try both.without("d").signed().obstacle(at: now) == nil)
  }

  @Test("of numbers are read from the highest digit, and refused when nobody can mean them")
  func numbers() throws {
    let invoice = try plain.with("x", [1, 28]).with("c", [4, 16]).signed()
    #expect(invoice.expirySeconds == 60 && invoice.finalExpiryDeltaBlocks == 144)
    for type: Character in ["x", "c"] {
      for data: [UInt8] in [[1] + Array(repeating: 0, count: 9), Array(repeating: 31, count: 40)] {
        #expect(throws: InvoiceFault.fieldTooLarge(type)) { try plain.with(type, data).signed() }
      }
      #expect(try plain.with(type, [0, 31]).signed().obstacle(at: now) == .fieldWithLeadingZeros(type))
    }
    #expect(try plain.with("x", []).signed().isExpired(at: now))
  }

  @Test("of features are numbered from the end, and an unknown even one must not be paid")
  func features() throws {
    let invoice = try plain.with("9", [16, 8, 0]).signed()
    #expect(invoice.features == [8, 14] && invoice.obstacle(at: now) == nil)
    #expect(try plain.with("9", [2]).signed().obstacle(at: now) == nil)
    #expect(try plain.with("9", [1]).signed().obstacle(at: now) == .unknownFeature(0))
    #expect(try plain.with("9", [0, 2]).signed().obstacle(at: now) == .fieldWithLeadingZeros("9"))
  }

  @Test("that name the payee are believed only with the payee's signature")
  func payee() throws {
    let invoice = try plain.with("n", InvoiceBytes.values(of: plain.key.compressedPublicKey.bytes)).signed()
    #expect(invoice.namesPayee && invoice.payee == plain.key.compressedPublicKey)
    let other = InvoiceBytes.values(of: SecretKey.generate().compressedPublicKey.bytes)
    #expect(throws: InvoiceFault.badSignature) { try plain.with("n", other).signed() }
  }

  @Test("of other places to pay and of private ways are read as BOLT-11 shows them")
  func routes() throws {
    guard let examples = try sharedVectors(Examples.self, "bolt11/spec-examples.json")?.examples else { return }
    let routed = try Invoice(#require(examples.first { $0.title.contains("extra routing info") }).invoice)
    let route = try #require(routed.routes.first)
    #expect(routed.routes.count == 1 && route.count == 2 && routed.fallbacks.map(\.version) == [17])
    #expect(route.map { $0.node.description.prefix(14) } == ["029e03a901b855", "039e03a901b855"])
    #expect(route[0].channelID == 0x0102_0304_0506_0708 && route[0].baseFeeMillisatoshis == 1)
    #expect(route[0].proportionalFeeMillionths == 20 && route[0].expiryDeltaBlocks == 3)
    let versions = try examples.filter { $0.title.contains("fallback") }.map { try Invoice($0.invoice).fallbacks[0] }
    #expect(versions.map(\.version) == [17, 17, 18, 0, 0, 1])
    #expect(versions.map(\.bytes.count) == [20, 20, 20, 20, 32, 32])
    let metadata = try Invoice(#require(examples.first { $0.title.contains("metadata") }).invoice)
    #expect(metadata.metadata == [1, 0xFA, 0xFA, 0xF0])
  }

  private struct Examples: Decodable {
    let examples: [Example]
    struct Example: Decodable { let title: String, invoice: String }
  }
}
