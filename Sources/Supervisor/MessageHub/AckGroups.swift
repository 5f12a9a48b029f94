internal import Frames

/// Publishers that wait until every worker subscribed to a topic has acknowledged.
struct AckGroups {
  /// Names one of them.
  struct Number: Hashable { fileprivate let number: Int }

  /// A publisher's event.
  struct Group {
    let publisher: Endpoint
    let id: UInt64
    fileprivate(set) var awaitedCount: Int
  }

  private(set) var all: [Number: Group] = [:]
  private var lastNumber = 0

  /// Opens a group, which waits for its publisher first: ``acknowledge(_:)`` once all copies are on their way.
  mutating func open(publisher: Endpoint, id: UInt64) -> Number {
    lastNumber += 1
    all[Number(number: lastNumber)] = Group(publisher: publisher, id: id, awaitedCount: 1)
    return Number(number: lastNumber)
  }

  /// The group waits for one copy more.
  mutating func addCopy(to number: Number) {
    guard all[number] != nil else { preconditionFailure("a group whose copies still go out is open") }
    all[number]?.awaitedCount += 1
  }

  /// One of those that a group waits for is done.
  ///
  /// - Returns: the group, if that was the last one; the group has ended then.
  mutating func acknowledge(_ number: Number) -> Group? {
    guard let left = all[number].map({ $0.awaitedCount - 1 }) else {
      preconditionFailure("a group ends after the last of its copies")
    }
    guard left == 0 else {
      all[number]?.awaitedCount = left
      return nil
    }
    return all.removeValue(forKey: number)
  }
}
