internal import Addresses
internal import Cryptography
internal import JSON
internal import Nostr

// An edit of a list is a difference: these entries are added, those removed. It never names the rest of the list, so
// the rest cannot be lost by it.

/// Who can read an entry.
public enum ListPart: String, Hashable, Sendable, Codable {
  /// All.
  case open = "public"
  /// The author alone: the entry is in the encrypted content (NIP-51).
  case hidden = "private"
}

/// One difference between a list and its next version.
public struct ListChange: Hashable, Sendable, Codable {
  /// What is done.
  public enum Action: String, Hashable, Sendable, Codable {
    /// An entry is added; if it is there, its further elements are replaced by those that are given.
    case add
    /// An entry is removed.
    case remove
    /// A field of a profile has this value from now on.
    case set
    /// A field of a profile is removed.
    case unset
  }

  /// What is done.
  public var action: Action
  /// The name of the entry's tag, such as `p`; for a profile, the field's name.
  public var name: String
  /// The entry's value: a key, a relay, a word; for a field, its value as JSON text.
  public var value: String
  /// What follows the value in the tag: of a follow its relay and the petname, of a relay (kind 10002) its marker. An
  /// element that is nil stays as it is; without elements, all do.
  public var further: [String?]?
  /// The part of the list. An added entry is public unless `hidden` is said; an entry is removed from both parts unless
  /// one is said.
  public var part: ListPart?

  /// The most changes of one edit.
  public static let countMaximum = 4_096
  /// Longest name, in bytes.
  public static let nameByteCountMaximum = 128
  /// Longest value of an entry, and longest further element, in bytes.
  public static let valueByteCountMaximum = 4_096
  /// Longest value of a profile's field, in bytes of JSON.
  public static let fieldByteCountMaximum = 64 << 10
  /// The most further elements.
  public static let furtherCountMaximum = 16

  /// A change of these parts; ``checked(_:kind:)`` checks it.
  public init(
    _ action: Action, name: String, value: String = "", further: [String?]? = nil, part: ListPart? = nil
  ) {
    self.action = action
    self.name = name
    self.value = value
    self.further = further
    self.part = part
  }

  /// Adds an entry.
  public static func add(
    _ name: String, _ value: String, further: [String?]? = nil, to part: ListPart = .open
  ) -> ListChange { ListChange(.add, name: name, value: value, further: further, part: part) }

  /// Removes an entry, from both parts unless one is said.
  public static func remove(_ name: String, _ value: String, from part: ListPart? = nil) -> ListChange {
    ListChange(.remove, name: name, value: value, part: part)
  }

  /// Gives a profile's field a text.
  public static func set(_ field: String, text: String) -> ListChange {
    var json: [UInt8] = []
    JSONString.append(text, to: &json)
    return set(field, json: String(decoding: json, as: UTF8.self))
  }

  /// Gives a profile's field a value, as JSON text.
  public static func set(_ field: String, json: String) -> ListChange { ListChange(.set, name: field, value: json) }

  /// Removes a profile's field.
  public static func unset(_ field: String) -> ListChange { ListChange(.unset, name: field) }

  // MARK: Checks

  /// The tags that list something in a kind; nil: all but those that describe the list.
  public static func names(ofKind kind: UInt16) -> [String]? {
    switch kind {
    case EventKind.metadata: []
    case EventKind.follows, 30_000: ["p"]
    case EventKind.mutes: ["p", "e", "t", "word"]
    case EventKind.relayList: ["r"]
    case EventKind.blockedRelays, EventKind.searchRelays, EventKind.directMessageRelays, 30_002: ["relay"]
    default: nil
    }
  }

  /// Whether lists of a kind have a private part. Others must read the follow list and where an author is found.
  public static func haveHiddenPart(kind: UInt16) -> Bool {
    ![EventKind.metadata, EventKind.follows, EventKind.relayList, EventKind.directMessageRelays].contains(kind)
  }

  /// Whether events of a kind can be edited: there is one newest version of each.
  public static func isEditable(kind: UInt16) -> Bool {
    KindClass(kind) == .replaceable || KindClass(kind) == .addressable
  }

  /// The changes with their values in one spelling: keys also from `npub1…`, relays in their canonical form.
  ///
  /// - Throws: what is wrong with one, in the user's words.
  public static func checked(_ changes: [ListChange], kind: UInt16) throws(ListFault) -> [ListChange] {
    guard isEditable(kind: kind) else { throw .noList(kind) }
    guard changes.count <= countMaximum else { throw .tooManyChanges(changes.count) }
    return try changes.map { change throws(ListFault) in try change.checked(kind: kind) }
  }

  private func checked(kind: UInt16) throws(ListFault) -> ListChange {
    let isField = action == .set || action == .unset
    guard !name.isEmpty, name.utf8.count <= Self.nameByteCountMaximum else { throw .badName(name) }
    guard isField == (kind == EventKind.metadata) else { throw isField ? .noFields(kind) : .fieldsOnly }
    if isField { return try checkedField() }
    if let names = Self.names(ofKind: kind) {
      guard names.contains(name) else { throw .wrongName(name, kind: kind, names: names) }
    } else if name == "d" || EntryKey.describing.contains(name) {
      throw .describes(name)
    }
    if part == .hidden, !Self.haveHiddenPart(kind: kind) { throw .noHiddenPart(kind) }
    guard value.utf8.count <= Self.valueByteCountMaximum else { throw .tooLong(byteCount: value.utf8.count) }
    guard !value.isEmpty else { throw .emptyValue(name) }
    var change = self
    change.value = try spelled(kind: kind)
    if action == .add { change.further = try checkedFurther(kind: kind) } else { change.further = nil }
    return change
  }

  private func checkedField() throws(ListFault) -> ListChange {
    guard action == .set else { return self }
    guard value.utf8.count <= Self.fieldByteCountMaximum else { throw .tooLong(byteCount: value.utf8.count) }
    do throws(JSONFault) {
      _ = try JSONText(Array(value.utf8))
      // The profile must be readable afterwards: nested no deeper than is followed there.
      _ = try JSONParts(object: "{\"\":\(value)}")
    } catch { throw .badJSON(field: name, error) }
    var change = self
    change.value = String(value.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    return change
  }

  /// The value as it is written. What is removed may be garbage, if it is in the list as it is given.
  private func spelled(kind: UInt16) throws(ListFault) -> String {
    let lower = EntryKey.spelling(value, of: name)
    switch name {
    case "p":
      do throws(EntityFault) { return try PublicKey(spelled: lower).description } catch {
        guard action == .remove else { throw .badKey(value) }
      }
    case "e":
      do throws(EntityFault) { return try EventID(spelled: lower).description } catch {
        guard action == .remove else { throw .badID(value) }
      }
    case "relay", "r":
      do throws(RelayURLFault) { return try RelayURL(value).text } catch {
        // In other lists `r` may be any address.
        let mustBeRelay = name == "relay" || kind == EventKind.relayList
        guard action == .remove || !mustBeRelay else { throw .badRelay(error) }
      }
    default: break
    }
    return value
  }

  private func checkedFurther(kind: UInt16) throws(ListFault) -> [String?]? {
    guard kind != EventKind.relayList else {
      // Without a marker it is read and written.
      let marker = further?.first.flatMap { $0 } ?? ""
      guard ["", "read", "write"].contains(marker), further?.count ?? 0 <= 1 else { throw .badMarker(marker) }
      return [marker]
    }
    guard let further else { return nil }
    guard further.count <= Self.furtherCountMaximum else { throw .tooManyElements(further.count) }
    for element in further {
      guard element?.utf8.count ?? 0 <= Self.valueByteCountMaximum else {
        throw .tooLong(byteCount: element?.utf8.count ?? 0)
      }
    }
    guard kind == EventKind.follows || kind == 30_000, let relay = further.first.flatMap({ $0 }), !relay.isEmpty else {
      return further
    }
    do throws(RelayURLFault) { return [try RelayURL(relay).text] + further.dropFirst() } catch {
      throw .badRelay(error)
    }
  }
}
