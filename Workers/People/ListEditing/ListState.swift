internal import Cryptography
internal import JSON
internal import Nostr

/// The entries of one version, for comparisons of versions.
struct ListState: Sendable {
  /// In the order of their first occurrences.
  private(set) var keys: [EntryKey] = []
  /// The occurrences of each entry, in the order of the keys.
  private(set) var occurrences: [[[String]]] = []
  private var places: [EntryKey: Int] = [:]
  /// Whether there is a content that cannot be read as entries: see ``EntryPlace/content``.
  private(set) var isOpaque = false
  /// How many of its entries list something.
  private(set) var listedCount = 0

  /// The entries of these contents. What cannot be read is one entry, the whole content.
  init(_ contents: ListContents) {
    places.reserveCapacity(contents.tags.count)
    occurrences.reserveCapacity(contents.tags.count)
    keys.reserveCapacity(contents.tags.count)
    for tag in contents.tags { if let key = EntryKey(tag: tag, in: .open) { add(key, tag) } }
    let form = contents.form
    do throws(ListFault) {
      if contents.kind == EventKind.metadata {
        let parts = try contents.profileParts()
        for item in parts.items { if let key = item.key(in: .field) { add(key, [parts.text(of: item)]) } }
      } else if form == .none && !contents.mustEncrypt {
        if !contents.content.isEmpty { add(EntryKey(.content, ""), [contents.content]) }
      } else {
        for item in try contents.hiddenParts().items {
          if let key = item.key(in: .hidden), let tag = item.texts { add(key, tag) }
        }
      }
    } catch {
      isOpaque = true
      add(EntryKey(.content, ""), [contents.content])
    }
  }

  /// The occurrences of an entry; nil without any.
  subscript(key: EntryKey) -> [[String]]? { places[key].map { occurrences[$0] } }

  /// The entries of each version that are not at the start or at the end of both, with the same occurrences. Two
  /// versions of a long list differ in few entries, and these are found without a look-up of each.
  static func unlike(
    _ left: ListState, _ right: ListState
  ) -> (left: ArraySlice<EntryKey>, right: ArraySlice<EntryKey>) {
    func isSame(_ mine: Int, _ theirs: Int) -> Bool {
      left.keys[mine] == right.keys[theirs] && left.occurrences[mine].hasBytes(right.occurrences[theirs])
    }
    var (start, end, other) = (0, left.keys.count, right.keys.count)
    while start < min(end, other), isSame(start, start) { start += 1 }
    while start < min(end, other), isSame(end - 1, other - 1) { (end, other) = (end - 1, other - 1) }
    return (left.keys[start..<end], right.keys[start..<other])
  }

  private mutating func add(_ key: EntryKey, _ tag: [String]) {
    let count = keys.count
    // One look-up finds its place or makes one.
    let place = { (place: inout Int) in place }(&places[key, default: count])
    guard place == count else { return occurrences[place].append(tag) }
    keys.append(key)
    occurrences.append([tag])
    if key.isListed, key.place != .field || !["\"\"", "null"].contains(tag[0]) { listedCount += 1 }
  }
}
