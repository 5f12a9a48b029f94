internal import Cryptography
internal import Nostr

// What becomes of the list: the rules at the head of ListHistory.swift.

/// What an author does to a list here.
public enum ListEdit: Sendable {
  /// These changes.
  case changes([ListChange])
  /// What differs between a version and the one before it is taken back, on the newest version.
  case undo(of: ListContents, to: ListContents)
}

extension ListHistory {
  /// The next version: what is pending is decided about, and an edit is made on the result.
  ///
  /// - Parameter edit: nil: only what is pending is decided about.
  /// - Throws: an edit that cannot be made, or a list that cannot be changed. Nothing is decided then.
  public func next(_ edit: ListEdit? = nil) throws(ListFault) -> ListStep {
    var merging = Merging(self)
    for version in pending { merging.take(version.id, version.contents, self) }
    let newest =
      pending.last.flatMap { last -> EventID? in
        guard let head else { return last.id }
        return records[known: last.id, places].isNewer(than: records[known: head.id, places]) ? last.id : head.id
      } ?? head?.id
    let before = newest.flatMap { id in head?.id == id ? head?.contents : pending.last?.contents }
    let start = before ?? ListContents(none: kind, identifier: identifier)
    let merged = try merging.result(on: start, isHead: newest == head?.id)
    var contents = merged.contents
    switch edit {
    case .changes(let changes): contents = try (contents ?? start).applying(changes) ?? contents
    case .undo(let version, let previous):
      contents = try Self.undoing(version, previous, on: contents ?? start) ?? contents
    case nil: break
    }
    let restored = merged.targets.map { hasher.difference($0.key, $0.theirs, $0.tags) }
    return ListStep(
      contents: contents, newest: newest, newestCreatedAt: newest.map { records[known: $0, places].createdAt },
      before: before, merge: pending.isEmpty ? nil : merging.report, isEdit: edit != nil, covered: pending.map(\.id),
      restored: restored,
      edited: edit == nil
        ? []
        : hasher.differences(from: (merged.contents ?? start).state, to: (contents ?? merged.contents ?? start).state),
      isRetry: restored.contains { difference in
        merging.earlier[difference.key]?.contains { $0.value == difference.new } == true
      })
  }

  /// Takes back what a version changed, where nothing changed it since.
  static func undoing(
    _ version: ListContents, _ previous: ListContents, on current: ListContents
  ) throws(ListFault) -> ListContents? {
    let (new, old, now) = (ListState(version), ListState(previous), ListState(current))
    var targets: [(key: EntryKey, tags: [[String]])] = []
    for key in new.keys + old.keys.filter({ new[$0] == nil }) where key.place != .content {
      let (after, before) = (new[key] ?? [], old[key] ?? [])
      if !after.hasBytes(before), (now[key] ?? []).hasBytes(after) { targets.append((key, before)) }
    }
    return targets.isEmpty ? nil : try current.setting(targets)
  }

  // MARK: The base

  /// Which version a version was evidently made from.
  struct Base {
    /// The hashes of its entries.
    var hashes: [UInt64: UInt64]
    /// See rule 4.
    var isDoubtful: Bool
    /// Whether a doubtful version was written before, and is more like the head than like an empty list.
    var isMeant: Bool
  }

  func base(of id: EventID, _ hashes: [UInt64: UInt64]) -> Base {
    let record = records[known: id, places]
    let distances = distances(to: hashes)
    let older = records.indices.filter { records[$0].id != id && record.isNewer(than: records[$0]) }
    // Rule 1; rule 2 for what is the same as an older version.
    var found = best(of: older.filter { distances[$0] > 0 }, distances, for: record)
    if let same = best(of: older.filter { distances[$0] == 0 }, distances, for: record) {
      let candidates = [
        newest(of: older).flatMap { last in
          records[last].isOurs || records[last].entryCount > record.entryCount ? nil : last
        },
        newest(of: older.filter { canHaveSeen(records[$0], record, before: record.createdAt + 1) }),
        newest(of: older.filter { canHaveSeen(records[$0], record) }),
      ]
      let isUndone = { place in
        isOneStep(place, distances) && records[place].isNewer(than: records[same])
      }
      found = candidates.compactMap(\.self).first(where: isUndone) ?? same
      // It may have been reading while ours came to the relay.
      if let ours = found, ours != same, records[ours].isOurs, records[ours].entryCount < record.entryCount,
        let theirs = newest(of: older.filter { canHaveSeen(records[$0], record, before: record.createdAt - 1) }),
        !records[theirs].isOurs, records[theirs].entryCount > record.entryCount, isUndone(theirs)
      {
        found = theirs
      }
    }
    // Rule 3.
    let sawOne = older.contains { canHaveSeen(records[$0], record) }
    if !sawOne, hashes.count < found.map({ distances[$0] }) ?? .max { found = nil }
    let base = found.map { self.hashes(at: $0) } ?? [:]
    // Rule 4.
    let isNearerToNothing = found.map { hashes.count < distances[$0] } ?? false
    let current = head.flatMap { places[$0.id] }.map { self.hashes(at: $0) } ?? [:]
    let isDoubtful = lacksMuch(of: base, hashes) || isNearerToNothing && lacksMuch(of: current, hashes)
    let isMeant =
      isDoubtful && older.contains { distances[$0] == 0 }
      && hashes.count >= head.flatMap { places[$0.id] }.map { distances[$0] } ?? 0
    return Base(hashes: base, isDoubtful: isDoubtful, isMeant: isMeant)
  }

  private func lacksMuch(of base: [UInt64: UInt64], _ hashes: [UInt64: UInt64]) -> Bool {
    let count = base.keys.count { hashes[$0] == nil }
    return count >= Self.doubtCountMinimum && count * ListShrinkage.part >= base.count
  }

  private func newest(of found: [Int]) -> Int? {
    found.max { records[$1].isNewer(than: records[$0]) }
  }

  /// Whether a list differs from a version in one entry, or is what that version was made from.
  private func isOneStep(_ place: Int, _ distances: [Int]) -> Bool {
    distances[place] == 1
      || distances[place] > 0 && records[place].base.flatMap { places[$0] }.map { distances[$0] == 0 } ?? false
  }

  private func best(of found: [Int], _ distances: [Int], for record: ListRecord) -> Int? {
    guard let least = found.map({ distances[$0] }).min() else { return nil }
    return found.filter { distances[$0] == least }.max { left, right in
      let (sawLeft, sawRight) = (canHaveSeen(records[left], record), canHaveSeen(records[right], record))
      return sawLeft == sawRight ? records[right].isNewer(than: records[left]) : sawRight
    }
  }

  /// Whether the device that made `record` can have seen an older version: a relay that sent `record` had that before.
  /// Of ours the time is known; of others only the order, in which relays take them.
  ///
  /// - Parameter before: by when the relay must have had ours; absent: its date. For a list that is exactly an older
  ///   version it is a second later: few devices write without a change, and in that second almost none.
  func canHaveSeen(_ older: ListRecord, _ record: ListRecord, before: Int64? = nil) -> Bool {
    let end = before ?? record.createdAt
    return record.sightings.keys.contains { relay in
      older.sightings[relay].map { !older.isOurs || $0 < end } ?? false
    }
  }

  // MARK: What was put on top

  /// What was put on top of other versions, by its key: where the version that did it is, and the value.
  var restoredEarlier: [UInt64: [(place: Int, value: UInt64)]] {
    var found: [UInt64: [(place: Int, value: UInt64)]] = [:]
    for (place, record) in records.enumerated() {
      for difference in record.restored { found[difference.key, default: []].append((place, difference.new)) }
    }
    return found
  }

  /// The place of the last version made here that the device of `record` can have seen.
  func lastSeen(by record: ListRecord) -> Int? {
    records.indices.last { records[$0].isOurs && canHaveSeen(records[$0], record) }
  }
}

/// The decisions about pending versions, one after the other.
private struct Merging {
  typealias Target = (key: EntryKey, tags: [[String]], theirs: [[String]])

  private let head: ListState?
  private let headContents: ListContents?
  /// Entries that are no longer those of the head, in the order of the decisions.
  private var now: [EntryKey: [[String]]] = [:]
  private var order: [EntryKey] = []
  /// The contents of the last version, if it is newer than the head.
  private var last: (state: ListState, isNewest: Bool)?
  private(set) var report = ListMerge()
  let earlier: [UInt64: [(place: Int, value: UInt64)]]
  private let canRetry: Bool

  init(_ history: ListHistory) {
    headContents = history.head?.contents
    head = history.pending.isEmpty ? nil : history.head.map { ListState($0.contents) }
    earlier = history.pending.isEmpty ? [:] : history.restoredEarlier
    canRetry = history.memo.retryCount < ListHistory.retryCountMaximum
  }

  private func value(_ key: EntryKey) -> [[String]] { now[key] ?? head?[key] ?? [] }

  private mutating func set(_ key: EntryKey, _ tags: [[String]]) {
    if now.updateValue(tags, forKey: key) == nil { order.append(key) }
  }

  mutating func take(_ id: EventID, _ contents: ListContents, _ history: ListHistory) {
    let record = history.records[known: id, history.places]
    let isNewest = history.head.map { record.isNewer(than: history.records[known: $0.id, history.places]) } ?? true
    let theirs = ListState(contents)
    let hashes = history.hasher.hashes(of: theirs)
    let base = history.base(of: id, hashes)
    report.versionCount += 1
    if base.isDoubtful { report.isDoubtful = true }
    let known = base.isDoubtful ? history.everKnown(except: id) : []
    let seen = history.lastSeen(by: record)
    let later = history.changes(after: record)
    let others = (head?.keys ?? []).filter { theirs[$0] == nil }
    for key in theirs.keys + others + order.filter({ theirs[$0] == nil && head?[$0] == nil }) {
      let (mine, other) = (value(key), theirs[key] ?? [])
      guard !mine.hasBytes(other) else { continue }
      // What cannot be read changes nothing.
      if theirs.isOpaque, key.place != .open { continue }
      if head?.isOpaque == true, key.place != .open {
        set(key, other)
        continue
      }
      let difference = history.hasher.difference(key, other, mine)
      var follows: Bool
      if base.isDoubtful, other.isEmpty || mine.isEmpty {
        follows = mine.isEmpty && !known.contains(difference.key)
      } else {
        let before = base.hashes[difference.key] ?? 0
        let isConflict = before != difference.old && before != difference.new
        if isConflict { report.conflictCount += 1 }
        follows = (isConflict || before == difference.new) && later[difference.key]?.contains(difference.new) != true
      }
      if !follows, isNewest, let places = earlier[difference.key]?.filter({ $0.value == difference.new }).map(\.place),
        !places.isEmpty
      {
        // Rule 5.
        let cannotHaveSeen = !record.sightings.isEmpty && places.allSatisfy { $0 > seen ?? -1 }
        if !canRetry || base.isMeant && !cannotHaveSeen {
          follows = true
          report.yieldedCount += 1
          if !canRetry { report.hasGivenUp = true }
        }
      }
      if follows {
        set(key, other)
        report.takenCount += 1
      }
    }
    last = (theirs, isNewest)
  }

  /// The contents of the next version, and what it has that the newest one has not; no contents if there is nothing.
  mutating func result(
    on start: ListContents, isHead: Bool
  ) throws(ListFault) -> (contents: ListContents?, targets: [Target]) {
    guard let last else { return (nil, []) }
    if isHead || !last.isNewest {
      let targets = order.map { (key: $0, tags: value($0)) }.filter { !(head?[$0.key] ?? []).hasBytes($0.tags) }
      return (targets.isEmpty ? nil : try start.setting(targets), [])
    }
    var start = start
    var theirs = last.state
    var isReplaced = false
    if theirs.isOpaque, head?.isOpaque == false, let mine = headContents, !mine.content.isEmpty {
      // The content of the newest version cannot be read, and that of ours can.
      start.content = mine.content
      start.hiddenText = mine.hiddenText
      theirs = ListState(start)
      isReplaced = true
    }
    var targets: [Target] = []
    var seen: Set<EntryKey> = []
    for key in (head?.keys ?? []) + order + theirs.keys where seen.insert(key).inserted {
      if theirs.isOpaque, key.place != .open { continue }
      let (mine, other) = (value(key), theirs[key] ?? [])
      if !mine.hasBytes(other) { targets.append((key, mine, other)) }
    }
    report.restoredCount = targets.count + (isReplaced ? 1 : 0)
    guard !targets.isEmpty || isReplaced else { return (nil, []) }
    let contents = targets.isEmpty ? start : try start.setting(targets.map { ($0.key, $0.tags) })
    return (contents, targets)
  }
}

extension ListHistory {
  /// What newer versions have changed: the values that they gave to entries, by their keys. What was only brought
  /// together here does not count, nor what seems to be a change beside a version that is newer itself.
  fileprivate func changes(after record: ListRecord) -> [UInt64: Set<UInt64>] {
    var changes: [UInt64: Set<UInt64>] = [:]
    for other in records where other.isNewer(than: record) {
      // Beside nothing a version of another device seems to do all that it has.
      guard other.base.map({ other.isNewer(than: records[known: $0, places]) }) ?? other.isOurs else { continue }
      for difference in other.edited ?? other.differences {
        changes[difference.key, default: []].insert(difference.new)
      }
    }
    return changes
  }

  /// Every entry that any other version ever had.
  fileprivate func everKnown(except id: EventID) -> Set<UInt64> {
    var known: Set<UInt64> = []
    for record in records where record.id != id {
      for difference in record.differences where difference.new != 0 {
        known.insert(difference.key)
      }
    }
    return known
  }
}
