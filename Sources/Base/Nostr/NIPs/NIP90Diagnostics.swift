/// Unusual properties of a job's event that can still be used. The raw values are for counters.
public enum JobDiagnostic: String, CaseIterable, Sendable {
  // MARK: Tags

  /// A tag whose name is a relay's address: its name `relays` was lost. Read as relays.
  case tagNamedByRelay = "tag-named-by-relay"
  /// A tag that needs a value but has none, or an empty one; left out.
  case tagWithoutValue = "tag-without-value"
  /// Something beyond a limit of ``JobLimits``; left out.
  case beyondLimit = "beyond-limit"
  /// An invalid relay address; left out.
  case badRelay = "bad-relay"
  /// A tag `p` that is not a key; left out.
  case badKey = "bad-key"
  /// A tag `e` that is not an id; left out.
  case badEventID = "bad-event-id"

  // MARK: Inputs

  /// An input without a type.
  case inputWithoutType = "input-without-type"
  /// An input with a type that the NIP does not define.
  case inputOfUnknownType = "input-of-unknown-type"
  /// An input of type `event` or `job` whose data is not an id.
  case inputIsNoEventID = "input-is-no-event-id"
  /// A parameter with a name only.
  case parameterWithoutValue = "parameter-without-value"

  // MARK: Amounts

  /// An amount or bid whose digits are grouped (`100_000`), or surrounded by blanks.
  case groupedAmount = "grouped-amount"
  /// An amount or bid that is not a number.
  case badAmount = "bad-amount"
  /// The text after an amount is not an invoice, but perhaps a lightning address.
  case amountWithoutInvoice = "amount-without-invoice"
  /// The text after an amount looks like an invoice but is invalid: cut, mistyped, or not signed by the node it names.
  case brokenInvoice = "broken-invoice"
  /// The invoice asks for another amount than the tag.
  case amountContradictsInvoice = "amount-contradicts-invoice"
  /// The invoice asks for a thousand times the amount in the tag: the tag is in satoshis.
  case amountInSatoshis = "amount-in-satoshis"

  // MARK: Status

  /// An unencrypted feedback without a status.
  case statusMissing = "status-missing"
  /// A status in another spelling than the NIP's.
  case statusMisspelled = "status-misspelled"
  /// A status that the NIP does not define.
  case unknownStatus = "unknown-status"
  /// A status on a result, which only feedback has.
  case statusOnResult = "status-on-result"

  // MARK: The request of an answer

  /// An answer that names no request, neither by `e` nor by `request`. It is refused: ``JobFault/namesNoRequest``.
  case answerToNothing = "answer-to-nothing"
  /// An answer that names its request by `request` only.
  case requestWithoutEventTag = "request-without-event-tag"
  /// A tag `request` that is not the JSON of an event.
  case requestIsNoEvent = "request-is-no-event"
  /// A tag `request` whose id is not the hash of the rest.
  case requestHasWrongID = "request-has-wrong-id"
  /// The tags `request` and `e` name different requests.
  case requestContradictsEventTag = "request-contradicts-event-tag"
  /// The result is not of the kind that belongs to the request in `request`.
  case requestContradictsKind = "request-contradicts-kind"
  /// The author of the request in `request` is not the key in `p`.
  case requestContradictsCustomer = "request-contradicts-customer"
  /// An answer that does not name its customer.
  case customerMissing = "customer-missing"

  // MARK: Encryption

  /// An encrypted content, without the tag `encrypted`.
  case encryptedTagMissing = "encrypted-tag-missing"
  /// A tag `encrypted`, but the content is in clear or missing.
  case encryptedTagWithoutCiphertext = "encrypted-tag-without-ciphertext"
  /// An encrypted request that is not addressed to exactly one provider.
  case encryptedForOthers = "encrypted-for-others"
  /// Unencrypted inputs or parameters beside encrypted ones.
  case clearBesideEncrypted = "clear-beside-encrypted"
  /// Encrypted tags other than `i` and `param`. Some libraries hide `relays`, `bid` and `output` there, where no other
  /// provider finds them. Used where the event has none of its own.
  case otherTagsEncrypted = "other-tags-encrypted"
  /// The decrypted content of a request is not a list of tags.
  case decryptedIsNoTagList = "decrypted-is-no-tag-list"
  /// The decrypted content of a feedback is a list of tags, with the payload in one of them.
  case decryptedIsTagList = "decrypted-is-tag-list"
}

/// How often each diagnostic was recorded.
public struct JobDiagnostics: Hashable, Sendable {
  /// The counts; diagnostics that were not recorded are missing.
  public private(set) var counts: [JobDiagnostic: Int]

  /// No diagnostics.
  public init() { counts = [:] }

  /// How often it was recorded.
  public subscript(_ diagnostic: JobDiagnostic) -> Int { counts[diagnostic] ?? 0 }

  /// Whether nothing was recorded.
  public var isEmpty: Bool { counts.isEmpty }

  /// Records one diagnostic.
  public mutating func note(_ diagnostic: JobDiagnostic) { counts[diagnostic, default: 0] += 1 }

  /// Adds the counts of another.
  public mutating func add(_ other: JobDiagnostics) { counts.merge(other.counts, uniquingKeysWith: +) }
}

/// Why an event does not belong to a job. Nothing of such an event is used.
public enum JobFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// An event of another kind.
  case wrongKind(UInt16, expected: ClosedRange<UInt16>)
  /// An answer that names no request: the number of its kind was used for another purpose.
  case namesNoRequest

  /// The diagnostic it counts as; nil for an event that does not belong to a job at all.
  public var diagnostic: JobDiagnostic? { self == .namesNoRequest ? .answerToNothing : nil }

  /// A sentence: `the event names no request, neither by "e" nor by "request"`.
  public var description: String {
    switch self {
    case .wrongKind(let kind, let range) where range.count == 1:
      "an event of kind \(kind) where kind \(range.lowerBound) was expected"
    case .wrongKind(let kind, let range):
      "an event of kind \(kind) where one of \(range.lowerBound) to \(range.upperBound) was expected"
    case .namesNoRequest: "the event names no request, neither by \"e\" nor by \"request\""
    }
  }

  static func expect(_ range: ClosedRange<UInt16>, _ kind: UInt16) throws(JobFault) {
    guard range.contains(kind) else { throw .wrongKind(kind, expected: range) }
  }
}

/// Why a request, a result or a feedback was not written. Reveals nothing of the text to encrypt.
public enum JobDraftFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind is not that of a request, 5000 to 5999.
  case kindOutOfRange(UInt16)
  /// A provider without kinds of jobs that it serves.
  case nothingServed
  /// An input's type is not url, event, job or text.
  case unknownInputType(String)
  /// An input of type event or job needs an event's id, 64 lower-case hexadecimal digits.
  case inputIsNoEventID(type: String)
  /// An input of type url contains blanks.
  case inputIsNoURL
  /// An input without data, which readers would ignore.
  case emptyInput
  /// A parameter has no name or no value.
  case emptyParameter
  /// A bid or an amount is not a whole number of millisatoshis.
  case notAnAmount(String)
  /// An amount above all bitcoin that will exist.
  case amountTooLarge(millisatoshis: Int64)
  /// An encrypted request must be for exactly one provider.
  case encryptedForSeveral(providerCount: Int)
  /// The content must be encrypted, but there is no ciphertext.
  case notEncrypted
  /// A ciphertext for a content that must not be encrypted.
  case encryptedUnasked
  /// The invoice's amount differs from the one beside it; nil: the invoice has none.
  case invoiceContradictsAmount(millisatoshis: Int64, invoice: Int64?)
  /// More of something than ``JobLimits`` allows.
  case tooMany(String, count: Int, maximum: Int)
  /// Something longer than ``JobLimits`` allows.
  case tooLong(String, byteCount: Int, maximum: Int)

  /// A sentence in the user's terms.
  public var description: String {
    switch self {
    case .kindOutOfRange(let kind): "kind \(kind) is not the kind of a job request; these are 5000 to 5999"
    case .nothingServed: "a provider serves one kind of jobs at least"
    case .unknownInputType(let type): "an input's type is url, event, job or text, and not \"\(type)\""
    case .inputIsNoEventID(let type):
      "an input of type \(type) is an event's id, 64 lower-case hexadecimal digits"
    case .inputIsNoURL: "an input of type url is an address without blanks"
    case .emptyInput: "an input is not empty"
    case .emptyParameter: "a parameter has a name and a value"
    case .notAnAmount(let text): "\"\(text)\" is not a whole number of millisatoshis"
    case .amountTooLarge(let amount): "\(amount) millisatoshis are more than there will ever be"
    case .encryptedForSeveral(0): "an encrypted request needs a provider, who alone can read it"
    case .encryptedForSeveral(let count):
      "an encrypted request is for one provider, who alone can read it, and not for \(count)"
    case .notEncrypted: "the content is not encrypted, as it must be here"
    case .encryptedUnasked: "the content is encrypted, and the request is not"
    case .invoiceContradictsAmount(let amount, let invoice?):
      "the invoice asks for \(invoice) millisatoshis, and the amount beside it is \(amount)"
    case .invoiceContradictsAmount(let amount, nil):
      "the invoice asks for no amount, and the amount beside it is \(amount)"
    case .tooMany(let things, let count, let maximum): "\(count) \(things), and at most \(maximum) are allowed"
    case .tooLong(let thing, let count, let maximum):
      "\(thing) has \(count) bytes, and at most \(maximum) are allowed"
    }
  }
}
