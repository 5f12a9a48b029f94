internal import Glibc
internal import Storage

// Losses are reported until the operator can be expected to know of them. A rescue is reported while the damaged file
// lies beside the database, because an operator who has what is needed of it removes it. Commits that were lost with
// the log or the power, and events that were found damaged one by one, are reported for a week. So losses are kept in
// the database, as properties, and survive restarts.

/// What is known of events that were stored and are lost.
public struct ArchiveLosses: Sendable, Hashable {
  /// The last rescue, while the damaged file is there.
  public var rescue: ArchiveRescue?
  /// Seqs that were committed, but were missing in the database at a start.
  public var seqs: ClosedRange<Int64>?
  /// Events that were found damaged and removed, see ``EventArchive/scrub(now:)``.
  public var damagedCount: Int64 = 0

  /// No losses.
  public init() {}
}

extension ArchiveRescue {
  /// Writes the result of the rescue into the new database.
  func write(_ session: StorageSession) throws {
    try session.write(property: "rescue-time", time)
    try session.write(property: "rescue-saved", Int64(savedCount))
    try session.write(property: "rescue-damaged", Int64(damagedCount))
    try session.write(property: "rescue-lost", lostCount.map { Int64($0) } ?? Self.unknownCount)
    guard let reason else { return try session.execute("DELETE FROM property WHERE name = 'rescue-reason'") }
    try session.run("INSERT OR REPLACE INTO property (name, value) VALUES ('rescue-reason', ?)", reason)
  }

  private static let unknownCount: Int64 = -1

  /// Reads the result that was written; nil if there was no rescue.
  init?(_ session: StorageSession) throws {
    guard let time = try session.property("rescue-time") else { return nil }
    self.init(quarantinePath: Quarantine(of: session.path, time: time).path, time: time)
    savedCount = Int(clamping: try session.property("rescue-saved") ?? 0)
    damagedCount = Int(clamping: try session.property("rescue-damaged") ?? 0)
    let lost = try session.property("rescue-lost") ?? Self.unknownCount
    lostCount = lost == Self.unknownCount ? nil : Int(clamping: lost)
    let statement = try session.statement("SELECT value FROM property WHERE name = 'rescue-reason'")
    guard try statement.step() else { return }
    reason = statement.text(0)
    statement.reset()
  }
}

extension EventArchive {
  /// How long lost seqs and damaged events are reported, in seconds.
  static let lossSeconds: Int64 = 7 * 86_400

  /// The losses still to be reported. A rescue is no longer one of them once its damaged file is removed.
  public var losses: ArchiveLosses {
    var losses = keptLosses
    if let rescue = losses.rescue, access(rescue.quarantinePath, F_OK) != 0 { losses.rescue = nil }
    return losses
  }

  /// Writes the loss that this start has found, and reads those of earlier starts.
  func keepLosses(now: Int64) throws(StorageFault) {
    let found = lostSeqs
    keptLosses = try file.writeNow { session in
      var losses = ArchiveLosses()
      losses.rescue = try ArchiveRescue(session)
      if let found, try session.property("lost-last") != found.upperBound {
        try session.write(property: "lost-first", found.lowerBound)
        try session.write(property: "lost-last", found.upperBound)
        try session.write(property: "lost-time", now)
      }
      if let first = try session.property("lost-first"), let last = try session.property("lost-last"), first <= last,
        let time = try session.property("lost-time"), now - time < Self.lossSeconds
      {
        losses.seqs = first...last
      }
      if let time = try session.property("damaged-time"), now - time < Self.lossSeconds {
        losses.damagedCount = try session.property("damaged-count") ?? 0
      }
      return losses
    }
  }
}
