internal import Frames

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
  /// What a filter of `[worker.mirror.keep.NAME]` matches; of no account.
  case keep
}

/// `[worker.mirror.keep.NAME]`: what else a mirror keeps.
public struct MirrorKeep: Codable, Sendable, Hashable {
  /// Its name in the file.
  public var name: String
  /// A NIP-01 filter, as JSON.
  public var filter: String
  /// The relays that are asked; empty: those where its authors write, or that name them, as the planner chooses.
  public var relays: [String]
  /// Bytes that it may have; 0: no bound.
  public var bytes: Int64

  /// The most of them.
  public static let countMaximum = 32
  /// The most relays of one.
  public static let relayMaximum = 16

  /// Why a filter cannot be kept, as a sentence; nil: it can.
  ///
  /// - Parameter filter: a NIP-01 filter as JSON.
  public static func objection(to filter: String) -> String? {
    let fields = fields(of: filter)
    for name in ["limit", "search"] where fields[name] != nil {
      return "a filter that is kept has no '\(name)': everything that it matches is fetched"
    }
    guard case .array(let kinds)? = fields["kinds"] else {
      // Gift wraps are signed by keys that are used once, so what an author wrote has none.
      return fields["authors"] == nil
        ? "without 'authors' a filter needs 'kinds': relays would be asked for gift wraps, and learn where one's inbox is"
        : nil
    }
    let wraps: [Int64] = [1_059, 1_060, 21_059]
    for kind in wraps where kinds.contains(.integer(kind)) {
      return "gift wraps (kind \(kind)) are not asked for this way: it tells relays where one's inbox is;"
        + " those to your accounts are kept without it"
    }
    return nil
  }

  /// Whether it names neither ids, authors nor tags.
  public static func isBoundless(_ filter: String) -> Bool {
    !fields(of: filter).keys.contains { $0 == "ids" || $0 == "authors" || $0.hasPrefix("#") }
  }

  private static func fields(of filter: String) -> [String: JSONValue] {
    // `try?`: text that is no JSON has no fields, and is refused where it is read.
    guard case .object(let fields)? = try? JSONPayload.decode(JSONValue.self, from: Array(filter.utf8)) else {
      return [:]
    }
    return fields
  }

  /// Something to keep.
  public init(name: String, filter: String, relays: [String] = [], bytes: Int64 = 0) {
    (self.name, self.filter, self.relays, self.bytes) = (name, filter, relays, bytes)
  }
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
  /// One class of one account, or one filter of the configuration.
  public struct Entry: Codable, Sendable, Hashable {
    /// The account's name; absent for the class `keep`, which is of no account.
    public var account: String?
    /// For the class `keep` the name in the configuration; absent for all others.
    public var name: String?
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
    /// What is older than this second is not fetched, because the class is full or its filter says so; absent:
    /// everything is.
    public var since: Int64?

    /// A class of an account, or a filter of the configuration.
    public init(
      account: String?, name: String? = nil, kind: MirrorClass, events: Int, isFetching: Bool, relays: [Relay]
    ) {
      (self.account, self.name, self.kind, self.events, self.isFetching) = (account, name, kind, events, isFetching)
      self.relays = relays
    }

    /// How many relays have sent everything, from the beginning on or from ``since`` on.
    public var completeCount: Int { relays.count(where: isComplete) }

    /// Whether one of its relays has.
    public func isComplete(_ relay: Relay) -> Bool { relay.since.map { $0 <= since ?? 0 } ?? false }
  }
  /// How full a class is that has a bound.
  public struct Bound: Codable, Sendable, Hashable {
    /// The class.
    public var kind: MirrorClass
    /// For the class `keep` the name in the configuration.
    public var name: String?
    /// Bytes of its events that are here; absent: not counted yet.
    public var bytes: Int64?
    /// The bytes that it may have.
    public var byteMaximum: Int64
    /// What is older than this second is not fetched; absent: there is room for everything that was found.
    public var since: Int64?

    /// A bound.
    public init(kind: MirrorClass, name: String? = nil, bytes: Int64?, byteMaximum: Int64, since: Int64?) {
      (self.kind, self.name, self.bytes, self.byteMaximum, self.since) = (kind, name, bytes, byteMaximum, since)
    }
  }
  /// In the order of accounts and classes.
  public var entries: [Entry]
  /// The living copies of what each account wrote.
  public var copies: [CopyStatus]
  /// The other Roosts of the same owner, in the order of the settings.
  public var peers: [PeerStatus]

  /// The classes that have a bound, in the order of ``MirrorClass``.
  public var bounds: [Bound]

  /// A status.
  public init(
    entries: [Entry], copies: [CopyStatus] = [], bounds: [Bound] = [], peers: [PeerStatus] = []
  ) {
    (self.entries, self.copies, self.bounds, self.peers) = (entries, copies, bounds, peers)
  }
}
