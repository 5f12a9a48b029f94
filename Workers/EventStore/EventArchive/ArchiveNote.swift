internal import Cryptography
public import Nostr
public import Observations
internal import Storage

// What is written in addition to events: when filters were fetched, and how far named observations have come. Notes
// take the same path as events, through the same lane and into the same transactions, so no note says more than what is
// committed.

/// Something to be written that is not an event.
public enum ArchiveNote: Hashable, Sendable {
  /// A relay has sent everything it had for these filters; `nil` means all relays that were planned.
  case fetched(FilterKey, relay: Int64?, at: Int64)
  /// Everything that a relay had for a filter, created between these times, is stored. The key is that of the filter's
  /// subject; `whole` is the subject if it is no single author or tag value.
  case covered(FilterKey, relay: Int64, CoverageIntervals.Interval, whole: Filter? = nil)
  /// The same for each of these keys, together with what is covered under the first key, which is removed: the pages of
  /// a part are remembered together, and at its end for each author (or tag value) and kind.
  case coveredParts(FilterKey, [FilterKey], relay: Int64, CoverageIntervals.Interval?, whole: Filter? = nil)
  /// A named observation has come this far.
  case marked(ObserveMark)
  /// A relay whose signatures are only sampled has brought a forgery.
  case distrusted(relay: Int64, at: Int64)
  /// A named observation is forgotten.
  case unmarked(owner: String, id: String)
}

extension ArchiveWriter {
  /// The most fetch times, one for a filter and a relay; beyond it the oldest are removed.
  static let fetchMaximum: Int64 = 100_000
  /// The same for coverages: a thousand authors of five kinds at four relays are 20,000.
  static let coverageMaximum: Int64 = 1_000_000
  /// Adjacent times that were checked within so many seconds count as checked at once: a day says enough of how old a
  /// check is, and keeps a row short.
  static let checkSeconds: Int64 = 86_400
  /// The most of them that one transaction removes.
  static let trimMaximum: Int64 = 10_000

  func write(_ note: ArchiveNote) throws {
    switch note {
    case .fetched(let key, let relay, let time): try fetched(key, relay: relay ?? 0, at: time)
    case .covered(let key, let relay, let interval, let whole):
      try covered(key, relay: relay, [interval])
      try remember(whole, key)
    case .coveredParts(let key, let keys, let relay, let interval, let whole):
      try coveredParts(key, keys, relay: relay, interval)
      if keys == [key] { try remember(whole, key) }
    case .marked(let mark):
      try session.run(
        "INSERT OR REPLACE INTO mark (owner, id, plan, seq, time) VALUES (?, ?, ?, ?, ?)", mark.owner, mark.id,
        mark.plan.digest.bytes, mark.seq, mark.time)
    case .distrusted(let relay, let time): try distrust(relay, at: time)
    case .unmarked(let owner, let id):
      try session.run("DELETE FROM mark WHERE owner = ? AND id = ?", owner, id)
    }
  }

  private func fetched(_ key: FilterKey, relay: Int64, at time: Int64) throws {
    try session.run(
      """
      INSERT INTO fetch (filter, relay, time) VALUES (?, ?, ?)
      ON CONFLICT (filter, relay) DO UPDATE SET time = max(time, excluded.time)
      """, key.digest.bytes, relay, time)
  }

  private func coverage(_ key: FilterKey, relay: Int64) throws -> CoverageIntervals? {
    let known = try session.statement(
      "SELECT intervals FROM coverage WHERE filter = ? AND relay = ?", key.digest.bytes, relay)
    guard try known.step() else { return nil }
    defer { known.reset() }
    return try CoverageIntervals(stored: known.bytes(0), session)
  }

  /// Remembers what a key of `coverage` is that does not follow from an event.
  private func remember(_ whole: Filter?, _ key: FilterKey) throws {
    guard let whole else { return }
    try session.run(
      "INSERT OR IGNORE INTO wholeFilter (filter, json) VALUES (?, ?)", key.digest.bytes, whole.canonical.json)
  }

  private func covered(_ key: FilterKey, relay: Int64, _ intervals: [CoverageIntervals.Interval]) throws {
    guard let checkedAt = intervals.map(\.checkedAt).max() else { return }
    var coverage = try coverage(key, relay: relay) ?? CoverageIntervals()
    for interval in intervals { coverage.add(interval) }
    coverage.join(checkedWithinSeconds: Self.checkSeconds)
    try session.run(
      "INSERT OR REPLACE INTO coverage (filter, relay, time, intervals) VALUES (?, ?, ?, ?)", key.digest.bytes, relay,
      checkedAt, coverage.bytes)
  }

  private func coveredParts(
    _ whole: FilterKey, _ keys: [FilterKey], relay: Int64, _ interval: CoverageIntervals.Interval?
  ) throws {
    var gathered = CoverageIntervals()
    if keys != [whole], let pages = try coverage(whole, relay: relay) {
      gathered = pages
      try session.run("DELETE FROM coverage WHERE filter = ? AND relay = ?", whole.digest.bytes, relay)
    }
    if let interval { gathered.add(interval) }
    for key in keys { try covered(key, relay: relay, gathered.intervals) }
  }

  /// Withdraws all coverage up to a second. A caller that removes events only to make room uses it in the same
  /// transaction.
  func forgetCoverage(upTo time: Int64) throws {
    try session.run(
      """
      INSERT INTO property (name, value) VALUES ('coverage-floor', ?)
      ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)
      """, time)
  }

  /// Trims the tables of notes to their limits, one slice at a time.
  func trimNotes() throws {
    for (table, maximum) in [("fetch", Self.fetchMaximum), ("coverage", Self.coverageMaximum)] {
      try session.run(
        """
        DELETE FROM \(table) WHERE (filter, relay) IN (
          SELECT filter, relay FROM \(table) ORDER BY time
          LIMIT min(?2, max(0, (SELECT count(*) FROM \(table)) - ?1)))
        """, maximum, Self.trimMaximum)
    }
    try session.run(
      """
      DELETE FROM wholeFilter
      WHERE NOT EXISTS (SELECT 1 FROM coverage WHERE coverage.filter = wholeFilter.filter)
      """)
  }
}

extension CoverageIntervals {
  /// Reads a row of `coverage`.
  init(stored bytes: [UInt8], _ session: StorageSession) throws {
    guard let coverage = CoverageIntervals(bytes: bytes) else {
      throw StorageFault(.corrupt, path: session.path, "the coverage of a filter cannot be read")
    }
    self = coverage
  }
}
