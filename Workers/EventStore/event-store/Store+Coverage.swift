import Bus
import Contracts
import DequeModule
import EventArchive
import EventLoop
import Frames
import Nostr
import NostrContracts
import Observations
import Storage
import WorkerKit

extension Store {
  // MARK: store.coverage

  func coverage(
    _ request: BusRequest, _ wanted: StoreCoverage, _ filters: [Filter]
  ) async throws(Refusal) -> StoreCount? {
    let relays = try wanted.relays.map { texts throws(Refusal) in Set(try ObserveArguments.relays(texts)) }
    request.accept()
    var count = 0
    for (index, filter) in filters.enumerated() {
      for known in try await coverage(of: filter, at: relays) {
        let intervals = known.intervals.map {
          CoveredFilter.Interval(since: $0.since, until: $0.until, checkedAt: $0.checkedAt)
        }
        try await request.send(
          CoveredFilter(filter: index, relay: known.relay, fetchedAt: known.fetchedAt, intervals: intervals),
          of: StoreMethod.coverage)
        count += 1
      }
    }
    return StoreCount(count: count)
  }

  private func coverage(of filter: Filter, at relays: Set<String>?) async throws(Refusal) -> [RelayCoverage] {
    let archive = archive
    do throws(StorageFault) {
      return try await reads.read { () throws(StorageFault) in try await archive.coverage(of: filter, at: relays) }
    } catch {
      failed(error)
      throw refusal(error)
    }
  }

  // MARK: store.covered

  /// Tells of the ends that were committed. Whoever brought them does not wait for that: relays are read whether or not
  /// the planner is there.
  func tellEnds(of run: Run) {
    for (filter, added) in run.ends { endsToTell.append(filter, added) }
    guard !endsToTell.isTelling, !run.ends.isEmpty else { return }
    endsToTell.isTelling = true
    EventLoopActor.task { [self] in
      while let added = endsToTell.next() { await tell(StoreTopic.covered, added) }
      endsToTell.isTelling = false
    }
  }
}

/// Ends that wait to be told, numbered, and bounded: the oldest is left out when there is one too many.
struct EndsToTell {
  var isTelling = false
  private var waiting = Deque<(filter: Filter, added: CoverageAdded)>()
  private var lastNumber: Int64 = 0

  static let maximum = 1_024
  /// A longer filter is told by its name alone, so that it fits into any frame.
  static let repeatedFilterByteMaximum = 32 << 10

  mutating func append(_ filter: Filter, _ added: CoverageAdded) {
    lastNumber += 1
    var added = added
    added.number = lastNumber
    if waiting.count == Self.maximum { waiting.removeFirst() }
    waiting.append((filter, added))
  }

  mutating func next() -> CoverageAdded? {
    guard let (filter, added) = waiting.popFirst() else { return nil }
    var told = added
    if filter.json.count <= Self.repeatedFilterByteMaximum { told.filter = JSONValue(of: filter) }
    return told
  }
}
