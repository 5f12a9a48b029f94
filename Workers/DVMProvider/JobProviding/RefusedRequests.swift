internal import Cryptography
internal import Nostr
internal import OrderedCollections

// Requests that found no room when they came. Their customers do not send them again, and the store delivers each event
// once. So the provider remembers their ids, and asks the store for them when there is room.
//
// The memory is bounded like the room itself and shared in the same way, because keys cost nothing here either:
// strangers may have half of it, and one stranger a quarter. A request beyond that is passed over for good.

/// Remembers requests that found no room, in the order in which they came.
struct RefusedRequests: Sendable {
  /// What the provider needs to know of a request before it looks it up.
  struct Request: Sendable {
    var id: EventID
    var customer: PublicKey
    /// Whether its kind has a price.
    var isForMoney: Bool
    /// The date of the request, seconds since 1970.
    var createdAt: Int64
    /// Whether its customer was a stranger.
    var isStranger: Bool
  }

  private var requests: OrderedDictionary<EventID, Request> = [:]
  private var strangerCount = 0
  private var byStranger: [PublicKey: Int] = [:]

  var isEmpty: Bool { requests.isEmpty }
  var count: Int { requests.count }
  /// In the order in which they came.
  var all: some Sequence<Request> { requests.values }

  subscript(id: EventID) -> Request? { requests[id] }

  /// Adds a request at the end, unless the memory or its customer's share of it is full. A request that is remembered
  /// already keeps its place.
  mutating func add(_ request: Request, _ rules: ServingRules) {
    guard requests[request.id] == nil, requests.count < rules.turnedAwayMaximum else { return }
    if request.isStranger {
      guard strangerCount < max(1, rules.turnedAwayMaximum / 2),
        byStranger[request.customer, default: 0] < max(1, rules.turnedAwayMaximum / 4)
      else { return }
      strangerCount += 1
      byStranger[request.customer, default: 0] += 1
    }
    requests[request.id] = request
  }

  /// Forgets a request.
  ///
  /// - Returns: whether it was remembered.
  @discardableResult
  mutating func remove(_ id: EventID) -> Bool {
    guard let request = requests.removeValue(forKey: id) else { return false }
    if request.isStranger {
      strangerCount -= 1
      byStranger.countDown(request.customer)
    }
    return true
  }

  /// Forgets requests dated before this second.
  mutating func forget(before time: Int64) {
    for (id, request) in requests where request.createdAt < time { remove(id) }
  }
}
