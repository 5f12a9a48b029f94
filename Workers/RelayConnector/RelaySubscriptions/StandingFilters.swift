public import Nostr

/// The filters of REQs that stay open: only for what is new, and in as many REQs as the relay's length needs.
public enum StandingFilters {
  /// Bytes of a REQ around its filters.
  public static let envelopeByteCount = 128

  /// The filters in groups, each for one REQ. A filter that is too long is cut. One that cannot be cut is alone, and
  /// is refused for its length.
  public static func groups(of filters: [Filter], byteMaximum: Int) -> [[Filter]] {
    var groups: [[Filter]] = []
    var byteCount = 0
    for filter in filters {
      // What a REQ adds to a filter: `limit` 0, or a time.
      let parts =
        filter.json.count + addedByteCount <= byteMaximum
        ? [filter]
        : filter.parts(valueMaximum: Filter.valueCountMaximum, byteMaximum: byteMaximum - addedByteCount) ?? [filter]
      for part in parts {
        let count = part.json.count + addedByteCount
        if groups.isEmpty || byteCount + count > byteMaximum || groups[groups.count - 1].count >= filterMaximum {
          groups.append([])
          byteCount = 0
        }
        groups[groups.count - 1].append(part)
        byteCount += count
      }
    }
    return groups
  }

  /// Whether the filter is so narrow that its REQ brings what is stored too: a few ids.
  public static func bringsStored(_ filter: Filter) -> Bool { (filter.ids?.count ?? .max) <= idMaximum }

  private static let idMaximum = 100
  private static let addedByteCount = 32
  private static let filterMaximum = RawFilters.countMaximum

  /// What is sent: for nothing stored; or, with `looksBack`, for what is dated in the last two days, as gift wraps are
  /// (NIP-59).
  public static func asked(_ filters: [Filter], looksBack: Bool, wall: Int64) -> [Filter] {
    filters.map { filter in
      var asked = filter
      if bringsStored(filter) { return asked }
      asked.limit = looksBack ? nil : 0
      if looksBack { asked.since = max(filter.since ?? 0, wall - backSeconds) }
      return asked
    }
  }

  private static let backSeconds: Int64 = 172_800

  // MARK: What they cover

  /// The seconds that a REQ covers which has stayed open: everything came that the relay got, up to when the connection
  /// may have been dead without a sign.
  ///
  /// - Parameters:
  ///   - since: when it was sent, seconds since 1970.
  ///   - wall: now.
  ///   - passedSeconds: the seconds between by a clock that no one sets and that stops with the machine.
  /// - Returns: nil if the clocks disagree, because the machine was suspended meanwhile or its clock was set, or if the
  ///   time is not worth a row.
  public static func covered(since: Int64, wall: Int64, passedSeconds: Int64) -> ClosedRange<Int64>? {
    guard abs(wall - since - passedSeconds) <= clockSeconds, wall - unnoticedSeconds - since >= worthSeconds else {
      return nil
    }
    return since...wall - unnoticedSeconds
  }

  /// A dead connection is noticed by a missing pong after at most as long.
  private static let unnoticedSeconds: Int64 = 180
  /// The two clocks may differ by so many seconds.
  private static let clockSeconds: Int64 = 5
  /// Shorter times are not written.
  private static let worthSeconds: Int64 = 60

  /// The filters of which that is claimed: with their own times, since what these exclude has not come.
  public static func claimed(_ filters: [Filter]) -> [Filter] {
    filters.filter { $0.ids == nil && $0.search == nil }.map { filter in
      var claimed = filter
      claimed.limit = nil
      return claimed
    }
  }
}

extension [Filter] {
  /// The bytes of their JSON.
  public var byteCount: Int { reduce(0) { $0 + $1.json.count + 1 } }

  /// The number of ids in them; nil when other events may match too.
  public var idCount: Int? {
    var ids: Set<EventID> = []
    for filter in self {
      guard let named = filter.ids else { return nil }
      ids.formUnion(named)
    }
    return ids.count
  }
}
