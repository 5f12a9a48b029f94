// What a list loses when a newer version replaces it. Profiles (kind 0) and follow lists (kind 3) count as lists like
// those of NIP-51: a client that knows only a part of one writes that part, and every relay loses the rest.

internal import JSON

/// The entries of a profile, a follow list, or a list of NIP-51.
public struct ListEntries: Hashable, Sendable {
  /// The list's kind.
  public let kind: UInt16
  /// Names and values: of a profile its non-empty fields, of other lists the tags of the listed items.
  private let entries: Set<[String]>
  /// Whether it has a part that only its author can read.
  private let hasHiddenPart: Bool

  /// How many entries it has.
  public var count: Int { entries.count }

  /// Lists of which an author has one each (NIP-51, NIP-65, NIP-17), in addition to kinds 0 and 3.
  private static let standardKinds: Set<UInt16> = [
    10_000, 10_001, 10_002, 10_003, 10_004, 10_005, 10_006, 10_007, 10_009, 10_012, 10_013, 10_015, 10_017, 10_020,
    10_030, 10_050, 10_051, 10_063, 10_101, 10_102,
  ]
  /// Sets, of which an author may have several (NIP-51).
  private static let setKinds: Set<UInt16> = [
    30_000, 30_002, 30_003, 30_004, 30_005, 30_006, 30_007, 30_015, 30_030, 30_063, 30_267, 31_924, 39_089, 39_092,
  ]
  /// Tags that describe the list itself, and list nothing.
  private static let describingTags: Set<String> = [
    "d", "title", "name", "image", "picture", "thumb", "banner", "description", "summary", "alt", "client", "L", "l",
    "-",
  ]

  /// The kinds of such lists, by number.
  public static var kinds: [UInt16] {
    ([EventKind.metadata, EventKind.follows] + standardKinds + setKinds).sorted()
  }

  /// Whether events of this kind are such lists.
  public static func areLists(ofKind kind: UInt16) -> Bool {
    kind == EventKind.metadata || kind == EventKind.follows || standardKinds.contains(kind) || setKinds.contains(kind)
  }

  /// The entries of a list; nil if the event is not a list. A profile whose content is not a JSON object has no
  /// entries.
  public init?(_ event: Event) {
    guard Self.areLists(ofKind: event.kind) else { return nil }
    kind = event.kind
    if kind == EventKind.metadata {
      entries = Set(Self.fields(event.content).map { [$0] })
      hasHiddenPart = false
    } else {
      entries = Set(
        event.tags.filter { $0.count > 1 && !Self.describingTags.contains($0[0]) }.map { Array($0.prefix(2)) })
      // Except in a follow list, whose content formerly held relays.
      hasHiddenPart = kind != EventKind.follows && !event.content.isEmpty
    }
  }

  /// A filter for the newest version of the list that the event is a version of.
  public static func versions(of event: Event) -> Filter {
    var filter = Filter(authors: [event.pubkey], kinds: [event.kind], limit: 1)
    if KindClass(event.kind) == .addressable, let letter = TagLetter("d") {
      filter.tags[letter] = [TagValue(event.values(of: "d").first ?? "")]
    }
    return filter
  }

  /// Why a profile is unreadable; nil for a readable one, and for other events.
  public static func flaw(ofProfile event: Event) -> String? {
    guard event.kind == EventKind.metadata else { return nil }
    do throws(KindFault) { _ = try Profile(event) } catch {
      return "a profile (kind 0) has a JSON object for its content, and this one has not: \(error)"
    }
    return nil
  }

  /// The names of a profile's fields that are not empty.
  private static func fields(_ content: String) -> [String] {
    var names: [String] = []
    Array(content.utf8).withUnsafeBytes { bytes in
      do throws(JSONFault) {
        var scanner = JSONScanner(bytes)
        guard try scanner.peek() == UInt8(ascii: "{") else { return }
        try scanner.forEachMember { name, scanner throws(JSONFault) in
          let value = bytes[try scanner.skipValue()]
          let isEmpty = value.elementsEqual("\"\"".utf8) || value.elementsEqual("null".utf8)
          if !isEmpty { names.append(name) }
        }
      } catch {
        // If the content is broken, the fields before that place count.
      }
    }
    return names
  }

  /// What is lost when an event replaces the stored version of a list.
  ///
  /// - Returns: nil if nothing is lost: no version is stored, no entry is missing, or the event is the older of the
  ///   two, and replaces nothing (NIP-01).
  public static func loss(from stored: Event?, to newer: Event) -> ListLoss? {
    guard let stored, (newer.createdAt, stored.id) > (stored.createdAt, newer.id), let entries = ListEntries(newer)
    else { return nil }
    return ListEntries(stored)?.loss(to: entries)
  }

  func loss(to newer: ListEntries) -> ListLoss? {
    let lost = entries.subtracting(newer.entries)
    let losesHiddenPart = hasHiddenPart && !newer.hasHiddenPart
    guard !lost.isEmpty || losesHiddenPart else { return nil }
    return ListLoss(
      kind: kind, before: count, after: newer.count, lostCount: lost.count, losesHiddenPart: losesHiddenPart,
      lostFields: kind == EventKind.metadata ? lost.map { $0[0] }.sorted() : [])
  }
}

/// What a list loses to its next version.
public struct ListLoss: Hashable, Sendable {
  /// The list's kind.
  public let kind: UInt16
  /// Entries of the old version.
  public let before: Int
  /// Entries of the new one.
  public let after: Int
  /// Entries of the old version that are missing from the new one.
  public let lostCount: Int
  /// Whether the part that only the author can read is lost.
  public let losesHiddenPart: Bool
  /// For a profile: the lost fields.
  public let lostFields: [String]

  /// The consequence, without a full stop: `this would replace the list of 250 people with one of 1`.
  public var sentence: String {
    var text = "this would replace the \(Self.noun(kind, before)) with one of \(after)"
    if !lostFields.isEmpty {
      text += ", without \(lostFields.prefix(8).joined(separator: ", "))"
    } else if lostCount > 0, lostCount != before - after {
      text += ", and \(lostCount) of them would be lost"
    }
    return losesHiddenPart ? text + ", and its encrypted part would be lost" : text
  }

  /// The name for a list of a kind with this number of entries.
  public static func noun(_ kind: UInt16, _ count: Int) -> String {
    switch kind {
    case EventKind.metadata: "profile of \(count) \(count == 1 ? "field" : "fields")"
    case EventKind.follows: "list of \(count) \(count == 1 ? "person" : "people")"
    case EventKind.relayList, EventKind.blockedRelays, EventKind.searchRelays, EventKind.directMessageRelays:
      "list of \(count) \(count == 1 ? "relay" : "relays") (kind \(kind))"
    default: "list of \(count) \(count == 1 ? "entry" : "entries") (kind \(kind))"
    }
  }
}
