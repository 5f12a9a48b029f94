public import Cryptography

// Lightning's invoices (BOLT-11). Roost pays none itself, a wallet does. But only the invoice says the amount, the
// payee, the expiry and the purpose, never the text beside it. So it is read here, completely.
//
// The text of BOLT-11 says that a payment must fail if a field has a wrong length, but its examples ignore such fields.
// They are ignored here, as wallets do: without its hash or its secret an invoice cannot be paid anyway.

/// A lightning invoice (BOLT-11) whose checksum and signature are valid.
///
///     lnbc2500u1 <time, 35 bits> <fields> <signature, 520 bits> <checksum>
///
/// A readable invoice need not be payable: ``obstacle(on:at:)`` says why it must not be paid.
public struct Invoice: Hashable, Sendable, CustomStringConvertible {
  /// The bitcoin network of the invoice.
  public enum Network: String, CaseIterable, Sendable {
    /// The main network, whose coins have value.
    case bitcoin = "bc"
    /// Testnet.
    case testnet = "tb"
    /// Signet.
    case signet = "tbs"
    /// A private network for tests.
    case regtest = "bcrt"
  }

  /// Where to pay if it cannot be paid through lightning.
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

  /// A channel on a private route to the payee.
  public struct Hop: Hashable, Sendable {
    /// The node at the channel's beginning.
    public let node: CompressedPublicKey
    /// The short channel id.
    public let channelID: UInt64
    /// The fixed fee for this channel, in millisatoshis.
    public let baseFeeMillisatoshis: UInt32
    /// The additional fee, in millionths of the amount.
    public let proportionalFeeMillionths: UInt32
    /// How many blocks of expiry it adds.
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
  /// The bitcoin network of the invoice.
  public let network: Network
  /// The amount to pay, in millisatoshis; nil: the payer chooses it.
  public let amountMillisatoshis: Int64?
  /// When it was made, in seconds since 1970.
  public let createdAt: Int64
  /// The hash of the preimage that proves the payment (`p`).
  public let paymentHash: Octets32
  /// A secret that keeps others from probing the payee (`s`); nil in old invoices.
  public let paymentSecret: Octets32?
  /// The purpose of the payment (`d`). A stranger's text.
  public let descriptionText: String?
  /// The hash of a longer text about the purpose (`h`).
  public let descriptionHash: Octets32?
  /// For how many seconds it is valid (`x`); 3600 if it does not say.
  public let expirySeconds: Int64
  /// How many blocks the last hop needs (`c`); 18 if it does not say.
  public let finalExpiryDeltaBlocks: Int64
  /// The payee: the node that signed it.
  public let payee: CompressedPublicKey
  /// Whether the invoice names the payee (`n`); otherwise the payee was computed from the signature.
  public let namesPayee: Bool
  /// Where to pay instead (`f`), in order of preference.
  public let fallbacks: [Fallback]
  /// Private routes to the payee (`r`), in order of preference.
  public let routes: [[Hop]]
  /// Data that the payer returns with the payment (`m`).
  public let metadata: [UInt8]?
  /// The features that are set (`9`), by bit number, in order. The payer must know every even one.
  public let features: [Int]
  /// Fields that were ignored: unknown ones, those with a wrong length, and repeated ones.
  public let skippedFieldCount: Int
  private let fieldWithLeadingZeros: Character?

  /// When it expires, in seconds since 1970.
  public var expiresAt: Int64 { createdAt + expirySeconds }
  /// The invoice.
  public var description: String { text }

  /// Longest invoice that is read, in characters.
  public static let characterCountMaximum = 7_089

  /// Whether it has expired.
  ///
  /// - Parameter now: seconds since 1970.
  public func isExpired(at now: Int64) -> Bool { now >= expiresAt }

  /// Whether this is the preimage that proves the payment: its SHA-256 is the payment hash.
  public func isPaid(by preimage: Octets32) -> Bool { SHA256.hash(preimage.bytes) == paymentHash }

  /// Whether ``descriptionHash`` is the hash of `text`.
  public func commits(toDescription text: String) -> Bool { descriptionHash == SHA256.hash(Array(text.utf8)) }

  /// Why it must not be paid; nil if there is no known reason.
  ///
  /// - Parameters:
  ///   - network: the payer's network.
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

  /// Features that wallets support (BOLT-9): onions of variable length, the payment secret, several parts, blinded
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

  /// Whether a text begins like an invoice: `lnbc`, `lntb`, `lnbcrt`, and is not an address. It need not be an invoice.
  public static func isSuggested(by text: String) -> Bool {
    let start = withoutScheme(text).prefix(4).lowercased()
    return (start == "lnbc" || start == "lntb") && !text.utf8.contains(UInt8(ascii: "@"))
  }

  /// Whether both have the same text.
  public static func == (left: Invoice, right: Invoice) -> Bool { left.text == right.text }
  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Why a text is not an invoice, or an invoice must not be paid (BOLT-11). Does not repeat the text.
public enum InvoiceFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not begin with `ln`.
  case notAnInvoice
  /// Its encoding is broken.
  case notBech32(Bech32Fault)
  /// It is for an unknown network: the text in the network's place.
  case unknownNetwork(String)
  /// Its amount is not a number, or has a multiplier other than m, u, n and p.
  case badAmount
  /// Its amount has a fraction of a millisatoshi.
  case fractionalAmount
  /// Its amount is more than all bitcoin that will exist.
  case amountTooLarge
  /// It is too short for a time and a signature.
  case tooShort
  /// A field claims to be longer than the rest of the invoice.
  case fieldTooLong(Character)
  /// A field begins with zeros.
  case fieldWithLeadingZeros(Character)
  /// A field is a number that is too large.
  case fieldTooLarge(Character)
  /// A field has unused bits at its end that are not zero, or is not valid UTF-8 or not a valid key.
  case badField(Character)
  /// It has no payment hash.
  case noPaymentHash
  /// It does not state its purpose, or states it twice, in clear and as a hash.
  case notOneDescription
  /// It has no payment secret, without which nodes no longer accept payments.
  case noPaymentSecret
  /// The signature is not that of its node, or of any node.
  case badSignature
  /// It requires an unknown feature: the number of the bit.
  case unknownFeature(Int)
  /// It is for another network than the payer's.
  case otherNetwork(Invoice.Network)
  /// It expired at this time, in seconds since 1970.
  case expired(at: Int64)

  /// The end of a sentence: `it is for the network testnet`.
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
