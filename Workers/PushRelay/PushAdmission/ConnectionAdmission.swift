public import Addresses

// Who may stay connected when more would be than there is room for.
//
// A connection that waits, for its first request or its next one, costs a descriptor and nothing else, and whoever has
// lost one comes again. So none of them keeps anybody out: for a newcomer the one that has waited longest goes. Where
// none waits, the one goes whose body has been coming for the longest: it has seconds, and an honest body comes with
// its head. One whose request is here whole stays: how many of those a network has, its limits say. And one network may
// have a share of the places only: beyond it the newcomer takes the place of one of its own.
//
// Rejected: to take nobody in while all places are taken, as servers do by themselves. Then a thousand connections that
// say nothing, which one machine can open in a second, shut the door for everybody else. To let all stay whose request
// has begun: then four addresses that each begin as many bodies as they may, and end none, shut it as well.

/// The connections there are, by numbers.
public struct ConnectionAdmission: Sendable {
  /// What becomes of a newcomer.
  public enum Verdict: Hashable, Sendable {
    /// There is room.
    case admitted(UInt64)
    /// There is when another goes, which the book has forgotten already.
    case admittedInstead(UInt64, of: UInt64)
    /// All that might go for it are at work.
    case refused
  }

  /// Most connections.
  public let maximum: Int
  /// Most of them from one network: a quarter.
  public let shareMaximum: Int

  /// Networks smaller than this would be shut out by their own pages and apps.
  private static let shareMinimum = 16
  private static let shareDivisor = 4

  private struct Network {
    var count = 0
    var lines = Lines()
  }

  /// Who may have to go.
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

  /// An empty book.
  ///
  /// - Parameter maximum: most connections, 1 at least.
  public init(maximum: Int) {
    self.maximum = max(1, maximum)
    shareMaximum = min(self.maximum, max(Self.shareMinimum, maximum / Self.shareDivisor))
  }

  /// Connections.
  public var count: Int { connections.count }

  /// Somebody connects. He waits at first.
  ///
  /// - Parameter address: where from; nil where that says nothing of who it is, as behind a proxy.
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

  /// A connection waits from now on, for its next request.
  public mutating func wait(_ number: UInt64) { lineUp(number, in: \.waiting) }

  /// A request has begun on a connection, and is not here whole.
  public mutating func arrive(_ number: UInt64) { lineUp(number, in: \.arriving) }

  /// A request is here whole, and is being answered.
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

  /// A connection has ended. One that is not known any more is none.
  public mutating func leave(_ number: UInt64) {
    guard let connection = connections.removeValue(forKey: number), let network = connection.network else { return }
    networks[network]?.count -= 1
    if networks[network]?.count == 0 { networks[network] = nil }
  }
}

private struct ConnectionEntry: Sendable {
  var network: AddressPrefix?
  /// Since when it waits, or its request arrives, as a turn; nil: it is at work.
  var turn: UInt64?
}

/// Those that wait, or whose requests arrive, the longest first; and some that did, until there are too many of them.
private struct WaitingConnections: Sendable {
  struct Place: Sendable {
    var number: UInt64
    var turn: UInt64
  }

  private var places: [Place] = []
  private var first = 0

  /// Places beyond those that can be true, from which the others are thrown away: so that each costs a step or two.
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
