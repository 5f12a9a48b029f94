public import Addresses
public import Cryptography
public import JSON

// What a relay says of itself (NIP-11): a page that each relay's owner and program have put together in their own way.
// Any field may be missing, and many are there in a wrong form: `null`, a number in quotes, an npub for a key. So it is
// read field by field. One that is not what it should be is dropped and complained of; the rest of the page stands.

/// A relay's information document. Every text is a stranger's, not to be shown without making it harmless; and nothing
/// of it is proven.
public struct RelayInformation: Hashable, Sendable {
  /// The relay's name.
  public var name: String?
  /// A few sentences.
  public var description: String?
  /// The address of a wide picture.
  public var banner: String?
  /// The address of a small picture.
  public var icon: String?
  /// Whom to write to.
  public var pubkey: PublicKey?
  /// The relay's own key (`self`).
  public var ownKey: PublicKey?
  /// How else to reach its owner: `mailto:…`.
  public var contact: String?
  /// The NIPs it says it has, in its own order, each once; at most ``nipMaximum``.
  public var supportedNIPs: [Int]?
  /// The address of its program's page.
  public var software: String?
  /// Its program's version.
  public var version: String?
  /// The address of its terms of service.
  public var termsOfService: String?
  /// Where to pay.
  public var paymentsURL: String?
  /// What it bounds.
  public var limitation: Limitation?
  /// What it costs.
  public var fees: Fees?

  /// What a relay bounds. Absent is not known, and not "no bound".
  public struct Limitation: Hashable, Sendable, Encodable {
    /// Most bytes of a message to it.
    public var messageByteCountMaximum: Int?
    /// Most subscriptions of a connection.
    public var subscriptionMaximum: Int?
    /// Longest name of a subscription, in characters.
    public var subscriptionNameLengthMaximum: Int?
    /// Most events it sends for a filter, whatever the filter says.
    public var limitMaximum: Int?
    /// How many it sends for a filter without a limit.
    public var limitDefault: Int?
    /// Most tags of an event.
    public var tagMaximum: Int?
    /// Most characters of an event's content.
    public var contentLengthMaximum: Int?
    /// Least proof of work of an event, in bits (NIP-13).
    public var proofOfWorkMinimum: Int?
    /// Whether nothing is done before one has shown oneself (NIP-42).
    public var requiresAuthentication: Bool?
    /// Whether nothing is done before one has paid.
    public var requiresPayment: Bool?
    /// Whether only some may write.
    public var restrictsWrites: Bool?
    /// How many seconds in the past an event may be from.
    public var pastSecondsMaximum: Int?
    /// How many seconds in the future an event may be from.
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

  /// What a relay costs.
  public struct Fees: Hashable, Sendable, Encodable {
    /// One price.
    public struct Fee: Hashable, Sendable, Encodable {
      /// How much.
      public var amount: Int
      /// Of what: `msats`.
      public var unit: String
      /// For how many seconds.
      public var period: Int?
      /// For events of which kinds.
      public var kinds: [Int]?

      /// A price.
      public init(amount: Int, unit: String, period: Int? = nil, kinds: [Int]? = nil) {
        self.amount = amount
        self.unit = unit
        self.period = period
        self.kinds = kinds
      }
    }
    /// To be let in, once.
    public var admission: [Fee] = []
    /// To stay.
    public var subscription: [Fee] = []
    /// For each event.
    public var publication: [Fee] = []

    /// No price.
    public init() {}
  }

  /// A field that was dropped, and why.
  public struct Complaint: Hashable, Sendable, CustomStringConvertible {
    /// Where it stands: `limitation.max_limit`, `supported_nips`. Names are of this file, never the relay's.
    public let field: String
    /// What had been expected: `a whole number from 0`.
    public let expected: String

    /// `supported_nips is not a list of numbers`.
    public var description: String { "\(field) is not \(expected)" }
  }

  /// Most bytes of a document that are looked at.
  public static let byteCountMaximum = 64 << 10
  /// Most NIPs that are kept.
  public static let nipMaximum = 256
  /// Most prices of each kind that are kept, and most kinds of one.
  public static let feeMaximum = 16

  /// A document that says nothing.
  public init() {}

  /// Reads a document.
  ///
  /// Of a field that stands twice the last one counts; `null` and an empty text are as if they were not there, and so
  /// are fields that are not listed here.
  ///
  /// - Parameter json: up to ``byteCountMaximum``; UTF-8 is not checked, what is none is replaced.
  /// - Returns: the document, and a complaint for each field that was dropped, in their order.
  /// - Throws: when it is no JSON object.
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
  /// Where the relay's information document is: the same address, asked by HTTP.
  public var informationURL: String { "http" + text.dropFirst(2) }
}
