public import Cryptography
public import Nostr

// One session (v2), as a set of facts from which everything that is shown is derived. Relays deliver in any order, and
// mostly the newest first, so nothing is decided by arrival that can be decided by the facts:
//
// - the members at a time are those of the last snapshot up to then, ordered by time and id; those of the last of all
//   are the members now;
// - a post is shown if its author and this account were members at its time, and are now; a reaction likewise;
// - a deletion that comes before its post waits, and counts if the post is by the same author; the post's id stays;
// - of one sender's reactions with one emoji to one post, the last by time and id counts.
//
// One thing is decided by arrival: who has created the session. The first creation that is accepted decides, and one by
// another author is refused for ever. Its date cannot decide: any member could create the session again with an earlier
// date, and would be its master. Until then all snapshots wait; those by others are dropped when the creator is known.

/// A session of several keys: its members, posts and reactions, as one account sees them.
public struct LinkSession: Hashable, Sendable {
  /// Its id.
  public let id: String
  /// The account that sees it.
  public let account: PublicKey
  /// The author of the first creation that was accepted; nil while events wait for it.
  public private(set) var creator: PublicKey?

  /// By time and id. Without a creator: of all authors.
  private var snapshots: [LinkSnapshot] = []
  /// Deleted ones too, without their contents.
  private var posts: [EventID: LinkSessionPost] = [:]
  /// Who has deleted a post that is not here.
  private var earlyDeletions: [EventID: Set<PublicKey>] = [:]
  private var reactions: [EventID: [ReactionKey: LinkReaction]] = [:]
  /// Everyone who is or was a member; empty while there is no creator.
  private(set) var everyMember: Set<PublicKey> = []

  private struct ReactionKey: Hashable {
    let emoji: String
    let author: PublicKey
  }

  init(id: String, account: PublicKey) {
    self.id = id
    self.account = account
  }

  // MARK: What is shown

  /// The name; nil while the creation is missing.
  public var name: String? { creator == nil ? nil : snapshots.last { $0.name != nil }?.name }

  /// The members now, sorted; empty while the creation is missing.
  public var members: [PublicKey] { creator == nil ? [] : snapshots.last?.members ?? [] }

  /// Whether the account is a member now.
  public var isMember: Bool { members.contains(account) }

  /// From when on the members are those of now, in seconds since 1970; nil while the creation is missing.
  public var membersSince: Int64? { creator == nil ? nil : snapshots.last?.createdAt }

  /// The events that have created it, by time: only its creator repeats it.
  public var creations: [EventID] { creator == nil ? [] : snapshots.filter { $0.name != nil }.map(\.id) }

  /// Whether another author has posted to it: then that author's app knows it.
  public var hasForeignPosts: Bool { posts.values.contains { $0.author != account } }

  /// When it was last posted to, or its members were last named.
  public var lastUsedAt: Int64 {
    max(posts.values.lazy.map(\.createdAt).max() ?? .min, snapshots.last?.createdAt ?? .min)
  }

  /// The posts that are shown, by time and id.
  public var shownPosts: [LinkSessionPost] { sorted { isShown($0) } }

  /// Posts of members at their time, of which the author or the account has left since; by time and id.
  public var formerPosts: [LinkSessionPost] {
    sorted { !isShown($0) && !$0.isDeleted && wereMembers($0.author, at: $0.createdAt) }
  }

  /// A post that is shown.
  public func shownPost(_ id: EventID) -> LinkSessionPost? { posts[id].flatMap { isShown($0) ? $0 : nil } }

  /// The reactions to a post that are on, by time and id; none if the post is not shown.
  public func reactions(to post: EventID) -> [LinkReaction] {
    guard shownPost(post) != nil else { return [] }
    let members = Set(members)
    return (reactions[post] ?? [:]).values.filter {
      $0.isActive && members.contains($0.author) && wereMembers($0.author, at: $0.createdAt)
    }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  private func sorted(_ isWanted: (LinkSessionPost) -> Bool) -> [LinkSessionPost] {
    posts.values.filter(isWanted).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
  }

  private func isShown(_ post: LinkSessionPost) -> Bool {
    let members = members
    return !post.isDeleted && members.contains(post.author) && members.contains(account)
      && wereMembers(post.author, at: post.createdAt)
  }

  /// Whether an author and the account were members at a time.
  private func wereMembers(_ author: PublicKey, at time: Int64) -> Bool {
    guard creator != nil, let snapshot = snapshot(at: time) else { return false }
    return snapshot.members.contains(author) && snapshot.members.contains(account)
  }

  private func snapshot(at time: Int64) -> LinkSnapshot? {
    let index = snapshots.partitioningIndex { $0.createdAt > time }
    return index > 0 ? snapshots[index - 1] : nil
  }

  // MARK: What comes

  /// Takes what a rumor says.
  ///
  /// - Throws: the rule that it breaks.
  mutating func received(
    _ event: LinkSessionEvent, id: EventID, by author: PublicKey, at createdAt: Int64
  ) throws(LinkFault) -> LinkOutcome {
    switch event {
    case .creation(let name, let members):
      let snapshot = LinkSnapshot(id: id, author: author, createdAt: createdAt, name: name, members: members)
      return try received(creation: snapshot)
    case .members(let members):
      let snapshot = LinkSnapshot(id: id, author: author, createdAt: createdAt, name: nil, members: members)
      return try received(members: snapshot)
    case .post(let url, let note):
      return received(
        LinkSessionPost(id: id, author: author, createdAt: createdAt, url: url, note: note))
    case .deletion(let post): return try received(deletionOf: post, by: author)
    case .reaction(let post, let emoji, let isActive):
      let reaction = LinkReaction(
        id: id, author: author, createdAt: createdAt, emoji: emoji, isActive: isActive)
      return received(reaction, to: post)
    }
  }

  private mutating func received(creation snapshot: LinkSnapshot) throws(LinkFault) -> LinkOutcome {
    guard snapshot.members.contains(snapshot.author) else { throw .creatorNotMember }
    guard snapshot.members.contains(account) else { throw .accountNotMember }
    guard creator == nil || creator == snapshot.author else { throw .otherCreator }
    if creator == nil {
      creator = snapshot.author
      snapshots.removeAll { $0.author != snapshot.author }
      everyMember = Set(snapshots.flatMap(\.members))
      // Nothing was shown without a creator.
      return insert(snapshot, shownBefore: [])
    }
    return insert(snapshot, shownBefore: shownIDs)
  }

  private mutating func received(members snapshot: LinkSnapshot) throws(LinkFault) -> LinkOutcome {
    guard snapshot.members.contains(snapshot.author) else { throw .creatorNotMember }
    guard creator == nil || creator == snapshot.author else { throw .notCreator }
    let outcome = insert(snapshot, shownBefore: shownIDs)
    return creator == nil && outcome != .duplicate ? .waiting : outcome
  }

  private mutating func insert(_ snapshot: LinkSnapshot, shownBefore: Set<EventID>) -> LinkOutcome {
    let index = snapshots.partitioningIndex { $0.isAfter(snapshot) }
    if index > 0, snapshots[index - 1].id == snapshot.id { return .duplicate }
    snapshots.insert(snapshot, at: index)
    guard creator != nil else { return .waiting }
    everyMember.formUnion(snapshot.members)
    return .accepted(shown: shownPosts.map(\.id).filter { !shownBefore.contains($0) })
  }

  /// Forgets an event that the account has made and that reached no one.
  ///
  /// - Returns: whether anything is left.
  mutating func takeBack(_ id: EventID) -> Bool {
    posts[id] = nil
    snapshots.removeAll { $0.id == id }
    if snapshots.isEmpty { (creator, everyMember) = (nil, []) }
    return !(snapshots.isEmpty && posts.isEmpty && earlyDeletions.isEmpty && reactions.isEmpty)
  }

  /// Whether it has a post or snapshot of this id.
  func has(_ id: EventID) -> Bool { posts[id] != nil || snapshots.contains { $0.id == id } }

  private var shownIDs: Set<EventID> { Set(posts.values.lazy.filter { isShown($0) }.map(\.id)) }

  private mutating func received(_ post: LinkSessionPost) -> LinkOutcome {
    if posts[post.id] != nil { return .duplicate }
    var post = post
    let isDeleted = earlyDeletions.removeValue(forKey: post.id)?.contains(post.author) ?? false
    if isDeleted {
      post.delete()
      reactions[post.id] = nil
    }
    posts[post.id] = post
    if isDeleted { return .superseded }
    return isShown(post) ? .accepted(shown: [post.id]) : .waiting
  }

  private mutating func received(deletionOf id: EventID, by author: PublicKey) throws(LinkFault) -> LinkOutcome {
    guard let post = posts[id] else {
      return earlyDeletions[id, default: []].insert(author).inserted ? .waiting : .duplicate
    }
    guard post.author == author else { throw .notAuthor }
    if post.isDeleted { return .duplicate }
    posts[id]?.delete()
    reactions[id] = nil
    return .accepted(shown: [])
  }

  private mutating func received(_ reaction: LinkReaction, to post: EventID) -> LinkOutcome {
    if posts[post]?.isDeleted == true { return .superseded }
    let key = ReactionKey(emoji: reaction.emoji, author: reaction.author)
    if let known = reactions[post]?[key] {
      if known.id == reaction.id { return .duplicate }
      if (known.createdAt, known.id) > (reaction.createdAt, reaction.id) { return .superseded }
    }
    reactions[post, default: [:]][key] = reaction
    return shownPost(post) != nil && wereMembers(reaction.author, at: reaction.createdAt)
      ? .accepted(shown: []) : .waiting
  }
}

extension Array {
  /// The first place whose element is behind a border; all elements before the border come first.
  fileprivate func partitioningIndex(_ isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
