public import Cryptography

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
  public func obstacle(on network: Network = .bitcoin, at now: Int64) -> InvoiceFault? { nil }

  /// Reads an invoice and verifies its signature. About 60 µs.
  ///
  /// - Parameter text: in one case, with or without `lightning:` in front.
  public init(_ text: String) throws(InvoiceFault) { throw .notAnInvoice }

  /// Whether a text begins as an invoice does. It need not be one.
  public static func isSuggested(by text: String) -> Bool { text.lowercased().hasPrefix("lnbc") }
}

/// Why a text is no invoice, or an invoice must not be paid (BOLT-11). Does not repeat it.
public enum InvoiceFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// It does not begin with `ln`.
  case notAnInvoice
  /// Its spelling is broken.
  case notBech32(Bech32Fault)
  /// It is for a network that is not known: what stands in the network's place.
  case unknownNetwork(String)
  /// Its amount is no number with a multiplier of m, u, n and p.
  case badAmount
  /// Its amount has a fraction of a millisatoshi.
  case fractionalAmount
  /// Its amount is above all bitcoin there will be.
  case amountTooLarge
  /// It has too few characters for a time and a signature.
  case tooShort
  /// A field says that it is longer than what is left.
  case fieldTooLong(Character)
  /// A field that has one length has another.
  case fieldOfWrongLength(Character)
  /// A field that may stand once stands twice.
  case repeatedField(Character)
  /// A field begins with zeros.
  case fieldWithLeadingZeros(Character)
  /// A field is no number that can stand there.
  case fieldTooLarge(Character)
  /// A field holds bits at its end that belong to nothing, or no UTF-8.
  case badField(Character)
  /// There is no hash of the payment.
  case noPaymentHash
  /// It does not say what it is for, or says it twice, in clear and as a hash.
  case notOneDescription
  /// It has no secret, without which no node is paid any more.
  case noPaymentSecret
  /// The signature is not that of its node.
  case badSignature
  /// It wants a feature that is not known: the bit's number.
  case unknownFeature(Int)
  /// It is for another network than the payer's.
  case otherNetwork(Invoice.Network)
  /// It was good until then, in seconds since 1970.
  case expired(at: Int64)

  /// A sentence's end.
  public var description: String { "it is no invoice" }
}
