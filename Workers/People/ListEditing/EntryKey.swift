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
    self.init(place, name, tag.count > 1 && !Self.describes(name) ? Self.spelling(tag[1], of: name) : "")
  }

  /// Whether tags of a name describe the list itself. The usual names first: most tags have one of them.
  static func describes(_ name: String) -> Bool {
    name != "p" && name != "r" && name != "relay" && describing.contains(name)
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
      guard value.utf8.count == keyDigitCount else { return value }
      let hasCapitals = value.withBytes { bytes in
        var found: UInt8 = 0
        for byte in bytes { found |= byte &- 0x41 < 6 ? 1 : 0 }
        return found != 0
      }
      guard hasCapitals ?? true else { return value }
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
    guard utf8.count == other.utf8.count else { return false }
    let isSame = withBytes { bytes in other.withBytes { Self.areSame(bytes, $0) } }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Eight bytes at a time: a list is compared entry by entry, and most of an entry is a key of 64 digits.
  private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    var place = 0
    while place + 8 <= left.count {
      guard
        left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
          == right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      else { return false }
      place += 8
    }
    while place < left.count {
      guard left[place] == right[place] else { return false }
      place += 1
    }
    return true
  }

  /// Nil if the bytes do not lie beside each other, as in no text that was read here.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
  }

  fileprivate func hashBytes(into hasher: inout Hasher) {
    let count = utf8.count
    hasher.combine(count)
    if withBytes({ hasher.combine(bytes: $0) }) == nil { for byte in utf8 { hasher.combine(byte) } }
  }
}

extension [[String]] {
  /// Whether the texts are the same, byte by byte.
  func hasBytes(_ other: [[String]]) -> Bool {
    elementsEqual(other) { $0.elementsEqual($1) { $0.hasBytes($1) } }
  }
}
