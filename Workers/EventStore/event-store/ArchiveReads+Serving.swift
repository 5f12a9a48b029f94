import Bus
import Contracts
import Cryptography
import EventArchive
import EventIndex
import EventLoop
import Frames
import Nostr
import NostrContracts
import Observations
import Storage
import WorkerKit

// The methods that only read.

extension ArchiveReads {
  func serve(_ worker: Worker) {
    worker.serve(StoreMethod.query, query)
    worker.serve(StoreMethod.count, count)
    worker.serve(StoreMethod.coverage, coverage)
    worker.serve(StoreMethod.delivery, delivery)
    worker.serve(StoreMethod.seen) { [unowned self] (_, wanted) throws(Refusal) in try await seen(wanted) }
  }

  // MARK: store.query, store.count

  private func query(
    _ request: BusRequest, _ wanted: StoreQuery, _ asked: [Filter]
  ) async throws(Refusal) -> StoreCount? {
    let filters = try StoreReader(role: request.callerRole).queried(asked)
    guard wanted.bytes != true else {
      throw Refusal(.badRequest, "'bytes' is for store.count", outcome: .notStarted)
    }
    let recipients = Self.recipients(wanted.recipients, for: request)
    let stream = QueryStream(QueryScope(filters: filters, recipients: recipients, now: Store.now), self)
    let sender = EventSender(request, wanted.pages == true ? .page : .event, self)
    // It takes as long as the caller reads: so the request may last longer than a stuck worker's.
    request.accept()
    await catchUp(for: filters)
    var isCut = false
    try await sender.send(stream, limit: wanted.limit ?? .max)
    if let limit = wanted.limit, limit > 0, sender.count == limit { isCut = try await stream.hasNext() }
    let unsearched = unsearched(filters)
    let isKnown = wanted.limit != 0 && unsearched == nil && sender.leftOutCount == 0
    return StoreCount(
      count: sender.count, isComplete: isCut ? false : isKnown ? stream.isComplete : nil, unsearched: unsearched)
  }

  private func count(
    _ request: BusRequest, _ wanted: StoreQuery, _ asked: [Filter]
  ) async throws(Refusal) -> StoreCount? {
    let filters = try StoreReader(role: request.callerRole).queried(asked)
    guard wanted.pages != true else {
      throw Refusal(.badRequest, "'pages' is for store.query: a count has no parts", outcome: .notStarted)
    }
    request.accept()
    let recipients = Self.recipients(wanted.recipients, for: request)
    if wanted.bytes == true {
      guard !filters.contains(where: EventArchive.isSearch) else {
        throw Refusal(.badRequest, "'bytes' is for filters without 'search'")
      }
      let measure = try await measured { [archive] () throws(StorageFault) in
        try await archive.measure(filters, for: recipients, now: Store.now)
      }
      var answer = StoreCount(count: min(measure.count, wanted.limit ?? .max))
      (answer.bytes, answer.oldest) = (measure.byteCount, measure.oldest)
      return answer
    }
    await catchUp(for: filters)
    let count = try await measured { [archive] () throws(StorageFault) in
      try await archive.count(filters, for: recipients, now: Store.now)
    }
    return StoreCount(count: min(count, wanted.limit ?? .max), unsearched: unsearched(filters))
  }

  /// The only keys whose gift wraps a caller gets, as it asks and as its role may (``StoreReader``); nil: all. The
  /// contract has checked the keys.
  static func recipients(
    _ keys: [String]?, for request: BusRequest, observing filters: [Filter] = []
  ) -> Recipients? {
    func named(_ keys: [String]) -> Recipients { Recipients(keys.compactMap { PublicKey($0) }) }
    switch StoreReader(role: request.callerRole).messages {
    case .asAsked: return keys.map(named)
    case .none: return Recipients([], coversDirectMessages: true)
    case .forRecipients: return named(keys ?? [])
    case .forNamedKeys:
      let letter = TagLetter("p")
      let values = filters.flatMap { filter in letter.flatMap { filter.tags[$0] } ?? [] }
      return Recipients(named: values, coversDirectMessages: true)
    }
  }

  // MARK: store.coverage

  private func coverage(
    _ request: BusRequest, _ wanted: StoreCoverage, _ filters: [Filter]
  ) async throws(Refusal) -> StoreCount? {
    let relays = try wanted.relays.map { texts throws(Refusal) in Set(try ObserveArguments.relays(texts)) }
    request.accept()
    var count = 0
    for (index, filter) in filters.enumerated() {
      let parts =
        try await wanted.inParts == true
        ? partCoverage(of: filter, index, at: relays?.first ?? "") : coverage(of: filter, index, at: relays)
      for part in parts { try await request.send(part, of: StoreMethod.coverage) }
      count += parts.count
    }
    return StoreCount(count: count)
  }

  private func coverage(
    of filter: Filter, _ index: Int, at relays: Set<String>?
  ) async throws(Refusal) -> [CoveredFilter] {
    try await read { [archive] () throws(StorageFault) in try await archive.coverage(of: filter, at: relays) }.map {
      CoveredFilter(
        filter: index, relay: $0.relay, fetchedAt: $0.fetchedAt,
        intervals: $0.intervals.map(CoveredFilter.Interval.init))
    }
  }

  private func partCoverage(
    of filter: Filter, _ index: Int, at relay: String
  ) async throws(Refusal) -> [CoveredFilter] {
    try await read { [archive] () throws(StorageFault) in try await archive.coverageParts(of: filter, at: relay) }.map {
      CoveredFilter(
        filter: index, relay: relay, fetchedAt: nil, intervals: $0.intervals.map(CoveredFilter.Interval.init),
        part: JSONValue(of: $0.filter))
    }
  }

  // MARK: store.delivery

  private func delivery(_ request: BusRequest, _ wanted: StoreDelivery) async throws(Refusal) -> StoreCount? {
    var authors: [PublicKey] = []
    for text in wanted.authors {
      guard let author = PublicKey(text) else {
        throw Refusal(
          .badRequest, "'authors': '\(text.prefix(80))' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
      }
      authors.append(author)
    }
    request.accept()
    for start in stride(from: 0, to: authors.count, by: Self.authorsOfSlice) {
      let slice = Array(authors[start..<min(start + Self.authorsOfSlice, authors.count)])
      let found = try await read { [archive] () throws(StorageFault) in
        try await archive.deliveries(
          of: slice, kinds: wanted.kinds, in: wanted.since...wanted.until, eventMaximum: AuthorDelivery.eventMaximum,
          now: Store.now)
      }
      for (author, delivery) in zip(slice, found) {
        let relays = delivery.relays.map {
          AuthorDelivery.Relay(relay: $0.url, seconds: $0.seconds, known: $0.known, had: $0.had, held: $0.held)
        }
        let part = AuthorDelivery(author: author.description, events: delivery.events, relays: relays)
        try await request.send(part, of: StoreMethod.delivery)
      }
    }
    return StoreCount(count: authors.count)
  }

  /// Authors that are counted in one turn, so that other readers wait for milliseconds.
  private static let authorsOfSlice = 20

  // MARK: store.seen

  private func seen(_ wanted: StoreSeen) async throws(Refusal) -> SeenResult {
    guard let id = EventID(wanted.id) else {
      throw Refusal(.badRequest, "'id' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
    }
    let found = try await read { [archive] () throws(StorageFault) in try await archive.sightings(of: id) }
    guard let found else { throw Refusal(.noSuchEvent, "there is no event \(id)", outcome: .notStarted) }
    let relays = found.sightings.map { SeenResult.Relay(relay: $0.relay, firstSeenAt: $0.firstSeenAt) }
    return SeenResult(id: "\(id)", seq: found.seq, relays: relays)
  }
}

extension CoveredFilter.Interval {
  /// An interval for an answer.
  init(_ interval: CoverageIntervals.Interval) {
    self.init(since: interval.since, until: interval.until, checkedAt: interval.checkedAt)
  }
}
