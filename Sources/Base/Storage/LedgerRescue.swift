/// The result for a ledger that was damaged or lacks commits.
public struct LedgerRescue: Sendable, Hashable {
  /// The path of the damaged file after it was set aside; nil: the file is sound, but lacks its last commits.
  public let quarantinePath: String?
  /// What its rows are called, in the plural: `jobs`.
  public let noun: String
  /// Rows of its first table in the new file, including those that were saved only in part.
  public var savedCount = 0
  /// Of these, rows that were saved only in part.
  public var damagedCount = 0
  /// Rows that the damaged file had and the new one lacks; nil if the file does not say how many it had.
  public var lostCount: Int?
  /// Rows that are certainly lost, even if it is not known how many there were.
  public var lostCountMinimum = 0
  /// Commits that were counted but are not in the file.
  public var missingCommitCount: Int64 = 0
  /// Why not everything could be read; nil if it could.
  public var reason: String?

  init(quarantinePath: String?, noun: String) { (self.quarantinePath, self.noun) = (quarantinePath, noun) }

  /// Whether nothing is known to be lost or changed.
  public var isWhole: Bool { reason == nil && damagedCount == 0 && lostCount == 0 && missingCommitCount == 0 }

  /// How many rows are lost, if that is known.
  public var lostText: String {
    if let lostCount { return "\(max(lostCount, lostCountMinimum))" }
    return lostCountMinimum > 0 ? "unknown, at least \(lostCountMinimum)" : "unknown"
  }

  /// A sentence without its end: what was saved, and what is lost.
  public var text: String {
    guard quarantinePath != nil else {
      return
        "its last \(missingCommitCount) commits are missing: the log of writes was damaged, or the file was removed,"
        + " or replaced by an older one; of \(noun) that stood in them nothing is known"
    }
    let parts = damagedCount > 0 ? ", \(damagedCount) of them in part" : ""
    return "\(savedCount) \(noun) are saved\(parts); lost: \(lostText)\(reason.map { " (\($0))" } ?? "")"
  }
}
