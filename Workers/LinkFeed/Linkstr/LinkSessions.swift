public import Cryptography
internal import LinkAddresses
internal import Nostr

// The sessions of one account. A session is a set of facts (see LinkSession), so the state is the sum of the rumors
// that were taken, in any order: a worker keeps those rumors, and makes the state from them at its start.
//
// What is bounded is the bytes that are taken in, in two parts. What contacts send, or members of sessions that the
// account or a contact has created, has one part; everything else the other, much smaller one. So strangers can fill
// their part, and the others are not hindered. What finds no room is refused by a fault that is not final.

/// The sessions (v2) of one account.
public struct LinkSessions: Sendable {
  /// The account.
  public let account: PublicKey
  /// All sessions by their ids, with those that wait for their creation.
  public private(set) var sessions: [String: LinkSession] = [:]

  /// The bytes of contacts' events, with the members of their sessions. Beyond, events are refused
  /// (``LinkFault/sessionsFull``).
  public static let byteCountMaximum = 256 << 20
  /// The bytes of strangers' events. Beyond, they are refused (``LinkFault/tooManyFromStrangers``).
  public static let strangerByteCountMaximum = 8 << 20
  /// What an event counts beside its text: about what the tables need for it.
  static let eventByteCount = 512

  private(set) var byteCount = 0
  private var strangerByteCount = 0
  /// What strangers have sent to each session: a session of a contact that names them counts it as its own.
  private var charges: [String: [PublicKey: Int]] = [:]
  /// The sessions that the account or a contact has created.
  private var trusted: Set<String> = []

  /// No sessions.
  public init(_ account: PublicKey) { self.account = account }

  /// The state that was kept as its events, in any order.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - items: those that were accepted or waited. Others are ignored.
  ///   - contacts: whose events are no strangers'.
  public init(_ account: PublicKey, from items: some Sequence<LinkItem>, contacts: Set<PublicKey>) {
    self.init(account)
    for item in Self.ordered(items) {
      // `try?`: what was taken before is refused only where contacts or limits have changed since.
      _ = try? received(item, fromContact: contacts.contains(item.sender))
    }
  }

  /// The events of a batch in the order in which the fewest of them wait: creations, members, then the rest by time.
  public static func ordered(_ items: some Sequence<LinkItem>) -> [LinkItem] {
    items.map { (rank: rank($0), item: $0) }.sorted {
      ($0.rank, $0.item.createdAt, $0.item.id) < ($1.rank, $1.item.createdAt, $1.item.id)
    }.map(\.item)
  }

  private static func rank(_ item: LinkItem) -> Int {
    switch item.body {
    case .session(_, .creation): 0
    case .session(_, .members): 1
    default: 2
    }
  }

  /// Takes an event of a session. Other items are a mistake of the caller.
  ///
  /// - Parameters:
  ///   - item: read for this account.
  ///   - isFromContact: whether the sender is a contact.
  /// - Throws: the rule that it breaks, or the limit; see ``LinkFault/isFinal``.
  public mutating func received(
    _ item: LinkItem, fromContact isFromContact: Bool
  ) throws(LinkFault) -> LinkOutcome {
    guard case .session(let id, let event) = item.body else {
      preconditionFailure("only events of sessions are received here")
    }
    let cost = Self.cost(of: event)
    let isTrusted = isFromContact || item.isOwn || isMemberOfTrusted(item.sender, id)
    try checkRoom(for: cost, isTrusted: isTrusted)
    // Taken out of the table, the session is changed in place and not copied.
    let known = sessions.removeValue(forKey: id)
    let isNew = known?.creator == nil
    var session = known ?? LinkSession(id: id, account: account)
    let outcome: LinkOutcome
    do throws(LinkFault) {
      outcome = try session.received(event, id: item.id, by: item.sender, at: item.createdAt)
    } catch {
      sessions[id] = known
      throw error
    }
    if isNew, session.creator != nil, isFromContact || item.isOwn { trusted.insert(id) }
    switch outcome {
    case .accepted, .waiting: charge(cost, of: item.sender, to: id, isTrusted: isTrusted)
    case .superseded, .duplicate: break
    }
    if trusted.contains(id), Self.rank(item) < 2 { discharge(session.everyMember, of: id) }
    sessions[id] = session
    return outcome
  }

  /// Forgets a post or a creation that the account has made and that reached no one. Others are ignored.
  public mutating func takeBack(_ item: LinkItem) {
    guard item.isOwn, case .session(let id, let event) = item.body, var session = sessions[id], session.has(item.id)
    else { return }
    byteCount -= Self.cost(of: event)
    guard session.takeBack(item.id) else {
      (sessions[id], charges[id]) = (nil, nil)
      trusted.remove(id)
      return
    }
    sessions[id] = session
  }

  // MARK: Room

  private func isMemberOfTrusted(_ sender: PublicKey, _ id: String) -> Bool {
    trusted.contains(id) && sessions[id]?.everyMember.contains(sender) == true
  }

  private func checkRoom(for cost: Int, isTrusted: Bool) throws(LinkFault) {
    if isTrusted {
      guard byteCount + cost <= Self.byteCountMaximum else { throw .sessionsFull }
    } else {
      guard strangerByteCount + cost <= Self.strangerByteCountMaximum else { throw .tooManyFromStrangers }
    }
  }

  private mutating func charge(_ cost: Int, of sender: PublicKey, to id: String, isTrusted: Bool) {
    if isTrusted {
      byteCount += cost
    } else {
      strangerByteCount += cost
      charges[id, default: [:]][sender, default: 0] += cost
    }
  }

  /// What these senders sent before the session named them counts as what members send.
  private mutating func discharge(_ members: Set<PublicKey>, of id: String) {
    guard var senders = charges[id] else { return }
    for member in members {
      guard let cost = senders.removeValue(forKey: member) else { continue }
      strangerByteCount -= cost
      byteCount += cost
    }
    charges[id] = senders.isEmpty ? nil : senders
  }

  private static func cost(of event: LinkSessionEvent) -> Int {
    let text =
      switch event {
      case .creation(let name, let members): name.utf8.count + members.count * Octets32.byteCount
      case .members(let members): members.count * Octets32.byteCount
      case .post(let url, let note): url.text.utf8.count + (note?.utf8.count ?? 0)
      case .deletion: 0
      case .reaction(_, let emoji, _): emoji.utf8.count
      }
    return eventByteCount + text
  }
}
