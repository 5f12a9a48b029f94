public import Cryptography
public import Frames
internal import JSON
public import Nostr

// A draft of an event, checked before it is signed.
//
// A signature cannot be taken back. So the signer refuses drafts that are probably mistakes: a member that no event has
// (`tgas`), a reference that no relay will find, a time that programs with 53-bit numbers read differently, and above
// all a secret key. The command line makes the same checks before it sends the request, so that people see the error at
// once; the signer's check is the one that counts.

/// An event to sign or seal, without its author.
public struct Draft: Hashable, Sendable {
  /// The kind.
  public let kind: UInt16
  /// Seconds since 1970; nil: the time of signing.
  public let createdAt: Int64?
  /// The text of each member.
  private let members: [String: [UInt8]]
  private let name: String

  /// The members that a draft may have. An `id` must be correct; a `sig` is ignored.
  public static let memberNames = ["kind", "content", "tags", "created_at", "pubkey", "id", "sig"]
  /// The last second that every JSON program reads exactly: 2^53 - 1.
  public static let createdAtMaximum: Int64 = 1 << 53 - 1

  /// Reads a draft.
  ///
  /// - Parameters:
  ///   - json: an object in which only `kind` is required.
  ///   - name: its name in refusals, `event`; empty: only the names of its members are given.
  ///   - allowsSecrets: whether it may contain a secret key, because its owner allows it: an example, a key given up.
  ///   - checksTags: whether tags that refer to something must have a valid reference. An edited list keeps what others
  ///     have put into it.
  ///   - now: seconds since 1970. A time far ahead of it is not in seconds, and relays refuse it.
  /// - Throws: `bad-request` with the place and what is expected there. A secret is never repeated.
  public init(
    json: [UInt8], named name: String, allowsSecrets: Bool = false, checksTags: Bool = true, now: Int64
  ) throws(Refusal) {
    guard let members = Self.members(of: json) else {
      throw Self.bad(name.isEmpty ? "an event is one JSON object" : "'\(name)' is not an object")
    }
    self.members = members
    self.name = name
    func place(_ member: String) -> String { name.isEmpty ? "'\(member)'" : "'\(name).\(member)'" }
    if let stranger = members.keys.sorted().first(where: { !Self.memberNames.contains($0) }) {
      let shown = SpottedSecret.redacted(String(stranger.prefix(Self.shownLengthMaximum)))
      let hint = NearestName.hint(stranger, among: Self.memberNames)
      throw Self.bad("\(place(shown)) is nothing that an event has\(hint)")
    }
    guard let kind = members["kind"] else { throw Self.bad("\(place("kind")) is missing") }
    guard case .integer(let number) = try Self.value(kind), let kind = UInt16(exactly: number) else {
      throw Self.bad("\(place("kind")) must be a whole number from 0 to 65535")
    }
    self.kind = kind
    createdAt = try Self.time(members["created_at"].map(Self.value), place("created_at"), now: now)
    if !allowsSecrets { try Self.refuseSecrets(in: Self.value(json), name) }
    if checksTags, let tags = members["tags"] {
      try Self.checkTags(Self.value(tags)) { index in place("tags[\(index)]") }
    }
  }

  /// The text of each member of an object. A long list is read once, when it becomes an event.
  private static func members(of json: [UInt8]) -> [String: [UInt8]]? {
    json.withUnsafeBytes { bytes in
      var scanner = JSONScanner(bytes, depthMaximum: JSONFlaw.depthMaximum)
      var members: [String: [UInt8]] = [:]
      do throws(JSONFault) {
        try scanner.readObject { name, scanner throws(JSONFault) in
          let (name, value) = (name.string(in: bytes), try scanner.skipValue())
          // Of a name that is there twice the first counts, as for other readers.
          if members[name] == nil { members[name] = Array(bytes[value]) }
        }
      } catch { return nil }
      return members
    }
  }

  private static func value(_ json: [UInt8]) throws(Refusal) -> JSONValue {
    try JSONPayload.decode(JSONValue.self, from: json)
  }

  /// A member; nil without it, and if it cannot be read.
  func value(_ member: String) -> JSONValue? {
    // `try?`: it is refused when it becomes an event.
    members[member].flatMap { try? Self.value($0) }
  }

  /// The longest part of a wrong member that a refusal repeats, in characters.
  private static let shownLengthMaximum = 64

  private static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }

  private static func time(_ value: JSONValue?, _ place: String, now: Int64) throws(Refusal) -> Int64? {
    switch value {
    case nil: return nil
    case .integer(let time)? where (0...createdAtMaximum).contains(time):
      if let doubt = doubt(of: time, now: now) { throw bad("\(place) \(doubt); it is in seconds since 1970") }
      return time
    case .integer(let time)? where time > 0: throw bad("\(place) is \(time), \(tooLate)")
    case .number(let time)? where time > Double(createdAtMaximum): throw bad("\(place) is \(tooLate)")
    default: throw bad("\(place) is not a whole number of seconds since 1970")
    }
  }

  /// How far a time may be in the future, in seconds: a year.
  static let aheadMaximum: Int64 = 365 * 86_400

  /// What is unusual about an event's time, as the end of a sentence; nil when nothing is.
  public static func doubt(of time: Int64, now: Int64) -> String? {
    let latest = now + aheadMaximum
    guard time > latest else { return nil }
    guard (earliest...latest).contains(time / 1_000) else { return "is \(time), more than a year ahead" }
    return "is \(time), more than a year ahead: it looks like milliseconds, and would be \(time / 1_000) in seconds"
  }

  /// 1 January 2001. A number that would be an earlier time in milliseconds is not taken for milliseconds.
  private static let earliest: Int64 = 978_307_200

  private static let tooLate =
    "above \(createdAtMaximum) (2^53 - 1), from where on programs read numbers differently; it is in seconds"

  // MARK: Secrets

  /// Searches everything that would be signed for secrets.
  private static func refuseSecrets(in value: JSONValue, _ place: String) throws(Refusal) {
    switch value {
    case .string(let text):
      guard let secret = SpottedSecret(in: text) else { return }
      throw bad(
        "'\(place)' holds \(secret), and would give it to everybody: nothing was signed\n"
          + "to do it all the same: --allow-secrets, or \"allowSecrets\":true beside the event")
    case .array(let values):
      for (index, value) in values.enumerated() { try refuseSecrets(in: value, "\(place)[\(index)]") }
    case .object(let members):
      for (member, value) in members.sorted(by: { $0.key < $1.key }) {
        try refuseSecrets(in: value, place.isEmpty ? member : "\(place).\(member)")
      }
    case .null, .bool, .integer, .number: break
    }
  }

  // MARK: Tags

  /// Checks the references in tags. That tags are lists of texts is checked when the event is read.
  private static func checkTags(_ value: JSONValue, _ place: (Int) -> String) throws(Refusal) {
    guard case .array(let tags) = value else { return }
    for (index, tag) in tags.enumerated() {
      guard case .array(let parts) = tag, case .string(let name)? = parts.first,
        let reference = TagReference(tagName: name)
      else { continue }
      guard parts.count > 1 else { throw bad("\(place(index)) has no value: '\(name)' refers to \(reference.form)") }
      guard case .string(let text) = parts[1], !reference.accepts(text) else { continue }
      throw bad("the value of \(place(index)) is not \(reference.form)\(hint(text, reference))")
    }
  }

  /// A hint for a wrong value: the right spelling, if the value can be read. A secret key is not repeated.
  private static func hint(_ text: String, _ reference: TagReference) -> String {
    do throws(EntityFault) { return "; what is meant is written \(try reference.value(spelled: text))" } catch {
      if case .secret = error { return "; it is a secret key, which must never be there" }
      let plain = text.hasPrefix("nostr:") ? text.dropFirst(6) : text[...]
      let isEntity = ["npub1", "nprofile1", "note1", "nevent1", "naddr1"].contains { plain.hasPrefix($0) }
      guard isEntity else { return "; it has \(text.utf8.count) characters" }
      if case .otherEntity = error { return "; its value refers to something else" }
      return "; its value is broken: \(error)"
    }
  }

  // MARK: Deleting

  /// The kinds of the events that this draft deletes (NIP-09): an address contains its kind, an id has the kind of the
  /// event in `shown`.
  ///
  /// - Parameter shown: events whose ids were verified.
  /// - Returns: nil when it names an event that is not in `shown`, or names none.
  public func deletedKinds(shown: [Event]) -> Set<UInt16>? {
    guard case .array(let tags)? = value("tags") else { return nil }
    var kinds: Set<UInt16> = []
    for tag in tags {
      guard case .array(let parts) = tag, parts.count > 1, case .string(let name) = parts[0],
        case .string(let value) = parts[1]
      else { continue }
      switch name {
      case "e":
        guard let event = shown.first(where: { $0.id.description == value }) else { return nil }
        kinds.insert(event.kind)
      case "a":
        guard let kind = value.split(separator: ":").first.flatMap({ UInt16($0) }) else { return nil }
        kinds.insert(kind)
      default: continue
      }
    }
    return kinds.isEmpty ? nil : kinds
  }

  // MARK: Done

  /// The event of this author.
  ///
  /// - Parameters:
  ///   - author: the public key that signs it.
  ///   - now: its time if the draft has none, seconds since 1970.
  /// - Throws: `bad-request` when it is not a valid event, or names another author.
  public func event(of author: PublicKey, now: Int64) throws(Refusal) -> UnsignedEvent {
    var json = Array("{\"kind\":\(kind),\"created_at\":\(createdAt ?? now)".utf8)
    for (name, missing) in [("content", "\"\""), ("tags", "[]"), ("pubkey", nil), ("id", nil)] {
      guard let value = members[name] ?? missing.map({ Array($0.utf8) }) else { continue }
      json += Array(",\"\(name)\":".utf8) + value
    }
    json.append(UInt8(ascii: "}"))
    let event: UnsignedEvent
    do throws(EventFault) {
      event = try UnsignedEvent(json: json, author: author)
    } catch {
      throw Self.bad(name.isEmpty ? "\(error)" : "'\(name)': \(error)")
    }
    guard event.pubkey == author else {
      let place = name.isEmpty ? "pubkey" : "\(name).pubkey"
      throw Self.bad("'\(place)' is \(event.pubkey), which is not the account's key")
    }
    return event
  }
}
