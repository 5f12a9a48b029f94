public import Addresses
public import Cryptography
public import JSON

// A relay's description of itself (NIP-11): a page that each relay's owner and program assemble in their own way. Any
// field may be missing, and many have a wrong form: `null`, a number in quotes, an npub for a key. So it is read field
// by field. A wrong field is dropped and reported; the rest of the page is kept.

/// A relay's information document. Every text is a stranger's: make it harmless before showing it. Nothing in it is
/// proven.
public struct RelayInformation: Hashable, Sendable {
  /// The relay's name.
  public var name: String?
  /// A few sentences.
  public var description: String?
  /// The address of a wide picture.
  public var banner: String?
  /// The address of a small picture.
  public var icon: String?
  /// The public key to contact.
  public var pubkey: PublicKey?
  /// The relay's own key (`self`).
  public var ownKey: PublicKey?
  /// Another way to contact its owner: `mailto:…`.
  public var contact: String?
  /// The NIPs it claims to support, in its own order, each once; at most ``nipMaximum``.
  public var supportedNIPs: [Int]?
  /// The address of its program's page.
  public var software: String?
  /// Its program's version.
  public var version: String?
  /// The address of its terms of service.
  public var termsOfService: String?
  /// Where to pay.
  public var paymentsURL: String?
  /// Its limits.
  public var limitation: Limitation?
  /// Its prices.
  public var fees: Fees?

  /// A relay's limits. A missing value means "not known", not "no limit".
  public struct Limitation: Hashable, Sendable, Encodable {
    /// The most bytes of a message to the relay.
    public var messageByteCountMaximum: Int?
    /// The most subscriptions of a connection.
    public var subscriptionMaximum: Int?
    /// Longest id of a subscription, in characters.
    public var subscriptionNameLengthMaximum: Int?
    /// The most events it sends for a filter, whatever the filter says.
    public var limitMaximum: Int?
    /// How many events it sends for a filter without a limit.
    public var limitDefault: Int?
    /// The most tags of an event.
    public var tagMaximum: Int?
    /// The most characters of an event's content.
    public var contentLengthMaximum: Int?
    /// The least proof of work of an event, in bits (NIP-13).
    public var proofOfWorkMinimum: Int?
    /// Whether a client must authenticate before anything else (NIP-42).
    public var requiresAuthentication: Bool?
    /// Whether a client must pay before anything else.
    public var requiresPayment: Bool?
    /// Whether only some authors may write.
    public var restrictsWrites: Bool?
    /// How many seconds in the past the time of an event may be.
    public var pastSecondsMaximum: Int?
    /// How many seconds in the future the time of an event may be.
    public var futureSecondsMaximum: Int?

    /// Nothing known.
    public init() {}

    /// The names of NIP-11.
    private enum CodingKeys: String, CodingKey {
      case messageByteCountMaximum = "max_message_length"
      case subscriptionMaximum = "max_subscriptions"
      case subscriptionNameLengthMaximum = "max_subid_length"
      case limitMaximum = "max_limit"
      case limitDefault = "default_limit"
      case tagMaximum = "max_event_tags"
      case contentLengthMaximum = "max_content_length"
      case proofOfWorkMinimum = "min_pow_difficulty"
      case requiresAuthentication = "auth_required"
      case requiresPayment = "payment_required"
      case restrictsWrites = "restricted_writes"
      case pastSecondsMaximum = "created_at_lower_limit"
      case futureSecondsMaximum = "created_at_upper_limit"
    }
  }

  /// A relay's prices.
  public struct Fees: Hashable, Sendable, Encodable {
    /// One price.
    public struct Fee: Hashable, Sendable, Encodable {
      /// The amount.
      public var amount: Int
      /// The unit of the amount: `msats`.
      public var unit: String
      /// The period in seconds.
      public var period: Int?
      /// The kinds of events it applies to.
      public var kinds: [Int]?

      /// A price.
      public init(amount: Int, unit: String, period: Int? = nil, kinds: [Int]? = nil) {
        self.amount = amount
        self.unit = unit
        self.period = period
        self.kinds = kinds
      }
    }
    /// For admission, once.
    public var admission: [Fee] = []
    /// For continued access.
    public var subscription: [Fee] = []
    /// For each event.
    public var publication: [Fee] = []

    /// No price.
    public init() {}
  }

  /// A field that was dropped, and why.
  public struct Complaint: Hashable, Sendable, CustomStringConvertible {
    /// The place of the field: `limitation.max_limit`, `supported_nips`. Names come from this file, never from the
    /// relay.
    public let field: String
    /// What was expected: `a whole number from 0`.
    public let expected: String

    /// `supported_nips is not a list of numbers`.
    public var description: String { "\(field) is not \(expected)" }
  }

  /// The most bytes of a document that are read.
  public static let byteCountMaximum = 64 << 10
  /// The most NIPs that are kept.
  public static let nipMaximum = 256
  /// The most prices of each kind that are kept, and the most kinds of one price.
  public static let feeMaximum = 16

  /// A document that says nothing.
  public init() {}

  /// Reads a document.
  ///
  /// If a field occurs twice, the last one counts. `null`, an empty text and fields that are not listed here count as
  /// missing.
  ///
  /// - Parameter json: up to ``byteCountMaximum``; UTF-8 is not checked, and invalid parts are replaced.
  /// - Returns: the document, and a complaint for each field that was dropped, in order.
  /// - Throws: if it is not a JSON object.
  public static func read(_ json: [UInt8]) throws(JSONFault) -> (RelayInformation, [Complaint]) {
    let result = json.prefix(byteCountMaximum).withUnsafeBytes { bytes -> Result<InformationReader, JSONFault> in
      do throws(JSONFault) {
        var reader = InformationReader(bytes)
        try reader.read()
        return .success(reader)
      } catch {
        return .failure(error)
      }
    }
    let reader = try result.get()
    return (reader.information, reader.complaints)
  }
}

extension RelayURL {
  /// The address of the relay's information document: the same address, fetched through HTTP.
  public var informationURL: String { "http" + text.dropFirst(2) }
}
