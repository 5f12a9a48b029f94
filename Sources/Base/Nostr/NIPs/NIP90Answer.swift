public import Addresses
public import Cryptography

/// What results and feedback have in common: by whom, to which request, and for how much (NIP-90).
public struct JobAnswer: Hashable, Sendable {
  /// The event's id.
  public let id: EventID
  /// Who answers.
  public let provider: PublicKey
  /// When, in seconds since 1970 by the provider's clock.
  public let createdAt: Int64
  /// The event's kind: of a result, or feedback.
  public let kind: UInt16
  /// The request it says it answers (`e`, or `request` when there is no `e`). Whether that is so:
  /// ``contradictions(to:)``.
  public let requestID: EventID
  /// Where the request may be found, as the provider thinks.
  public let requestRelay: RelayURL?
  /// The request as the provider repeats it (`request`), when it is an event whose id is right; its signature was not
  /// looked at.
  public let repeatedRequest: Event?
  /// For whom it is (`p`); nil when it does not say.
  public let customer: PublicKey?
  /// Everybody named by `p`, the customer among them, up to ``JobLimits/providerCountMaximum``.
  public let recipients: [PublicKey]
  /// What is to be paid; nil when nothing is asked for.
  public internal(set) var amount: JobAmount?
  /// The status; nil without one, and for one that the NIP does not have. On a result it says nothing that counts.
  public internal(set) var status: JobStatus?
  /// The status as it stands there; empty without one.
  public internal(set) var statusText: String
  /// What stands beside the status, for people; nil when nothing does. A stranger's text.
  public internal(set) var remark: String?
  /// What is unusual about it.
  public internal(set) var diagnostics: JobDiagnostics

  /// Why an answer is none to a request.
  public enum Contradiction: Hashable, Sendable {
    /// It names another request.
    case otherRequest(EventID)
    /// It repeats another request than the one it names, or in other words.
    case otherRepeated(EventID)
    /// It is a result of another kind.
    case otherKind(UInt16)
    /// It is for somebody else.
    case otherCustomer(PublicKey)
  }

  /// What speaks against its being an answer to `request`; empty when nothing does. A missing `request` or `p` does
  /// not. Whether the provider was asked at all is told by ``JobRequest/addresses(_:)``.
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

/// The result of a job (kind 6000…6999, NIP-90). Its description does not repeat it.
public struct JobResult: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// By whom, to which request, and for how much.
  public let answer: JobAnswer
  /// The inputs it repeats (`i`).
  public let inputs: [JobInput]
  /// The result; ``decrypted(_:)`` for one that is encrypted.
  public let content: JobContent

  /// `result <id>`
  public var description: String { "result \(answer.id)" }
  /// Nothing: dumping must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  init(answer: JobAnswer, inputs: [JobInput], content: JobContent) {
    self.answer = answer
    self.inputs = inputs
    self.content = content
  }

  /// Reads a result. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind`, or `namesNoRequest`: numbers of this range are also used for other things.
  public init(_ event: Event) throws(JobFault) {
    try JobFault.expect(EventKind.jobResults, event.kind)
    var reading = JobTagReading(kind: event.kind)
    let content = reading.content(of: event, hasTag: event.tags.hasTag("encrypted"))
    reading.readInputs(event.tags)
    let inputs = reading.terms.inputs
    self.init(answer: try reading.answer(event, content), inputs: inputs, content: content)
  }

  /// The result as somebody decrypted it.
  public func decrypted(_ plaintext: String) -> JobResult {
    guard content.ciphertext != nil else { return self }
    return JobResult(answer: answer, inputs: inputs, content: plaintext.isEmpty ? .empty : .clear(plaintext))
  }

  /// Whether the result has the form that jobs of its kind promise; see ``JobSchema``.
  public var schemaVerdict: JobSchema.Verdict {
    guard case .encrypted = content else { return JobSchema.check(content.text ?? "", kind: answer.kind) }
    return .unknown
  }
}

/// What a provider says before, or beside, its result (kind 7000, NIP-90). Its description does not repeat the content.
public struct JobFeedback: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// By whom, to which request, and for how much; the status as well.
  public let answer: JobAnswer
  /// A part of the result, or a text for people; ``decrypted(_:)`` for one that is encrypted.
  public let content: JobContent

  /// The status; nil without one, and for one that the NIP does not have.
  public var status: JobStatus? { answer.status }

  /// `feedback <id>`
  public var description: String { "feedback \(answer.id)" }
  /// Nothing: dumping must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  init(answer: JobAnswer, content: JobContent) {
    self.answer = answer
    self.content = content
  }

  /// Reads feedback. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind` or `namesNoRequest`.
  public init(_ event: Event) throws(JobFault) {
    try JobFault.expect(EventKind.jobFeedback...EventKind.jobFeedback, event.kind)
    var reading = JobTagReading(kind: event.kind)
    let content = reading.content(of: event, hasTag: event.tags.hasTag("encrypted"))
    self.init(answer: try reading.answer(event, content), content: content)
  }

  /// The feedback as somebody decrypted it: the payload, as NIP-90 has it, or, as one program family writes it, a list
  /// of tags, `[["status",…],["amount",…],["content",<payload>]]`, which are then taken where the event has none.
  public func decrypted(_ plaintext: String) -> JobFeedback {
    guard content.ciphertext != nil else { return self }
    return JobTagReading.decrypted(self, plaintext)
  }
}
