/// What a mirror keeps.
public enum MirrorClass: String, Codable, Sendable, Hashable, CaseIterable {
  /// What an account wrote, its lists among it.
  case own
  /// What others wrote that names an account: answers, mentions, reactions, reposts, zaps.
  case named
  /// Gift wraps to an account.
  case wraps
  /// What the people wrote whom an account follows, for the time of `keep-follows`.
  case follows
}

/// The answer of `mirror.status`: how much is here, and how complete it is. Completeness is read from the store's
/// coverage: a relay counts when it has sent everything.
public struct MirrorStatus: Codable, Sendable, Hashable, Payload {
  /// A relay that is asked for something.
  public struct Relay: Codable, Sendable, Hashable {
    /// Its URL.
    public var relay: String
    /// Nothing of the relay is missing from this second on, up to now or the last comparison; 0: from the beginning.
    /// Absent: it has not sent everything of any time yet.
    public var since: Int64?
    /// When it was last compared, seconds since 1970.
    public var comparedAt: Int64?
    /// How far it was at the last attempt; absent when it was not asked yet.
    public var state: RequestReport.State?
    /// Why it has not sent everything.
    public var reason: String?

    /// A relay.
    public init(relay: String, since: Int64? = nil, comparedAt: Int64? = nil) {
      (self.relay, self.since, self.comparedAt) = (relay, since, comparedAt)
    }
  }
  /// One class of one account.
  public struct Entry: Codable, Sendable, Hashable {
    /// The account's name.
    public var account: String
    /// What is kept.
    public var kind: MirrorClass
    /// Events of it that are here.
    public var events: Int
    /// Whether it is being fetched now.
    public var isFetching: Bool
    /// When it is fetched next, seconds since 1970.
    public var nextAt: Int64?
    /// Its relays, in the order of their URLs; empty for `follows`, where each relay has only some of the people.
    public var relays: [Relay]
    /// The last fetch: how it ended; absent before the first.
    public var end: PlanWantResult.End?

    /// A class of an account.
    public init(account: String, kind: MirrorClass, events: Int, isFetching: Bool, relays: [Relay]) {
      (self.account, self.kind, self.events, self.isFetching) = (account, kind, events, isFetching)
      self.relays = relays
    }

    /// How many relays have sent everything, from the beginning on.
    public var completeCount: Int { relays.count { $0.since == 0 } }
  }
  /// In the order of accounts and classes.
  public var entries: [Entry]
  /// The living copies of what each account wrote.
  public var copies: [CopyStatus]
  /// The other Roosts of the same owner, in the order of the settings.
  public var peers: [PeerStatus]

  /// A status.
  public init(entries: [Entry], copies: [CopyStatus] = [], peers: [PeerStatus] = []) {
    (self.entries, self.copies, self.peers) = (entries, copies, peers)
  }
}
