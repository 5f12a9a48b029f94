import Clocks
import EventLoop

/// Connections that have not said HELLO yet, held so that they live; the oldest gives way when there are too many.
@EventLoopActor
struct Greeting {
  private var connections: [ObjectIdentifier: PeerConnection] = [:]
  private var order: [ObjectIdentifier] = []

  /// Connections that may be undecided at once.
  static let countMaximum = 256

  /// Holds a connection.
  ///
  /// - Returns: the one that gives way for it, to be closed by the caller: a close calls back, and must not find this
  ///   value in the middle of a change.
  mutating func insert(_ id: ObjectIdentifier, _ connection: PeerConnection) -> PeerConnection? {
    connections[id] = connection
    order.append(id)
    guard connections.count > Self.countMaximum, let oldest = order.first, oldest != id else { return nil }
    let victim = connections[oldest]
    remove(oldest)
    return victim
  }

  /// All that are held.
  var all: [PeerConnection] { Array(connections.values) }

  mutating func remove(_ id: ObjectIdentifier) {
    guard connections.removeValue(forKey: id) != nil else { return }
    order.removeAll { $0 == id }
  }
}

/// Keeps a peer that is refused in a loop from filling the log: ten lines in ten seconds, then silence.
struct RefusalLog {
  private var windowStart: Instant?
  private var count = 0

  static let linesMaximum = 10
  static let windowMilliseconds: UInt64 = 10_000

  mutating func shouldLog(now: Instant) -> Bool {
    if windowStart.map({ now.milliseconds(since: $0) >= Self.windowMilliseconds }) ?? true {
      windowStart = now
      count = 0
    }
    count += 1
    return count <= Self.linesMaximum
  }
}
