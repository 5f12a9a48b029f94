// The methods of role `local-relay`, `local.*`: who is connected, and which pages of browsers may come in.

/// The answer of `local.status`. Counters begin with the process.
public struct LocalRelayStatus: Codable, Sendable, Hashable {
  /// Where it listens, as clients dial it: what listens everywhere by its names and at the loopback.
  public var addresses: [String] = []
  /// Where it listens everywhere, in words: `every IPv4 address, port 4869`. Absent: nowhere.
  public var everywhere: [String]?
  /// Connections now, and how many there may be.
  public var connections = 0
  /// The bound.
  public var connectionsMaximum = 0
  /// Subscriptions of all of them.
  public var subscriptions = 0
  /// Connections since the start.
  public var accepted = 0
  /// Connections turned away, since there were too many.
  public var turnedAway = 0
  /// Events that clients have sent and that were taken.
  public var taken: UInt64 = 0
  /// Events and requests of clients that were refused.
  public var refused: UInt64 = 0
  /// Events sent to clients.
  public var delivered: UInt64 = 0
  /// Of those from this machine, connections since the start that had to show themselves, and requests for the page
  /// that were refused: of other users, of programs whose user the kernel does not tell, by a proxy. Absent in answers
  /// of earlier versions.
  public var outsideUsers: Int?
  /// Of programs whose user cannot be told.
  public var outsideUnknown: Int?
  /// By a proxy.
  public var outsideProxied: Int?
  /// Of `outsideUsers` each user with its number, the most first; ``outsiderMaximum`` users at most, and those that
  /// come beyond them count among `outsideUnknown`. Absent in answers of earlier versions.
  public var outsiders: [LocalRelayOutsider]?

  /// Most users that are counted apart.
  public static let outsiderMaximum = 62
  /// Whether the kernel tells whose programs connect; where it does not, all of this machine have to show themselves.
  /// Absent in answers of earlier versions.
  public var knowsUsers: Bool?
  /// When a connection was last turned away; absent: never, or an earlier version's answer.
  public var turnedAwaySecondsAgo: Int?
  /// Connections now whose clients have not shown themselves, and how many there may be.
  public var outside: Int?
  /// The bound.
  public var outsideMaximum: Int?
  /// Connections since the start that were cut before their clients had shown themselves, since others needed the
  /// place.
  public var displaced: Int?
  /// When that was last; absent: never.
  public var displacedSecondsAgo: Int?

  /// Nothing yet.
  public init() {}
}

/// Another user of the machine that the local relay has kept out.
public struct LocalRelayOutsider: Codable, Sendable, Hashable {
  /// The user.
  public var uid: UInt32
  /// Connections that had to show themselves and requests that were refused, since the start.
  public var count: Int

  /// A user and how often it came.
  public init(uid: UInt32, count: Int) {
    self.uid = uid
    self.count = count
  }
}

/// One connection, as `local.clients` tells it.
public struct LocalRelayClient: Codable, Sendable, Hashable {
  /// Counts connections since the start.
  public var number: UInt64
  /// Its address and port.
  public var address: String
  /// The page it is, if it is one in a browser.
  public var origin: String?
  /// The program it says it is.
  public var agent: String?
  /// Whether it may do anything; else it is an unknown page, or has not shown itself.
  public var isAdmitted: Bool
  /// Keys it has shown itself as, 64 hexadecimal digits each.
  public var authenticated: [String]
  /// Its subscriptions.
  public var subscriptions: Int
  /// Events it has sent that were taken.
  public var taken: UInt64
  /// Events sent to it.
  public var delivered: UInt64
  /// When it came, seconds since 1970.
  public var since: Int64?

  /// A connection.
  public init(
    number: UInt64, address: String, origin: String?, agent: String?, isAdmitted: Bool, authenticated: [String],
    subscriptions: Int, taken: UInt64, delivered: UInt64, since: Int64? = nil
  ) {
    self.number = number
    self.address = address
    self.origin = origin
    self.agent = agent
    self.isAdmitted = isAdmitted
    self.authenticated = authenticated
    self.subscriptions = subscriptions
    self.taken = taken
    self.delivered = delivered
    self.since = since
  }
}

/// The answer of `local.clients`: at most ``clientMaximum`` connections, the latest first, and what is allowed.
public struct LocalRelayClients: Codable, Sendable, Hashable {
  /// Connections.
  public var clients: [LocalRelayClient]
  /// How many there are besides.
  public var others: Int
  /// Origins that were allowed, sorted.
  public var allowed: [String]

  /// Most connections of one answer.
  public static let clientMaximum = 500

  /// Who is there.
  public init(clients: [LocalRelayClient], others: Int, allowed: [String]) {
    self.clients = clients
    self.others = others
    self.allowed = allowed
  }
}

/// `local.allow` and `local.deny`: pages of an origin may do what programs may, or may not any more. Answered with the
/// origins that are allowed now, when that is on the disk; connections of a denied origin are closed.
public struct LocalRelayOrigin: MethodArguments {
  /// How it is asked.
  public static let example = #"{"origin":"https://client.example"}"#

  /// The origin as browsers write it: scheme, host, and port unless it is the scheme's own.
  public var origin: String

  /// An origin.
  public init(origin: String) { self.origin = origin }
}

/// The answer of `local.allow` and `local.deny`.
public struct LocalRelayOrigins: Codable, Sendable, Hashable {
  /// Sorted.
  public var allowed: [String]

  /// These.
  public init(allowed: [String]) { self.allowed = allowed }
}
