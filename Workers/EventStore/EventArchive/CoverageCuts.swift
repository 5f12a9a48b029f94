internal import Cryptography
internal import EventIndex
public import Nostr
internal import Observations
internal import Storage

// What coverage can no longer claim when events are removed although their relays have them: of each filter that
// matches one of them, all times up to it. Coverage of other filters stays, such as that of one's own events.
//
// A row of `coverage` has the key of a filter, which does not say what the filter is. For an author, a tag value, and
// either with a kind, the keys follow from the event (`Filter.coverageSubjects`). All other filters with coverage are
// in `wholeFilter`, and are matched.

/// The times up to which coverage is withdrawn, by what events have in common.
struct CoverageCuts {
  private enum Common: Hashable {
    case author(PublicKey)
    case tag(IndexedEvent.Tag)
  }
  private struct Subject: Hashable {
    let common: Common
    let kind: UInt16?
  }
  private var newest: [Subject: Int64] = [:]
  private var events: [IndexedEvent] = []

  /// An event is removed.
  mutating func note(_ event: IndexedEvent) {
    events.append(event)
    for common in [.author(event.pubkey)] + event.tags.map(Common.tag) {
      for kind in [nil, event.kind] {
        newest[Subject(common: common, kind: kind), default: .min].raise(to: event.createdAt)
      }
    }
  }

  /// The keys of filters, and up to when each loses its coverage.
  func keys(_ session: StorageSession) throws -> [FilterKey: Int64] {
    guard !events.isEmpty else { return [:] }
    var keys: [FilterKey: Int64] = [:]
    for (subject, time) in newest {
      let kinds = subject.kind.map { [$0] }
      let filter =
        switch subject.common {
        case .author(let author): Filter(authors: [author], kinds: kinds)
        case .tag(let tag): Filter(kinds: kinds, tags: [tag.letter: [tag.value]])
        }
      keys[FilterKey([filter])] = time
    }
    let rows = try session.rows("SELECT filter, json FROM wholeFilter") { (key: $0.bytes(0), json: $0.bytes(1)) }
    for row in rows {
      guard let key = FilterKey(bytes: row.key) else { continue }
      // `try?`: a filter that cannot be read might match everything.
      let matcher = (try? Filter(json: row.json)).map { FilterMatcher($0) }
      for event in events where matcher?.matches(event) ?? true {
        keys[key, default: .min].raise(to: event.createdAt)
      }
    }
    return keys
  }
}

extension Int64 {
  fileprivate mutating func raise(to other: Int64) { self = Swift.max(self, other) }
}

extension Filter {
  /// Whether the keys of events that it matches lead to its coverage: it names one author or one tag value, and one
  /// kind at most.
  public var isCoverageSubject: Bool {
    ids == nil && search == nil && kinds?.count ?? 1 == 1 && tags.count <= 1
      && (authors?.count == 1 && tags.isEmpty || authors == nil && tags.values.first?.count == 1)
  }
}

extension ArchiveWriter {
  /// Removes events that are over a bound, with the coverage that claims them.
  ///
  /// - Returns: the bytes of those that were removed.
  mutating func removeBounded(_ seqs: [Int64], kept: Set<PublicKey>, now: Int64) throws -> Int64 {
    var (cuts, byteCount) = (CoverageCuts(), Int64(0))
    for seq in seqs {
      let row = try session.first("SELECT flags, length(json) FROM event WHERE seq = ?", seq) {
        (flags: $0.number(0), byteCount: $0.number(1))
      }
      guard let row, row.flags & (ArchiveRetention.keptFlag | ArchiveRetention.neededFlag) == 0,
        let event = try stored(seq)
      else { continue }
      if kept.contains(event.indexed.pubkey) {
        try keep(seq)
        continue
      }
      // What is from the future is no reason to withdraw coverage up to then.
      if event.indexed.createdAt <= now { cuts.note(event.indexed) }
      try remove(seq, event)
      byteCount += row.byteCount
    }
    for (key, time) in try cuts.keys(session) { try forgetCoverage(of: key, upTo: time) }
    return byteCount
  }

  /// Withdraws the coverage of one filter up to a second, at all relays.
  func forgetCoverage(of key: FilterKey, upTo time: Int64) throws {
    let rows = try session.rows("SELECT relay, intervals FROM coverage WHERE filter = ?", key.digest.bytes) {
      (relay: $0.number(0), bytes: $0.bytes(1))
    }
    for row in rows {
      var coverage = try CoverageIntervals(stored: row.bytes, session)
      let before = coverage
      coverage.forget(upTo: time)
      guard coverage != before else { continue }
      if coverage.intervals.isEmpty {
        try session.run("DELETE FROM coverage WHERE filter = ? AND relay = ?", key.digest.bytes, row.relay)
      } else {
        try session.run(
          "UPDATE coverage SET intervals = ? WHERE filter = ? AND relay = ?", coverage.bytes, key.digest.bytes,
          row.relay)
      }
    }
  }
}
