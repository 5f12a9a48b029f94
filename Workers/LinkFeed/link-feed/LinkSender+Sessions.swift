import Bus
import Clocks
import Contracts
import Cryptography
import EventLoop
import Frames
import LinkAddresses
import LinkLedger
import Linkstr
import LinuxSystem
import Nostr
import PersonAccounts
import Storage
import WorkerKit
import Wording

// Posts in sessions (v2), which go to all members of now. For a contact to whom sessions are written, the session is
// one of exactly both; the first post makes it, and its creation is committed with the post.
//
//     token ─▶ session of both? ── no ──▶ creation, post ─ wraps for each ─▶ committed ─▶ creation goes ─▶ post goes
//                    └──────────── yes ──▶ post ─ wraps for each member ───▶ committed ─▶ creation is there? ─┘

extension LinkSender {
  /// Where a post goes.
  enum Destination {
    /// To one key (v1).
    case peer(PublicKey)
    /// Into a session (v2).
    case session(String)
    /// Into a session of exactly the account and a contact (v2).
    case sessionWith(PublicKey)
  }

  /// How far the last snapshot of a session may be ahead of this machine's clock: a post is dated after it.
  private static let aheadSeconds: Int64 = 172_800

  /// Where a post to this text goes.
  func destination(_ wanted: LinksPost, _ vault: LinkVault) async throws(Refusal) -> Destination {
    if let found = try await feed.conversation(named: wanted.to, vault), found.isSession == true {
      guard wanted.session == nil else {
        throw Refusal(.badRequest, "'session' is for a contact; 'to' names a session already", outcome: .notStarted)
      }
      return .session(found.id)
    }
    let peer = try await peer(wanted.to, vault)
    if peer != vault.key, let contact = try await feed.contacts(vault)[peer], contact.sessions == true {
      return .sessionWith(peer)
    }
    guard wanted.session == nil else {
      throw Refusal(
        .badRequest,
        "'session' is for a contact to whom sessions are written: 'roost links contacts sessions' chooses that",
        outcome: .notStarted)
    }
    return .peer(peer)
  }

  /// Makes a post for a session, and the session if it is the first post, and commits them.
  func keepInSession(
    _ url: LinkURL, _ wanted: LinksPost, _ destination: Destination, _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    try await choosing(vault.key) { [self] () async throws(Refusal) in
      var made: [Made] = []
      switch destination {
      case .peer: preconditionFailure("only posts to sessions come here")
      case .session(let id):
        try await feed.sessions.prepare(vault)
        made.append(try post(url, wanted.note, in: feed.sessions.session(id, of: vault.key), vault))
      case .sessionWith(let peer):
        if let session = try await session(with: peer, named: wanted.session, vault) {
          made.append(try post(url, wanted.note, in: session, vault))
        } else {
          // Not by what the account calls the contact, who reads it.
          let name = wanted.session ?? feed.accounts.accounts[vault.key]?.name ?? vault.key.npub
          made = try first(url, wanted.note, inNew: name, with: peer, vault)
        }
      }
      return try await keepHere(made, token, vault)
    }
  }

  /// The session of exactly both that was used last, unless its creation has failed; nil: there is no such session.
  private func session(
    with peer: PublicKey, named name: String?, _ vault: LinkVault
  ) async throws(Refusal) -> LinkSession? {
    try await feed.sessions.prepare(vault)
    let name = LinkPayload.trimmed(name)
    for session in feed.sessions.sessions(of: vault.key, with: peer) where name == nil || session.name == name {
      if case .failed = try await creation(of: session, vault) { continue }
      return session
    }
    return nil
  }

  /// How far what creates a session is. An app that gets a post before it does not show the post.
  enum Creation {
    /// The others have it, or another key has created the session.
    case there
    /// It is on its way: these items are, for this reason if one was given.
    case open([[UInt8]], String?)
    /// No relay took it, for this reason if one was given, or it was called off.
    case failed(String?)
    /// What waits for it was taken back, or its account forgotten.
    case gone
  }

  /// How far what creates the session of a copy's item is. For the copy to oneself of a creation it is that of the
  /// others: one's other devices would write into a session that no one else has.
  func creation(before copy: LinkLedger.Copy, _ vault: LinkVault) async throws(Refusal) -> Creation {
    let found = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.item(copy.item, of: vault.account)
    }
    guard let row = found?.row else { return .gone }
    if row.sort == .session, copy.isOwn { return try await creation([copy.item], vault) }
    guard row.sort == .sessionPost, let rumor = vault.rumor(row) else { return .there }
    try await feed.sessions.prepare(vault)
    guard let session = feed.sessions.session(rumor.conversation, of: vault.key) else { return .failed(nil) }
    return try await creation(of: session, vault)
  }

  private func creation(of session: LinkSession, _ vault: LinkVault) async throws(Refusal) -> Creation {
    guard session.creator == vault.key, !session.hasForeignPosts else { return .there }
    return try await creation(session.creations.map { vault.hash(ofItem: $0) }, vault)
  }

  private func creation(_ items: [[UInt8]], _ vault: LinkVault) async throws(Refusal) -> Creation {
    var (open, why): ([[UInt8]], String?) = ([], nil)
    for id in items {
      let (found, copies) = try await feed.ledgered { () async throws(StorageFault) in
        (
          try await self.feed.ledger.item(id, of: vault.account),
          try await self.feed.ledger.copies(of: id, vault.account)
        )
      }
      guard let row = found?.row else { continue }
      // Another device of the account has sent it.
      guard row.stage > 0 else { return .there }
      switch SendingStage(ledgered: row.stage - 1) {
      case .sent, .partly: return .there
      case .kept, .queued: open.append(id)
      case .failed: break
      }
      why = why ?? copies.lazy.filter { !$0.isOwn }.compactMap { self.told($0, vault)?.message }.first
    }
    return open.isEmpty ? .failed(why) : .open(open, why)
  }

  /// The items that were made here and create the session of a post.
  func creations(before item: [UInt8], _ vault: LinkVault) async throws(Refusal) -> [[UInt8]] {
    let found = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.item(item, of: vault.account)
    }
    guard let row = found?.row, row.sort == .sessionPost, let rumor = vault.rumor(row) else { return [] }
    try await feed.sessions.prepare(vault)
    guard let session = feed.sessions.session(rumor.conversation, of: vault.key), session.creator == vault.key else {
      return []
    }
    var made: [[UInt8]] = []
    for id in session.creations.map({ vault.hash(ofItem: $0) }) {
      let found = try await feed.ledgered { () async throws(StorageFault) in
        try await self.feed.ledger.item(id, of: vault.account)
      }
      // Another device of the account may have made it: that is not for this one to call off.
      if let row = found?.row, row.stage > 0 { made.append(id) }
    }
    return made
  }

  private func post(
    _ url: LinkURL, _ note: String?, in session: LinkSession?, _ vault: LinkVault
  ) throws(Refusal) -> Made {
    guard let session, let since = session.membersSince else {
      throw Refusal(.badRequest, "what creates this session has not come yet", outcome: .notStarted)
    }
    let name = VisibleText.make(session.name ?? session.id)
    func refusal(_ why: String) -> Refusal {
      Refusal(.badRequest, "the session '\(name)' takes no post: \(why)", outcome: .notStarted)
    }
    guard session.isMember else { throw refusal("this account is not among its members now") }
    let others = session.members.filter { $0 != vault.key }
    guard !others.isEmpty else { throw refusal("it has ended, no other member is left") }
    guard others.count <= LinksPost.memberMaximum else {
      throw refusal("it has \(others.count) other members, and \(LinksPost.memberMaximum) can be written to at most")
    }
    // Its members take a post only from who was a member at its time.
    let now = WallClock.seconds
    let at = max(now, since)
    guard at - now <= Self.aheadSeconds else { throw refusal("its members are named for a time in the future") }
    let draft: LinkDraft
    do throws(LinkFault) {
      draft = try LinkDraft.post(url, note: note, in: session.id, of: session.members, by: vault.key, at: at)
    } catch { throw Self.bad(error) }
    return Made(try kept(draft.rumor, vault), for: draft.recipients)
  }

  /// A new session, and the first post in it.
  private func first(
    _ url: LinkURL, _ note: String?, inNew name: String, with peer: PublicKey, _ vault: LinkVault
  ) throws(Refusal) -> [Made] {
    let drafts: [LinkDraft]
    do throws(LinkFault) {
      var random = SystemRandomNumberGenerator()
      let (id, now) = (LinkDraft.randomID(using: &random), WallClock.seconds)
      drafts = [
        try LinkDraft.creation(of: id, name: name, members: [peer], by: vault.key, at: now, using: &random),
        try LinkDraft.post(url, note: note, in: id, of: [peer], by: vault.key, at: now),
      ]
    } catch { throw Self.bad(error) }
    return try drafts.map { draft throws(Refusal) in Made(try kept(draft.rumor, vault), for: draft.recipients) }
  }

  /// Commits what was made, and takes it into the sessions in memory.
  private func keepHere(
    _ made: [Made], _ token: [UInt8], _ vault: LinkVault
  ) async throws(Refusal) -> [LinkLedger.Copy] {
    do throws(Refusal) {
      for one in made where !feed.sessions.made(one.rumor, vault) {
        throw Refusal(.full, "there is no room for more in sessions", outcome: .notStarted)
      }
      let copies = try await keep(made, token, vault)
      // The account may have been locked and opened again meanwhile.
      for one in made { _ = feed.sessions.made(one.rumor, vault) }
      return copies
    } catch {
      for one in made { feed.sessions.takeBack(one.rumor, vault) }
      throw error
    }
  }

  // MARK: One at a time

  /// Runs what chooses a session and commits to it, one at a time for an account: two posts do not make two sessions.
  func choosing<Value>(
    _ account: PublicKey, _ body: @EventLoopActor () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let deadline = EventLoop.process.now.advanced(milliseconds: Self.choosingMilliseconds)
    while choosing.contains(account) {
      guard await hasChanged.wait(until: deadline) else {
        throw Refusal(
          .unavailable, "other posts are being made for sessions", outcome: .notStarted, retryAfterMilliseconds: 1_000)
      }
    }
    choosing.insert(account)
    defer {
      choosing.remove(account)
      hasChanged.raise()
    }
    return try await body()
  }

  /// How long a post waits for others that are being made.
  private static let choosingMilliseconds: UInt64 = 30_000
}
