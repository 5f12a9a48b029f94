public import Addresses
public import JSON
internal import Nostr
internal import Wording

/// Why a list is not changed. In each case nothing was written.
public enum ListFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Events of this kind have no newest version that could be edited.
  case noList(UInt16)
  /// More changes than one edit has.
  case tooManyChanges(Int)
  /// A name that is empty or too long.
  case badName(String)
  /// A tag that lists nothing in this kind.
  case wrongName(String, kind: UInt16, names: [String])
  /// A tag that describes the list, or names it.
  case describes(String)
  /// Fields are for profiles.
  case noFields(UInt16)
  /// A profile has fields, no entries.
  case fieldsOnly
  /// Lists of this kind have no private part.
  case noHiddenPart(UInt16)
  /// A value is empty.
  case emptyValue(String)
  /// A value has more bytes than it may have.
  case tooLong(byteCount: Int)
  /// More further elements than a change has.
  case tooManyElements(Int)
  /// Not a public key.
  case badKey(String)
  /// Not an event's id.
  case badID(String)
  /// Not a relay's address.
  case badRelay(RelayURLFault)
  /// A marker of a relay that is neither `read` nor `write`.
  case badMarker(String)
  /// The value of a field is not JSON.
  case badJSON(field: String, JSONFault)
  /// The newest profile is not a JSON object.
  case unreadableProfile(JSONFault)
  /// The private part was decrypted, and is not an array of tags.
  case unreadableHiddenPart(JSONFault)
  /// The private part would have to be read or changed, and is not decrypted.
  case lockedHiddenPart(HiddenForm)
  /// The next version would have more bytes than an event may have.
  case tooLarge(byteCount: Int, maximum: Int)
  /// The private part would have more bytes than other clients decrypt.
  case hiddenPartTooLarge(byteCount: Int)
  /// The newest version is dated ahead of this machine's clock, by so many seconds.
  case ahead(seconds: Int64)

  /// A sentence in the user's words, without a full stop.
  public var description: String {
    switch self {
    case .noList(let kind): "events of kind \(kind) are not replaced by newer ones, so there is no list to edit"
    case .tooManyChanges(let count):
      "\(count) changes are too many for one edit; at most \(ListChange.countMaximum) are taken: divide them"
    case .badName(let name):
      name.isEmpty
        ? "a name is empty"
        : "the name \(Self.quoted(name)) has more than \(ListChange.nameByteCountMaximum) bytes"
    case .wrongName(let name, let kind, let names):
      "\(Self.quoted(name)) is no entry of a list of kind \(kind): its entries are \(names.joined(separator: ", "))"
    case .describes(let name): "\(Self.quoted(name)) describes the list itself, and is no entry of it"
    case .noFields(let kind): "a list of kind \(kind) has no fields; those are of a profile (kind 0)"
    case .fieldsOnly: "a profile (kind 0) has no entries; set or remove one of its fields"
    case .noHiddenPart(let kind): "a list of kind \(kind) has no private part: others must be able to read it"
    case .emptyValue(let name): "the value of \(Self.quoted(name)) is empty"
    case .tooLong(let count): "a value has \(count) bytes, which is too long"
    case .tooManyElements(let count):
      "\(count) elements follow the value; at most \(ListChange.furtherCountMaximum) are taken"
    case .badKey(let text): "\(Self.quoted(text)) is not a public key (64 hexadecimal digits, or npub1…)"
    case .badID(let text): "\(Self.quoted(text)) is not an event's id (64 hexadecimal digits, or note1…)"
    case .badRelay(let fault): VisibleText.make(fault.description)
    case .badMarker(let marker):
      "\(Self.quoted(marker)) is no marker of a relay: write 'read', 'write', or none for both"
    case .badJSON(let field, let fault): "the value of \(Self.quoted(field)) is not JSON: \(fault)"
    case .unreadableProfile(let fault):
      "your newest profile (kind 0) is not a JSON object, so no field of it can be changed: \(fault); nothing was "
        + "overwritten"
    case .unreadableHiddenPart(let fault):
      "the private part of the list was decrypted, and is not a list of tags: \(fault); nothing was overwritten"
    case .lockedHiddenPart(.unknown):
      "the content of the list is in no known form of encryption, so its private part cannot be read; nothing was "
        + "overwritten"
    case .lockedHiddenPart:
      "the entry is not public, and the private part of the list is not decrypted; nothing was overwritten"
    case .tooLarge(let count, let maximum):
      "the list would have \(count) bytes, and an event has at most \(maximum)"
    case .hiddenPartTooLarge(let count):
      "the private part would have \(count) bytes, and other clients decrypt at most "
        + "\(ListContents.hiddenByteCountMaximum) (NIP-44)"
    case .ahead(let seconds):
      "your newest list is dated \(ListClock.span(seconds)) ahead of this machine's clock, and a newer one would have "
        + "to be dated ahead too; set the clock, or try again then"
    }
  }

  /// The user's own text, cut and made harmless.
  private static func quoted(_ text: String) -> String {
    "\"\(shown(text))\""
  }

  /// The same without quotes.
  static func shown(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(81)
    guard scalars.count > 80 else { return VisibleText.make(text) }
    return VisibleText.make(String(String.UnicodeScalarView(scalars.prefix(79)))) + "…"
  }
}
