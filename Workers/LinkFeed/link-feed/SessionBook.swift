import Contracts
import Cryptography
import EventLoop
import Frames
import LinkLedger
import Linkstr
import Logging
import Nostr
import Storage

// The sessions (v2) of open accounts, in memory: `LinkSessions` decides, and its state is the sum of the events that
// the ledger keeps. It is read when a session is first asked for or comes, and dropped when the account is locked.

/// What a run changes about posts of sessions that are in the ledger already.
struct SessionJudgement {
  /// Posts that can be seen now.
  var shown: [EventID] = []
  /// Posts that were deleted.
  var hidden: [EventID] = []
}

/// The sessions of open accounts.
@EventLoopActor
final class SessionBook {
  private unowned let feed: LinkFeed
  private var books: [PublicKey: LinkSessions] = [:]

  init(_ feed: LinkFeed) { self.feed = feed }

  /// Forgets what is in memory of an account.
  func drop(_ account: PublicKey) { books[account] = nil }

  /// Reads the sessions of an account from the ledger, unless they are in memory.
  func prepare(_ vault: LinkVault) async throws(Refusal) {
    guard books[vault.key] == nil else { return }
    let rows = try await feed.ledgered { () async throws(StorageFault) in
      try await self.feed.ledger.sessionEvents(of: vault.account)
    }
    let contacts = Set(try await feed.contacts(vault).keys)
    guard books[vault.key] == nil else { return }
    let items = rows.compactMap { row -> LinkItem? in
      guard case .link(let item)? = vault.rumor(row)?.content else { return nil }
      return item
    }
    books[vault.key] = LinkSessions(vault.key, from: items, contacts: contacts)
  }

  /// A session; nil: it has no creation, or is not known.
  func session(_ id: String, of account: PublicKey) -> LinkSession? {
    books[account]?.sessions[id].flatMap { $0.creator == nil ? nil : $0 }
  }

  /// Takes an event of a session, after ``prepare(_:)``.
  ///
  /// - Returns: whether it can be seen now; nil: it is not kept.
  func received(_ rumor: KeptRumor, _ vault: LinkVault, _ judgement: inout SessionJudgement) -> Bool? {
    guard case .link(let item) = rumor.content, case .session(_, let event) = item.body else { return nil }
    let outcome: LinkOutcome
    do throws(LinkFault) {
      outcome =
        try books[vault.key]?.received(item, fromContact: feed.isContact(item.sender, of: vault.key)) ?? .superseded
    } catch {
      feed.log.debug("an event of a session is not kept", metadata: ["why": "\(error)"])
      return nil
    }
    switch outcome {
    case .accepted(let shown):
      judgement.shown += shown.filter { $0 != item.id }
      if case .deletion(let post) = event { judgement.hidden.append(post) }
      return shown.contains(item.id)
    case .waiting: return false
    // It is filed already, as one's own that comes back in its own copy.
    case .duplicate: return false
    case .superseded: return nil
    }
  }

  // MARK: What the account writes

  /// The sessions of an account and one other key with no further member, the last used first. After ``prepare(_:)``.
  func sessions(of account: PublicKey, with peer: PublicKey) -> [LinkSession] {
    let members = [account, peer].sorted()
    let found = books[account]?.sessions.values.filter { $0.members == members } ?? []
    return found.sorted { ($0.lastUsedAt, $0.id) > ($1.lastUsedAt, $1.id) }
  }

  /// Takes an event that the account has made.
  ///
  /// - Returns: whether there is room for it.
  func made(_ rumor: KeptRumor, _ vault: LinkVault) -> Bool {
    var judgement = SessionJudgement()
    return received(rumor, vault, &judgement) != nil
  }

  /// Forgets an event that the account has made and that reached no one.
  func takeBack(_ rumor: KeptRumor, _ vault: LinkVault) {
    guard case .link(let item) = rumor.content else { return }
    books[vault.key]?.takeBack(item)
  }
}
