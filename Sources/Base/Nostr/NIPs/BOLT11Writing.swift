public import Cryptography

/// The contents of a new invoice (BOLT-11): for simulated wallets in tests and demonstrations. A real invoice is made
/// by the node that is paid.
public struct InvoiceTerms: Hashable, Sendable {
  /// The bitcoin network of the invoice.
  public var network: Invoice.Network
  /// The amount to pay, in millisatoshis, from 1; nil: the payer chooses it.
  public var amountMillisatoshis: Int64?
  /// When it was made, in seconds since 1970, below 2^35.
  public var createdAt: Int64
  /// The hash of the preimage that proves the payment.
  public var paymentHash: Octets32
  /// A secret that keeps others from probing the payee.
  public var paymentSecret: Octets32?
  /// Its purpose, up to 639 bytes.
  public var descriptionText: String?
  /// The hash of its purpose.
  public var descriptionHash: Octets32?
  /// For how many seconds it is valid; nil: not stated, which means 3600.
  public var expirySeconds: Int64?
  /// Whether it contains the payee's key.
  public var namesPayee = false
  /// The bits of the features, each below 5,000.
  public var features: [Int] = [8, 14]

  /// Terms of an invoice for `amountMillisatoshis`.
  public init(
    amountMillisatoshis: Int64?, paymentHash: Octets32, createdAt: Int64, network: Invoice.Network = .bitcoin,
    descriptionText: String? = nil, descriptionHash: Octets32? = nil, expirySeconds: Int64? = nil
  ) {
    self.amountMillisatoshis = amountMillisatoshis
    self.paymentHash = paymentHash
    self.createdAt = createdAt
    self.network = network
    self.descriptionText = descriptionText
    self.descriptionHash = descriptionHash
    self.expirySeconds = expirySeconds
    paymentSecret = SHA256.hash(paymentHash.bytes)
  }

  /// The invoice with the payee's signature.
  ///
  /// - Throws: what reading it throws: nothing unreadable is written.
  public func signed(by key: SecretKey) throws(InvoiceFault) -> Invoice {
    var prefix = "ln\(network.rawValue)"
    if let amountMillisatoshis {
      guard (1...JobAmount.millisatoshisMaximum).contains(amountMillisatoshis) else { throw .badAmount }
      prefix += Self.amountText(amountMillisatoshis)
    }
    var values = (0..<7).map { UInt8(truncatingIfNeeded: createdAt >> Int64(30 - 5 * $0)) & 31 }
    values += field(1, Self.regroup(paymentHash.bytes))
    if let paymentSecret { values += field(16, Self.regroup(paymentSecret.bytes)) }
    if let descriptionText { values += field(13, Self.regroup(Array(descriptionText.utf8))) }
    if let descriptionHash { values += field(23, Self.regroup(descriptionHash.bytes)) }
    if let expirySeconds { values += field(6, Self.number(UInt64(max(0, expirySeconds)))) }
    if namesPayee { values += field(19, Self.regroup(key.compressedPublicKey.bytes)) }
    if !features.isEmpty { values += field(5, Self.bits(features)) }
    let signature = key.signRecoverably(InvoiceReader.digest(prefix: prefix, values: values[...]))
    values += Self.regroup(signature.bytes)
    return try Invoice(Bech32.encode(hrp: prefix, values: values))
  }

  /// The shortest way to write an amount: `2500u`.
  static func amountText(_ millisatoshis: Int64) -> String {
    let units: [(Int64, String)] = [(100_000_000_000, ""), (100_000_000, "m"), (100_000, "u"), (100, "n")]
    for (unit, name) in units where millisatoshis.isMultiple(of: unit) { return "\(millisatoshis / unit)\(name)" }
    return "\(millisatoshis)0p"
  }

  /// A field's type, length and data; data too long for the length is cut.
  private func field(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
    let data = data.prefix(1_023)
    return [type, UInt8(data.count >> 5), UInt8(data.count & 31)] + data
  }

  /// Bytes as five-bit values, padded with zeros.
  private static func regroup(_ bytes: [UInt8]) -> [UInt8] {
    var values: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
      bits = bits << 8 & 0xFFF | UInt32(byte)
      bitCount += 8
      while bitCount >= 5 {
        bitCount -= 5
        values.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)) & 31)
      }
    }
    if bitCount > 0 { values.append(UInt8(truncatingIfNeeded: bits << UInt32(5 - bitCount)) & 31) }
    return values
  }

  /// A number in the fewest values possible.
  private static func number(_ number: UInt64) -> [UInt8] {
    var values: [UInt8] = []
    var rest = number
    while rest > 0 {
      values.insert(UInt8(rest & 31), at: 0)
      rest >>= 5
    }
    return values
  }

  private static func bits(_ features: [Int]) -> [UInt8] {
    let features = features.filter { (0..<5_000).contains($0) }
    var values = [UInt8](repeating: 0, count: (features.max() ?? 0) / 5 + 1)
    for bit in features { values[values.count - 1 - bit / 5] |= 1 << UInt8(bit % 5) }
    return values
  }
}
