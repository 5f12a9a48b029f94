import Bus
import Contracts
import Frames
import LinuxSystem
import Mirroring
import Nostr
import NostrContracts
import WorkerKit

// mirror.status: the figures, each read from the store when it is asked for.

extension Mirror {
  func status() async throws(Refusal) -> MirrorStatus {
    var entries: [MirrorStatus.Entry] = []
    for state in schedule.all {
      let interest = state.interest
      let floor = bounds.bounds.floor(of: interest.kept)
      // What is older than the bound allows may still be here: of people whom an account follows.
      let filters = interest.fetched(at: WallClock.seconds).map { JSONValue(of: $0) }
      let count = try await bus.request(StoreMethod.count, StoreQuery(filters: filters)).count
      // The parts of what an account follows are one entry.
      if let last = entries.last, last.account == interest.name, last.kind == interest.kind, interest.kind != .keep {
        entries[entries.count - 1].events += count
        if state.isRunning { entries[entries.count - 1].isFetching = true }
        continue
      }
      var relays: [MirrorStatus.Relay] = []
      if interest.kind != .follows {
        var covered = try await coverage(StoreCoverage(filters: filters))
        // Of several kinds the store knows what is covered kind by kind.
        if interest.filters.contains(where: { ($0.kinds?.count ?? 0) > 1 }) {
          let asked = Set((state.last?.relays ?? []).map(\.relay) + entries.flatMap { $0.relays.map(\.relay) })
          for relay in asked.sorted() {
            let parts = try await coverage(StoreCoverage(filters: filters, relays: [relay], inParts: true))
            if let whole = MirrorFigure.together(parts, of: interest.filters) { covered.append(whole) }
          }
        }
        // A filter with an end is complete up to it.
        let end = interest.filters.compactMap(\.until).max() ?? .max
        relays = MirrorFigure.relays(covered, state.last, at: min(end, WallClock.seconds))
      }
      var entry = MirrorStatus.Entry(
        account: interest.account == nil ? nil : interest.name, name: interest.account == nil ? interest.name : nil,
        kind: interest.kind, events: count, isFetching: state.isRunning, relays: relays)
      entry.since = [floor?.since, interest.filters.first?.since].compactMap(\.self).max()
      entry.nextAt = state.isRunning ? nil : state.nextAt
      entry.end = state.last?.end
      entries.append(entry)
    }
    var told: [CopyStatus] = []
    for account in copies.accounts { told.append(try await copies.status(account)) }
    return MirrorStatus(entries: entries, copies: told, bounds: bounds.bounds.all, peers: peers.status())
  }

  private func coverage(_ wanted: StoreCoverage) async throws(Refusal) -> [CoveredFilter] {
    let answer = try await bus.ask(StoreMethod.coverage, wanted)
    var covered: [CoveredFilter] = []
    while let part = try await answer.nextPart() { covered.append(part) }
    return covered
  }
}
