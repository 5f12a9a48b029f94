public import Addresses
public import Cryptography

/// Whom somebody follows (kind 3, NIP-02).
public struct FollowList: Hashable, Sendable {
  /// One followed.
  public struct Follow: Hashable, Sendable {
    /// Who.
    public let pubkey: PublicKey
    /// Where their events may be found, as the follower thinks.
    public let relay: RelayURL?
    /// What the follower calls them.
    public let petname: String?

    /// A follow. An empty name is none.
    public init(pubkey: PublicKey, relay: RelayURL? = nil, petname: String? = nil) {
      self.pubkey = pubkey
      self.relay = relay
      self.petname = petname?.isEmpty == false ? petname : nil
    }
  }

  /// The follower.
  public let author: PublicKey
  /// When it was published: of two lists the newer one counts, whole.
  public let createdAt: Int64
  /// Everyone followed, each once, in the order of the list.
  public let follows: [Follow]
  /// Tags `p` that were left out: no key, or there before.
  public let droppedCount: Int

  /// Most follows taken. Lists of some thousands exist; cutting one short and publishing it would lose the rest, so the
  /// bound is above all that fits into an event.
  public static let countMaximum = 16_384

  /// Reads a list. Signatures are for the caller.
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

  /// The event that publishes `follows`, to be signed. It replaces the whole list: build it from the newest one only.
  ///
  /// - Parameters:
  ///   - createdAt: seconds since 1970.
  ///   - follows: whom, in the order of the list.
  ///   - author: whose list it is.
  ///   - content: what the list before had there; some clients keep things in it.
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
