public import Addresses
public import Cryptography

/// What results and feedback have in common: the provider, the request, and the price (NIP-90).
public struct JobAnswer: Hashable, Sendable {
  /// The event's id.
  public let id: EventID
  /// The provider that answers.
  public let provider: PublicKey
  /// When it was made, in seconds since 1970 by the provider's clock.
  public let createdAt: Int64
  /// The event's kind: that of a result, or of feedback.
  public let kind: UInt16
  /// The request that it claims to answer (`e`, or `request` if there is no `e`). ``contradictions(to:)`` checks the
  /// claim.
  public let requestID: EventID
  /// Where the request may be found, according to the provider.
  public let requestRelay: RelayURL?
  /// The request as the provider repeats it (`request`), if it is an event with the right id; its signature was not
  /// checked.
  public let repeatedRequest: Event?
  /// The customer it is for (`p`); nil if it does not say.
  public let customer: PublicKey?
  /// All keys named by `p`, including the customer, up to ``JobLimits/providerCountMaximum``.
  public let recipients: [PublicKey]
  /// The price; nil if none is asked.
  public internal(set) var amount: JobAmount?
  /// The status; nil without one, and for one that the NIP does not define. On a result it has no meaning.
  public internal(set) var status: JobStatus?
  /// The status as written; empty without one.
  public internal(set) var statusText: String
  /// The text after the status, for people; nil without one. A stranger's text.
  public internal(set) var remark: String?
  /// Its unusual properties.
  public internal(set) var diagnostics: JobDiagnostics

  /// Why an event is not an answer to a request.
  public enum Contradiction: Hashable, Sendable {
    /// It names another request.
    case otherRequest(EventID)
    /// It repeats another request than the one it names, or a changed one.
    case otherRepeated(EventID)
    /// It is a result of another kind.
    case otherKind(UInt16)
    /// It is for another customer.
    case otherCustomer(PublicKey)
  }

  /// The reasons why it is not an answer to `request`; empty if nothing contradicts. A missing `request` or `p` is no
  /// reason. ``JobRequest/addresses(_:)`` says whether this provider was asked.
  public func contradictions(to request: JobRequest) -> [Contradiction] {
    var found: [Contradiction] = []
    if requestID != request.id { found.append(.otherRequest(requestID)) }
    if let repeatedRequest, repeatedRequest.id != request.id { found.append(.otherRepeated(repeatedRequest.id)) }
    if kind != EventKind.jobFeedback, kind != request.terms.resultKind { found.append(.otherKind(kind)) }
    if let customer, customer != request.customer, !recipients.contains(request.customer) {
      found.append(.otherCustomer(customer))
    }
    return found
  }
}

/// The result of a job (kind 6000…6999, NIP-90). Its description does not repeat the content.
public struct JobResult: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The provider, the request, and the price.
  public let answer: JobAnswer
  /// The inputs it repeats (`i`).
  public let inputs: [JobInput]
  /// The result; for an encrypted one see ``decrypted(_:)``.
  public let content: JobContent

  /// `result <id>`
  public var description: String { "result \(answer.id)" }
  /// Nothing: a dump must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  init(answer: JobAnswer, inputs: [JobInput], content: JobContent) {
    self.answer = answer
    self.inputs = inputs
    self.content = content
  }

  /// Reads a result. The caller verifies the signature.
  ///
  /// - Throws: `wrongKind`, or `namesNoRequest`: numbers of this range are also used for other purposes.
  public init(_ event: Event) throws(JobFault) {
    try JobFault.expect(EventKind.jobResults, event.kind)
    var reading = JobTagReading(kind: event.kind)
    let content = reading.content(of: event, hasTag: event.tags.hasTag("encrypted"))
    reading.readInputs(event.tags)
    let inputs = reading.terms.inputs
    self.init(answer: try reading.answer(event, content), inputs: inputs, content: content)
  }

  /// The result with its decrypted content.
  public func decrypted(_ plaintext: String) -> JobResult {
    guard content.ciphertext != nil else { return self }
    return JobResult(answer: answer, inputs: inputs, content: plaintext.isEmpty ? .empty : .clear(plaintext))
  }

  /// Whether the result has the form that jobs of its kind require; see ``JobSchema``.
  public var schemaVerdict: JobSchema.Verdict {
    guard case .encrypted = content else { return JobSchema.check(content.text ?? "", kind: answer.kind) }
    return .unknown
  }
}

/// What a provider reports before, or in addition to, its result (kind 7000, NIP-90). Its description does not repeat
/// the content.
public struct JobFeedback: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The provider, the request, and the price; also the status.
  public let answer: JobAnswer
  /// A part of the result, or a text for people; for an encrypted one see ``decrypted(_:)``.
  public let content: JobContent

  /// The status; nil without one, and for one that the NIP does not define.
  public var status: JobStatus? { answer.status }

  /// `feedback <id>`
  public var description: String { "feedback \(answer.id)" }
  /// Nothing: a dump must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  init(answer: JobAnswer, content: JobContent) {
    self.answer = answer
    self.content = content
  }

  /// Reads feedback. The caller verifies the signature.
  ///
  /// - Throws: `wrongKind` or `namesNoRequest`.
  public init(_ event: Event) throws(JobFault) {
    try JobFault.expect(EventKind.jobFeedback...EventKind.jobFeedback, event.kind)
    var reading = JobTagReading(kind: event.kind)
    let content = reading.content(of: event, hasTag: event.tags.hasTag("encrypted"))
    self.init(answer: try reading.answer(event, content), content: content)
  }

  /// The feedback with its decrypted content: the payload, as in NIP-90. One family of programs writes a list of tags
  /// instead, `[["status",…],["amount",…],["content",<payload>]]`; those tags then count where the event has none.
  public func decrypted(_ plaintext: String) -> JobFeedback {
    guard content.ciphertext != nil else { return self }
    return JobTagReading.decrypted(self, plaintext)
  }
}
