internal import Wording

// The backups in a directory are known by their names alone: `roost-2026-11-27T16-30-00Z.tar`, and `.sealed` for a
// sealed one. So a restart knows when the next one is due, and no other file in the directory is ever removed.

/// The backups in a directory.
public struct BackupShelf: Hashable, Sendable {
  /// One backup.
  public struct Backup: Hashable, Sendable {
    /// Its file name.
    public let name: String
    /// When it was begun, seconds since 1970.
    public let time: Int64
  }

  /// The backups, the oldest first.
  public let backups: [Backup]

  private static let prefix = "roost-"
  private static let suffixes = [".tar", ".sealed"]

  /// The backups among the names of a directory's files.
  public init(names: some Sequence<String>) {
    backups = names.compactMap { name in Self.time(of: name).map { Backup(name: name, time: $0) } }
      .sorted { ($0.time, $0.name) < ($1.time, $1.name) }
  }

  /// The name of a backup that is begun now.
  public static func name(at time: Int64, isSealed: Bool) -> String {
    let text = CalendarTime.text(time).map { $0 == " " ? "T" : $0 == ":" ? "-" : $0 }
    return prefix + String(text) + "Z" + (isSealed ? suffixes[1] : suffixes[0])
  }

  private static func time(of name: String) -> Int64? {
    guard name.hasPrefix(prefix), let suffix = suffixes.first(where: name.hasSuffix) else { return nil }
    let text = name.dropFirst(prefix.count).dropLast(suffix.count)
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].hasSuffix("Z") else { return nil }
    let clock = String(parts[1].map { $0 == "-" ? ":" : $0 })
    return CalendarTime.seconds(reading: parts[0] + "T" + clock, now: 0)
  }

  /// When the next backup is due, in seconds since 1970. A latest one of the future, as after a clock that was set
  /// back, delays none.
  public func nextAt(everySeconds: Int64, now: Int64) -> Int64 {
    guard let last = backups.last(where: { $0.time <= now }) else { return now }
    return last.time + everySeconds
  }

  /// The oldest backups beyond the number that is kept.
  public func surplus(keep: Int) -> [Backup] { Array(backups.dropLast(max(1, keep))) }
}
