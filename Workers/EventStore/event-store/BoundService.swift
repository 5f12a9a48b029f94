import Bus
import Contracts
import Cryptography
import EventArchive
import EventGate
import EventLoop
import Frames
import Nostr
import NostrContracts
import Storage
import WorkerKit

/// Serves `store.trim`, `store.sources` and `store.unseen`: what a mirror needs beside reading.
@EventLoopActor
final class BoundService {
  private let reads: ArchiveReads
  private let chores: ChoreRunner

  init(_ worker: Worker, _ reads: ArchiveReads, _ chores: ChoreRunner) {
    (self.reads, self.chores) = (reads, chores)
    worker.serve(StoreMethod.trim, trim)
    worker.serve(StoreMethod.sources) { [unowned self] (request, wanted) throws(Refusal) in
      try await sources(request, wanted)
    }
    worker.serve(StoreMethod.unseen, unseen)
  }

  // MARK: store.unseen

  private func unseen(_ request: BusRequest, _ wanted: StoreUnseen) async throws(Refusal) -> StoreCount? {
    let author = try Self.keys([wanted.author], "author")[0]
    request.accept()
    let found = try await reads.measured { [archive = reads.archive] () throws(StorageFault) in
      try await archive.unseen(of: author, besides: wanted.besides ?? [], now: Store.now)
    }
    for start in stride(from: 0, to: found.count, by: EventIDs.countMaximum) {
      let some = found[start..<min(start + EventIDs.countMaximum, found.count)]
      try await request.send(EventIDs(some), of: StoreMethod.unseen)
    }
    return StoreCount(count: found.count)
  }

  // MARK: store.trim

  private func trim(
    _ request: BusRequest, _ wanted: StoreTrim, _ filters: [Filter]
  ) async throws(Refusal) -> StoreTrimmed? {
    guard !filters.contains(where: { $0.search != nil }) else {
      throw Refusal(.badRequest, "'filters' has a filter with 'search': words say nothing of age", outcome: .notStarted)
    }
    guard !filters.isEmpty else {
      throw Refusal(.badRequest, "'filters' is empty: nothing would be removed", outcome: .notStarted)
    }
    var kept: [Filter] = []
    for (index, value) in (wanted.keep ?? []).enumerated() {
      do throws(FilterFault) { kept.append(try Filter(json: JSONPayload.encode(value))) } catch {
        throw Refusal(.badRequest, "'keep[\(index)]': \(error)", outcome: .notStarted)
      }
    }
    let spared = try Self.keys(wanted.spared ?? [], "spared")
    guard !chores.isBoundedFull else {
      throw Refusal(.full, "\(ChoreRunner.boundedMaximum) removals wait already", outcome: .notStarted)
    }
    var bound = ArchiveBound(filters, kept: kept, spared: Set(spared), byteMaximum: wanted.bytes)
    bound.keptAuthors = chores.schedule.retention.keptAuthors
    // It takes as long as it takes to read all that matches, and to remove what is over.
    request.accept()
    let surplus = try await reads.measured { [archive = reads.archive, bound] () throws(StorageFault) in
      try await archive.surplus(of: bound, limit: StoreTrim.removalMaximum, now: Store.now)
    }
    do throws(StorageFault) {
      let removed = try await chores.remove(surplus.seqs)
      return StoreTrimmed(
        removed: removed.count, bytes: surplus.byteCount - removed.byteCount, since: surplus.since,
        sparedSince: surplus.sparedSince, isComplete: !surplus.isCut)
    } catch {
      throw reads.health.refusal(error)
    }
  }

  private static func keys(_ texts: [String], _ name: String) throws(Refusal) -> [PublicKey] {
    var keys: [PublicKey] = []
    for text in texts {
      guard let key = PublicKey(text) else {
        throw Refusal(
          .badRequest, "'\(name)': '\(text.prefix(80))' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
      }
      keys.append(key)
    }
    return keys
  }

  // MARK: store.sources

  private func sources(_ request: BusRequest, _ wanted: StoreSources) async throws(Refusal) -> SourceRelays {
    let authors = try Self.keys(wanted.authors, "authors")
    request.accept()
    let found = try await reads.measured { [archive = reads.archive] () throws(StorageFault) in
      try await archive.sources(of: authors, eventMaximum: SourceRelays.eventMaximum, now: Store.now)
    }
    return SourceRelays(
      relays: found.prefix(SourceRelays.relayMaximum).map { SourceRelays.Relay(relay: $0.relay, events: $0.count) })
  }
}
