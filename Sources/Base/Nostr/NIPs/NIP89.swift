public import Cryptography

// Programs that handle kinds of events (NIP-89), here the providers of paid jobs (NIP-90): an event of kind 31990 that
// names the kinds of requests that a provider serves. The content is a profile's JSON with some more members, which
// every program writes in its own way; so it is read field by field.

/// What a program says about itself (kind 31990, NIP-89).
///
/// Every text is a stranger's, and nothing is proven: most announced providers no longer exist.
public struct HandlerInformation: Hashable, Sendable {
  /// A parameter of a provider's jobs (`nip90Params`).
  public struct Parameter: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// Whether it is required.
    public let isRequired: Bool
    /// The permitted values; empty: any.
    public let values: [String]

    /// A parameter.
    public init(name: String, isRequired: Bool = false, values: [String] = []) {
      self.name = name
      self.isRequired = isRequired
      self.values = values
    }
  }

  /// The content of a program's announcement.
  public struct Details: Hashable, Sendable {
    /// The program's name.
    public var name: String?
    /// A few sentences.
    public var about: String?
    /// The address of a picture (`picture`, or `image`).
    public var picture: String?
    /// The lightning address (`lud16`).
    public var lightningAddress: String?
    /// The price of a job, for people: some write a number of millisatoshis, others a sentence (`amount`).
    public var price: String?
    /// Whether requests may be encrypted (`encryptionSupported`, or `supportsEncryption`); nil: not stated.
    public var supportsEncryption: Bool?
    /// Whether cashu is accepted as payment (`cashuAccepted`); nil: not stated.
    public var acceptsCashu: Bool?
    /// The parameters of its jobs (`nip90Params`), by name, up to ``HandlerInformation/parameterCountMaximum``.
    public var parameters: [Parameter] = []

    /// Nothing stated.
    public init() {}
  }

  /// The author of the announcement.
  public let author: PublicKey
  /// When it was made, in seconds since 1970.
  public let createdAt: Int64
  /// Which of the author's programs it is (`d`).
  public let identifier: String
  /// The kinds it handles (`k`), each once, in order; for providers those of requests. Up to ``kindCountMaximum``.
  public let kinds: [UInt16]
  /// Topics (`t`).
  public let topics: [String]
  /// Whether it says that it reads NIP-44: a tag or a member `encryption` of the content has `nip44_v2` among its
  /// words, as wallets write it (NIP-47). NIP-90 and NIP-89 have no way to say so.
  public let announcesNIP44: Bool
  /// The parsed content; nil if it is empty, and then the author's profile counts.
  public let details: Details?
  /// Tags `k` that are not a kind, and entries beyond a limit.
  public let droppedCount: Int

  /// The most kinds of a program.
  public static let kindCountMaximum = 256
  /// The most topics of a program.
  public static let topicCountMaximum = 50
  /// The most parameters of a provider.
  public static let parameterCountMaximum = 64
  /// The most values of a parameter.
  public static let valueCountMaximum = 256
  /// The most bytes of a content that are read.
  public static let contentByteCountMaximum = 64 << 10

  /// The kinds of requests among ``kinds``: they make it a provider.
  public var jobKinds: [UInt16] { kinds.filter { EventKind.jobRequests.contains($0) } }

  /// Its address.
  public var address: EventAddress? {
    EventAddress(kind: EventKind.handlerInformation, pubkey: author, identifier: TagValue(identifier))
  }

  /// Reads an announcement. The caller verifies the signature.
  ///
  /// - Throws: `wrongKind`, `contentTooLarge`, or `badContent` if the content is neither empty nor a JSON object.
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

  /// The unsigned announcement of our own provider.
  ///
  /// - Parameters:
  ///   - identifier: which of the author's programs it is; the next announcement with it replaces this one.
  ///   - kinds: of the requests it serves, 5000 to 5999.
  ///   - details: what it says about itself; if it supports encryption, the announcement names NIP-44 and NIP-04, which
  ///     Roost reads.
  ///   - topics: what it is good at.
  ///   - author: the signer: the provider's own key.
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
