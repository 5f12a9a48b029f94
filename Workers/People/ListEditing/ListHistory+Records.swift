internal import Nostr

// Distances and bounds of the records.

extension ListHistory {
  mutating func number() {
    places = [:]
    for (place, record) in records.enumerated() { places[record.id] = place }
  }

  mutating func append(_ record: ListRecord, _ keeping: inout ListKeeping) {
    places[record.id] = records.count
    records.append(record)
    keeping.changed.insert(record.id)
  }

  // MARK: Distances

  /// In how many entries each version differs from a list, in the order of the records.
  func distances(to hashes: [UInt64: UInt64]) -> [Int] {
    var distances: [Int] = []
    distances.reserveCapacity(records.count)
    for record in records {
      var distance = record.base.flatMap { places[$0] }.map { distances[$0] } ?? hashes.count
      for difference in record.differences {
        let value = hashes[difference.key] ?? 0
        distance += (difference.new == value ? 0 : 1) - (difference.old == value ? 0 : 1)
      }
      distances.append(distance)
    }
    return distances
  }

  /// The version that a list differs least from; nil if an empty one differs less.
  func nearest(_ hashes: [UInt64: UInt64]) -> Int? {
    var nearest: Int?
    var least = hashes.count
    for (place, distance) in distances(to: hashes).enumerated() where distance <= least {
      (nearest, least) = (place, distance)
    }
    return nearest
  }

  /// The hashes of a version's entries.
  func hashes(at place: Int) -> [UInt64: UInt64] {
    var chain = [place]
    while let base = records[chain[chain.count - 1]].base.flatMap({ places[$0] }) { chain.append(base) }
    var hashes: [UInt64: UInt64] = [:]
    for place in chain.reversed() {
      for difference in records[place].differences {
        hashes[difference.key] = difference.new == 0 ? nil : difference.new
      }
    }
    return hashes
  }

  static func differences(from old: [UInt64: UInt64], to new: [UInt64: UInt64]) -> [EntryDifference] {
    var differences: [EntryDifference] = []
    for (key, value) in new where old[key] != value {
      differences.append(EntryDifference(key: key, old: old[key] ?? 0, new: value))
    }
    for (key, value) in old where new[key] == nil {
      differences.append(EntryDifference(key: key, old: value, new: 0))
    }
    return differences.sorted { $0.key < $1.key }
  }

  // MARK: Bounds

  mutating func bound(_ keeping: inout ListKeeping) {
    var differenceCount = records.reduce(0) { $0 + $1.differenceCount }
    while records.count > Self.recordCountMaximum || differenceCount > Self.differenceCountMaximum {
      guard let place = records.firstIndex(where: { !mustStay($0.id) }) else { break }
      drop(place, &keeping)
      differenceCount = records.reduce(0) { $0 + $1.differenceCount }
    }
    boundKept(&keeping)
  }

  private func mustStay(_ id: EventID) -> Bool {
    head?.id == id || pending.contains { $0.id == id } || recent.contains { $0.id == id }
  }

  /// Forgets a record. What was compared with it is compared with its base from now on: one version with the base
  /// itself, the others with that one, so that a long list is not written twice.
  private mutating func drop(_ place: Int, _ keeping: inout ListKeeping) {
    let old = records.remove(at: place)
    var heir: (id: EventID, differences: [EntryDifference])?
    for next in records.indices where records[next].base == old.id {
      if let heir {
        records[next].base = heir.id
        records[next].differences = EntryDifference.joined(
          heir.differences.map(\.inverse), records[next].differences)
      } else {
        heir = (records[next].id, records[next].differences)
        records[next].base = old.base
        records[next].differences = EntryDifference.joined(old.differences, records[next].differences)
      }
      keeping.changed.insert(records[next].id)
    }
    number()
    keeping.changed.remove(old.id)
    keeping.forgotten.remove(old.id)
    keeping.dropped.insert(old.id)
  }

  /// The newest versions and the largest ones are kept, and what is being decided about.
  private mutating func boundKept(_ keeping: inout ListKeeping) {
    let kept = records.indices.filter { records[$0].isKept }
    let byteCount = kept.reduce(0) { $0 + records[$1].byteCount }
    guard kept.count > Self.keptCountMaximum || byteCount > Self.keptByteCountMaximum else { return }
    let largest = kept.sorted { records[$0].entryCount > records[$1].entryCount }.prefix(Self.largestCount)
    var stay = Set(kept.filter { mustStay(records[$0].id) })
    var stayCount = stay.reduce(0) { $0 + records[$1].byteCount }
    for place in largest + kept.reversed() where !stay.contains(place) {
      guard stay.count < Self.keptCountMaximum, stayCount + records[place].byteCount <= Self.keptByteCountMaximum
      else { continue }
      stay.insert(place)
      stayCount += records[place].byteCount
    }
    for place in kept where !stay.contains(place) {
      records[place].isKept = false
      keeping.changed.insert(records[place].id)
      keeping.forgotten.insert(records[place].id)
    }
  }
}

extension EntryHasher {
  /// What differs between two versions; only what differs is hashed.
  func differences(from old: ListState?, to new: ListState) -> [EntryDifference] {
    var differences: [EntryDifference] = []
    let (earlier, later) = old.map { ListState.unlike($0, new) } ?? (left: [], right: new.keys[...])
    for key in later {
      let before = old?[key] ?? []
      let after = new[key] ?? []
      guard !before.hasBytes(after) else { continue }
      differences.append(difference(key, before, after))
    }
    for key in earlier where new[key] == nil {
      differences.append(difference(key, old?[key] ?? [], []))
    }
    return differences.sorted { $0.key < $1.key }
  }

  /// A difference of one entry.
  func difference(_ key: EntryKey, _ old: [[String]], _ new: [[String]]) -> EntryDifference {
    EntryDifference(key: hash(key), old: value(key, old), new: value(key, new))
  }

  private func value(_ key: EntryKey, _ tags: [[String]]) -> UInt64 {
    tags.isEmpty ? 0 : hash(key, occurrences: tags)
  }
}
