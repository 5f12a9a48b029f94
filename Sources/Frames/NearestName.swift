/// "Did you mean …?" for people who mistyped a name.
public enum NearestName {
  /// The name among `names` within a third of its letters of `name`; nil when none is near.
  public static func find(_ name: String, among names: some Sequence<String>) -> String? {
    let letters = Array(name.utf8.prefix(letterMaximum))
    var best: (name: String, distance: Int)?
    for candidate in names {
      let distance = editDistance(letters, Array(candidate.utf8.prefix(letterMaximum)))
      if distance * 3 <= max(letters.count, 3) + 2, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
  }

  /// `; did you mean 'relay.request'?`, or nothing.
  public static func hint(_ name: String, among names: some Sequence<String>) -> String {
    find(name, among: names).map { "; did you mean '\($0)'?" } ?? ""
  }

  /// Letters looked at, so that an endless name costs no time.
  private static let letterMaximum = 64

  private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let substituted = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[right.count]
  }
}
