public import Contracts
internal import Frames
internal import Nostr

/// Kept versions of lists, for a terminal.
public enum ReplacedText {
  /// One line for each list.
  ///
  /// - Parameters:
  ///   - lists: lists that have lost entries.
  ///   - now: seconds since 1970.
  public static func lines(_ lists: [ReplacedList], now: Int64) -> [String] {
    if lists.isEmpty { return ["No list has lost entries by what was published here."] }
    return lists.map { list in "\(list.id)  \(who(list)) \(what(list)), \(age(list, now)) ago" }
  }

  /// The owner of the list.
  static func who(_ list: ReplacedList) -> String { "\(list.account ?? String(list.author.prefix(16)))'s" }

  /// What the list was, and its present size: `list of 250 people, now 1`.
  static func what(_ list: ReplacedList) -> String {
    let name = list.identifier.isEmpty ? "" : " '\(VisibleText.make(list.identifier))'"
    return "\(ListLoss.noun(list.kind, list.before))\(name), now \(list.after)"
  }

  /// How long ago it was replaced.
  static func age(_ list: ReplacedList, _ now: Int64) -> String {
    Amount.duration(milliseconds: UInt64(max(0, now - list.replacedAt)) * 1_000)
  }
}
