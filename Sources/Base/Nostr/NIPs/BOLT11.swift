public import Cryptography

// Lightning's invoices (BOLT-11). Roost pays none itself, a wallet does; but what is asked for, by whom, until when and
// for what is told by the invoice alone, and never by the text beside it. So it is read here, whole.
//
// BOLT-11 says of fields whose length is wrong that the payment must fail, and in its examples that they are ignored.
// They are ignored here, as wallets do: without its hash or its secret an invoice cannot be paid anyway.

/// A lightning invoice (BOLT-11) whose checksum and signature are right.
///
///     lnbc2500u1 <time, 35 bits> <fields> <signature, 520 bits> <checksum>
///
/// That it can be read does not mean that it should be paid: ``obstacle(on:at:)`` says why not.
public struct Invoice: Hashable, Sendable, CustomStringConvertible {
  /// Which coins are meant.
  public enum Network: String, CaseIterable, Sendable {
    /// Those that are worth something.
    case bitcoin = "bc"
    /// Testnet.
    case testnet = "tb"
    /// Signet.
    case signet = "tbs"
    /// Somebody's own.
    case regtest = "bcrt"
  }

  /// Where to pay if it cannot be paid by lightning.
  public struct Fallback: Hashable, Sendable {
    /// 0…16 the version of a witness program; 17 a public key's hash, 18 a script's.
    public let version: UInt8
    /// The program or hash.
    public let bytes: [UInt8]

    /// A place to pay.
    public init(version: UInt8, bytes: [UInt8]) {
      self.version = version
      self.bytes = bytes
    }
  }

  /// A channel on a private way to who is paid.
  public struct Hop: Hashable, Sendable {
    /// The node at the channel's beginning.
    public let node: CompressedPublicKey
    /// The short channel id.
    public let channelID: UInt64
    /// What passing it costs whatever the amount, in millisatoshis.
    public let baseFeeMillisatoshis: UInt32
    /// What it costs besides, in millionths of the amount.
    public let proportionalFeeMillionths: UInt32
    /// How many blocks it needs.
    public let expiryDeltaBlocks: UInt16

    /// Bytes of it.
    static let byteCount = 51

    /// A channel.
    public init(
      node: CompressedPublicKey, channelID: UInt64, baseFeeMillisatoshis: UInt32, proportionalFeeMillionths: UInt32,
      expiryDeltaBlocks: UInt16
    ) {
      self.node = node
      self.channelID = channelID
      self.baseFeeMillisatoshis = baseFeeMillisatoshis
      self.proportionalFeeMillionths = proportionalFeeMillionths
      self.expiryDeltaBlocks = expiryDeltaBlocks
    }
  }

  /// The invoice in lower case, without `lightning:`.
  public let text: String
  /// Which coins are meant.
  public let network: Network
  /// What is to be paid, in millisatoshis; nil: what the payer likes.
  public let amountMillisatoshis: Int64?
  /// When it was made, in seconds since 1970.
  public let createdAt: Int64
  /// The hash of what proves that it was paid (`p`).
  public let paymentHash: Octets32
  /// What keeps others from probing who is paid (`s`); nil in old invoices.
  public let paymentSecret: Octets32?
  /// What is paid for (`d`). A stranger's text.
  public let descriptionText: String?
  /// The hash of a longer text about what is paid for (`h`).
  public let descriptionHash: Octets32?
  /// For how many seconds it is good (`x`); 3600 if it does not say.
  public let expirySeconds: Int64
  /// How many blocks the last step needs (`c`); 18 if it does not say.
  public let finalExpiryDeltaBlocks: Int64
  /// Who is paid: the node that signed it.
  public let payee: CompressedPublicKey
  /// Whether the payee stands in it (`n`) and was not computed from the signature.
  public let namesPayee: Bool
  /// Where to pay instead (`f`), the preferred first.
  public let fallbacks: [Fallback]
  /// Private ways to the payee (`r`), the preferred first.
  public let routes: [[Hop]]
  /// What is given back with the payment (`m`).
  public let metadata: [UInt8]?
  /// The features that are set (`9`), by their bit's number, in order. An even one must be known to who pays.
  public let features: [Int]
  /// Fields that were left out: unknown ones, those of a wrong length, and repeated ones.
  public let skippedFieldCount: Int
  private let fieldWithLeadingZeros: Character?

  /// When it ends, in seconds since 1970.
  public var expiresAt: Int64 { createdAt + expirySeconds }
  /// The invoice.
  public var description: String { text }

  /// Longest invoice that is read, in characters.
  public static let characterCountMaximum = 7_089

  /// Whether it is no longer good.
  ///
  /// - Parameter now: seconds since 1970.
  public func isExpired(at now: Int64) -> Bool { now >= expiresAt }

  /// Whether this is what proves the payment: its SHA-256 is the payment's hash.
  public func isPaid(by preimage: Octets32) -> Bool { SHA256.hash(preimage.bytes) == paymentHash }

  /// Whether `text` is what ``descriptionHash`` commits to.
  public func commits(toDescription text: String) -> Bool { descriptionHash == SHA256.hash(Array(text.utf8)) }

  /// Why it must not be paid; nil when nothing is known against it.
  ///
  /// - Parameters:
  ///   - network: the payer's.
  ///   - now: seconds since 1970.
  public func obstacle(on network: Network = .bitcoin, at now: Int64) -> InvoiceFault? {
    if self.network != network { return .otherNetwork(self.network) }
    if paymentSecret == nil { return .noPaymentSecret }
    if (descriptionText == nil) == (descriptionHash == nil) { return .notOneDescription }
    if let field = fieldWithLeadingZeros { return .fieldWithLeadingZeros(field) }
    let unknown = features.first { $0.isMultiple(of: 2) && !Self.knownFeatures.contains($0) }
    if let unknown { return .unknownFeature(unknown) }
    return isExpired(at: now) ? .expired(at: expiresAt) : nil
  }

  /// Features that wallets have (BOLT-9): onions of variable length, the payment's secret, several parts, blinded
  /// routes, attributed failures, metadata.
  private static let knownFeatures: Set<Int> = [8, 14, 16, 24, 36, 48]

  /// Reads an invoice and verifies its signature. About 60 µs.
  ///
  /// - Parameter text: in one case, with or without `lightning:` in front, up to ``characterCountMaximum``.
  public init(_ text: String) throws(InvoiceFault) {
    let text = Self.withoutScheme(text)
    let parts: (hrp: String, values: [UInt8])
    do throws(Bech32Fault) {
      parts = try Bech32.decodeValues(text, maximumCount: Self.characterCountMaximum)
    } catch {
      throw .notBech32(error)
    }
    var reader = try InvoiceReader(prefix: parts.hrp, values: parts.values)
    try reader.read()
    guard let paymentHash = reader.paymentHash else { throw .noPaymentHash }
    payee = try reader.payee()
    self.text = text.lowercased()
    self.paymentHash = paymentHash
    network = reader.network
    amountMillisatoshis = reader.amountMillisatoshis
    createdAt = reader.createdAt
    paymentSecret = reader.paymentSecret
    descriptionText = reader.descriptionText
    descriptionHash = reader.descriptionHash
    expirySeconds = reader.expirySeconds ?? 3_600
    finalExpiryDeltaBlocks = reader.finalExpiryDeltaBlocks ?? 18
    namesPayee = reader.statedPayee != nil
    fallbacks = reader.fallbacks
    routes = reader.routes
    metadata = reader.metadata
    features = reader.features ?? []
    skippedFieldCount = reader.skippedFieldCount
    fieldWithLeadingZeros = reader.fieldWithLeadingZeros
  }

  private static func withoutScheme(_ text: String) -> String {
    let scheme = "lightning:"
    let isThere = text.utf8.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) { $0 | 0x20 == $1 | 0x20 }
    return isThere ? String(text.dropFirst(scheme.count)) : text
  }

  /// Whether a text begins as an invoice does: `lnbc`, `lntb`, `lnbcrt`, and no address. It need not be one.
  public static func isSuggested(by text: String) -> Bool {
    let start = withoutScheme(text).prefix(4).lowercased()
    return (start == "lnbc" || start == "lntb") && !text.utf8.contains(UInt8(ascii: "@"))
  }

  /// Whether both are the same text.
  public static func == (left: Invoice, right: Invoice) -> Bool { left.text == right.text }
  /// Feeds the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Why a text is no invoice, or an invoice must not be paid (BOLT-11). Does not repeat it.
public enum InvoiceFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not begin with `ln`.
  case notAnInvoice
  /// Its spelling is broken.
  case notBech32(Bech32Fault)
  /// It is for a network that is not known: what stands in the network's place.
  case unknownNetwork(String)
  /// Its amount is no number, or has another multiplier than m, u, n and p.
  case badAmount
  /// Its amount has a fraction of a millisatoshi.
  case fractionalAmount
  /// Its amount is above all bitcoin there will be.
  case amountTooLarge
  /// It has too few characters for a time and a signature.
  case tooShort
  /// A field says that it is longer than what is left.
  case fieldTooLong(Character)
  /// A field begins with zeros.
  case fieldWithLeadingZeros(Character)
  /// A field is a number that is too large.
  case fieldTooLarge(Character)
  /// A field holds bits at its end that belong to nothing, no UTF-8 where a text must be, or no key.
  case badField(Character)
  /// There is no hash of the payment.
  case noPaymentHash
  /// It does not say what it is for, or says it twice, in clear and as a hash.
  case notOneDescription
  /// It has no secret, without which no node is paid any more.
  case noPaymentSecret
  /// The signature is not that of its node, or of no node.
  case badSignature
  /// It wants a feature that is not known: the bit's number.
  case unknownFeature(Int)
  /// It is for another network than the payer's.
  case otherNetwork(Invoice.Network)
  /// It was good until then, in seconds since 1970.
  case expired(at: Int64)

  /// A sentence's end: `it is for the network testnet`.
  public var description: String {
    switch self {
    case .notAnInvoice: "it does not begin as a lightning invoice"
    case .notBech32(let fault): "\(fault)"
    case .unknownNetwork(let name): "\"\(name)\" is no network that is known"
    case .badAmount: "its amount is no number with a multiplier of m, u, n or p"
    case .fractionalAmount: "its amount has a fraction of a millisatoshi"
    case .amountTooLarge: "its amount is more than there will ever be"
    case .tooShort: "it ends too early"
    case .fieldTooLong(let field): "its field \(field) is longer than what is left"
    case .fieldWithLeadingZeros(let field): "its field \(field) begins with zeros"
    case .fieldTooLarge(let field): "its field \(field) is too large a number"
    case .badField(let field): "its field \(field) holds something else than it must"
    case .noPaymentHash: "it has no hash of the payment"
    case .notOneDescription: "it says what it is for not once"
    case .noPaymentSecret: "it has no payment secret"
    case .badSignature: "its signature is wrong"
    case .unknownFeature(let bit): "it wants the feature \(bit), which is not known"
    case .otherNetwork(let network): "it is for the network \(network)"
    case .expired(let time): "it was good until \(time)"
    }
  }
}
