import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import LinkAddresses
import Linkstr
import Nostr
import Storage
import WorkerKit

// Reading: rows of the ledger, opened under the account's data key. An answer has one page: a conversation of 10,000
// posts costs what its newest posts cost.

/// Serves the lists of links and messages.
@EventLoopActor
final class LinkShelf {
  private unowned let feed: LinkFeed
  private var ledger: LinkLedger { feed.ledger }

  /// Replies, reactions and deletions of one post or message that are read at most, the oldest first.
  private static let threadMaximum = 10_000
  /// Reactions in the row of a post or message at most.
  private static let reactionMaximum = 100

  init(_ feed: LinkFeed) { self.feed = feed }

  /// Starts to serve.
  func start() {
    let worker = feed.worker
    worker.serve(LinkMethod.list) { [unowned self] (request, wanted) throws(Refusal) in
      try await list(request, LinkMethod.list, .links, wanted)
    }
    worker.serve(LinkMethod.listMessages) { [unowned self] (request, wanted) throws(Refusal) in
      try await list(request, LinkMethod.listMessages, .messages, wanted)
    }
    worker.serve(LinkMethod.show) { [unowned self] (request, wanted) throws(Refusal) in
      try await show(request, LinkMethod.show, .links, wanted)
    }
    worker.serve(LinkMethod.showMessages) { [unowned self] (request, wanted) throws(Refusal) in
      try await show(request, LinkMethod.showMessages, .messages, wanted)
    }
    worker.serve(LinkMethod.read) { [unowned self] (_, wanted) throws(Refusal) in try await read(.links, wanted) }
    worker.serve(LinkMethod.readMessages) { [unowned self] (_, wanted) throws(Refusal) in
      try await read(.messages, wanted)
    }
  }

  // MARK: Conversations

  private func list(
    _ request: BusRequest, _ method: Contracts.Stream<LinksList, LinkConversationRow, StoreCount>,
    _ family: LinkLedger.Family, _ wanted: LinksList
  ) async throws(Refusal) -> StoreCount? {
    let vault = try await feed.vault(wanted.account)
    let contacts = try await feed.contacts(vault)
    if family == .links { try await feed.sessions.prepare(vault) }
    let limit = wanted.limit ?? LinksList.limitDefault
    var (told, place) = ([LinkConversationRow](), try Self.conversationPlace(wanted.before))
    for _ in 0..<Self.passMaximum where told.count < limit {
      let (before, count) = (place, limit - told.count)
      let rows = try await feed.ledgered { () async throws(StorageFault) in
        try await self.ledger.conversations(
          of: vault.account, family, isUnread: wanted.unread ?? false, before: before, limit: count)
      }
      told += rows.compactMap { self.told($0, contacts, vault) }
      guard rows.count == count, let last = rows.last else { break }
      place = LinkLedger.ConversationPlace(lastAt: last.lastAt, id: last.id)
    }
    for row in told { try await request.send(row, of: method) }
    return StoreCount(count: told.count)
  }

  /// A conversation as callers get it; nil: nothing of it can be seen.
  private func told(
    _ row: LinkLedger.ConversationRow, _ contacts: [PublicKey: LinkContact], _ vault: LinkVault
  ) -> LinkConversationRow? {
    guard var kept = vault.open(row.sealed, as: KeptConversation.self, "conversation", row.id) else { return nil }
    let session = feed.sessions.session(kept.id, of: vault.key)
    if kept.isSession == true {
      // Without its creation, or without this account.
      guard let session, session.isMember || !session.formerPosts.isEmpty else { return nil }
      kept.members = session.members.filter { $0 != vault.key }.map(\.description)
    }
    var told = LinkConversationRow(
      id: kept.id, members: kept.members, lastAt: row.lastAt, posts: row.rootCount, unread: row.unreadCount,
      place: "\(row.lastAt)-\(Hexadecimal.text(of: row.id))")
    if let session { (told.name, told.posts, told.isSession) = (session.name, session.shownPosts.count, true) }
    if kept.members.count == 1 { told.contact = PublicKey(kept.members[0]).flatMap { contacts[$0]?.name } }
    return told
  }

  // MARK: Posts and messages

  private func show(
    _ request: BusRequest, _ method: Contracts.Stream<LinksShow, LinkRow, StoreCount>, _ family: LinkLedger.Family,
    _ wanted: LinksShow
  ) async throws(Refusal) -> StoreCount? {
    let vault = try await feed.vault(wanted.account)
    let rows: [LinkRow]
    if let post = wanted.post {
      rows = try await thread(
        post, family, vault, after: try Self.place(wanted.before), limit: wanted.limit ?? LinksList.limitMaximum)
    } else {
      let conversation = try await conversation(wanted.conversation ?? "", family, vault)
      rows = try await roots(
        in: conversation, vault, before: try Self.place(wanted.before) ?? .end,
        limit: wanted.limit ?? LinksList.limitDefault)
    }
    for row in rows { try await request.send(row, of: method) }
    return StoreCount(count: rows.count)
  }

  /// The id of the conversation that a text names: an id, a contact or a key. It need not have anything.
  private func conversation(
    _ text: String, _ family: LinkLedger.Family, _ vault: LinkVault
  ) async throws(Refusal) -> String {
    if let known = try await feed.conversation(named: text, vault) { return known.id }
    let peer = try await feed.person(text, vault)
    switch family {
    case .links: return LinkConversation(of: vault.key, with: peer).id
    case .messages: return KeptRumor.conversation(of: Set([vault.key, peer]).sorted())
    }
  }

  /// Pages of the ledger that are read for one page of an answer at most: what is not shown is passed over.
  private static let passMaximum = 20

  private func roots(
    in conversation: String, _ vault: LinkVault, before start: LinkLedger.Place, limit: Int
  ) async throws(Refusal) -> [LinkRow] {
    let hash = vault.hash(ofConversation: conversation)
    var (told, place) = ([LinkRow](), start)
    for _ in 0..<Self.passMaximum where told.count < limit {
      let (before, count) = (place, limit - told.count)
      let rows = try await feed.ledgered { () async throws(StorageFault) in
        try await self.ledger.roots(in: hash, of: vault.account, before: before, limit: count)
      }
      told += try await page(rows, vault)
      guard rows.count == count, let last = rows.last else { break }
      place = LinkLedger.Place(at: last.at, number: last.number)
    }
    return told
  }

  /// What is shown of posts and messages.
  private func page(_ rows: [LinkLedger.Row], _ vault: LinkVault) async throws(Refusal) -> [LinkRow] {
    try await feed.sessions.prepare(vault)
    let rumors = rows.map { vault.rumor($0) }
    let threads = rumors.map { rumor in rumor.map { vault.hash(ofThread: $0.root, in: $0.conversation) } ?? [] }
    let counts = try await feed.ledgered { () async throws(StorageFault) in
      try await self.ledger.replyCounts(of: threads, of: vault.account)
    }
    let problems = try await feed.sender.problems(of: rows, vault)
    var told: [LinkRow] = []
    for ((row, rumor), count) in zip(zip(rows, rumors), counts) {
      guard let rumor, var one = Self.told(row, rumor, problems) else { continue }
      if row.sort == .sessionPost {
        guard let session = feed.sessions.session(rumor.conversation, of: vault.key),
          session.shownPost(rumor.id) != nil
        else { continue }
        let reactions = session.reactions(to: rumor.id).suffix(Self.reactionMaximum).map {
          LinkReactionRow(emoji: $0.emoji, author: "\($0.author)")
        }
        one.reactions = reactions.isEmpty ? nil : reactions
      } else if one.sort == .post {
        (one.replies, one.unreadReplies) = (count.all, count.unread)
      }
      if one.sort == .message || one.sort == .file {
        let about = try await reactions(to: rumor, vault)
        guard !about.isDeleted else { continue }
        one.reactions = about.reactions.isEmpty ? nil : about.reactions
      }
      told.append(one)
    }
    return told
  }

  /// What members say about a message: their last reaction each, and whether its author has taken it back.
  private func reactions(
    to message: KeptRumor, _ vault: LinkVault
  ) async throws(Refusal) -> (reactions: [LinkReactionRow], isDeleted: Bool) {
    let thread = vault.hash(ofThread: message.root, in: message.conversation)
    let rows = try await feed.ledgered { () async throws(StorageFault) in
      try await self.ledger.thread(thread, of: vault.account, limit: Self.threadMaximum)
    }
    var last: [PublicKey: String] = [:]
    for row in rows where row.sort == .reaction || row.sort == .deletion {
      guard case .message(let about)? = vault.rumor(row)?.content else { continue }
      switch about.body {
      case .deletion where about.author == message.event.pubkey: return ([], true)
      case .reaction(let emoji, _): last[about.author] = emoji
      case .deletion, .text, .file: break
      }
    }
    let reactions = last.sorted { $0.key < $1.key }.prefix(Self.reactionMaximum)
    return (reactions.map { LinkReactionRow(emoji: $0.value, author: "\($0.key)") }, false)
  }

  /// A post or message, and what belongs to it after a place; the post itself is on the first page.
  private func thread(
    _ text: String, _ family: LinkLedger.Family, _ vault: LinkVault, after place: LinkLedger.Place?, limit: Int
  ) async throws(Refusal) -> [LinkRow] {
    let root = try await feed.post(text, family, vault)
    let first = try await page([root.row], vault)
    guard !first.isEmpty else { throw LinkFeed.noPost(text, family) }
    let rows = try await feed.ledgered { () async throws(StorageFault) in
      try await self.ledger.thread(root.thread, of: vault.account, after: place ?? .start, limit: limit)
    }
    let others = rows.filter { $0.number != root.row.number }
    let problems = try await feed.sender.problems(of: others, vault)
    let rest = others.compactMap { row in vault.rumor(row).flatMap { Self.told(row, $0, problems) } }
    return (place == nil ? first : []) + rest
  }

  /// A row as callers get it; nil: it is not shown by itself.
  private static func told(
    _ row: LinkLedger.Row, _ rumor: KeptRumor, _ problems: [[UInt8]: String]
  ) -> LinkRow? {
    guard let sort = LinkRow.Sort(rumor.sort) else { return nil }
    var told = LinkRow(
      id: "\(rumor.id)", conversation: rumor.conversation, sort: sort, author: "\(rumor.event.pubkey)",
      isOwn: row.isOwn, at: row.at, isUnread: row.isUnread, place: "\(row.at)-\(row.number)")
    if row.stage > 0 { told.stage = SendingStage(ledgered: row.stage - 1) }
    told.problem = problems[row.id]
    if rumor.sort == .legacy { told.isLegacy = true }
    switch rumor.content {
    case .link(let item):
      switch item.body {
      case .post(_, let url, let note):
        (told.url, told.label, told.text) = (url.text, LinkMedia(url).label, note)
      case .reply(_, let root, let text): (told.about, told.text) = ("\(root)", text)
      case .session(_, .post(let url, let note)):
        (told.url, told.label, told.text) = (url.text, LinkMedia(url).label, note)
      case .session: break
      }
    case .message(let message):
      told.about = message.answered.map { "\($0)" }
      told.subject = message.subject
      switch message.body {
      case .text(let text): told.text = text
      case .file(let address): told.url = address
      case .reaction, .deletion: return nil
      }
    }
    return told
  }

  private static func place(_ text: String?) throws(Refusal) -> LinkLedger.Place? {
    guard let text else { return nil }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let at = Int64(parts[0]), let number = Int64(parts[1]) else {
      throw Refusal(
        .badRequest, "'\(text.prefix(32))' is no place of a row, such as 1700000000-17", outcome: .notStarted)
    }
    return LinkLedger.Place(at: at, number: number)
  }

  private static func conversationPlace(_ text: String?) throws(Refusal) -> LinkLedger.ConversationPlace? {
    guard let text else { return nil }
    let parts = text.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let lastAt = Int64(parts[0]), let id = Octets32(hexadecimal: parts[1].utf8) else {
      throw Refusal(
        .badRequest, "'before' is no place of a conversation, as an earlier answer has it", outcome: .notStarted)
    }
    return LinkLedger.ConversationPlace(lastAt: lastAt, id: id.bytes)
  }

  // MARK: Marks

  private func read(_ family: LinkLedger.Family, _ wanted: LinksRead) async throws(Refusal) -> StoreCount {
    let vault = try await feed.vault(wanted.account)
    let oldest = try Self.place(wanted.oldest) ?? .start
    let newest = try Self.place(wanted.newest) ?? .end
    let count: Int
    let id: String?
    if let text = wanted.post {
      let post = try await feed.post(text, family, vault)
      count = try await feed.ledgered { () async throws(StorageFault) in
        try await self.ledger.read(thread: post.thread, of: vault.account)
      }
      id = post.rumor.conversation
    } else {
      let conversation = try await conversation(wanted.conversation ?? "", family, vault)
      count = try await feed.ledgered { () async throws(StorageFault) in
        try await self.ledger.read(
          conversation: vault.hash(ofConversation: conversation), of: vault.account, from: oldest, to: newest)
      }
      id = conversation
    }
    if count > 0 { await feed.teller.changed(LinkChange(account: "\(vault.key)", conversation: id)) }
    return StoreCount(count: count)
  }
}

extension LinkRow.Sort {
  /// What a row of the ledger is to callers; nil: it is not shown by itself.
  fileprivate init?(_ sort: LinkLedger.Sort) {
    switch sort {
    case .post, .sessionPost: self = .post
    case .reply: self = .reply
    case .message, .legacy: self = .message
    case .file: self = .file
    case .session, .reaction, .deletion: return nil
    }
  }
}
