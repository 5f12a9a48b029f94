import Clocks
import Cryptography
import LinkAddresses
import Nostr
import Testing

@testable import Linkstr

/// A drawn history of one session that alice has created, with everything that members and others may try in it.
struct SessionWorld {
  static let account = LinkFixtures.bob.publicKey
  static let session = LinkFixtures.session
  static let people = [LinkFixtures.alice, LinkFixtures.bob, LinkFixtures.carol, LinkFixtures.mallory].map(\.publicKey)
  static let creator = people[0]

  private(set) var items: [LinkItem] = []
  private var random: SeededGenerator
  private var roots: [EventID] = []

  /// How many seconds the history has: few, so that many events have the same.
  private static let secondCount: Int64 = 5

  init(seed: UInt64, eventCount: Int) throws {
    random = SeededGenerator(seed: seed)
    try add(creation(at: LinkFixtures.now))
    while items.count < eventCount { try add(draw()) }
  }

  private mutating func add(_ draft: LinkDraft) throws {
    let item = try LinkItem(verified: draft.rumor, for: Self.account)
    // Two draws may be one rumor.
    if items.contains(where: { $0.id == item.id }) { return }
    items.append(item)
    if case .session(_, .post) = item.body { roots.append(item.id) }
  }

  private mutating func creation(at time: Int64) throws -> LinkDraft {
    try LinkDraft.creation(
      of: Self.session, name: "Friends \(Int.random(in: 0..<9, using: &random))",
      members: drawnMembers() + [Self.account],
      by: Self.creator, at: time, using: &random)
  }

  private mutating func drawnMembers() -> [PublicKey] {
    Self.people.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
  }

  private mutating func draw() throws -> LinkDraft {
    let time = LinkFixtures.now + Int64.random(in: -1...Self.secondCount, using: &random)
    let author = Self.people.randomElement(using: &random) ?? Self.creator
    let root = roots.randomElement(using: &random)
    switch (Int.random(in: 0..<10, using: &random), root) {
    case (0, _): return try creation(at: time)
    // Also by others than the creator.
    case (1...2, _):
      return try LinkDraft.members(
        of: Self.session, drawnMembers() + [Self.account], formerMembers: [],
        by: Int.random(in: 0..<3, using: &random) > 0 ? Self.creator : author, at: time, using: &random)
    case (3, let root?):
      return try LinkDraft.deletion(of: root, in: Self.session, of: [], by: author, at: time)
    case (4...7, let root?):
      return try LinkDraft.reaction(
        ["👍", "👎"].randomElement(using: &random) ?? "", isActive: Bool.random(using: &random), to: root,
        in: Self.session, of: [], by: author, at: time)
    default:
      return try LinkDraft.post(
        try LinkURL("https://example.com/\(UInt32.random(in: 0 ... .max, using: &random))"), note: nil,
        in: Self.session, of: [], by: author, at: time)
    }
  }

  // MARK: What is seen

  /// All that a session shows.
  struct View: Equatable {
    var name: String?
    var creator: PublicKey?
    var members: [PublicKey]
    var posts: [EventID]
    var former: [EventID]
    var reactions: [EventID: [EventID]]
  }

  static func view(_ sessions: LinkSessions) -> View? {
    guard let session = sessions.sessions[Self.session] else { return nil }
    let posts = session.shownPosts.map(\.id)
    let reactions = posts.map { ($0, session.reactions(to: $0).map(\.id)) }.filter { !$0.1.isEmpty }
    return View(
      name: session.name, creator: session.creator, members: session.members, posts: posts,
      former: session.formerPosts.map(\.id), reactions: Dictionary(uniqueKeysWithValues: reactions))
  }

  /// The events taken in this order; those that break a rule are refused.
  static func taken(_ items: some Sequence<LinkItem>) -> (sessions: LinkSessions, kept: [LinkItem]) {
    var sessions = LinkSessions(account)
    var kept: [LinkItem] = []
    for item in items {
      // What breaks a rule is refused in every order; that is part of what is tested.
      switch try? sessions.received(item, fromContact: false) {
      case .accepted?, .waiting?: kept.append(item)
      case .superseded?, .duplicate?, nil: break
      }
    }
    return (sessions, kept)
  }

  /// The same by the rules as they are written, from all events at once.
  static func oracle(_ items: [LinkItem]) -> View {
    let events = items.compactMap { item -> (LinkItem, LinkSessionEvent)? in
      guard case .session(_, let event) = item.body else { return nil }
      return (item, event)
    }
    typealias Snapshot = (item: LinkItem, name: String?, members: [PublicKey])
    let snapshots = events.compactMap { item, event -> Snapshot? in
      guard item.sender == creator else { return nil }
      return switch event {
      case .creation(let name, let members): (item, name, members)
      case .members(let members): (item, nil, members)
      default: nil
      }
    }.sorted { ($0.item.createdAt, $0.item.id) < ($1.item.createdAt, $1.item.id) }
    let now = snapshots.last?.members ?? []
    func were(_ item: LinkItem) -> Bool {
      let then = snapshots.last { $0.item.createdAt <= item.createdAt }?.members ?? []
      return then.contains(item.sender) && then.contains(account)
    }
    func are(_ item: LinkItem) -> Bool { now.contains(item.sender) && now.contains(account) }
    let living = events.filter { item, event in
      guard case .post = event, were(item) else { return false }
      return !events.contains { $0.1 == .deletion(of: item.id) && $0.0.sender == item.sender }
    }.map(\.0).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    let posts = living.filter(are)
    var reactions: [EventID: [EventID]] = [:]
    for post in posts {
      let all = events.filter { if case .reaction(post.id, _, _) = $0.1 { true } else { false } }
      let found = all.filter { item, event in
        guard case .reaction(_, let emoji, true) = event, were(item), are(item) else { return false }
        return !all.contains { other, event in
          guard case .reaction(_, emoji, _) = event, other.sender == item.sender else { return false }
          return (other.createdAt, other.id) > (item.createdAt, item.id)
        }
      }.map(\.0).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
      if !found.isEmpty { reactions[post.id] = found.map(\.id) }
    }
    return View(
      name: snapshots.last { $0.name != nil }?.name, creator: creator, members: now, posts: posts.map(\.id),
      former: living.filter { !are($0) }.map(\.id), reactions: reactions)
  }
}
