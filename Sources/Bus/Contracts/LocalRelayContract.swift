// The methods of role `local-relay`, `local.*`: its connections, and the origins whose web pages it admits.

/// The answer of `local.status`. Counters start at 0 with the process.
public struct LocalRelayStatus: Codable, Sendable, Hashable {
  /// Where it listens, as clients dial it: an unspecified address is shown as the machine's names and the loopback.
  public var addresses: [String] = []
  /// Where it listens at every address, in words: `every IPv4 address, port 4869`. Absent: nowhere.
  public var everywhere: [String]?
  /// Connections now.
  public var connections = 0
  /// The maximum number of connections.
  public var connectionsMaximum = 0
  /// Subscriptions of all connections.
  public var subscriptions = 0
  /// Connections accepted since the start.
  public var accepted = 0
  /// Connections rejected because there were too many.
  public var turnedAway = 0
  /// Events of clients that were accepted.
  public var taken: UInt64 = 0
  /// Events and requests of clients that were refused.
  public var refused: UInt64 = 0
  /// Events sent to clients.
  public var delivered: UInt64 = 0
  /// Connections from this machine since the start that had to authenticate, and requests for the status page that were
  /// refused, because they came from other users. Absent in answers of earlier versions.
  public var outsideUsers: Int?
  /// The same for programs whose user the kernel does not report.
  public var outsideUnknown: Int?
  /// The same for requests through a proxy.
  public var outsideProxied: Int?
  /// The users counted in `outsideUsers` with their counts, the highest count first; at most ``outsiderMaximum`` users.
  /// Further users are counted in `outsideUnknown`. Absent in answers of earlier versions.
  public var outsiders: [LocalRelayOutsider]?

  /// The maximum number of users with a count of their own.
  public static let outsiderMaximum = 62
  /// Whether the kernel reports which user a connection belongs to. Without that, all programs of this machine have to
  /// authenticate. Absent in answers of earlier versions.
  public var knowsUsers: Bool?
  /// Seconds since a connection was last rejected; absent: never, or an answer of an earlier version.
  public var turnedAwaySecondsAgo: Int?
  /// Connections now whose clients have not authenticated.
  public var outside: Int?
  /// The maximum number of such connections.
  public var outsideMaximum: Int?
  /// Connections since the start that were closed before their clients had authenticated, because other connections
  /// needed the place.
  public var displaced: Int?
  /// Seconds since that last happened; absent: never.
  public var displacedSecondsAgo: Int?

  /// A status without any counts.
  public init() {}
}

/// Another user of the machine whose programs the local relay did not admit.
public struct LocalRelayOutsider: Codable, Sendable, Hashable {
  /// The user id.
  public var uid: UInt32
  /// Connections that had to authenticate and requests that were refused, since the start.
  public var count: Int

  /// A user and its count.
  public init(uid: UInt32, count: Int) {
    self.uid = uid
    self.count = count
  }
}

/// One connection, as `local.clients` describes it.
public struct LocalRelayClient: Codable, Sendable, Hashable {
  /// The connection's number, counted since the start.
  public var number: UInt64
  /// The client's address and port.
  public var address: String
  /// The origin of the web page, if the client is one in a browser.
  public var origin: String?
  /// The program that the client says it is.
  public var agent: String?
  /// Whether the client may do anything; otherwise it is an unknown page, or has not authenticated.
  public var isAdmitted: Bool
  /// Keys that it has authenticated as, 64 hexadecimal digits each.
  public var authenticated: [String]
  /// Its subscriptions.
  public var subscriptions: Int
  /// Events of the client that were accepted.
  public var taken: UInt64
  /// Events sent to it.
  public var delivered: UInt64
  /// When it connected, seconds since 1970.
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

/// The answer of `local.clients`: at most ``clientMaximum`` connections, the latest first, and the allowed origins.
public struct LocalRelayClients: Codable, Sendable, Hashable {
  /// Connections.
  public var clients: [LocalRelayClient]
  /// The number of connections that the answer leaves out.
  public var others: Int
  /// The allowed origins, sorted.
  public var allowed: [String]

  /// The maximum number of connections of one answer.
  public static let clientMaximum = 500

  /// A list of connections.
  public init(clients: [LocalRelayClient], others: Int, allowed: [String]) {
    self.clients = clients
    self.others = others
    self.allowed = allowed
  }
}

/// `local.allow` and `local.deny`: web pages of an origin may, or may no longer, do what programs may. Answered with
/// the origins that are allowed now, when that is on the disk; connections of a denied origin are closed.
public struct LocalRelayOrigin: MethodArguments {
  /// An example of the arguments.
  public static let example = #"{"origin":"https://client.example"}"#

  /// The origin as browsers write it: scheme, host, and port unless it is the scheme's own.
  public var origin: String

  /// An origin.
  public init(origin: String) { self.origin = origin }
}

/// The answer of `local.allow` and `local.deny`.
public struct LocalRelayOrigins: Codable, Sendable, Hashable {
  /// The allowed origins, sorted.
  public var allowed: [String]

  /// A list of origins.
  public init(allowed: [String]) { self.allowed = allowed }
}
