public import Nostr

/// What becomes of a list next.
public struct ListStep: Sendable {
  /// The next version; nil: none is needed, the newest one is as it is to be.
  public let contents: ListContents?
  /// The newest version, which the next one replaces; nil without one.
  public let newest: EventID?
  /// `created_at` of the newest version, for ``ListClock``.
  public let newestCreatedAt: Int64?
  /// The contents of the newest version, for ``ListShrinkage``; nil without one.
  public let before: ListContents?
  /// What was decided about versions of other devices; nil if there were none to decide about.
  public let merge: ListMerge?
  /// Whether the next version has an edit, and is not only made to bring versions together.
  public let isEdit: Bool
  /// The versions that it takes into account.
  let covered: [EventID]
  /// What is put on top of another device's version.
  let restored: [EntryDifference]
  /// What the edit itself changes, beside what was decided about other versions.
  let edited: [EntryDifference]
  /// Whether some of that was put on top before.
  let isRetry: Bool
}

/// What was decided about versions of other devices.
public struct ListMerge: Hashable, Sendable {
  /// How many versions were looked at.
  public internal(set) var versionCount = 0
  /// Entries that another device's version lacks, changes or brings back, and that are put on top of it as they are
  /// here.
  public internal(set) var restoredCount = 0
  /// Entries that were taken from other devices' versions.
  public internal(set) var takenCount = 0
  /// Entries that were changed here and on another device, where the later change counts.
  public internal(set) var conflictCount = 0
  /// Entries that were put on top before, and are lacking again: the other device is followed.
  public internal(set) var yieldedCount = 0
  /// Whether a version lacks so much that it was not made from any known version, or by accident: then nothing that is
  /// here is removed for it.
  public internal(set) var isDoubtful = false
  /// Whether ``ListHistory/retryCountMaximum`` was reached.
  public internal(set) var hasGivenUp = false

  /// What was done, without a full stop; nil if the other device was simply followed.
  public var sentence: String? {
    if hasGivenUp {
      return "another device removes \(Self.changes(yieldedCount)) again each time; it was put on top "
        + "\(ListHistory.retryCountMaximum) times, and is left now"
    }
    guard restoredCount > 0 else { return nil }
    let why =
      isDoubtful ? "another device has written a list without most of yours" : "another device has written a list"
    return "\(why); it lacked \(Self.changes(restoredCount)) made here, and they were put on top of it"
  }

  private static func changes(_ count: Int) -> String { count == 1 ? "1 change" : "\(count) changes" }
}

/// What is to be stored after an input, in one transaction, together with the history's ``ListHistory/memo``.
public struct ListKeeping: Hashable, Sendable {
  /// Records that are new or have changed.
  public internal(set) var changed: Set<EventID> = []
  /// Versions whose events are no longer kept; their records are.
  public internal(set) var forgotten: Set<EventID> = []
  /// Versions that are no longer known: neither the record nor the event is kept.
  public internal(set) var dropped: Set<EventID> = []

  /// Whether nothing is to be stored.
  public var isEmpty: Bool { changed.isEmpty && forgotten.isEmpty && dropped.isEmpty }
}

/// What a history has beside its records.
public struct ListMemo: Hashable, Sendable, Codable {
  /// The version that has all that was decided, as 64 digits.
  public internal(set) var head: String?
  /// Versions of other devices about which nothing was decided yet.
  public internal(set) var pending: [String] = []
  /// The last versions of other devices that were decided about: they are decided about again when an older version
  /// comes later, since that may be what they were made from. Absent: none.
  public internal(set) var recent: [String]?
  /// Whether a version was ever made here.
  public internal(set) var isEdited = false
  /// `created_at` of the version that the first one here was made from; nil if there was none.
  public internal(set) var originCreatedAt: Int64?
  /// How often something was put on top again since the last edit.
  public internal(set) var retryCount = 0
  /// The salt of the records' hashes.
  public let salt: [UInt8]
  /// Whether hashes of private entries have a salt of their own, as in all histories that were begun since there is
  /// one.
  public internal(set) var hasPrivateSalt: Bool?
}
