public import Addresses
public import Cryptography

/// What a customer requests, and the price: everything in a request except its author and time (NIP-90).
public struct JobTerms: Hashable, Sendable {
  /// The request's kind, 5000 to 5999, which determines the sort of job.
  public var kind: UInt16
  /// The inputs (`i`).
  public var inputs: [JobInput]
  /// Further details (`param`).
  public var parameters: [JobParameter]
  /// The form of the result (`output`): usually a media type.
  public var output: String?
  /// The highest price (`bid`), in millisatoshis.
  public var bidMillisatoshis: Int64?
  /// Where answers should be published (`relays`). For a provider these are foreign relays, because the customer named
  /// them.
  public var relays: [ForeignRelayURL]
  /// The providers whose answer is wanted (`p`), each once. Others may answer all the same.
  public var providers: [PublicKey]
  /// Topics (`t`).
  public var topics: [String]
  /// Whether only the provider may see inputs and parameters.
  public var isEncrypted: Bool

  /// Terms.
  public init(
    kind: UInt16, inputs: [JobInput] = [], parameters: [JobParameter] = [], output: String? = nil,
    bidMillisatoshis: Int64? = nil, relays: [ForeignRelayURL] = [], providers: [PublicKey] = [], topics: [String] = [],
    isEncrypted: Bool = false
  ) {
    self.kind = kind
    self.inputs = inputs
    self.parameters = parameters
    self.output = output
    self.bidMillisatoshis = bidMillisatoshis
    self.relays = relays
    self.providers = providers
    self.topics = topics
    self.isEncrypted = isEncrypted
  }

  /// The values of the first parameter with this name; nil if it is missing.
  public func values(of parameter: String) -> [String]? {
    parameters.first { $0.name.hasSameBytes(as: parameter) }?.values
  }

  /// The requests whose results this job uses (`i` of type `job`), in order: it waits for them.
  public var precedingJobs: [EventID] { inputs.compactMap { $0.form == .job ? $0.eventID : nil } }

  /// The kind of the results: always 1,000 above the request's.
  public var resultKind: UInt16 { kind + 1_000 }
}

/// A request for a job (kind 5000…5999, NIP-90), by its customer.
///
/// Its description does not reveal the request.
public struct JobRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The event as it was published, and as answers repeat it: it contains nothing decrypted.
  public let event: Event
  /// The terms of the request. For an encrypted request, inputs and parameters are missing until ``decrypted(_:)``.
  public let terms: JobTerms
  /// The content: the encrypted text, or a text that some programs write there; the NIP wants none.
  public let content: JobContent
  /// Its unusual properties.
  public let diagnostics: JobDiagnostics
  /// Whether inputs and parameters are known: the request is in clear, or was decrypted.
  public let isReadable: Bool

  /// Its id.
  public var id: EventID { event.id }
  /// The customer.
  public var customer: PublicKey { event.pubkey }
  /// When it was made, in seconds since 1970 by the customer's clock.
  public var createdAt: Int64 { event.createdAt }

  /// `job request <id>`
  public var description: String { "job request \(id)" }
  /// Nothing: a dump must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Reads a request. The caller verifies the signature.
  ///
  /// - Throws: only `wrongKind`: anything else invalid is left out and recorded.
  public init(_ event: Event) throws(JobFault) {
    try JobFault.expect(EventKind.jobRequests, event.kind)
    var reading = JobTagReading(kind: event.kind)
    reading.read(event.tags)
    let content = reading.content(of: event, hasTag: event.tags.hasTag("encrypted"))
    self.init(event, reading, content)
  }

  init(_ event: Event, _ reading: JobTagReading, _ content: JobContent) {
    var reading = reading
    reading.terms.isEncrypted = content.ciphertext != nil
    if reading.terms.isEncrypted { reading.noteEncryption() }
    self.init(event: event, terms: reading.terms, content: content, diagnostics: reading.diagnostics)
  }

  init(
    event: Event, terms: JobTerms, content: JobContent, diagnostics: JobDiagnostics, isReadable: Bool? = nil
  ) {
    self.event = event
    self.terms = terms
    self.content = content
    self.diagnostics = diagnostics
    self.isReadable = isReadable ?? !terms.isEncrypted
  }

  /// The request with its decrypted content: `[["i",…],["param",…]]`.
  ///
  /// Unencrypted inputs and parameters beside it come first. Other tags count where the event has none of its own, and
  /// are recorded. A text that is not a list of tags is recorded, and results in a request without inputs.
  ///
  /// - Parameter plaintext: JSON, up to ``JobLimits/secretTagsByteCountMaximum``.
  public func decrypted(_ plaintext: String) -> JobRequest {
    guard terms.isEncrypted else { return self }
    var reading = JobTagReading(terms: terms, diagnostics: diagnostics)
    reading.readSecret(plaintext)
    return JobRequest(
      event: event, terms: reading.terms, content: content, diagnostics: reading.diagnostics, isReadable: true)
  }

  /// Whether the request asks this provider for an answer: it names the provider, or no provider at all.
  public func addresses(_ provider: PublicKey) -> Bool {
    terms.providers.isEmpty || terms.providers.contains(provider)
  }

  /// Whether the customer has cancelled it: a request to delete (kind 5), by the same author, that names it. Providers
  /// are not obliged to stop.
  public func isCancelled(by deletion: DeletionRequest) -> Bool {
    deletion.author == customer && deletion.ids.contains(id)
  }

  /// The unsigned event that cancels it, for the customer to sign and to send where the request was sent: kind 5 with
  /// `e` and `k` (NIP-09).
  ///
  /// - Parameters:
  ///   - createdAt: seconds since 1970.
  ///   - reason: for people; may be empty.
  public func cancellation(createdAt: Int64, reason: String = "") -> UnsignedEvent {
    UnsignedEvent(
      pubkey: customer, createdAt: createdAt, kind: EventKind.deletion,
      tags: [["e", id.description], ["k", "\(event.kind)"]], content: reason)
  }
}
