import RelaySelection

/// Lazy greedy on what the relays truly hold and on which of them answer: what no client can know, and so the measure
/// of those that cannot.
struct Oracle {
  private let client: Client
  private var byRelay: [Int32: [(place: Int32, author: Int32)]] = [:]

  init(_ client: Client, in session: Int) {
    self.client = client
    var byRelay: [Int32: [(place: Int32, author: Int32)]] = [:]
    client.forEachHeld(back: client.conditions.windowMinutes, in: session) { author, place, holders in
      var rest = holders
      while rest != 0 {
        let relay = client.world.authors[author].relays[rest.trailingZeroBitCount]
        rest &= rest - 1
        if client.isReachable(relay, in: session) {
          byRelay[relay, default: []].append((Int32(place), Int32(author)))
        }
      }
    }
    self.byRelay = byRelay
  }

  /// The share of all that is held which the best `count` relays bring, by count.
  func recalls(_ counts: [Int], in session: Int) -> [Double] {
    var isFound = [Bool](repeating: false, count: client.world.minutes.count)
    var bounds = byRelay.map { (gain: $0.value.count, relay: $0.key) }.sorted {
      ($1.gain, $0.relay) < ($0.gain, $1.relay)
    }
    var all = 0
    client.forEachHeld(back: client.conditions.windowMinutes, in: session) { _, _, _ in all += 1 }
    var found = 0
    var sums = [0]
    while sums.count <= counts.max() ?? 0, !bounds.isEmpty {
      var best = (gain: -1, position: 0)
      for position in bounds.indices {
        if bounds[position].gain <= best.gain { break }
        let gain = (byRelay[bounds[position].relay] ?? []).count { !isFound[Int($0.place)] }
        bounds[position].gain = gain
        if gain > best.gain { best = (gain, position) }
      }
      for event in byRelay[bounds[best.position].relay] ?? [] where !isFound[Int(event.place)] {
        isFound[Int(event.place)] = true
        found += 1
      }
      sums.append(found)
      bounds.remove(at: best.position)
      bounds.sort { ($1.gain, $0.relay) < ($0.gain, $1.relay) }
    }
    return counts.map { Double(sums[min($0, sums.count - 1)]) / Double(max(1, all)) }
  }
}
