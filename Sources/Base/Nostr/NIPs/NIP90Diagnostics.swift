/// What is unusual about a job's event that can be used all the same. The raw values are for counters.
public enum JobDiagnostic: String, CaseIterable, Sendable {
  // MARK: Tags

  /// A tag whose name is a relay's address: its `relays` was lost. Taken as relays.
  case tagNamedByRelay = "tag-named-by-relay"
  /// A tag that needs a value and has none, or an empty one; left out.
  case tagWithoutValue = "tag-without-value"
  /// Something beyond the bounds of ``JobLimits``; left out.
  case beyondLimit = "beyond-limit"
  /// A relay's address that is none; left out.
  case badRelay = "bad-relay"
  /// A tag `p` that is no key; left out.
  case badKey = "bad-key"
  /// A tag `e` that is no id; left out.
  case badEventID = "bad-event-id"

  // MARK: Inputs

  /// An input without a type.
  case inputWithoutType = "input-without-type"
  /// An input of a type that the NIP does not have.
  case inputOfUnknownType = "input-of-unknown-type"
  /// An input of type `event` or `job` whose data is no id.
  case inputIsNoEventID = "input-is-no-event-id"
  /// A parameter with a name only.
  case parameterWithoutValue = "parameter-without-value"

  // MARK: Amounts

  /// An amount or bid whose digits are grouped (`100_000`), or have blanks around them.
  case groupedAmount = "grouped-amount"
  /// An amount or bid that is no number.
  case badAmount = "bad-amount"
  /// What stands beside an amount is no invoice, but perhaps a lightning address.
  case amountWithoutInvoice = "amount-without-invoice"
  /// What stands beside an amount looks like an invoice and is none: cut, mistyped, or not signed by who it says.
  case brokenInvoice = "broken-invoice"
  /// The invoice asks for another amount than the tag.
  case amountContradictsInvoice = "amount-contradicts-invoice"
  /// The invoice asks for a thousand times what the tag says: somebody wrote satoshis.
  case amountInSatoshis = "amount-in-satoshis"

  // MARK: Status

  /// A feedback in clear without a status.
  case statusMissing = "status-missing"
  /// A status in another spelling than the NIP's.
  case statusMisspelled = "status-misspelled"
  /// A status that the NIP does not have.
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
  /// The result is not of the kind that the request in `request` asks for.
  case requestContradictsKind = "request-contradicts-kind"
  /// The author of the request in `request` is not the one that `p` names.
  case requestContradictsCustomer = "request-contradicts-customer"
  /// An answer that does not say for whom it is.
  case customerMissing = "customer-missing"

  // MARK: Encryption

  /// A content that is encrypted, without a tag that says so.
  case encryptedTagMissing = "encrypted-tag-missing"
  /// A tag `encrypted`, and the content is in clear or missing.
  case encryptedTagWithoutCiphertext = "encrypted-tag-without-ciphertext"
  /// An encrypted request that is not addressed to exactly one provider.
  case encryptedForOthers = "encrypted-for-others"
  /// Inputs or parameters in clear beside encrypted ones.
  case clearBesideEncrypted = "clear-beside-encrypted"
  /// Encrypted tags other than `i` and `param`. Some libraries hide `relays`, `bid` and `output` there, where no other
  /// provider finds them. Taken where the event has none of its own.
  case otherTagsEncrypted = "other-tags-encrypted"
  /// What was decrypted of a request is no list of tags.
  case decryptedIsNoTagList = "decrypted-is-no-tag-list"
  /// What was decrypted of a feedback is a list of tags, with the payload in one of them.
  case decryptedIsTagList = "decrypted-is-tag-list"
}

/// How often each diagnostic was noted.
public struct JobDiagnostics: Hashable, Sendable {
  /// The counts; what was not noted is not there.
  public private(set) var counts: [JobDiagnostic: Int]

  /// None.
  public init() { counts = [:] }

  /// How often; 0 for what was not noted.
  public subscript(_ diagnostic: JobDiagnostic) -> Int { counts[diagnostic] ?? 0 }

  /// Whether nothing was noted.
  public var isEmpty: Bool { counts.isEmpty }

  /// Notes one.
  public mutating func note(_ diagnostic: JobDiagnostic) { counts[diagnostic, default: 0] += 1 }

  /// Adds what was noted elsewhere.
  public mutating func add(_ other: JobDiagnostics) { counts.merge(other.counts, uniquingKeysWith: +) }
}

/// Why an event is not a job's. Nothing of such an event is used.
public enum JobFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// An event of another kind.
  case wrongKind(UInt16, expected: ClosedRange<UInt16>)
  /// An answer that names no request: the number of the kind was taken for something else.
  case namesNoRequest

  /// What it counts as; nil for what is no job's event at all.
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

/// Why a request, a result or a feedback was not written. Says nothing of what is to be encrypted.
public enum JobDraftFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind is none of a request's, 5000 to 5999.
  case kindOutOfRange(UInt16)
  /// A provider that serves no kind of jobs.
  case nothingServed
  /// An input's type is none of url, event, job and text.
  case unknownInputType(String)
  /// An input of type event or job needs an event's id, 64 lower-case hexadecimal digits.
  case inputIsNoEventID(type: String)
  /// An input of type url has blanks in it.
  case inputIsNoURL
  /// An input without data, which readers would not see.
  case emptyInput
  /// A parameter has no name or no value.
  case emptyParameter
  /// A bid or an amount is no whole number of millisatoshis.
  case notAnAmount(String)
  /// An amount above all bitcoin there will be.
  case amountTooLarge(millisatoshis: Int64)
  /// An encrypted request is for exactly one provider.
  case encryptedForSeveral(providerCount: Int)
  /// What is written is to be encrypted, and there is no ciphertext.
  case notEncrypted
  /// A ciphertext for something that is not encrypted.
  case encryptedUnasked
  /// The invoice asks for another amount than the one beside it; nil: for none.
  case invoiceContradictsAmount(millisatoshis: Int64, invoice: Int64?)
  /// More of something than ``JobLimits`` allows.
  case tooMany(String, count: Int, maximum: Int)
  /// Something longer than ``JobLimits`` allows.
  case tooLong(String, byteCount: Int, maximum: Int)

  /// A sentence in the user's terms.
  public var description: String {
    switch self {
    case .kindOutOfRange(let kind): "kind \(kind) is none of a job request's, which are 5000 to 5999"
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
