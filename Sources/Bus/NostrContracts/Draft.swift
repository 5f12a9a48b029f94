public import Cryptography
public import Frames
public import Nostr

// What somebody wants signed, looked at before anything is done with it.
//
// A signature cannot be taken back. So nothing is signed that its author can hardly have meant: a member that no event
// has (`tgas`), a reference that no relay will ever find, a time that programs with 53-bit numbers read differently,
// and above all a secret key. The command line looks in the same way before it asks, so that people hear it at once;
// what counts is that the signer does.

/// An event that is to be signed or sealed, without who its author is.
public struct Draft: Hashable, Sendable {
  /// The kind.
  public let kind: UInt16
  /// Seconds since 1970; nil: now, whenever that is.
  public let createdAt: Int64?
  let members: [String: JSONValue]
  private let name: String

  /// The members a draft may have. An `id` must be the right one, and a `sig` counts for nothing.
  public static let memberNames = ["kind", "content", "tags", "created_at", "pubkey", "id", "sig"]
  /// The last second that every JSON program reads as it stands: 2^53 - 1.
  public static let createdAtMaximum: Int64 = 1 << 53 - 1

  /// Reads a draft.
  ///
  /// - Parameters:
  ///   - value: an object of which only `kind` must be there.
  ///   - name: what it is called in refusals, `event`; empty: its members are named alone.
  ///   - allowsSecrets: whether a secret key may stand in it, because its owner says so: an example, a key given up.
  ///   - now: seconds since 1970. A time far ahead of it is in other units than seconds, and relays refuse it.
  /// - Throws: `bad-request` with the place and what is expected there. A secret is never repeated.
  public init(_ value: JSONValue, named name: String, allowsSecrets: Bool = false, now: Int64) throws(Refusal) {
    guard case .object(let members) = value else {
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
    guard members["kind"] != nil else { throw Self.bad("\(place("kind")) is missing") }
    guard case .integer(let number)? = members["kind"], let kind = UInt16(exactly: number) else {
      throw Self.bad("\(place("kind")) must be a whole number from 0 to 65535")
    }
    self.kind = kind
    createdAt = try Self.time(members["created_at"], place("created_at"), now: now)
    if !allowsSecrets { try Self.refuseSecrets(in: value, name) }
    try Self.checkTags(members["tags"]) { index in place("tags[\(index)]") }
  }

  /// Most letters of a wrong member that a refusal repeats.
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

  /// How far ahead of the present a time may lie, in seconds: a year.
  static let aheadMaximum: Int64 = 365 * 86_400

  /// What is odd about an event's time, as a sentence's end; nil when nothing is.
  public static func doubt(of time: Int64, now: Int64) -> String? {
    let latest = now + aheadMaximum
    guard time > latest else { return nil }
    guard (earliest...latest).contains(time / 1_000) else { return "is \(time), more than a year ahead" }
    return "is \(time), more than a year ahead: it looks like milliseconds, and would be \(time / 1_000) in seconds"
  }

  /// 1 January 2001: what would be earlier in milliseconds is none.
  private static let earliest: Int64 = 978_307_200

  private static let tooLate =
    "above \(createdAtMaximum) (2^53 - 1), from where on programs read numbers differently; it is in seconds"

  // MARK: Secrets

  /// Looks through everything that would be signed.
  private static func refuseSecrets(in value: JSONValue, _ place: String) throws(Refusal) {
    switch value {
    case .string(let text):
      guard let secret = SpottedSecret(in: text) else { return }
      throw bad(
        "'\(place)' holds \(secret), and would give it to everybody: nothing was signed\n"
          + "whoever means it says so: --allow-secrets, or \"allowSecrets\":true beside the event")
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

  /// Looks at what tags refer to. That they are lists of texts is looked at by whoever reads the event.
  private static func checkTags(_ value: JSONValue?, _ place: (Int) -> String) throws(Refusal) {
    guard case .array(let tags)? = value else { return }
    for (index, tag) in tags.enumerated() {
      guard case .array(let parts) = tag, case .string(let name)? = parts.first,
        let reference = TagReference(tagName: name)
      else { continue }
      guard parts.count > 1 else { throw bad("\(place(index)) has no value: '\(name)' refers to \(reference.form)") }
      guard case .string(let text) = parts[1], !reference.accepts(text) else { continue }
      throw bad("the value of \(place(index)) is not \(reference.form)\(hint(text, reference))")
    }
  }

  /// What can be said of a wrong value: what was meant, if that can be read. A secret key is not repeated.
  private static func hint(_ text: String, _ reference: TagReference) -> String {
    do throws(EntityFault) { return "; what is meant is written \(try reference.value(spelled: text))" } catch {
      if case .secret = error { return "; it is a secret key, which must never stand there" }
      let plain = text.hasPrefix("nostr:") ? text.dropFirst(6) : text[...]
      let isEntity = ["npub1", "nprofile1", "note1", "nevent1", "naddr1"].contains { plain.hasPrefix($0) }
      guard isEntity else { return "; it has \(text.utf8.count) characters" }
      if case .otherEntity = error { return "; what stands there refers to something else" }
      return "; what stands there is broken: \(error)"
    }
  }

  // MARK: Deleting

  /// The kinds of what this draft deletes (NIP-09): an address says its own, an id that of the event which is shown for
  /// it.
  ///
  /// - Parameter shown: events whose ids were verified.
  /// - Returns: nil when it names something that is not shown, or nothing.
  public func deletedKinds(shown: [Event]) -> Set<UInt16>? {
    guard case .array(let tags)? = members["tags"] else { return nil }
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
  ///   - author: whose key signs it.
  ///   - now: its time if the draft has none, seconds since 1970.
  /// - Throws: `bad-request` when it is none, or names another author.
  public func event(of author: PublicKey, now: Int64) throws(Refusal) -> UnsignedEvent {
    var fields = members
    if createdAt == nil { fields["created_at"] = .integer(now) }
    if fields["content"] == nil { fields["content"] = .string("") }
    if fields["tags"] == nil { fields["tags"] = .array([]) }
    let event: UnsignedEvent
    do throws(EventFault) {
      event = try UnsignedEvent(json: JSONPayload.encode(JSONValue.object(fields)), author: author)
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
