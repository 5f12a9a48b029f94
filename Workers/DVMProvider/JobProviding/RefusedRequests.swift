internal import Cryptography
internal import Nostr
internal import OrderedCollections

// Requests that found no room when they came. Nobody sends them again, and the store, where they stand, tells each
// event once; so they are remembered by their ids, and the store is asked for them when there is room.
//
// The memory is bounded like the room itself, and shared in the same way, since keys cost nothing here either: of those
// remembered half may be strangers', and a quarter one stranger's. Beyond that a request is passed over for good.

/// Remembers requests for which there was no room, in the order in which they came.
struct RefusedRequests: Sendable {
  /// What is to be known of one before it is looked up.
  struct Request: Sendable {
    var id: EventID
    var customer: PublicKey
    /// Whether it is of a kind that costs something.
    var isForMoney: Bool
    /// Seconds since 1970, as it is dated.
    var createdAt: Int64
    /// Whether its customer was none that is known.
    var isStranger: Bool
  }

  private var requests: OrderedDictionary<EventID, Request> = [:]
  private var strangerCount = 0
  private var byStranger: [PublicKey: Int] = [:]

  var isEmpty: Bool { requests.isEmpty }
  var count: Int { requests.count }
  /// The first one first.
  var all: some Sequence<Request> { requests.values }

  subscript(id: EventID) -> Request? { requests[id] }

  /// Remembers a request behind the others, if its customer's share of the memory is not full. One that is remembered
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

  /// Forgets what is dated before a second.
  mutating func forget(before time: Int64) {
    for (id, request) in requests where request.createdAt < time { remove(id) }
  }
}
