internal import Cryptography
public import Nostr

/// What is remembered of one version of a list, also when the version itself is no longer kept: which version it was
/// compared with, and the hashes of the entries in which the two differ. From these, the distance of a new list to
/// every version is computed at once.
public struct ListRecord: Hashable, Sendable {
  /// The version.
  public let id: EventID
  /// When it was published, by its author's clock.
  public let createdAt: Int64
  /// Whether it was made here.
  public let isOurs: Bool
  /// Bytes of the event, for the bound on kept versions.
  public let byteCount: Int
  /// How many entries it lists.
  public let entryCount: Int
  /// Whether the version itself is kept.
  public internal(set) var isKept = true
  /// When each relay was first known to have it: when it confirmed ours, or sent it. Seconds since 1970.
  public internal(set) var sightings: [String: Int64] = [:]
  /// The version that ``differences`` are relative to; nil: an empty list.
  var base: EventID?
  var differences: [EntryDifference]
  /// What was put on top of another device's version, if this version was made for that: theirs, and ours.
  var restored: [EntryDifference] = []
  /// What an edit here changed by this version; nil for versions of other devices, which are taken for what they do.
  var edited: [EntryDifference]?

  /// The most relays that are remembered for a version.
  public static let sightingCountMaximum = 64

  /// Whether it replaces another version (NIP-01): it is newer, or of the same second with the lower id.
  func isNewer(than other: ListRecord) -> Bool { (createdAt, other.id) > (other.createdAt, id) }

  /// All differences that are remembered.
  var differenceCount: Int { differences.count + restored.count + (edited?.count ?? 0) }

  mutating func saw(_ relay: String, at seconds: Int64) -> Bool {
    guard sightings[relay] == nil, sightings.count < Self.sightingCountMaximum else { return false }
    sightings[relay] = seconds
    return true
  }
}

/// That an entry is not the same in two versions: hashes of its name and value, and of its occurrences; 0 for none.
struct EntryDifference: Hashable, Sendable {
  let key: UInt64
  var old: UInt64
  var new: UInt64

  var inverse: EntryDifference { EntryDifference(key: key, old: new, new: old) }

  /// What `first` and then `second` change together.
  static func joined(_ first: [EntryDifference], _ second: [EntryDifference]) -> [EntryDifference] {
    var result: [UInt64: EntryDifference] = [:]
    for difference in first { result[difference.key] = difference }
    for difference in second {
      let old = result[difference.key]?.old ?? difference.old
      result[difference.key] = EntryDifference(key: difference.key, old: old, new: difference.new)
    }
    return result.values.filter { $0.old != $0.new }.sorted { $0.key < $1.key }
  }
}

/// Hashes of entries. Private entries have a salt of their own, which is stored nowhere in clear: their hashes cannot
/// be found by trying.
struct EntryHasher: Sendable {
  let salt: [UInt8]
  let privateSalt: [UInt8]

  func hash(_ key: EntryKey) -> UInt64 { hash([key.name, key.value], key.place.rawValue, salt(of: key)) }

  /// The hash of all occurrences of an entry.
  func hash(_ key: EntryKey, occurrences tags: [[String]]) -> UInt64 {
    hash(tags.count == 1 ? tags[0] : tags.flatMap { ["\($0.count)"] + $0 }, 0, salt(of: key))
  }

  private func salt(of key: EntryKey) -> [UInt8] { key.place == .hidden ? privateSalt : salt }

  /// The hashes of all entries.
  func hashes(of state: ListState) -> [UInt64: UInt64] {
    var result: [UInt64: UInt64] = [:]
    result.reserveCapacity(state.keys.count)
    for (key, tags) in zip(state.keys, state.occurrences) { result[hash(key)] = hash(key, occurrences: tags) }
    return result
  }

  private func hash(_ texts: [String], _ place: UInt8, _ salt: [UInt8]) -> UInt64 {
    var bytes = salt
    bytes.reserveCapacity(texts.reduce(bytes.count + 1) { $0 + $1.utf8.count + 8 })
    bytes.append(place)
    for text in texts {
      withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: text.utf8)
    }
    let digest = SHA256.hash(bytes).bytes
    // 0 means that there is no entry.
    return max(1, digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }
}

extension ListRecord: Codable {
  private enum Key: String, CodingKey {
    case id, createdAt, isOurs, byteCount, entryCount, isKept, sightings, base, differences, restored, edited
  }

  /// Reads a record as it was written.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    func fault(_ key: Key) -> DecodingError {
      DecodingError.dataCorruptedError(forKey: key, in: values, debugDescription: "not of a record of a list")
    }
    guard let id = EventID(try values.decode(String.self, forKey: .id)) else { throw fault(.id) }
    func unpacked(_ key: Key) throws -> [EntryDifference] {
      guard let found = EntryDifference.unpacked(try values.decode(String.self, forKey: key)) else { throw fault(key) }
      return found
    }
    self.init(
      id: id, createdAt: try values.decode(Int64.self, forKey: .createdAt),
      isOurs: try values.decode(Bool.self, forKey: .isOurs),
      byteCount: try values.decode(Int.self, forKey: .byteCount),
      entryCount: try values.decode(Int.self, forKey: .entryCount),
      base: nil, differences: try unpacked(.differences))
    restored = try unpacked(.restored)
    if values.contains(.edited) { edited = try unpacked(.edited) }
    isKept = try values.decode(Bool.self, forKey: .isKept)
    sightings = try values.decode([String: Int64].self, forKey: .sightings)
    if let text = try values.decodeIfPresent(String.self, forKey: .base) {
      guard let base = EventID(text) else { throw fault(.base) }
      self.base = base
    }
  }

  /// Writes the record, its differences as Base64.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    try values.encode(id.description, forKey: .id)
    try values.encode(createdAt, forKey: .createdAt)
    try values.encode(isOurs, forKey: .isOurs)
    try values.encode(byteCount, forKey: .byteCount)
    try values.encode(entryCount, forKey: .entryCount)
    try values.encode(isKept, forKey: .isKept)
    try values.encode(sightings, forKey: .sightings)
    try values.encodeIfPresent(base?.description, forKey: .base)
    try values.encode(EntryDifference.packed(differences), forKey: .differences)
    try values.encode(EntryDifference.packed(restored), forKey: .restored)
    try values.encodeIfPresent(edited.map(EntryDifference.packed), forKey: .edited)
  }
}

extension EntryDifference {
  private static let byteCount = 24

  /// The numbers of each, as Base64.
  static func packed(_ differences: [EntryDifference]) -> String {
    var packed: [UInt8] = []
    packed.reserveCapacity(differences.count * byteCount)
    for difference in differences {
      for number in [difference.key, difference.old, difference.new] {
        withUnsafeBytes(of: number.littleEndian) { packed.append(contentsOf: $0) }
      }
    }
    return Base64.encode(packed)
  }

  static func unpacked(_ text: String) -> [EntryDifference]? {
    guard let packed = Base64.decode(text), packed.count.isMultiple(of: byteCount) else { return nil }
    return packed.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: byteCount).map { place in
        func number(_ offset: Int) -> UInt64 {
          UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + offset, as: UInt64.self))
        }
        return EntryDifference(key: number(0), old: number(8), new: number(16))
      }
    }
  }
}
