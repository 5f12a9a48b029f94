internal import Addresses
internal import Nostr

/// Where an entry is.
enum EntryPlace: UInt8, Sendable {
  /// A tag that all can read.
  case open = 1
  /// A tag of the part that only the author can read.
  case hidden
  /// A field of a profile.
  case field
  /// The content as a whole, where it is not read: of a follow list, or what does not decrypt.
  case content
}

/// What makes an entry of a list the same entry: its name and its value in one spelling. Texts are compared byte by
/// byte: for Swift, é and e with an accent are equal, and no client does that.
struct EntryKey: Hashable, Sendable {
  let place: EntryPlace
  let name: String
  /// Empty for what there is one of: fields, and tags that describe the list itself.
  let value: String

  init(_ place: EntryPlace, _ name: String, _ value: String = "") {
    self.place = place
    self.name = name
    self.value = value
  }

  /// The key of a tag; nil for `d`, which is a part of the list's address.
  init?(tag: [String], in place: EntryPlace) {
    guard let name = tag.first, !name.hasBytes("d") else { return nil }
    self.init(place, name, tag.count > 1 && !Self.describing.contains(name) ? Self.spelling(tag[1], of: name) : "")
  }

  /// Tags that describe the list itself, and list nothing.
  static let describing: Set<String> = [
    "title", "name", "image", "picture", "thumb", "banner", "description", "summary", "alt", "client", "L", "l", "-",
    "expiration",
  ]
  static let keyDigitCount = 64

  /// One spelling for the values that mean the same: keys and ids in lower case, relays in their canonical form.
  static func spelling(_ value: String, of name: String) -> String {
    switch name {
    case "p", "e":
      guard value.utf8.count == keyDigitCount, value.utf8.contains(where: { $0 &- 0x41 < 6 }) else { return value }
      let lower = value.lowercased()
      return lower.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 6 } ? lower : value
    case "r", "relay":
      do throws(RelayURLFault) { return try RelayURL(value).text } catch { return value }
    default: return value
    }
  }

  static func == (left: EntryKey, right: EntryKey) -> Bool {
    left.place == right.place && left.value.hasBytes(right.value) && left.name.hasBytes(right.name)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(place)
    name.hashBytes(into: &hasher)
    value.hashBytes(into: &hasher)
  }
}

extension String {
  /// Whether the UTF-8 is the same.
  func hasBytes(_ other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }

  fileprivate func hashBytes(into hasher: inout Hasher) {
    let count = utf8.count
    hasher.combine(count)
    let isHashed: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    if isHashed == nil { for byte in utf8 { hasher.combine(byte) } }
  }
}

extension [[String]] {
  /// Whether the texts are the same, byte by byte.
  func hasBytes(_ other: [[String]]) -> Bool {
    elementsEqual(other) { $0.elementsEqual($1) { $0.hasBytes($1) } }
  }
}
