public import Addresses
public import Cryptography

/// A follow list: the authors that one author follows (kind 3, NIP-02).
public struct FollowList: Hashable, Sendable {
  /// One followed author.
  public struct Follow: Hashable, Sendable {
    /// The followed author.
    public let pubkey: PublicKey
    /// Where the followed author's events may be, according to the follower.
    public let relay: RelayURL?
    /// The follower's name for the followed author.
    public let petname: String?

    /// A follow. An empty name counts as no name.
    public init(pubkey: PublicKey, relay: RelayURL? = nil, petname: String? = nil) {
      self.pubkey = pubkey
      self.relay = relay
      self.petname = petname?.isEmpty == false ? petname : nil
    }
  }

  /// The follower.
  public let author: PublicKey
  /// When it was published: of two lists only the newer one counts.
  public let createdAt: Int64
  /// All followed authors, each once, in the order of the list.
  public let follows: [Follow]
  /// Tags `p` that were left out: not a key, or repeated.
  public let droppedCount: Int

  /// The most follows that are read. Lists of some thousands exist. Publishing a truncated list would lose the rest, so
  /// the limit is above what fits into an event.
  public static let countMaximum = 16_384

  /// Reads a list. The caller verifies the signature.
  public init(_ event: Event) throws(KindFault) {
    try KindFault.expect(EventKind.follows, of: event.kind)
    author = event.pubkey
    createdAt = event.createdAt
    var follows: [Follow] = []
    var seen: Set<PublicKey> = []
    var droppedCount = 0
    for tag in event.tags.named("p") {
      guard tag.count > 1, let key = PublicKey(tag[1]), follows.count < Self.countMaximum, seen.insert(key).inserted
      else {
        droppedCount += 1
        continue
      }
      let relay = tag.count > 2 ? RelayURL(reading: tag[2]) : nil
      follows.append(Follow(pubkey: key, relay: relay, petname: tag.count > 3 ? tag[3] : nil))
    }
    self.follows = follows
    self.droppedCount = droppedCount
  }

  /// The unsigned event that publishes `follows`. It replaces the whole list: build it only from the newest list.
  ///
  /// - Parameters:
  ///   - createdAt: seconds since 1970.
  ///   - follows: the followed authors, in the order of the list.
  ///   - author: the owner of the list.
  ///   - content: the content of the previous list; some clients keep data in it.
  public static func template(
    _ follows: [Follow], by author: PublicKey, createdAt: Int64, content: String = ""
  ) -> UnsignedEvent {
    let tags = follows.map { follow -> [String] in
      var tag = ["p", follow.pubkey.description]
      if follow.relay != nil || follow.petname != nil { tag.append(follow.relay?.text ?? "") }
      if let petname = follow.petname { tag.append(petname) }
      return tag
    }
    return UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: EventKind.follows, tags: tags, content: content)
  }
}
