public import Addresses
public import Cryptography

/// What a customer wants done, and for how much: all that a request says besides by whom and when (NIP-90).
public struct JobTerms: Hashable, Sendable {
  /// The request's kind, 5000 to 5999, which says what sort of job it is.
  public var kind: UInt16
  /// What it works on (`i`).
  public var inputs: [JobInput]
  /// What more there is to say (`param`).
  public var parameters: [JobParameter]
  /// The form of the result (`output`): a media type, mostly.
  public var output: String?
  /// The most that is paid (`bid`), in millisatoshis.
  public var bidMillisatoshis: Int64?
  /// Where answers are to be published (`relays`): whoever answers is told so by somebody else.
  public var relays: [ForeignRelayURL]
  /// Whose answer is wanted (`p`), each once. Others may answer all the same.
  public var providers: [PublicKey]
  /// Topics (`t`).
  public var topics: [String]
  /// Whether inputs and parameters are for the provider's eyes only.
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

  /// The values of the first parameter of this name; nil when there is none.
  public func values(of parameter: String) -> [String]? {
    parameters.first { $0.name.hasSameBytes(as: parameter) }?.values
  }

  /// The requests whose results this job works on (`i` of type `job`), in order: what it waits for.
  public var precedingJobs: [EventID] { inputs.compactMap { $0.form == .job ? $0.eventID : nil } }

  /// The kind of the results: always 1,000 above the request's.
  public var resultKind: UInt16 { kind + 1_000 }
}

/// A request for a job (kind 5000…5999, NIP-90), by its customer.
///
/// Its description does not say what was asked for.
public struct JobRequest: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  /// The event as it was published, and as answers repeat it: nothing that was decrypted is in it.
  public let event: Event
  /// What is asked for. Of an encrypted request it is without inputs and parameters until ``decrypted(_:)``.
  public let terms: JobTerms
  /// The content: what is encrypted, or a text that some programs put there; the NIP wants none.
  public let content: JobContent
  /// What is unusual about it.
  public let diagnostics: JobDiagnostics
  /// Whether inputs and parameters are there: the request is in clear, or was decrypted.
  public let isReadable: Bool

  /// Its id.
  public var id: EventID { event.id }
  /// Who asks.
  public var customer: PublicKey { event.pubkey }
  /// When, in seconds since 1970 by the customer's clock.
  public var createdAt: Int64 { event.createdAt }

  /// `job request <id>`
  public var description: String { "job request \(id)" }
  /// Nothing: dumping must not show more than the description does.
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// Reads a request. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind` only: all else is left out and noted.
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

  /// The request with what its content holds, as somebody decrypted it: `[["i",…],["param",…]]`.
  ///
  /// Inputs and parameters in clear beside it come first. Other tags are taken where the event has none of its own, and
  /// noted. A text that is no list of tags is noted, and gives a request without inputs.
  ///
  /// - Parameter plaintext: JSON, up to ``JobLimits/secretTagsByteCountMaximum``.
  public func decrypted(_ plaintext: String) -> JobRequest {
    guard terms.isEncrypted else { return self }
    var reading = JobTagReading(terms: terms, diagnostics: diagnostics)
    reading.readSecret(plaintext)
    return JobRequest(
      event: event, terms: reading.terms, content: content, diagnostics: reading.diagnostics, isReadable: true)
  }

  /// Whether an answer of this provider was asked for: it is among those named, or nobody is.
  public func addresses(_ provider: PublicKey) -> Bool {
    terms.providers.isEmpty || terms.providers.contains(provider)
  }

  /// Whether the customer has taken it back: a request to delete (kind 5), by the same author, that names it. Providers
  /// are not obliged to stop.
  public func isCancelled(by deletion: DeletionRequest) -> Bool {
    deletion.author == customer && deletion.ids.contains(id)
  }

  /// The event that takes it back, to be signed by the customer and sent where the request was: kind 5 with `e` and `k`
  /// (NIP-09).
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
