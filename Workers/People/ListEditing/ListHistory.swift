public import Cryptography
public import Nostr

// The known versions of one list, and what becomes of a version by another device.
//
// A device writes its whole list: it has read some version, changed an entry, and written the rest again. If it had not
// seen the newest version, its list lacks what was changed meanwhile, and relays keep only its list. Nothing in it says
// which version it was made from. So this is guessed, and the list is compared with that base: what differs is what the
// device did, and all else stays as it is here. The rules, each against one wrong guess:
//
// 1. The base is the older version that the list differs least from; a device changes one entry, or few. Among equals
//    it is one that the device can have seen, then the newest. Every version counts, also those that are no longer
//    kept: records of their differences are small.
// 2. A list that is exactly an older version is either a stale device that writes without a change, or the removal of
//    what was just changed. It is the latter only if it undoes one version, and that is the newest one that a relay
//    which sent the list had before: the device can have seen it. If that is ours, came there within the last second,
//    and has removed an entry, then rather what another device had added before is removed: devices add seldom what
//    was just removed, and this one was reading meanwhile. Or if it undoes the newest of all, that is not ours, and an
//    entry comes back by it: not every relay is asked for each version. Otherwise the stale device is assumed: what
//    returns by mistake can be removed again, what is lost by mistake is not noticed.
// 3. An empty list is a base too, if no relay that sent the list had a known version: its device began with nothing.
// 4. A list that lacks a quarter of its base, and at least four entries, is doubted: it was made from a version that
//    is not known, or by accident. Nothing is removed for it, and only entries that no known version ever had are
//    added, so that a stale device cannot bring back what was removed.
// 5. A device that writes a doubted list again, though what it lacks was put on top once and the device can have seen
//    that, means it; but not if the list is more like an empty one: an application that fails in the same way twice
//    writes the same. In all other cases ours is put on top each time, as of an application that writes from its own
//    old copy, up to 16 times between two edits; then it is given up.
// 6. Where both changed the same entry, the later version counts.
// 7. A version that arrives late, and is older than the head, is treated in the same way: what its device did is done,
//    where nothing newer did something to the same entry. What was decided before about newer versions is decided
//    again, because they may have been made from this one. But what is older than the version of the first edit here
//    is history: its owner has moved on from it.
// 8. As long as no version was made here, the newest version is the list, and nothing is put on top of it.

/// The versions of one list of one author.
public struct ListHistory: Sendable {
  /// The list's kind.
  public let kind: UInt16
  /// The owner.
  public let author: PublicKey
  /// The value of the tag `d`, for addressable kinds.
  public let identifier: String
  /// What is known of each version, in the order in which they became known.
  public internal(set) var records: [ListRecord] = []
  /// What is stored beside the records.
  public internal(set) var memo: ListMemo
  var places: [EventID: Int] = [:]
  var head: (id: EventID, contents: ListContents)?
  var pending: [(id: EventID, contents: ListContents)] = []
  /// As in the memo, in the order of their dates.
  var recent: [(id: EventID, contents: ListContents)] = []
  /// The salt of the hashes of private entries, from the account's data key. It must be here before the first private
  /// entry is; nil: the other salt. A history that was begun without one continues with the other salt.
  public var privateSalt: [UInt8]?
  var hasher: EntryHasher {
    EntryHasher(salt: memo.salt, privateSalt: (memo.hasPrivateSalt == true ? privateSalt : nil) ?? memo.salt)
  }

  /// The most records of one list.
  public static let recordCountMaximum = 2_048
  /// The most differences in all records of one list: about 5 MB.
  public static let differenceCountMaximum = 200_000
  /// The most versions whose events are kept.
  public static let keptCountMaximum = 64
  /// The most bytes of kept versions.
  public static let keptByteCountMaximum = 16 << 20
  /// How many of the largest versions are kept, however old they are.
  public static let largestCount = 4
  /// The most versions about which nothing was decided yet; beyond it the oldest is left out.
  public static let pendingCountMaximum = 64
  /// The most versions that may be decided about again.
  static let recentCountMaximum = 8
  /// How often something is put on top again between two edits.
  public static let retryCountMaximum = 16
  /// A version that lacks fewer entries of its base is not doubted.
  static let doubtCountMinimum = 4

  /// A list of which nothing is known.
  ///
  /// - Parameters:
  ///   - kind: a kind of which there is one newest version.
  ///   - author: the owner.
  ///   - identifier: the value of the tag `d`, for addressable kinds.
  ///   - salt: 16 random bytes.
  public init(kind: UInt16, author: PublicKey, identifier: String = "", salt: [UInt8]? = nil) {
    self.kind = kind
    self.author = author
    self.identifier = identifier
    memo = ListMemo(salt: salt ?? RandomBytes.make(16), hasPrivateSalt: true)
  }

  /// A history as it was stored.
  ///
  /// - Parameters:
  ///   - kind: the list's kind.
  ///   - author: the owner.
  ///   - identifier: the value of the tag `d`.
  ///   - memo: what was stored beside the records.
  ///   - records: in the order in which they became known.
  ///   - contents: a kept version, its private part decrypted; asked for the head and for what is pending.
  /// - Returns: nil if a version is missing that must be there.
  public init?(
    kind: UInt16, author: PublicKey, identifier: String, memo: ListMemo, records: [ListRecord],
    contents: (EventID) -> ListContents?
  ) {
    self.kind = kind
    self.author = author
    self.identifier = identifier
    self.memo = memo
    self.records = records
    number()
    func version(_ text: String) -> (id: EventID, contents: ListContents)? {
      guard let id = EventID(text), places[id] != nil, let contents = contents(id) else { return nil }
      return (id, contents)
    }
    if let text = memo.head {
      guard let found = version(text) else { return nil }
      head = found
    }
    for text in memo.pending {
      guard let found = version(text) else { return nil }
      pending.append(found)
    }
    recent = (memo.recent ?? []).compactMap(version)
    guard records.allSatisfy({ $0.base.map { places[$0] != nil } ?? true }) else { return nil }
  }

  /// The versions that ``init(kind:author:identifier:memo:records:contents:)`` asks for: their private parts are to be
  /// decrypted before.
  public static func needed(_ memo: ListMemo) -> [EventID] {
    ([memo.head].compactMap { $0 } + memo.pending + (memo.recent ?? [])).compactMap { EventID($0) }
  }

  /// The version that has all that was decided: what the list is now. Nil without one.
  public var current: (id: EventID, contents: ListContents)? { head }

  /// Whether there are versions of other devices to decide about: ``next(_:)`` says what becomes of them.
  public var isUndecided: Bool { !pending.isEmpty }

  /// Whether so many are pending that the decision about them is due now: if more come, the oldest is left out.
  public var isPressing: Bool { pending.count * 2 >= Self.pendingCountMaximum }

  /// Whether a version is known.
  public func isKnown(_ id: EventID) -> Bool { places[id] != nil }

  /// Whether an event is a version of this list.
  public func isVersion(_ event: Event) -> Bool {
    event.kind == kind && event.pubkey == author
      && (KindClass(kind) != .addressable || (event.firstValue(of: "d") ?? "").hasBytes(identifier))
  }

  // MARK: Inputs

  /// A version came from a relay or from the store. The caller has verified it.
  ///
  /// - Parameters:
  ///   - event: the version; another event is ignored.
  ///   - hiddenText: its private part, decrypted; nil without one, and if it does not decrypt.
  ///   - relay: where it is from; nil if that is not known.
  ///   - now: seconds since 1970.
  public mutating func received(
    _ event: Event, hiddenText: String? = nil, from relay: String? = nil, at now: Int64
  ) -> ListKeeping {
    var keeping = ListKeeping()
    guard isVersion(event) else { return keeping }
    if let place = places[event.id] {
      if let relay, records[place].saw(relay, at: now) { keeping.changed.insert(event.id) }
      return keeping
    }
    let contents = ListContents(event, hiddenText: hiddenText)
    let state = ListState(contents)
    let hashes = hasher.hashes(of: state)
    let nearest = nearest(hashes)
    var record = ListRecord(
      id: event.id, createdAt: event.createdAt, isOurs: false, byteCount: event.json.count,
      entryCount: state.listedCount, base: nearest.map { records[$0].id },
      differences: Self.differences(from: nearest.map { self.hashes(at: $0) } ?? [:], to: hashes))
    if let relay { _ = record.saw(relay, at: now) }
    append(record, &keeping)
    guard memo.isEdited else {
      if head.map({ record.isNewer(than: records[known: $0.id, places]) }) ?? true { setHead(event.id, contents) }
      bound(&keeping)
      return keeping
    }
    if memo.originCreatedAt.map({ event.createdAt >= $0 }) ?? true {
      let isAffected = { [places, records] (id: EventID) in records[known: id, places].isNewer(than: record) }
      pending += [(event.id, contents)] + recent.filter { isAffected($0.id) }
      recent.removeAll { isAffected($0.id) }
      sort(&pending)
      pending.removeFirst(max(0, pending.count - Self.pendingCountMaximum))
      remember()
    }
    bound(&keeping)
    return keeping
  }

  /// A relay has confirmed that it has a version. `now` is in seconds since 1970.
  public mutating func confirmed(_ id: EventID, by relay: String, at now: Int64) -> ListKeeping {
    var keeping = ListKeeping()
    if let place = places[id], records[place].saw(relay, at: now) { keeping.changed.insert(id) }
    return keeping
  }

  /// The next version is signed. It is the list from now on, whether it was published yet or not.
  ///
  /// - Parameters:
  ///   - event: the signed template of the step's contents.
  ///   - step: what ``next(_:)`` said; since then only other devices' versions may have come.
  public mutating func wrote(_ event: Event, _ step: ListStep) -> ListKeeping {
    var keeping = ListKeeping()
    guard var contents = step.contents, places[event.id] == nil else { return keeping }
    let before = step.newest.flatMap { id in
      head?.id == id ? head?.contents : pending.first { $0.id == id }?.contents
    }
    let state = contents.state
    var record = ListRecord(
      id: event.id, createdAt: event.createdAt, isOurs: true, byteCount: event.json.count,
      entryCount: state.listedCount, base: step.newest, differences: hasher.differences(from: before?.state, to: state))
    record.restored = step.restored
    record.edited = step.edited
    append(record, &keeping)
    if !memo.isEdited {
      memo.isEdited = true
      memo.originCreatedAt = step.newestCreatedAt
    }
    memo.retryCount = step.isEdit ? 0 : memo.retryCount + (step.isRetry ? 1 : 0)
    if contents.mustEncrypt { (contents.content, contents.mustEncrypt) = (event.content, false) }
    settle(step.covered, event.id, contents)
    bound(&keeping)
    return keeping
  }

  /// A step that needs no new version was taken.
  public mutating func settled(_ step: ListStep) -> ListKeeping {
    var keeping = ListKeeping()
    guard step.contents == nil, let newest = step.newest, let before = step.before else { return keeping }
    settle(step.covered, newest, before)
    bound(&keeping)
    return keeping
  }

  private mutating func settle(_ covered: [EventID], _ id: EventID, _ contents: ListContents) {
    recent += pending.filter { covered.contains($0.id) }
    sort(&recent)
    recent.removeFirst(max(0, recent.count - Self.recentCountMaximum))
    pending.removeAll { covered.contains($0.id) }
    remember()
    setHead(id, contents)
  }

  private func sort(_ versions: inout [(id: EventID, contents: ListContents)]) {
    versions.sort { records[known: $1.id, places].isNewer(than: records[known: $0.id, places]) }
  }

  private mutating func remember() {
    memo.pending = pending.map { $0.id.description }
    memo.recent = recent.isEmpty ? nil : recent.map { $0.id.description }
  }

  private mutating func setHead(_ id: EventID, _ contents: ListContents) {
    head = (id, contents)
    memo.head = id.description
  }
}

extension [ListRecord] {
  /// The record of a known version.
  subscript(known id: EventID, places: [EventID: Int]) -> ListRecord {
    guard let place = places[id] else { preconditionFailure("the version is known") }
    return self[place]
  }
}
