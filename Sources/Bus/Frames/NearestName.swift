/// "Did you mean …?" for people who mistyped a name.
public enum NearestName {
  /// The maximum number of wrong letters: a third of the name, at least one, at most this. With more it is another
  /// word.
  static let distanceMaximum = 3
  /// The number of letters compared, so that an endless name costs no time.
  private static let letterMaximum = 64

  /// The name among `names` with the fewest wrong letters, if one is close enough; the first of equals.
  public static func find(_ name: String, among names: some Sequence<String>) -> String? {
    // Every single letter is close to every other.
    guard name.utf8.count > 1 else { return nil }
    var limit = min(distanceMaximum, max(1, name.utf8.count / 3))
    var best: String?
    for candidate in names where candidate != name {
      guard let found = distance(name, candidate, limit: limit) else { continue }
      best = candidate
      if found <= 1 { break }
      limit = found - 1
    }
    return best
  }

  /// `; did you mean 'relay.request'?`, or an empty text.
  public static func hint(_ name: String, among names: some Sequence<String>) -> String {
    find(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// The number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the other; nil
  /// above `limit`. The work is bounded by the product of the lengths, and ends early when a whole row is above the
  /// limit.
  static func distance(_ left: String, _ right: String, limit: Int) -> Int? {
    let (a, b) = (Array(left.utf8.prefix(letterMaximum)), Array(right.utf8.prefix(letterMaximum)))
    guard abs(a.count - b.count) <= limit else { return nil }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    for i in 1..<(a.count + 1) {
      var row = [i] + [Int](repeating: 0, count: b.count)
      for j in 1..<(b.count + 1) {
        let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        row[j] = min(last[j] + 1, row[j - 1] + 1, substitution)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { row[j] = min(row[j], beforeLast[j - 2] + 1) }
      }
      guard row.contains(where: { $0 <= limit }) else { return nil }
      (beforeLast, last) = (last, row)
    }
    return last[b.count] <= limit ? last[b.count] : nil
  }
}
