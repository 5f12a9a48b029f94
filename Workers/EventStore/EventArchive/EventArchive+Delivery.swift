public import Cryptography
internal import EventIndex
internal import Nostr
internal import Observations
public import Storage

// What relays had of an author, from `seen` and `coverage` alone. A relay is measured by the events that *other* relays
// brought: what only this relay brought says nothing of what it lacks, and a relay that is the only one asked would
// look perfect.

/// What relays had of one author's events.
public struct DeliveredEvents: Sendable, Hashable {
  /// What one relay had.
  public struct Relay: Sendable, Hashable {
    /// The relay's URL.
    public let url: String
    /// For how many seconds it has sent all it had, of the kind for which these are most.
    public var seconds: Int64 = 0
    /// Events of these times that other relays had.
    public var known = 0
    /// Those of them that this relay had too.
    public var had = 0
    /// All events of these times that this relay had, also those that no other one had.
    public var held = 0
  }

  /// Events that came from any relay.
  public var events = 0
  /// The relays that have sent all they had for some of the time, in the order of their URLs.
  public var relays: [Relay] = []
}

extension EventArchive {
  /// What relays had of some authors' events.
  ///
  /// - Parameters:
  ///   - authors: the authors.
  ///   - kinds: only events of these kinds; nil: all.
  ///   - times: only events created in these seconds.
  ///   - eventMaximum: the most events of an author that are looked at, the newest.
  ///   - now: events that expired before are left out.
  /// - Returns: for each author, in their order.
  public func deliveries(
    of authors: [PublicKey], kinds: [UInt16]?, in times: ClosedRange<Int64>, eventMaximum: Int, now: Int64
  ) async throws(StorageFault) -> [DeliveredEvents] {
    let (memory, maker) = (memory, maker)
    return try await file.read { session in
      let reader = ArchiveReader(session: session, maker: maker, memory: memory)
      return try authors.map {
        try reader.delivery(of: $0, kinds: kinds, in: times, eventMaximum: eventMaximum, now: now)
      }
    }
  }
}

/// For one relay and author: the times for which the relay has sent all it had.
private struct DrainedTimes {
  /// For events of all kinds.
  var all: [CoverageIntervals.Interval] = []
  var byKind: [UInt16: [CoverageIntervals.Interval]] = [:]

  func includes(_ kind: UInt16, _ time: Int64) -> Bool {
    func isInside(_ interval: CoverageIntervals.Interval) -> Bool { interval.since <= time && time <= interval.until }
    return all.contains(where: isInside) || byKind[kind]?.contains(where: isInside) == true
  }

  /// The seconds of these times, of the kind for which they are most.
  func seconds(in times: ClosedRange<Int64>) -> Int64 {
    func seconds(_ intervals: [CoverageIntervals.Interval]) -> Int64 {
      intervals.reduce(0) {
        $0 + max(0, min($1.until, times.upperBound) - max($1.since, times.lowerBound) + 1)
      }
    }
    return max(seconds(all), byKind.values.map(seconds).max() ?? 0)
  }
}

extension ArchiveReader {
  fileprivate func delivery(
    of author: PublicKey, kinds: [UInt16]?, in times: ClosedRange<Int64>, eventMaximum: Int, now: Int64
  ) throws -> DeliveredEvents {
    var found = DeliveredEvents()
    var filter = Filter(authors: [author], kinds: kinds)
    (filter.since, filter.until) = (times.lowerBound, times.upperBound)
    let drained = try drainedTimes(of: author, kinds: kinds)
    var relays = try drained.keys.sorted().compactMap { number in
      try url(ofRelay: number).map { (number: number, figures: DeliveredEvents.Relay(url: $0)) }
    }
    for place in relays.indices {
      relays[place].figures.seconds = drained[relays[place].number]?.seconds(in: times) ?? 0
    }
    relays.removeAll { $0.figures.seconds == 0 }
    let statement = try session.statement("SELECT relay FROM seen WHERE seq = ?")
    let events = try block(SearchingMatcher(filter), after: nil, limit: eventMaximum, now: now)
    for event in events.entries {
      statement.bind(event.seq)
      var holders: Set<Int64> = []
      while try statement.step() { holders.insert(statement.number(0)) }
      guard !holders.isEmpty else { continue }
      found.events += 1
      for place in relays.indices {
        let number = relays[place].number
        let had = holders.contains(number)
        guard drained[number]?.includes(event.kind, event.position.time) == true else { continue }
        if had { relays[place].figures.held += 1 }
        guard holders.count > (had ? 1 : 0) else { continue }
        relays[place].figures.known += 1
        if had { relays[place].figures.had += 1 }
      }
    }
    found.relays = relays.map(\.figures).sorted { $0.url < $1.url }
    return found
  }

  private func drainedTimes(of author: PublicKey, kinds: [UInt16]?) throws -> [Int64: DrainedTimes] {
    let floor = try session.property("coverage-floor")
    var drained: [Int64: DrainedTimes] = [:]
    for kind in [nil] + (kinds ?? []).map(Optional.some) {
      let subject = Filter(authors: [author], kinds: kind.map { [$0] })
      let statement = try session.statement(
        "SELECT relay, intervals FROM coverage WHERE filter = ?", FilterKey([subject]).digest.bytes)
      while try statement.step() {
        var coverage = try CoverageIntervals(stored: statement.bytes(1), session)
        if let floor { coverage.forget(upTo: floor) }
        if let kind {
          drained[statement.number(0), default: DrainedTimes()].byKind[kind] = coverage.intervals
        } else {
          drained[statement.number(0), default: DrainedTimes()].all = coverage.intervals
        }
      }
    }
    return drained
  }
}
