/// Which requests run and which wait: a few at once in all, fewer for one host, so that a slow host does not delay the
/// others.
///
/// A request waits → runs → is gone; one that waits may go as well.
struct TransferQueue {
  private var waiting: [(key: UInt64, host: String)] = []
  private var running: [UInt64: String] = [:]
  private var countByHost: [String: Int] = [:]
  private let limits: HTTPClientLimits

  init(_ limits: HTTPClientLimits) { self.limits = limits }

  /// Requests that run or wait.
  var count: Int { waiting.count + running.count }
  /// Whether one more may be added.
  var hasRoom: Bool { count < limits.requestMaximum }
  /// Whether nothing runs and nothing waits.
  var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

  /// Adds a request at the end of the queue.
  mutating func added(_ key: UInt64, host: String) { waiting.append((key, host)) }

  /// A request is over, whether it has run or not.
  mutating func ended(_ key: UInt64) {
    guard let host = running.removeValue(forKey: key) else {
      waiting.removeAll { $0.key == key }
      return
    }
    let left = (countByHost[host] ?? 1) - 1
    countByHost[host] = left > 0 ? left : nil
  }

  /// The next request that may run, and runs from now on: the first in the queue whose host has room.
  mutating func next() -> UInt64? {
    guard running.count < limits.connectionMaximum else { return nil }
    let place = waiting.firstIndex { (countByHost[$0.host] ?? 0) < limits.connectionPerHostMaximum }
    guard let place else { return nil }
    let (key, host) = waiting.remove(at: place)
    running[key] = host
    countByHost[host, default: 0] += 1
    return key
  }
}

/// What a client may hold at a time.
public struct HTTPClientLimits: Sendable, Hashable {
  /// Requests that run or wait; a further one fails with `full`.
  public var requestMaximum = 256
  /// Requests that run, each with a connection of its own; further ones wait.
  public var connectionMaximum = 8
  /// The same for one host and port.
  public var connectionPerHostMaximum = 4
  /// Connections that are kept for later requests while the client is in use.
  public var keptConnectionMaximum = 4
  /// How long after its last request the client keeps connections and libcurl's memory, in milliseconds.
  public var idleMilliseconds: UInt64 = 30_000

  /// The default limits.
  public init() {}
}
