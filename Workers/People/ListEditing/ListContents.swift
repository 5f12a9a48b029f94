public import Cryptography
public import Nostr
internal import JSON
internal import Synchronization

/// How the private part of a list is encrypted.
public enum HiddenForm: String, Hashable, Sendable, Codable {
  /// There is no private part.
  case none
  /// As it is written now (NIP-44).
  case nip44
  /// As old clients wrote it (NIP-04). It is read, and written in the new form.
  case nip04
  /// A content in no known form.
  case unknown
}

/// What one version of a list contains: all that an edit keeps or changes.
public struct ListContents: Sendable {
  /// The list's kind.
  public let kind: UInt16
  /// Its tags.
  public internal(set) var tags: [[String]] { didSet { found = FoundEntries() } }
  /// Its content: a profile's JSON, an encrypted private part, or what other clients keep there.
  public internal(set) var content: String { didSet { found = FoundEntries() } }
  /// The private part as it was decrypted, an array of tags; nil without one, and if it was not decrypted.
  public internal(set) var hiddenText: String? { didSet { found = FoundEntries() } }
  /// Whether the private part was changed, so that ``hiddenText`` is to be encrypted (NIP-44, for the author) and
  /// becomes the content.
  public internal(set) var mustEncrypt = false { didSet { found = FoundEntries() } }
  private var found = FoundEntries()

  /// The most bytes of a private part that is written. NIP-44 as other clients read it has no more.
  public static let hiddenByteCountMaximum = 65_535
  /// The most bytes of tags and content together; the rest of an event has its place beside them.
  public static let byteCountMaximum = ScannedEvent.byteCountMaximum - 1_024
  /// Shortest content in the form of NIP-44, in bytes.
  private static let encryptedByteCountMinimum = 132

  /// What a version contains.
  ///
  /// - Parameters:
  ///   - event: the version.
  ///   - hiddenText: its private part, decrypted.
  public init(_ event: Event, hiddenText: String? = nil) {
    self.init(kind: event.kind, tags: event.tags, content: event.content, hiddenText: hiddenText)
  }

  /// A list of which there is no version yet; `identifier` is the value of its tag `d`, for addressable kinds.
  public init(none kind: UInt16, identifier: String = "") {
    let tags = KindClass(kind) == .addressable ? [["d", identifier]] : []
    self.init(kind: kind, tags: tags, content: kind == EventKind.metadata ? "{}" : "", hiddenText: nil)
  }

  init(kind: UInt16, tags: [[String]], content: String, hiddenText: String?) {
    self.kind = kind
    self.tags = tags
    self.content = content
    self.hiddenText = hiddenText
  }

  /// How the private part is encrypted.
  public var form: HiddenForm {
    guard ListChange.haveHiddenPart(kind: kind), !content.isEmpty else { return .none }
    if content.utf8.count > 28, content.utf8.suffix(28).starts(with: "?iv=".utf8) { return .nip04 }
    // The first byte of the payload is the version, 2; the second letter also has bits of the next byte.
    let isPayload =
      content.utf8.count >= Self.encryptedByteCountMinimum && content.utf8.first == UInt8(ascii: "A")
      && content.utf8.dropFirst().first.map { (0x67...0x76).contains($0) } == true
      && content.utf8.allSatisfy { byte in
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x2B || byte == 0x2F || byte == 0x3D
      }
    return isPayload ? .nip44 : .unknown
  }

  /// Whether the private part is to be decrypted before these changes: they change it, or remove what may be in it.
  public func needsHiddenText(for changes: [ListChange]) -> Bool {
    guard form == .nip44 || form == .nip04, hiddenText == nil else { return false }
    return changes.contains { $0.part == .hidden || $0.action == .remove && $0.part == nil }
  }

  /// The unsigned event of this version.
  ///
  /// - Parameters:
  ///   - author: the owner of the list.
  ///   - createdAt: from ``ListClock``.
  ///   - encrypted: the encryption of ``hiddenText``, if ``mustEncrypt`` is set.
  public func template(by author: PublicKey, createdAt: Int64, encrypted: String? = nil) -> UnsignedEvent {
    precondition(!mustEncrypt || encrypted != nil, "a changed private part is encrypted first")
    return UnsignedEvent(
      pubkey: author, createdAt: createdAt, kind: kind, tags: tags, content: encrypted ?? content)
  }

  /// How many entries it has: of a profile its fields, of other lists what is listed, public and private.
  public var entryCount: Int { state.listedCount }

  /// Its entries, which are found once: each edit compares the list with the one before.
  var state: ListState {
    found.state.withLock { state in
      let found = state ?? ListState(self)
      state = found
      return found
    }
  }

  // MARK: Editing

  /// The contents after these changes.
  ///
  /// - Returns: nil if nothing changes.
  /// - Throws: a change that is wrong, or a part of the list that cannot be read. Nothing is overwritten then.
  public func applying(_ changes: [ListChange]) throws(ListFault) -> ListContents? {
    let changes = try ListChange.checked(changes, kind: kind)
    var wanted: Set<EntryKey> = []
    for change in changes { for place in change.places { wanted.insert(change.key(in: place)) } }
    let before = try occurrences(of: wanted)
    var now = before
    var order: [EntryKey] = []
    for change in changes {
      let places = try self.places(of: change, now)
      for place in places {
        let key = change.key(in: place)
        let old = now[key] ?? []
        let new = change.applied(to: old)
        guard !new.hasBytes(old) else { continue }
        now[key] = new
        order.append(key)
      }
    }
    var seen: Set<EntryKey> = []
    let targets = order.filter { seen.insert($0).inserted && !(now[$0] ?? []).hasBytes(before[$0] ?? []) }
      .map { ($0, now[$0] ?? []) }
    return targets.isEmpty ? nil : try setting(targets)
  }

  /// The places that a change is made in.
  private func places(
    of change: ListChange, _ now: [EntryKey: [[String]]]
  ) throws(ListFault) -> [EntryPlace] {
    let form = form
    let isLocked = form != .none && hiddenText == nil
    switch change.part {
    case .open: return [.open]
    case .hidden:
      guard !isLocked else { throw .lockedHiddenPart(form) }
      return [.hidden]
    case nil:
      guard change.action == .remove, isLocked else { return change.places }
      // A content in an unknown form has no private part that a client reads.
      guard now[change.key(in: .open)]?.isEmpty == false || form == .unknown else { throw .lockedHiddenPart(form) }
      return [.open]
    }
  }

  /// Gives each of these entries these occurrences, in place where there are some, else at the end. All else stays.
  func setting(_ targets: [(key: EntryKey, tags: [[String]])]) throws(ListFault) -> ListContents {
    var result = self
    let open = targets.filter { $0.key.place == .open }
    if !open.isEmpty {
      var edits = TargetEdits(open)
      var tags: [[String]] = []
      tags.reserveCapacity(self.tags.count + open.count)
      for tag in self.tags {
        guard let key = EntryKey(tag: tag, in: .open), let wanted = edits.next(key) else {
          tags.append(tag)
          continue
        }
        if let wanted = wanted { tags.append(wanted) }
      }
      result.tags = tags + edits.rest()
    }
    if let content = targets.last(where: { $0.key.place == .content }) {
      result.content = content.tags.first?.first ?? ""
      result.hiddenText = nil
    }
    let fields = targets.filter { $0.key.place == .field }
    if !fields.isEmpty { result.content = try Self.rewritten(try profileParts(), fields) }
    let hidden = targets.filter { $0.key.place == .hidden }
    if !hidden.isEmpty {
      let text = try Self.rewritten(try hiddenParts(), hidden)
      guard text.utf8.count <= Self.hiddenByteCountMaximum else {
        throw .hiddenPartTooLarge(byteCount: text.utf8.count)
      }
      result.hiddenText = text
      result.mustEncrypt = true
    }
    try result.checkSize()
    return result
  }

  private func checkSize() throws(ListFault) {
    // Encrypted, a text is padded by up to a quarter, and has a third more letters than bytes.
    let contentCount = mustEncrypt ? (hiddenText?.utf8.count ?? 0) * 5 / 3 + 200 : content.utf8.count
    let count = tags.reduce(contentCount) { $0 + $1.reduce(2) { $0 + $1.utf8.count + 3 } }
    guard count <= Self.byteCountMaximum else { throw .tooLarge(byteCount: count, maximum: Self.byteCountMaximum) }
  }

  private static func rewritten(
    _ parts: JSONParts, _ targets: [(key: EntryKey, tags: [[String]])]
  ) throws(ListFault) -> String {
    let place = targets[0].key.place
    var edits = TargetEdits(targets)
    let made = parts.items.map { item -> JSONParts.Edit in
      guard let key = item.key(in: place), let wanted = edits.next(key) else { return .keep }
      guard let wanted else { return .remove }
      if place == .field { return .replace(Array(wanted[0].utf8)) }
      return wanted.elementsEqual(item.texts ?? [], by: { $0.hasBytes($1) }) ? .keep : .replace(JSONParts.json(wanted))
    }
    let appended =
      place == .field
      ? edits.restByKey().map { key, tag -> [UInt8] in
        var member: [UInt8] = []
        JSONString.append(key.name, to: &member)
        return member + [UInt8(ascii: ":")] + Array(tag[0].utf8)
      } : edits.rest().map(JSONParts.json)
    return parts.rewritten(made, appending: appended)
  }

  // MARK: Reading

  /// The members of a profile.
  func profileParts() throws(ListFault) -> JSONParts {
    // An empty content has nothing that could be lost.
    do throws(JSONFault) { return try JSONParts(object: content.isEmpty ? "{}" : content) } catch {
      throw .unreadableProfile(error)
    }
  }

  /// The tags of the private part.
  func hiddenParts() throws(ListFault) -> JSONParts {
    guard form == .none || hiddenText != nil else { throw .lockedHiddenPart(form) }
    do throws(JSONFault) { return try JSONParts(tags: hiddenText ?? "[]") } catch { throw .unreadableHiddenPart(error) }
  }

  /// The occurrences of these entries.
  private func occurrences(of wanted: Set<EntryKey>) throws(ListFault) -> [EntryKey: [[String]]] {
    var found: [EntryKey: [[String]]] = [:]
    // A few names are found faster one by one; they are those of a kind.
    let names = Array(Set(wanted.map(\.name)))
    if wanted.contains(where: { $0.place == .open }) {
      for tag in tags where names.contains(tag[0]) {
        if let key = EntryKey(tag: tag, in: .open), wanted.contains(key) { found[key, default: []].append(tag) }
      }
    }
    if wanted.contains(where: { $0.place == .field }) {
      let parts = try profileParts()
      for item in parts.items {
        if let key = item.key(in: .field), wanted.contains(key) {
          found[key, default: []].append([parts.text(of: item)])
        }
      }
    }
    if hiddenText != nil, wanted.contains(where: { $0.place == .hidden }) {
      for item in try hiddenParts().items {
        if let key = item.key(in: .hidden), wanted.contains(key), let tag = item.texts {
          found[key, default: []].append(tag)
        }
      }
    }
    return found
  }
}

/// The entries of some contents, once they were asked for.
private final class FoundEntries: Sendable {
  let state = Mutex<ListState?>(nil)
}

/// Which occurrence of an entry becomes what.
private struct TargetEdits {
  private let targets: [(key: EntryKey, tags: [[String]])]
  private var places: [EntryKey: Int] = [:]
  private var used: [Int]

  init(_ targets: [(key: EntryKey, tags: [[String]])]) {
    self.targets = targets
    used = Array(repeating: 0, count: targets.count)
    for (place, target) in targets.enumerated() { places[target.key] = place }
  }

  /// What the next occurrence of an entry becomes, nil inside if it is removed; nil if it stays.
  mutating func next(_ key: EntryKey) -> [String]?? {
    guard let place = places[key] else { return nil }
    defer { used[place] += 1 }
    let tags = targets[place].tags
    return .some(used[place] < tags.count ? tags[used[place]] : nil)
  }

  /// What is appended.
  func restByKey() -> [(EntryKey, [String])] {
    targets.indices.flatMap { place in
      targets[place].tags.dropFirst(used[place]).map { (targets[place].key, $0) }
    }
  }

  func rest() -> [[String]] { restByKey().map(\.1) }
}

extension JSONParts.Item {
  /// The key of an item; nil for one that is no entry.
  func key(in place: EntryPlace) -> EntryKey? {
    guard let texts else { return nil }
    return place == .field ? EntryKey(.field, texts[0]) : EntryKey(tag: texts, in: place)
  }
}

extension ListChange {
  /// Where the change may be made.
  fileprivate var places: [EntryPlace] {
    switch (action, part) {
    case (.set, _), (.unset, _): [.field]
    case (.add, nil), (_, .open): [.open]
    case (_, .hidden): [.hidden]
    case (.remove, nil): [.open, .hidden]
    }
  }

  fileprivate func key(in place: EntryPlace) -> EntryKey {
    place == .field ? EntryKey(.field, name) : EntryKey(place, name, EntryKey.spelling(value, of: name))
  }

  /// What the occurrences of the entry become.
  fileprivate func applied(to old: [[String]]) -> [[String]] {
    switch action {
    case .remove, .unset: return []
    case .set:
      guard !old.isEmpty else { return [[value]] }
      return old.map { Self.isSameJSON($0[0], value) ? $0 : [value] }
    case .add:
      guard !old.isEmpty else { return [Self.with(further ?? [], on: [name, value])] }
      return old.map { Self.with(further ?? [], on: $0) }
    }
  }

  private static func with(_ further: [String?], on tag: [String]) -> [String] {
    var tag = tag
    while tag.count < 2 { tag.append("") }
    for (index, text) in further.enumerated() {
      guard let text, !(index + 2 < tag.count ? tag[index + 2] : "").hasBytes(text) else { continue }
      while tag.count <= index + 2 { tag.append("") }
      tag[index + 2] = text
      while tag.count > 2, tag[tag.count - 1].isEmpty { tag.removeLast() }
    }
    return tag
  }

  /// Whether two values mean the same, however they are written.
  private static func isSameJSON(_ left: String, _ right: String) -> Bool {
    if left.hasBytes(right) { return true }
    func text(_ json: String) -> String? {
      let bytes = Array(json.utf8)
      return bytes.withUnsafeBytes { bytes -> String? in
        do throws(JSONFault) {
          var scanner = JSONScanner(bytes)
          guard try scanner.peek() == UInt8(ascii: "\"") else { return nil }
          return try scanner.scanString().string(in: bytes)
        } catch { return nil }
      }
    }
    guard let left = text(left), let right = text(right) else { return false }
    return left.hasBytes(right)
  }
}
