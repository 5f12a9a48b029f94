public import Cryptography
internal import JSON

// An event that owns its text: for code that reads few events, but all of each (lists, profiles, events to sign). Code
// that reads every event of every relay uses ``ScannedEvent``, which owns nothing.
//
// Tags are plain lists of strings, as in NIP-01; the file of a tag's NIP says what the tag means. Texts are compared
// byte by byte here: Swift treats the Kelvin sign as equal to a K, and no relay does.

/// A signed event (NIP-01). Reading one verifies nothing; ``verify()`` does.
public struct Event: Hashable, Sendable {
  /// The id it claims.
  public let id: EventID
  /// The author it claims.
  public let pubkey: PublicKey
  /// Seconds since 1970 by the author's clock, 0 … 2^63-1.
  public let createdAt: Int64
  /// The kind.
  public let kind: UInt16
  /// Tags of at least one string each: a name, a value, and further strings.
  public let tags: [[String]]
  /// The content.
  public let content: String
  /// The signature it claims.
  public let signature: Signature

  /// Copies a scanned event out of `bytes`, the text it was read from.
  ///
  /// - Throws: `badField` if its signature is not 128 digits, which the scan does not check.
  public init(_ scanned: ScannedEvent, in bytes: UnsafeRawBufferPointer) throws(EventFault) {
    guard let signature = scanned.signature(in: bytes) else {
      throw .badField("sig", "128 lower-case hexadecimal digits")
    }
    id = scanned.id
    pubkey = scanned.pubkey
    createdAt = scanned.createdAt
    kind = scanned.kind
    self.signature = signature
    content = scanned.content.string(in: bytes)
    var reader = TagReader(scanned, in: bytes)
    tags = reader.strings()
  }

  /// Reads one event object, with nothing but white space around it.
  ///
  /// - Throws: what ``ScannedEvent/init(_:)`` throws; nothing is verified.
  public init(json: [UInt8]) throws(EventFault) {
    let result = json.withUnsafeBytes { bytes -> Result<Event, EventFault> in
      do throws(EventFault) {
        return .success(try Event(ScannedEvent(bytes), in: bytes))
      } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }

  /// An event from what was signed and its signature. The id is computed, the signature is not checked.
  public init(_ unsigned: UnsignedEvent, signature: Signature) {
    self.init(unsigned, id: unsigned.id, signature: signature)
  }

  fileprivate init(_ unsigned: UnsignedEvent, id: EventID, signature: Signature) {
    self.id = id
    pubkey = unsigned.pubkey
    createdAt = unsigned.createdAt
    kind = unsigned.kind
    tags = unsigned.tags
    content = unsigned.content
    self.signature = signature
  }

  /// The part of the event that its id is the hash of.
  public var unsigned: UnsignedEvent {
    UnsignedEvent(pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content)
  }

  /// The event as JSON: the seven keys in NIP-01's order, no white space, strings in canonical form.
  public var json: [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(400 + content.utf8.count)
    unsigned.appendBody(id: id, to: &json)
    json.append(contentsOf: ",\"sig\":\"\(signature)\"}".utf8)
    return json
  }

  /// Checks that the id is the hash of the rest and that the signature is the author's (NIP-01). About 30 µs.
  ///
  /// - Throws: `wrongID`, `badPublicKey` or `badSignature`.
  public func verify() throws(EventFault) {
    let right = unsigned.id
    guard id == right else { throw .wrongID(right) }
    guard let key = ParsedPublicKey(pubkey) else { throw .badPublicKey(pubkey) }
    guard signature.isValid(for: id.octets, by: key) else { throw .badSignature }
  }

  /// The first value of the first tag with this name that has a value.
  public func firstValue(of tagName: String) -> String? { tags.firstValue(of: tagName) }

  /// The first value of each tag with this name, in order; tags without a value are left out.
  public func values(of tagName: String) -> [String] { tags.values(of: tagName) }

  /// Whether all seven fields are equal; texts are compared byte by byte.
  public static func == (left: Event, right: Event) -> Bool {
    left.id == right.id && left.signature == right.signature && left.unsigned == right.unsigned
  }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// An event without a signature: one to be signed, or a rumor, which never will be (NIP-59).
public struct UnsignedEvent: Hashable, Sendable {
  /// The author.
  public let pubkey: PublicKey
  /// Seconds since 1970, 0 … 2^63-1.
  public let createdAt: Int64
  /// The kind.
  public let kind: UInt16
  /// Tags of at least one string each.
  public let tags: [[String]]
  /// The content.
  public let content: String

  /// An event of these parts. A time before 1970 or a tag without a string is a mistake of the caller.
  public init(pubkey: PublicKey, createdAt: Int64, kind: UInt16, tags: [[String]] = [], content: String = "") {
    precondition(createdAt >= 0, "an event's time is not before 1970")
    precondition(tags.allSatisfy { !$0.isEmpty }, "a tag has at least one string")
    self.pubkey = pubkey
    self.createdAt = createdAt
    self.kind = kind
    self.tags = tags
    self.content = content
  }

  /// Reads a rumor, or a template that a client wants signed: an event object without `id` or `sig`, or with them.
  ///
  /// A given id must be the right one. A `sig` is skipped like any key that is not an event's: an event does not count
  /// as signed because it says so.
  ///
  /// - Parameters:
  ///   - json: one object with nothing but white space around it, up to ``ScannedEvent/byteCountMaximum``.
  ///   - author: used if `pubkey` is missing (NIP-46 templates have none). A given `pubkey` may differ: the signer must
  ///     compare.
  public init(json: [UInt8], author: PublicKey? = nil) throws(EventFault) {
    let result = json.withUnsafeBytes { bytes -> Result<UnsignedEvent, EventFault> in
      do throws(EventFault) {
        return .success(try UnsignedEvent(bytes, author: author))
      } catch {
        return .failure(error)
      }
    }
    self = try result.get()
  }

  private init(_ bytes: UnsafeRawBufferPointer, author: PublicKey?) throws(EventFault) {
    guard bytes.count <= ScannedEvent.byteCountMaximum else {
      throw .tooLarge(byteCount: bytes.count, maximum: ScannedEvent.byteCountMaximum)
    }
    do {
      var reading = EventReading(bytes)
      self = try reading.readUnsigned(author: author)
    } catch let fault as JSONFault {
      throw .notJSON(fault)
    } catch let fault as EventFault {
      throw fault
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
  }

  /// The id: the SHA-256 of the canonical form (NIP-01). Computed each time, some microseconds.
  public var id: EventID {
    var form: [UInt8] = []
    form.reserveCapacity(200 + content.utf8.count)
    CanonicalForm.begin(pubkey: pubkey, createdAt: createdAt, kind: kind, &form)
    CanonicalForm.append(tags, to: &form)
    form.append(UInt8(ascii: ","))
    JSONString.append(content, to: &form)
    form.append(UInt8(ascii: "]"))
    return EventID(SHA256.hash(form))
  }

  /// The event with its author's signature. Passing another author's key is a mistake of the caller.
  public func signed(by key: SecretKey) -> Event {
    precondition(key.publicKey == pubkey, "an event is signed with its author's key")
    let id = id
    return Event(self, id: id, signature: key.sign(id.octets))
  }

  /// The event as JSON with its id but without `sig`, as a rumor is written (NIP-59): keys in NIP-01's order, no white
  /// space, strings in canonical form.
  public var json: [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(300 + content.utf8.count)
    appendBody(id: id, to: &json)
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// `{"id":…,"content":"…"`, without the closing brace.
  fileprivate func appendBody(id: EventID, to json: inout [UInt8]) {
    json.append(contentsOf: "{\"id\":\"\(id)\",\"pubkey\":\"\(pubkey)\",\"created_at\":\(createdAt),".utf8)
    json.append(contentsOf: "\"kind\":\(kind),\"tags\":".utf8)
    CanonicalForm.append(tags, to: &json)
    json.append(contentsOf: ",\"content\":".utf8)
    JSONString.append(content, to: &json)
  }

  /// The first value of the first tag with this name that has a value.
  public func firstValue(of tagName: String) -> String? { tags.firstValue(of: tagName) }

  /// The first value of each tag with this name, in order; tags without a value are left out.
  public func values(of tagName: String) -> [String] { tags.values(of: tagName) }

  /// Whether all five fields are equal; texts are compared byte by byte.
  public static func == (left: UnsignedEvent, right: UnsignedEvent) -> Bool {
    left.pubkey == right.pubkey && left.createdAt == right.createdAt && left.kind == right.kind
      && left.content.hasSameBytes(as: right.content)
      && left.tags.elementsEqual(right.tags) { $0.elementsEqual($1) { $0.hasSameBytes(as: $1) } }
  }

  /// Hashes author, time and kind, which differ between nearly all events.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(pubkey)
    hasher.combine(createdAt)
    hasher.combine(kind)
  }
}

extension String {
  /// Whether the UTF-8 is the same; `==` treats é and e + accent as equal.
  func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [[String]] {
  /// The tags with this name, in order.
  func named(_ name: String) -> [[String]] { filter { $0.first?.hasSameBytes(as: name) == true } }

  func firstValue(of name: String) -> String? {
    first { $0.count > 1 && $0[0].hasSameBytes(as: name) }.map { $0[1] }
  }

  func values(of name: String) -> [String] {
    compactMap { $0.count > 1 && $0[0].hasSameBytes(as: name) ? $0[1] : nil }
  }
}
