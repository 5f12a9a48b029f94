/// Which seats subscribe to which topics.
struct TopicSubscribers {
  private var seats: [UInt16: [SeatIndex]] = [:]

  /// The subscribers of a topic, in the order in which they came.
  subscript(topic: UInt16) -> [SeatIndex] { seats[topic] ?? [] }

  var isEmpty: Bool { seats.values.allSatisfy(\.isEmpty) }

  /// Adds a subscriber; a second subscription of the same seat changes nothing.
  mutating func add(_ seat: SeatIndex, to topic: UInt16) {
    if !self[topic].contains(seat) { seats[topic, default: []].append(seat) }
  }

  mutating func remove(_ seat: SeatIndex, from topic: UInt16) { seats[topic]?.removeAll { $0 == seat } }

  mutating func removeAll(of seat: SeatIndex) {
    for topic in seats.keys { remove(seat, from: topic) }
  }
}
