import Bus
import Contracts
import DequeModule
import EventLoop
import Frames
import Nostr
import NostrContracts

/// `store.covered`: the ends of subscriptions that were committed, numbered, and bounded: when one more waits than may,
/// the oldest is left out.
@EventLoopActor
final class CoveredTopic {
  private var waiting = Deque<(filter: Filter, added: CoverageAdded)>()
  private var lastNumber: Int64 = 0
  private var publisher: TopicPublisher<CoverageAdded>?

  private static let waitingMaximum = 1_024
  /// A longer filter is named by its key alone, so that the message fits into any frame.
  private static let repeatedFilterByteMaximum = 32 << 10

  init(_ bus: BusConnection) {
    publisher = TopicPublisher(bus, StoreTopic.covered) { [unowned self] in next() }
  }

  /// Publishes the ends of a run that was committed. The run's answer does not wait for that: a connector reads its
  /// relays whether or not the planner runs.
  func publish(_ ends: [(filter: Filter, added: CoverageAdded)]) {
    guard !ends.isEmpty else { return }
    for (filter, end) in ends {
      lastNumber += 1
      var added = end
      added.number = lastNumber
      if waiting.count == Self.waitingMaximum { waiting.removeFirst() }
      waiting.append((filter, added))
    }
    publisher?.begin()
  }

  private func next() -> CoverageAdded? {
    guard let (filter, end) = waiting.popFirst() else { return nil }
    var added = end
    if filter.json.count <= Self.repeatedFilterByteMaximum { added.filter = JSONValue(of: filter) }
    return added
  }
}
