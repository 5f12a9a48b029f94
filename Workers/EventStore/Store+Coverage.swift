import Bus
import Contracts
import EventArchive
import EventLoop
import Frames
import Nostr
import Observing
import Storage
import WorkerKit

extension Store {
  // MARK: store.coverage

  func coverage(_ request: BusRequest) async throws(Refusal) -> BusPayload? {
    _ = try ObserveArguments.object(request.payload, names: StoreCoverage.names, of: request.method)
    let wanted = try request.payload.decoded(as: StoreCoverage.self)
    let filters = try Self.filters(wanted.filters)
    let relays = try wanted.relays.map { texts throws(Refusal) in Set(try ObserveArguments.relays(texts)) }
    request.accept()
    var count = 0
    for (index, filter) in filters.enumerated() {
      for known in try await coverage(of: filter, at: relays) {
        let intervals = known.intervals.map {
          CoveredFilter.Interval(since: $0.since, until: $0.until, checkedAt: $0.checkedAt)
        }
        let part = BusPayload(
          json: CoveredFilter(filter: index, relay: known.relay, fetchedAt: known.fetchedAt, intervals: intervals))
        if !request.sendNow(part: part) { try await request.send(part: part) }
        count += 1
      }
    }
    return BusPayload(json: StoreCount(count: count))
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

  /// Tells of the ends that were committed, and only then answers: so no more waits to be told than is on its way in.
  func tellEnds(of run: Run, then answer: @escaping @EventLoopActor () -> Void) {
    EventLoopActor.task { [self] in
      for (filter, added) in run.ends {
        var added = added
        if filter.json.count <= Self.repeatedFilterByteMaximum { added.filter = JSONValue(of: filter) }
        await tell("store.covered", BusPayload(json: added))
      }
      answer()
    }
  }

  /// A longer filter is told by its name alone, so that it fits into any frame.
  private static let repeatedFilterByteMaximum = 32 << 10
}
