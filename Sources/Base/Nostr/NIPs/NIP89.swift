public import Cryptography

// Programs that handle kinds of events (NIP-89), here the providers of paid jobs (NIP-90): an event of kind 31990 that
// says which kinds of requests somebody serves. The content is a profile's JSON with some more members, which every
// program writes in its own way; so it is read field by field.

/// What a program says of itself (kind 31990, NIP-89).
///
/// Every text is a stranger's, and nothing of it is proven: most providers that are announced are gone.
public struct HandlerInformation: Hashable, Sendable {
  /// A parameter that the jobs of a provider take (`nip90Params`).
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Whether it must be given.
    public let isRequired: Bool
    /// The values it may have; empty: any.
    public let values: [String]

    /// A parameter.
    public init(name: String, isRequired: Bool = false, values: [String] = []) {
      self.name = name
      self.isRequired = isRequired
      self.values = values
    }
  }

  /// What a program says in the content.
  public struct Details: Hashable, Sendable {
    /// The program's name.
    public var name: String?
    /// A few sentences.
    public var about: String?
    /// The address of a picture (`picture`, or `image`).
    public var picture: String?
    /// The lightning address (`lud16`).
    public var lightningAddress: String?
    /// What a job costs, for people: some write a number of millisatoshis, others a sentence (`amount`).
    public var price: String?
    /// Whether requests may be encrypted (`encryptionSupported`, or `supportsEncryption`); nil: not said.
    public var supportsEncryption: Bool?
    /// Whether cashu is taken as payment (`cashuAccepted`); nil: not said.
    public var acceptsCashu: Bool?
    /// The parameters its jobs take (`nip90Params`), by name, up to
    /// ``HandlerInformation/parameterCountMaximum``.
    public var parameters: [Parameter] = []

    /// Nothing said.
    public init() {}
  }

  /// Who announces it.
  public let author: PublicKey
  /// When, in seconds since 1970.
  public let createdAt: Int64
  /// Which of the author's programs it is (`d`).
  public let identifier: String
  /// The kinds it handles (`k`), each once, in order; for providers those of requests. Up to ``kindCountMaximum``.
  public let kinds: [UInt16]
  /// Topics (`t`).
  public let topics: [String]
  /// Whether it says that it reads NIP-44: a tag or a member of the content `encryption` that has `nip44_v2` among its
  /// words, as wallets say it (NIP-47). NIP-90 and NIP-89 have no word for it.
  public let announcesNIP44: Bool
  /// What the content says; nil when it is empty, and then the author's profile counts.
  public let details: Details?
  /// Tags `k` that are no kind, and what is beyond a bound.
  public let droppedCount: Int

  /// Most kinds of a program.
  public static let kindCountMaximum = 256
  /// Most topics of a program.
  public static let topicCountMaximum = 50
  /// Most parameters of a provider.
  public static let parameterCountMaximum = 64
  /// Most values of a parameter.
  public static let valueCountMaximum = 256
  /// Most bytes of a content that are looked at.
  public static let contentByteCountMaximum = 64 << 10

  /// The kinds of requests among ``kinds``: what makes it a provider.
  public var jobKinds: [UInt16] { kinds.filter { EventKind.jobRequests.contains($0) } }

  /// Its address.
  public var address: EventAddress? {
    EventAddress(kind: EventKind.handlerInformation, pubkey: author, identifier: TagValue(identifier))
  }

  /// Reads an announcement. Signatures are for the caller.
  ///
  /// - Throws: `wrongKind`, `contentTooLarge`, or `badContent` when a content is there and is no JSON object.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.handlerInformation, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    identifier = event.firstValue(of: "d") ?? ""
    var kinds: [UInt16] = []
    var droppedCount = 0
    for tag in event.tags.named("k") {
      let kind = tag.count > 1 ? plainNumber(tag[1].utf8).flatMap { UInt16(exactly: $0) } : nil
      guard let kind, kinds.count < Self.kindCountMaximum else {
        droppedCount += 1
        continue
      }
      if !kinds.contains(kind) { kinds.append(kind) }
    }
    let topics = event.values(of: "t")
    self.kinds = kinds
    self.topics = Array(topics.prefix(Self.topicCountMaximum))
    self.droppedCount = droppedCount + topics.count - self.topics.count
    let content = try HandlerReader.read(event.content)
    details = content.details
    announcesNIP44 =
      content.announcesNIP44
      || event.tags.named("encryption").contains { tag in
        tag.dropFirst().contains { HandlerReader.namesNIP44($0) }
      }
  }

  /// The announcement of a provider of one's own, to be signed.
  ///
  /// - Parameters:
  ///   - identifier: which of the author's programs it is; the next announcement under it replaces this one.
  ///   - kinds: of the requests it serves, 5000 to 5999.
  ///   - details: what it says of itself; who supports encryption is taken to read NIP-44 and NIP-04, as Roost does.
  ///   - topics: what it is good at.
  ///   - author: who signs: the provider's own key.
  ///   - createdAt: seconds since 1970.
  /// - Throws: `nothingServed`, `kindOutOfRange`, `tooMany`.
  public static func template(
    _ identifier: String, kinds: [UInt16], details: Details, topics: [String] = [], by author: PublicKey,
    createdAt: Int64
  ) throws(JobDraftFault) -> UnsignedEvent {
    guard !kinds.isEmpty else { throw .nothingServed }
    if let kind = kinds.first(where: { !EventKind.jobRequests.contains($0) }) { throw .kindOutOfRange(kind) }
    guard kinds.count <= kindCountMaximum else {
      throw .tooMany("kinds", count: kinds.count, maximum: kindCountMaximum)
    }
    guard topics.count <= topicCountMaximum else {
      throw .tooMany("topics", count: topics.count, maximum: topicCountMaximum)
    }
    guard details.parameters.count <= parameterCountMaximum else {
      throw .tooMany("parameters", count: details.parameters.count, maximum: parameterCountMaximum)
    }
    var tags = [["d", identifier]] + kinds.map { ["k", "\($0)"] } + topics.map { ["t", $0] }
    if details.supportsEncryption == true { tags.append(["encryption", "nip44_v2 nip04"]) }
    return UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: EventKind.handlerInformation, tags: tags,
      content: String(decoding: details.json, as: UTF8.self))
  }
}
