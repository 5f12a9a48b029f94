public import Cryptography
internal import JSON

// An event that owns its text: for those who look at few events and at all of each (lists, profiles, what is signed).
// Whoever looks at every event of every relay uses ``ScannedEvent``, which owns nothing.
//
// Tags are plain lists of strings, as in NIP-01; what a tag means is said by the file of its NIP. Texts are compared
// byte by byte here: Swift takes the Kelvin sign for a K, and no relay does.

/// A signed event (NIP-01). Nothing is verified by reading one; ``verify()`` does that.
public struct Event: Hashable, Sendable {
  /// The id it claims.
  public let id: EventID
  /// The author it claims.
  public let pubkey: PublicKey
  /// Seconds since 1970 by the author's clock, 0 … 2^63-1.
  public let createdAt: Int64
  /// The kind.
  public let kind: UInt16
  /// Tags of at least one string each: a name, a value, and what else there is.
  public let tags: [[String]]
  /// The content.
  public let content: String
  /// The signature it claims.
  public let signature: Signature

  /// Copies a scanned event out of `bytes`, the text it was read from.
  ///
  /// - Throws: `badField` when its signature is not 128 digits, which nobody has looked at yet.
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

  /// An event of what was signed and its signature. The id is computed, the signature is not looked at.
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

  /// What its id is the hash of.
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

  /// Makes sure that the id is the hash of the rest and the signature the author's (NIP-01). About 30 µs.
  ///
  /// - Throws: `wrongID`, `badPublicKey` or `badSignature`.
  public func verify() throws(EventFault) {
    let right = unsigned.id
    guard id == right else { throw .wrongID(right) }
    guard let key = ParsedPublicKey(pubkey) else { throw .badPublicKey(pubkey) }
    guard signature.isValid(for: id.octets, by: key) else { throw .badSignature }
  }

  /// The first value of the first tag of this name that has one.
  public func firstValue(of tagName: String) -> String? { tags.firstValue(of: tagName) }

  /// The first value of each tag of this name, in order; tags without one are left out.
  public func values(of tagName: String) -> [String] { tags.values(of: tagName) }

  /// Whether all seven fields are the same, texts byte by byte.
  public static func == (left: Event, right: Event) -> Bool {
    left.id == right.id && left.signature == right.signature && left.unsigned == right.unsigned
  }

  /// Feeds the id.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// An event without a signature: what is to be signed, or a rumor, which never will be (NIP-59).
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

  /// An event of these parts. A time before 1970 and a tag without a string are mistakes of the caller.
  public init(pubkey: PublicKey, createdAt: Int64, kind: UInt16, tags: [[String]] = [], content: String = "") {
    precondition(createdAt >= 0, "an event's time is not before 1970")
    precondition(tags.allSatisfy { !$0.isEmpty }, "a tag has at least one string")
    self.pubkey = pubkey
    self.createdAt = createdAt
    self.kind = kind
    self.tags = tags
    self.content = content
  }

  /// Reads a rumor, or a template that somebody wants signed: an event object of which `id` and `sig` may be missing.
  ///
  /// An id that is there must be the right one. A `sig` is passed over like any key that is not an event's: nothing may
  /// be taken for signed because it says so.
  ///
  /// - Parameters:
  ///   - json: one object with nothing but white space around it, up to ``ScannedEvent/byteCountMaximum``.
  ///   - author: stands for a `pubkey` that is not there (NIP-46 templates have none). One that is there may be
  ///     another: whoever signs compares.
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

  /// The event with its author's signature. A key of somebody else is a mistake of the caller.
  public func signed(by key: SecretKey) -> Event {
    precondition(key.publicKey == pubkey, "an event is signed with its author's key")
    let id = id
    return Event(self, id: id, signature: key.sign(id.octets))
  }

  /// The event as JSON with its id and without `sig`, as a rumor is written (NIP-59): keys in NIP-01's order, no white
  /// space, strings in canonical form.
  public var json: [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(300 + content.utf8.count)
    appendBody(id: id, to: &json)
    json.append(UInt8(ascii: "}"))
    return json
  }

  /// `{"id":…,"content":"…"`, without the brace at the end.
  fileprivate func appendBody(id: EventID, to json: inout [UInt8]) {
    json.append(contentsOf: "{\"id\":\"\(id)\",\"pubkey\":\"\(pubkey)\",\"created_at\":\(createdAt),".utf8)
    json.append(contentsOf: "\"kind\":\(kind),\"tags\":".utf8)
    CanonicalForm.append(tags, to: &json)
    json.append(contentsOf: ",\"content\":".utf8)
    JSONString.append(content, to: &json)
  }

  /// The first value of the first tag of this name that has one.
  public func firstValue(of tagName: String) -> String? { tags.firstValue(of: tagName) }

  /// The first value of each tag of this name, in order; tags without one are left out.
  public func values(of tagName: String) -> [String] { tags.values(of: tagName) }

  /// Whether all five fields are the same, texts byte by byte.
  public static func == (left: UnsignedEvent, right: UnsignedEvent) -> Bool {
    left.pubkey == right.pubkey && left.createdAt == right.createdAt && left.kind == right.kind
      && left.content.hasSameBytes(as: right.content)
      && left.tags.elementsEqual(right.tags) { $0.elementsEqual($1) { $0.hasSameBytes(as: $1) } }
  }

  /// Feeds author, time and kind, which differ in nearly all pairs.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(pubkey)
    hasher.combine(createdAt)
    hasher.combine(kind)
  }
}

extension String {
  /// Whether the UTF-8 is the same; `==` would take é and e + accent for equal.
  func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [[String]] {
  /// The tags of this name, in order.
  func named(_ name: String) -> [[String]] { filter { $0.first?.hasSameBytes(as: name) == true } }

  func firstValue(of name: String) -> String? {
    first { $0.count > 1 && $0[0].hasSameBytes(as: name) }.map { $0[1] }
  }

  func values(of name: String) -> [String] {
    compactMap { $0.count > 1 && $0[0].hasSameBytes(as: name) ? $0[1] : nil }
  }
}
