internal import Cryptography
internal import JSON
internal import Nostr

/// The entries of one version, for comparisons of versions.
struct ListState {
  /// In the order of their first occurrences.
  private(set) var keys: [EntryKey] = []
  /// The occurrences of each entry.
  private(set) var entries: [EntryKey: [[String]]] = [:]
  /// Whether there is a content that cannot be read as entries: see ``EntryPlace/content``.
  private(set) var isOpaque = false

  /// The entries of these contents. What cannot be read is one entry, the whole content.
  init(_ contents: ListContents) {
    entries.reserveCapacity(contents.tags.count)
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

  /// How many of its entries list something.
  var listedCount: Int {
    keys.count { key in
      switch key.place {
      case .field: !["\"\"", "null"].contains(entries[key]?.first?.first ?? "")
      case .content: false
      case .open, .hidden: !EntryKey.describing.contains(key.name)
      }
    }
  }

  private mutating func add(_ key: EntryKey, _ tag: [String]) {
    if entries[key]?.append(tag) == nil {
      entries[key] = [tag]
      keys.append(key)
    }
  }
}
