public import Addresses

// Which connections stay when there are more than the relay has room for.
//
// An idle connection, before its first request or between two requests, costs one descriptor, and its client can
// connect again. So idle connections keep no client out: for a new connection the relay closes the one that has been
// idle longest. If none is idle, it closes the one whose body has been arriving longest: a body has seconds to arrive,
// and an honest one arrives with its head. A connection whose request is complete stays: other limits bound the
// requests of a network. And one network may have only a share of the places: beyond it, a new connection replaces one
// of the same network.
//
// Rejected: to accept no client while all places are taken, as servers do by default. Then a thousand silent
// connections, which one machine can open in a second, would keep all other clients out. Also rejected: to keep every
// connection whose request has begun. Then four addresses that each begin as many bodies as they may, and end none,
// would do the same.

/// The present connections, by numbers.
public struct ConnectionAdmission: Sendable {
  /// What becomes of a new connection.
  public enum Verdict: Hashable, Sendable {
    /// There is room.
    case admitted(UInt64)
    /// There is room when another connection is closed, which is already removed here.
    case admittedInstead(UInt64, of: UInt64)
    /// All connections that might be closed for it are at work.
    case refused
  }

  /// Most connections.
  public let maximum: Int
  /// Most of them from one network: a quarter.
  public let shareMaximum: Int

  /// With a smaller share, the pages and apps of one network could already use it up.
  private static let shareMinimum = 16
  private static let shareDivisor = 4

  private struct Network {
    var count = 0
    var lines = Lines()
  }

  /// The connections that may be closed for a new one.
  private struct Lines {
    var waiting = WaitingConnections()
    var arriving = WaitingConnections()

    mutating func takeFirst(of connections: [UInt64: ConnectionEntry]) -> UInt64? {
      waiting.takeFirst(of: connections) ?? arriving.takeFirst(of: connections)
    }
  }

  private var connections: [UInt64: ConnectionEntry] = [:]
  private var networks: [AddressPrefix: Network] = [:]
  private var lines = Lines()
  private var lastNumber: UInt64 = 0
  private var lastTurn: UInt64 = 0

  /// No connections.
  ///
  /// - Parameter maximum: most connections, 1 at least.
  public init(maximum: Int) {
    self.maximum = max(1, maximum)
    shareMaximum = min(self.maximum, max(Self.shareMinimum, maximum / Self.shareDivisor))
  }

  /// The number of connections.
  public var count: Int { connections.count }

  /// A client connects. The connection is idle at first.
  ///
  /// - Parameter address: the client's address; nil if it does not identify the client, as behind a proxy.
  public mutating func enter(from address: IPAddress?) -> Verdict {
    let network = address.map(AddressPrefix.init)
    var leaving: UInt64?
    if let network, networks[network]?.count ?? 0 >= shareMaximum {
      guard let own = networks[network]?.lines.takeFirst(of: connections) else { return .refused }
      leaving = own
    } else if connections.count >= maximum {
      guard let longest = lines.takeFirst(of: connections) else { return .refused }
      leaving = longest
    }
    if let leaving { leave(leaving) }
    lastNumber += 1
    connections[lastNumber] = ConnectionEntry(network: network)
    if let network { networks[network, default: Network()].count += 1 }
    wait(lastNumber)
    return leaving.map { .admittedInstead(lastNumber, of: $0) } ?? .admitted(lastNumber)
  }

  /// A connection is idle from now on, until its next request.
  public mutating func wait(_ number: UInt64) { lineUp(number, in: \.waiting) }

  /// A request has begun on a connection, and is not complete.
  public mutating func arrive(_ number: UInt64) { lineUp(number, in: \.arriving) }

  /// A request is complete, and is being answered.
  public mutating func work(_ number: UInt64) { connections[number]?.turn = nil }

  private mutating func lineUp(_ number: UInt64, in line: WritableKeyPath<Lines, WaitingConnections>) {
    guard let connection = connections[number] else { return }
    lastTurn += 1
    connections[number]?.turn = lastTurn
    let place = WaitingConnections.Place(number: number, turn: lastTurn)
    lines[keyPath: line].append(place, atMost: maximum, of: connections)
    if let network = connection.network {
      networks[network]?.lines[keyPath: line].append(place, atMost: shareMaximum, of: connections)
    }
  }

  /// A connection ended. An unknown number has no effect.
  public mutating func leave(_ number: UInt64) {
    guard let connection = connections.removeValue(forKey: number), let network = connection.network else { return }
    networks[network]?.count -= 1
    if networks[network]?.count == 0 { networks[network] = nil }
  }
}

private struct ConnectionEntry: Sendable {
  var network: AddressPrefix?
  /// When it became idle or its request began, as a turn; nil: it is at work.
  var turn: UInt64?
}

/// Connections that are idle, or whose requests are arriving, the oldest first. Connections that changed since stay in
/// the list until there are too many of them.
private struct WaitingConnections: Sendable {
  struct Place: Sendable {
    var number: UInt64
    var turn: UInt64
  }

  private var places: [Place] = []
  private var first = 0

  /// When the list has this many places more than twice its maximum, outdated places are removed: so each append costs
  /// a step or two.
  private static let slack = 64

  mutating func append(_ place: Place, atMost maximum: Int, of connections: [UInt64: ConnectionEntry]) {
    places.append(place)
    guard places.count > 2 * maximum + Self.slack else { return }
    places = places[first...].filter { connections[$0.number]?.turn == $0.turn }
    first = 0
  }

  mutating func takeFirst(of connections: [UInt64: ConnectionEntry]) -> UInt64? {
    while first < places.count {
      let place = places[first]
      first += 1
      if connections[place.number]?.turn == place.turn { return place.number }
    }
    return nil
  }
}
