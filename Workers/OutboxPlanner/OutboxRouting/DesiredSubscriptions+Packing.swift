internal import Addresses
public import Clocks
internal import Contracts
internal import Cryptography
internal import Frames
internal import Nostr
internal import NostrContracts

// Packs demands into REQs when the gathering time is over.

extension DesiredSubscriptions {
  /// Packs the changes that have gathered. Call it at ``deadline`` or later; before that, it does nothing.
  ///
  /// - Parameters:
  ///   - now: the instant.
  ///   - wall: seconds since 1970.
  public mutating func pack(at now: Instant, wall: Int64) {
    guard let deadline, now >= deadline else { return }
    (gatherUntil, retryAt) = (nil, nil)
    dropUnwished()
    unpackDirty(wall: wall)
    thinOut(wall: wall)
    outside.formIntersection(packs.values.map(\.relay))
    packPending(at: now, wall: wall)
    reports = reports.filter { packs[$0.key] != nil }
  }

  /// The wall clock was set. A demand that resumes from a time after `wall` would miss events, so it resumes from
  /// `wall`, and its REQ is replaced.
  public mutating func clockSet(at now: Instant, wall: Int64) {
    for (id, demand) in demands where demand.resumesAt.map({ $0 > wall }) ?? false {
      demands[id]?.resumesAt = wall
      guard let key = demand.pack else { continue }
      packs[key]?.isDirty = true
      gather(at: now)
    }
  }

  // MARK: Out of packs

  private mutating func dropUnwished() {
    for (id, demand) in demands where demand.wishes.isEmpty {
      demands[id] = nil
      guard let key = demand.pack else { continue }
      packs[key]?.demands.removeAll { $0 == id }
      packs[key]?.isDirty = true
      if packs[key]?.demands.isEmpty == true { packs[key] = nil }
    }
  }

  /// Takes demands out of a REQ that asks for more than its demands want. This waits until the relay has sent its
  /// stored events, or it would send them again. Demands that need another connector or account leave at once.
  private mutating func unpackDirty(wall: Int64) {
    for (key, pack) in packs where pack.isDirty {
      let isStored = reports[key]?.state == .stored
      let isRefused = reports[key]?.state == .refused
      for id in pack.demands where isStored || isRefused || isMisplaced(id, in: pack) {
        unpack(id, of: key, wall: wall)
      }
      if packs[key]?.demands.isEmpty == true { packs[key] = nil }
    }
  }

  private func isMisplaced(_ id: DemandID, in pack: Pack) -> Bool {
    guard let choice = demands[id]?.choice else { return true }
    return choice.connector != pack.worker || choice.account?.description != pack.request.account
      || choice.isForeign != (pack.request.isForeign ?? false)
  }

  private mutating func unpack(_ id: DemandID, of key: String, wall: Int64) {
    packs[key]?.demands.removeAll { $0 == id }
    guard let report = reports[key] else {
      demands[id]?.pack = nil
      return
    }
    if report.state == .stored { demands[id]?.resumesAt = wall }
    demands[id]?.events += report.events
    demands[id]?.pack = nil
  }

  /// Where a relay has many REQs, the smallest of those whose stored events have all arrived are packed together.
  private mutating func thinOut(wall: Int64) {
    for (relay, keys) in Dictionary(grouping: packs.keys, by: { packs[known: $0].relay }) {
      let target = max(1, (slots[relay] ?? Self.assumedSlots) - Self.sparedSlots)
      var count = keys.count
      if count <= target { continue }
      var candidates = keys.filter { mayMove($0) }
        .sorted { (packs[$0]?.filterCount ?? 0, $0) < (packs[$1]?.filterCount ?? 0, $1) }[...]
      while count > target, candidates.count > 1 {
        var filterCount = 0
        let together = candidates.prefix { key in
          filterCount += packs[key]?.filterCount ?? 0
          return filterCount <= Self.filterMaximum
        }
        guard together.count > 1 else { break }
        for key in together { for id in packs[key]?.demands ?? [] { unpack(id, of: key, wall: wall) } }
        for key in together { packs[key] = nil }
        count -= together.count - 1
        candidates = candidates.dropFirst(together.count)
      }
    }
  }

  private func mayMove(_ key: String) -> Bool {
    guard let pack = packs[key], pack.request.isLive, reports[key]?.state == .stored else { return false }
    return pack.demands.allSatisfy { demands[$0]?.isAlone == false }
  }

  // MARK: Into packs

  /// What the demands of one pack share.
  private struct Place: Hashable {
    let relay: RelayURL
    let worker: String
    let account: PublicKey?
    let isForeign: Bool
    let isLive: Bool
    let manner: FetchManner
  }

  private mutating func packPending(at now: Instant, wall: Int64) {
    var places: [Place] = []
    var pending: [Place: [DemandID]] = [:]
    let waiting = demands.filter { $0.value.pack == nil && !$0.value.isOver }.sorted {
      $0.value.number < $1.value.number
    }
    for (id, demand) in waiting {
      guard let worker = demand.choice.connector else {
        wait(id, "no relay-connector dials it")
        continue
      }
      let place = Place(
        relay: id.relay, worker: worker, account: demand.choice.account, isForeign: demand.choice.isForeign,
        isLive: id.isLive, manner: id.manner)
      if pending[place] == nil { places.append(place) }
      pending[place, default: []].append(id)
    }
    for place in places {
      let ids = pending[place] ?? []
      if let reason = admit(place, ids, at: now) {
        for id in ids { wait(id, reason) }
      } else {
        pack(ids, at: place, wall: wall, now)
      }
    }
  }

  private mutating func wait(_ id: DemandID, _ reason: String) {
    guard demands[id]?.waits != reason else { return }
    demands[id]?.waits = reason
    for key in demands[id]?.wishes ?? [] { noteChange(of: key) }
  }

  /// Returns why a connector is not asked for a relay now; nil when it is. When it dials the relay is its own decision.
  private mutating func admit(_ place: Place, _ ids: [DemandID], at now: Instant) -> String? {
    guard ids.contains(where: { demands[$0]?.choice.isOutside == true }), !outside.contains(place.relay) else {
      return nil
    }
    guard outside.count < RelayDesire.otherRelayMaximum else {
      retry(at: now.advanced(milliseconds: Self.retryMilliseconds))
      return "\(RelayDesire.otherRelayMaximum) relays outside the groups of supervisor.conf are wanted already"
    }
    outside.insert(place.relay)
    return nil
  }

  private mutating func retry(at instant: Instant) { retryAt = min(retryAt ?? instant, instant) }

  private mutating func pack(_ ids: [DemandID], at place: Place, wall: Int64, _ now: Instant) {
    var filters: [Filter] = []
    var members: [DemandID] = []
    var byteCount = 0
    func isFull(_ merged: [Filter], _ bytes: Int) -> Bool {
      merged.count > Self.filterMaximum || byteCount + bytes > Self.packByteMaximum
    }
    for id in ids {
      guard let demand = demands[id] else { continue }
      let own = demand.filters.compactMap { demand.narrowed($0) }
      if own.isEmpty {
        demands[id]?.isOver = true
        continue
      }
      let bytes = own.reduce(0) { $0 + $1.json.count + 1 }
      if bytes > byteMaximum {
        wait(id, "its filters have \(bytes) bytes, which is more than a frame of the bus carries")
        continue
      }
      if demand.isAlone {
        close([id], own, at: place, now)
        continue
      }
      var merged = members.isEmpty ? own : Filter.merge(filters + own)
      if !members.isEmpty, isFull(merged, bytes) {
        close(members, filters, at: place, now)
        (members, merged, byteCount) = ([], own, 0)
      }
      members.append(id)
      filters = merged
      byteCount += bytes
    }
    if !members.isEmpty { close(members, filters, at: place, now) }
  }

  /// Makes a pack of these demands. If a pack with the same filters exists at this place, they join it.
  private mutating func close(_ ids: [DemandID], _ filters: [Filter], at place: Place, _ now: Instant) {
    let own = ids.map(\.own).filter { $0 != 0 }.sorted().map { "own:\($0)" }
    let key = FilterKey(
      filters,
      [
        "relay:\(place.relay)", "account:\(place.account?.description ?? "")", "foreign:\(place.isForeign)",
        "live:\(place.isLive)",
      ] + place.manner.marks + own
    ).description
    guard packs[key] != nil || packs.values.count(where: { $0.worker == place.worker }) < RelayDesire.requestMaximum
    else {
      retry(at: now.advanced(milliseconds: Self.retryMilliseconds))
      for id in ids { wait(id, "\(place.worker) has \(RelayDesire.requestMaximum) wishes already") }
      return
    }
    if packs[key] == nil {
      var request = DesiredSubscription(
        key: key, relay: place.relay.text, filters: filters.map { JSONValue(of: $0) }, isLive: place.isLive,
        account: place.account?.description, isForeign: place.isForeign,
        stored: place.manner.isDeep ? .all : nil, isFresh: place.manner.isFresh)
      if place.manner.isBackfill { request.isBackfill = true }
      packs[key] = Pack(
        request: request, relay: place.relay, worker: place.worker, demands: [], filterCount: filters.count,
        byteCount: filters.reduce(Self.requestByteCount) { $0 + $1.json.count + 1 })
    }
    packs[key]?.demands += ids
    for id in ids {
      demands[id]?.pack = key
      demands[id]?.waits = nil
      if unreachable[place.relay] != nil { demands[id]?.hasFailed = true }
      for interest in demands[id]?.wishes ?? [] { noteChange(of: interest) }
    }
    if let report = reports[key], report.state == .stored { for id in ids { noteStored(id, isWhole: report.isWhole) } }
  }
}

extension DesiredSubscriptions.Demand {
  /// The filter for resuming: without what the relay had stored before. Nil when nothing more can match.
  func narrowed(_ filter: Filter) -> Filter? {
    // A filter with ids matches few events, and an event made long ago may arrive late.
    guard let resumesAt, filter.ids == nil else { return filter }
    let isBackdated = filter.kinds?.contains(where: EventKind.giftWraps.contains) ?? true
    let overlap = DesiredSubscriptions.overlapSeconds + (isBackdated ? GiftWrap.backdatingMaximumSeconds : 0)
    var narrowed = filter
    narrowed.since = max(filter.since ?? 0, resumesAt - overlap)
    return narrowed.matchesNothing ? nil : narrowed
  }
}
