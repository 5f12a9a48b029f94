internal import Clocks
internal import EventLoop

// Which address of a name is dialled when (RFC 8305, "Happy Eyeballs").
//
// A machine often has one family of addresses that leads nowhere: an attempt there is not refused, it hangs. So the
// attempts overlap. The families alternate, IPv6 first; within a family the resolver's order is kept (RFC 6724). The
// next address is dialled 250 ms after the one before, or at once when an attempt has failed. The first connection that
// is wanted wins, and the other attempts are given up. A connection to which there is an objection counts as a failed
// attempt: the other addresses of the name may be good.
//
//     not tried ──▶ under way ──▶ won
//                       └───────▶ failed, with the reason

/// The attempts to connect to one name.
struct AddressRace {
  /// What the shell does.
  enum Action: Equatable {
    /// Connect to ``AddressRace/addresses`` at this index; report `connected` or `failed`.
    case dial(Int)
    /// Give up that attempt; report nothing.
    case abandon(Int)
    /// Call `timerFired` at this instant; it replaces any earlier one.
    case setTimer(Instant)
    /// The race is over: this attempt's connection is used.
    case win(Int)
    /// The race is over without a connection; ``AddressRace/fault(_:)`` says why.
    case lose
  }

  /// Why one attempt has failed.
  struct Failure: Equatable {
    let code: WebSocketFault.Code
    /// As the end of a sentence; it names the address.
    let detail: String
    var cause: LoopFault?
  }

  /// The time between two attempts while none fails (RFC 8305, section 5).
  static let delayMilliseconds: UInt64 = 250
  /// The most addresses of one name that are dialled.
  static let addressMaximum = 8

  /// In the order in which they are dialled.
  let addresses: [SocketAddress]
  /// When the last attempt must have ended. None begins later.
  let end: Instant
  private let leftOutCount: Int
  private var nextIndex = 0
  private var underWay: Set<Int> = []
  private var failures: [Failure] = []
  private var isOver = false

  /// - Parameters:
  ///   - resolved: the addresses of the name, at least one, in the resolver's order.
  ///   - end: when the last attempt must have ended.
  init(_ resolved: [SocketAddress], until end: Instant) {
    precondition(!resolved.isEmpty, "a name without addresses has failed before")
    let ordered = Self.alternating(resolved)
    addresses = Array(ordered.prefix(Self.addressMaximum))
    leftOutCount = ordered.count - addresses.count
    self.end = end
  }

  /// IPv6 and IPv4 in turn, IPv6 first; what is left of one family comes last.
  static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
    let (six, four) = (addresses.filter(\.isIPv6), addresses.filter { !$0.isIPv6 })
    return (0..<max(six.count, four.count)).flatMap { six.dropFirst($0).prefix(1) + four.dropFirst($0).prefix(1) }
  }

  /// The race begins.
  mutating func started(at now: Instant) -> [Action] { dialNext(at: now) }

  /// An attempt has made a connection that is wanted.
  mutating func connected(_ index: Int) -> [Action] {
    guard underWay.remove(index) != nil else { return [] }
    isOver = true
    defer { underWay = [] }
    return [.win(index)] + underWay.sorted().map { .abandon($0) }
  }

  /// An attempt has failed, or its connection is unwanted.
  mutating func failed(_ index: Int, _ failure: Failure, at now: Instant) -> [Action] {
    guard underWay.remove(index) != nil else { return [] }
    failures.append(failure)
    return dialNext(at: now)
  }

  /// The instant of the last `setTimer` has come.
  mutating func timerFired(at now: Instant) -> [Action] { isOver ? [] : dialNext(at: now) }

  private mutating func dialNext(at now: Instant) -> [Action] {
    guard nextIndex < addresses.count, now < end else {
      guard underWay.isEmpty else { return [] }
      isOver = true
      return [.lose]
    }
    let index = nextIndex
    nextIndex += 1
    underWay.insert(index)
    let next = now.advanced(milliseconds: Self.delayMilliseconds)
    return [.dial(index)] + (nextIndex < addresses.count && next < end ? [.setTimer(next)] : [])
  }

  /// Why no address could be used: what was tried, in the order in which it failed, and how many were not. An objection
  /// to a connection counts before the failures of the network.
  func fault(_ endpoint: String) -> WebSocketFault {
    for code in [WebSocketFault.Code.unwantedAddress, .privateAddress] {
      if let objection = failures.first(where: { $0.code == code }) {
        return WebSocketFault(code, endpoint: endpoint, detail: objection.detail)
      }
    }
    let count = leftOutCount + addresses.count - nextIndex
    let rest = count > 0 ? ["\(count) more \(count == 1 ? "address was" : "addresses were") not tried"] : []
    return WebSocketFault(
      .unreachable, endpoint: endpoint, detail: (failures.map(\.detail) + rest).joined(separator: "; "),
      cause: failures.last?.cause)
  }
}
