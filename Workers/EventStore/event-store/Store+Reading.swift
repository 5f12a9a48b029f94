import Bus
import Contracts
import Cryptography
import EventArchive
import EventGate
import EventIndex
import EventLoop
import Frames
import Glibc
import Logging
import Nostr
import Observations
import Storage
import WorkerKit

extension Store {
  // MARK: store.query, store.count

  func query(_ request: BusRequest, _ wanted: StoreQuery, _ asked: [Filter]) async throws(Refusal) -> StoreCount? {
    let filters = try StoreReader(role: request.callerRole).queried(asked)
    let recipients = Self.recipients(wanted.recipients, for: request)
    let stream = QueryStream(QueryScope(filters: filters, recipients: recipients, now: Self.now), archive, reads)
    let sender = EventSender(request, wanted.pages == true ? .page : .event, self)
    // It may take as long as the caller reads: that is not a stuck worker.
    request.accept()
    await catchUp(for: filters)
    var isCut = false
    do {
      try await sender.send(stream, limit: wanted.limit ?? .max)
      if let limit = wanted.limit, limit > 0, sender.count == limit { isCut = try await stream.hasNext() }
    } catch let fault as StorageFault {
      failed(fault)
      throw refusal(fault)
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
    let unsearched = unsearched(filters)
    let isKnown = wanted.limit != 0 && unsearched == nil && sender.leftOutCount == 0
    return StoreCount(
      count: sender.count, isComplete: isCut ? false : isKnown ? stream.isComplete : nil, unsearched: unsearched)
  }

  func count(_ request: BusRequest, _ wanted: StoreQuery, _ asked: [Filter]) async throws(Refusal) -> StoreCount? {
    let filters = try StoreReader(role: request.callerRole).queried(asked)
    guard wanted.pages != true else {
      throw Refusal(.badRequest, "'pages' is for store.query: a count has no parts", outcome: .notStarted)
    }
    request.accept()
    await catchUp(for: filters)
    let (archive, recipients) = (archive, Self.recipients(wanted.recipients, for: request))
    do throws(StorageFault) {
      let count = try await counts.read { () throws(StorageFault) in
        try await reads.read { () throws(StorageFault) in
          try await archive.count(filters, for: recipients, now: Self.now)
        }
      }
      return StoreCount(count: min(count, wanted.limit ?? .max), unsearched: unsearched(filters))
    } catch {
      failed(error)
      throw refusal(error)
    }
  }

  /// Refuses one's own event that could be stored and not take every way from there.
  func checkSize(_ byteCount: Int) throws(Refusal) {
    let maximum = EventLimit.byteCountMaximum(frameLimit: worker.bus.welcome.frameLimit)
    guard byteCount > maximum else { return }
    throw Refusal(
      .badRequest, "\(EventFault.tooLarge(byteCount: byteCount, maximum: maximum))", outcome: .notStarted)
  }

  /// Whether a frame of today's `frame-limit` can carry it: an event may have come over a wider one. It is left out
  /// then, rather than end every answer that it would be part of.
  func fits(_ byteCount: Int, _ seq: Int64?) -> Bool {
    let maximum = worker.bus.welcome.frameLimit - FrameHeader.lengthMinimum
    if byteCount <= maximum { return true }
    log.warning(
      "left out of an answer: too large for frame-limit",
      metadata: ["seq": "\(seq ?? 0)", "bytes": "\(byteCount)", "maximum": "\(maximum)"])
    return false
  }

  /// Those whose gift wraps may be given; the contract has looked at the keys.
  nonisolated static func recipients(_ keys: [String]) -> Recipients { Recipients(keys.compactMap { PublicKey($0) }) }

  /// The same for the role that asks (``StoreReader``).
  static func recipients(
    _ keys: [String]?, for request: BusRequest, observing filters: [Filter]? = nil
  ) -> Recipients? {
    switch StoreReader(role: request.callerRole).messages {
    case .asAsked: return keys.map { recipients($0) }
    case .none: return Recipients([], coversDirectMessages: true)
    case .forRecipients: return recipients(keys ?? [])
    case .forNamedKeys:
      let letter = TagLetter("p")
      let named = (filters ?? []).flatMap { filter in letter.flatMap { filter.tags[$0] } ?? [] }
      return Recipients(named: named, coversDirectMessages: true)
    }
  }

  // MARK: store.seen, store.status

  func seen(_ wanted: StoreSeen) async throws(Refusal) -> SeenResult {
    guard let id = EventID(wanted.id) else {
      throw Refusal(.badRequest, "'id' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    let found: (seq: Int64, sightings: [EventSighting])?
    let archive = archive
    do throws(StorageFault) {
      found = try await reads.read { () throws(StorageFault) in try await archive.sightings(of: id) }
    } catch {
      failed(error)
      throw refusal(error)
    }
    guard let found else { throw Refusal(.noSuchEvent, "there is no event \(id)", outcome: .notStarted) }
    let relays = found.sightings.map { SeenResult.Relay(relay: $0.relay, firstSeenAt: $0.firstSeenAt) }
    return SeenResult(id: "\(id)", seq: found.seq, relays: relays)
  }

  var status: StoreStatus {
    var status = StoreStatus()
    status.events = archive.eventCount
    status.seq = archive.lastSeq
    let losses = archive.losses
    status.lost = losses.seqs.map { StoreStatus.SeqRange($0) }
    status.damaged = losses.damagedCount > 0 ? losses.damagedCount : nil
    status.rescued = losses.rescue.map { rescue in
      StoreStatus.Rescue(
        at: rescue.time, saved: rescue.savedCount, lost: rescue.lostCount, aside: rescue.quarantinePath)
    }
    status.path = archive.path
    status.bytes = ["", "-wal"].reduce(0) { $0 + Self.byteCount(archive.path + $1) }
    status.verified = gate.counters.verified
    status.duplicates = gate.counters.duplicates
    status.invalid = gate.counters.invalid
    status.transactions = transactionCount
    status.waiting = gate.waiting
    status.usedBytes = archive.usedByteCount
    status.limitBytes = retention.byteLimit
    status.foreignBytes = archive.foreignByteCount > 0 ? archive.foreignByteCount : nil
    status.evicted = evictedCount
    status.isFull = room == .exhausted ? true : nil
    status.unsearched = archive.lastSeq - archive.searchedSeq
    status.observers = observations.count
    status.unchecked = gate.counters.unchecked
    status.relays = gate.trust.worst(StoreStatus.relayMaximum).compactMap { conduct in
      relays.url(of: conduct.relay).map {
        StoreStatus.Relay(
          relay: $0, forged: conduct.forged, valid: conduct.valid, isDistrusted: conduct.isDistrusted)
      }
    }
    status.fault = fault?.description
    return status
  }

  private static func byteCount(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
