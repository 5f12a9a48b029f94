public import Addresses
internal import Cryptography

// Paid jobs (NIP-90): somebody asks for something to be computed, and programs that earn by it answer.
//
//     request  5000…5999, by the customer    i, param, output, bid, relays, p, t
//     feedback 7000, by a provider           status, amount, e, p; content: nothing, or a part of the result
//     result   6000…6999, by a provider      request, e, i, p, amount; content: what was asked for
//
// With a tag `encrypted`, a request's `i` and `param` stand in its content, and all contents are encrypted.
//
// The NIP was given up by its authors in 2026 (`unrecommended`), and had been read in many ways before. So reading
// takes all forms that were found in real events, and notes each as a ``JobDiagnostic``; and writing gives the NIP's
// own form, or says in a ``JobDraftFault`` what it does not allow. Nothing here decides anything: whether an answer is
// wanted, believed or paid is for the one who keeps the jobs.
//
// Encryption is somebody else's, who has the keys: here are the text to be encrypted, and readers that take the text
// that was decrypted.

/// Bounds of what is read and written of a job. What goes beyond them is left out in reading, with a diagnostic, and
/// refused in writing.
public enum JobLimits {
  /// Most inputs of a request.
  public static let inputCountMaximum = 64
  /// Most parameters of a request.
  public static let parameterCountMaximum = 128
  /// Most values of one parameter.
  public static let valueCountMaximum = 64
  /// Most relays named by a request.
  public static let relayCountMaximum = 20
  /// Most providers a request is addressed to.
  public static let providerCountMaximum = 50
  /// Most topics of a request.
  public static let topicCountMaximum = 50
  /// Longest data of an input, in bytes of UTF-8.
  public static let inputByteCountMaximum = 256 << 10
  /// Longest name or value of a parameter, in bytes.
  public static let parameterByteCountMaximum = 64 << 10
  /// Longest type, marker, output format, topic and the like, in bytes.
  public static let wordByteCountMaximum = 512
  /// Longest text beside a status, in bytes.
  public static let remarkByteCountMaximum = 4_096
  /// Most bytes of the tags that an encrypted request or feedback holds, in clear.
  public static let secretTagsByteCountMaximum = NIP44.plaintextByteCountMaximum
  /// Longest request that an answer repeats in its tag `request`, in bytes of JSON. A longer one is named by `e` alone.
  public static let requestTagByteCountMaximum = 256 << 10
  /// Most tags `e` of an answer that are looked at.
  public static let referenceCountMaximum = 100
}

/// What a job works on: a tag `i`.
///
/// `["i", <data>, <type>, <relay>, <marker>]`
public struct JobInput: Hashable, Sendable {
  /// How the data is to be taken.
  public enum Form: String, CaseIterable, Sendable {
    /// The address of what is to be fetched.
    case url
    /// The id of an event.
    case event
    /// The id of another request, whose result it is.
    case job
    /// The data itself.
    case text
  }

  /// The data, up to ``JobLimits/inputByteCountMaximum``.
  public let data: String
  /// The type as it stands there; empty when none does. Only the names of ``Form`` may be written.
  public let type: String
  /// Where the event or job is.
  public let relay: RelayURL?
  /// What part it has in the job.
  public let marker: String?

  /// An input of a type that the NIP has.
  public init(_ data: String, _ form: Form, relay: RelayURL? = nil, marker: String? = nil) {
    self.init(data, type: form.rawValue, relay: relay, marker: marker)
  }

  /// An input of any type, as somebody typed it. An unknown one is refused when the request is written.
  public init(_ data: String, type: String, relay: RelayURL? = nil, marker: String? = nil) {
    self.data = data
    self.type = type
    self.relay = relay
    self.marker = marker?.isEmpty == false ? marker : nil
  }

  /// The type; nil when there is none, or one that the NIP does not have (`prompt`).
  public var form: Form? { Form(rawValue: type) }

  /// The event or request that an input of type `event` or `job` names; nil for others, and when the data is no id.
  public var eventID: EventID? { form == .event || form == .job ? EventID(data) : nil }
}

/// What more there is to say of a job: a tag `param`.
///
/// `["param", <name>, <value>…]`
public struct JobParameter: Hashable, Sendable {
  /// Its name, not empty.
  public let name: String
  /// Its values: one nearly always, none in some programs' requests.
  public let values: [String]

  /// A parameter.
  public init(_ name: String, _ values: [String]) {
    self.name = name
    self.values = values
  }

  /// A parameter of one value.
  public init(_ name: String, _ value: String) { self.init(name, [value]) }
}

/// What a provider says of a job before its result: the first value of a tag `status`.
public enum JobStatus: String, CaseIterable, Sendable {
  /// Nothing more happens until it is paid.
  case paymentRequired = "payment-required"
  /// It is being worked on.
  case processing
  /// It could not be done.
  case error
  /// It is done.
  case success
  /// It is done in part; the content may hold the part.
  case partial

  /// The status that a text means: the five of the NIP, also in other spellings (`payment_required`,
  /// `PaymentRequired`), and `scheduled`, which some libraries say for `processing`. Nil for any other.
  ///
  /// Whether the text is the NIP's own is told by comparing it with `rawValue`.
  public init?(reading text: String) {
    guard text.utf8.count <= JobLimits.wordByteCountMaximum else { return nil }
    let letters = text.utf8.filter { ($0 | 0x20) &- 0x61 < 26 }.map { $0 | 0x20 }
    switch String(decoding: letters, as: UTF8.self) {
    case "paymentrequired": self = .paymentRequired
    case "processing", "scheduled", "chainscheduled": self = .processing
    case "error": self = .error
    case "success": self = .success
    case "partial": self = .partial
    default: return nil
    }
  }
}

/// In which way a text is encrypted, told by its form alone.
///
/// NIP-90 wants NIP-04, and newer programs write NIP-44; nothing in the event says which.
public enum EncryptedForm: String, CaseIterable, Sendable {
  /// `<Base64>?iv=<Base64 of 16 bytes>`
  case nip04
  /// Base64 whose first byte is the version, 2.
  case nip44

  /// The form of a text; nil when it is neither.
  public init?(of text: String) {
    if NIP04.hasForm(text) {
      self = .nip04
    } else if NIP44.hasForm(text) {
      self = .nip44
    } else {
      return nil
    }
  }
}

/// The content of a request, a result or a feedback. Its description does not repeat it.
public enum JobContent: Hashable, Sendable {
  /// There is none.
  case empty
  /// It can be read by everybody, or was decrypted.
  case clear(String)
  /// It is for the customer or the provider only.
  case encrypted(String, EncryptedForm)

  /// The text in clear; nil when there is none or it is encrypted.
  public var text: String? {
    if case .clear(let text) = self { text } else { nil }
  }

  /// What is to be decrypted; nil when nothing is.
  public var ciphertext: String? {
    if case .encrypted(let text, _) = self { text } else { nil }
  }
}

extension JobContent: CustomStringConvertible, CustomReflectable {
  /// `a content of 12 bytes`
  public var description: String {
    switch self {
    case .empty: "no content"
    case .clear(let text): "a content of \(text.utf8.count) bytes"
    case .encrypted(let text, let form): "a content of \(text.utf8.count) bytes, encrypted by \(form)"
    }
  }

  /// Nothing: dumping must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
