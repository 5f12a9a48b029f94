public import Addresses
internal import Cryptography

// Paid jobs (NIP-90): a customer requests a computation, and programs that earn money with it answer.
//
//     request  5000…5999, by the customer    i, param, output, bid, relays, p, t
//     feedback 7000, by a provider           status, amount, e, p; content: nothing, or a part of the result
//     result   6000…6999, by a provider      request, e, i, p, amount; content: the result
//
// With a tag `encrypted`, a request's `i` and `param` are in its content, and all contents are encrypted.
//
// The NIP's authors abandoned it in 2026 (`unrecommended`), and programs had interpreted it in many ways before. So the
// reader accepts all forms that were found in real events, and records each as a ``JobDiagnostic``. The writer produces
// the NIP's own form, or explains in a ``JobDraftFault`` what the NIP does not allow. Nothing here decides whether an
// answer is wanted, believed or paid; the code that keeps the jobs does.
//
// Encryption is elsewhere, with the keys: this code produces the text to encrypt, and its readers take the decrypted
// text.

/// Limits for reading and writing jobs. Anything beyond them is left out in reading, with a diagnostic, and refused in
/// writing.
public enum JobLimits {
  /// The most inputs of a request.
  public static let inputCountMaximum = 64
  /// The most parameters of a request.
  public static let parameterCountMaximum = 128
  /// The most values of one parameter.
  public static let valueCountMaximum = 64
  /// The most relays named by a request.
  public static let relayCountMaximum = 20
  /// The most providers a request is addressed to.
  public static let providerCountMaximum = 50
  /// The most topics of a request.
  public static let topicCountMaximum = 50
  /// Longest data of an input, in bytes of UTF-8.
  public static let inputByteCountMaximum = 256 << 10
  /// Longest name or value of a parameter, in bytes.
  public static let parameterByteCountMaximum = 64 << 10
  /// Longest type, marker, output format, topic and the like, in bytes.
  public static let wordByteCountMaximum = 512
  /// Longest text beside a status, in bytes.
  public static let remarkByteCountMaximum = 4_096
  /// The most bytes of the tags inside an encrypted request or feedback, in clear.
  public static let secretTagsByteCountMaximum = NIP44.plaintextByteCountMaximum
  /// Longest request that an answer repeats in its tag `request`, in bytes of JSON. A longer one is named only by `e`.
  public static let requestTagByteCountMaximum = 256 << 10
  /// The most tags `e` of an answer that are read.
  public static let referenceCountMaximum = 100
}

/// An input of a job: a tag `i`.
///
/// `["i", <data>, <type>, <relay>, <marker>]`
public struct JobInput: Hashable, Sendable {
  /// The meaning of the data.
  public enum Form: String, CaseIterable, Sendable {
    /// The address of the data to fetch.
    case url
    /// The id of an event.
    case event
    /// The id of another request, whose result is the data.
    case job
    /// The data itself.
    case text
  }

  /// The data, up to ``JobLimits/inputByteCountMaximum``.
  public let data: String
  /// The type as written; empty if it is missing. Only the names of ``Form`` may be written.
  public let type: String
  /// Where the event or job may be found.
  public let relay: RelayURL?
  /// The role of the input in the job.
  public let marker: String?

  /// An input with a type that the NIP defines.
  public init(_ data: String, _ form: Form, relay: RelayURL? = nil, marker: String? = nil) {
    self.init(data, type: form.rawValue, relay: relay, marker: marker)
  }

  /// An input with any type that a person typed. An unknown one is refused when the request is written.
  public init(_ data: String, type: String, relay: RelayURL? = nil, marker: String? = nil) {
    self.data = data
    self.type = type
    self.relay = relay
    self.marker = marker?.isEmpty == false ? marker : nil
  }

  /// The type; nil if it is missing, or not defined by the NIP (`prompt`).
  public var form: Form? { Form(rawValue: type) }

  /// The event or request that an input of type `event` or `job` names; nil for others, and if the data is not an id.
  public var eventID: EventID? { form == .event || form == .job ? EventID(data) : nil }
}

/// A further detail of a job: a tag `param`.
///
/// `["param", <name>, <value>…]`
public struct JobParameter: Hashable, Sendable {
  /// Its name, not empty.
  public let name: String
  /// Its values: nearly always one; some programs' requests have none.
  public let values: [String]

  /// A parameter.
  public init(_ name: String, _ values: [String]) {
    self.name = name
    self.values = values
  }

  /// A parameter with one value.
  public init(_ name: String, _ value: String) { self.init(name, [value]) }
}

/// What a provider reports before the result of a job: the first value of a tag `status`.
public enum JobStatus: String, CaseIterable, Sendable {
  /// The provider waits for payment.
  case paymentRequired = "payment-required"
  /// The provider is working on it.
  case processing
  /// The job failed.
  case error
  /// The job is done.
  case success
  /// The job is partly done; the content may contain that part.
  case partial

  /// The status that a text means: one of the five of the NIP, also in other spellings (`payment_required`,
  /// `PaymentRequired`), or `scheduled`, which some libraries write for `processing`. Nil for any other.
  ///
  /// To find out whether the text is the NIP's own, compare it with `rawValue`.
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

/// How a text is encrypted, judged by its form alone.
///
/// NIP-90 requires NIP-04, and newer programs write NIP-44; nothing in the event says which.
public enum EncryptedForm: String, CaseIterable, Sendable {
  /// `<Base64>?iv=<Base64 of 16 bytes>`
  case nip04
  /// Base64 whose first byte is the version, 2.
  case nip44

  /// The form of a text; nil if it has neither.
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
  /// No content.
  case empty
  /// Anyone can read it, or it was decrypted.
  case clear(String)
  /// Only the customer or the provider can read it.
  case encrypted(String, EncryptedForm)

  /// The text in clear; nil if it is empty or encrypted.
  public var text: String? {
    if case .clear(let text) = self { text } else { nil }
  }

  /// The text to decrypt; nil if nothing is encrypted.
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

  /// Nothing: a dump must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
