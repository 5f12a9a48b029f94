/// A heap of relays by gain, for lazy greedy choice: a gain only falls when more is chosen, so a gain that was computed
/// earlier is an upper bound, and only the relay on top is computed again. Equal gains are in the order of numbers.
struct BestFirst: Sendable {
  private var gains: [Double] = []
  private var relays: [Int32] = []

  init(_ all: [(gain: Double, relay: Int32)]) {
    gains = all.map(\.gain)
    relays = all.map(\.relay)
    var index = gains.count / 2 - 1
    while index >= 0 {
      sink(index)
      index -= 1
    }
  }

  /// Takes the relays with the highest gains until `count` are taken or none gains more than `least`.
  mutating func take(
    _ count: Int, above least: Double, gain: (Int32) -> Double, taken: (Int32) -> Void
  ) -> [Int32] {
    var result: [Int32] = []
    while result.count < count, let relay = relays.first {
      let now = gain(relay)
      gains[0] = now
      if isTopStale {
        sink(0)
      } else if now > least {
        result.append(relay)
        taken(relay)
        removeFirst()
      } else {
        break
      }
    }
    return result
  }

  private var isTopStale: Bool {
    (gains.count > 1 && isBefore(1, 0)) || (gains.count > 2 && isBefore(2, 0))
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    gains[one] > gains[other] || (gains[one] == gains[other] && relays[one] < relays[other])
  }

  private mutating func removeFirst() {
    gains.swapAt(0, gains.count - 1)
    relays.swapAt(0, relays.count - 1)
    gains.removeLast()
    relays.removeLast()
    sink(0)
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var best = index
      let left = 2 * index + 1
      if left < gains.count, isBefore(left, best) { best = left }
      if left + 1 < gains.count, isBefore(left + 1, best) { best = left + 1 }
      if best == index { return }
      gains.swapAt(index, best)
      relays.swapAt(index, best)
      index = best
    }
  }
}
