public import Cryptography
public import PushDelivery

// The sender of a request, from three header fields.
//
//     X-Pubky-Pubkey     52 characters of z-base-32
//     X-Pubky-Timestamp  Unix seconds, 1 to 11 digits
//     X-Pubky-Signature  128 hexadecimal digits, either case: Ed25519 over
//                        METHOD:path:timestamp:hex(sha256(body))
//
// The body is hashed as received: clients escape slashes and order keys as they like, so a body that was parsed and
// written again has another hash. The path is the one below the mount.
//
// That message names no relay and no purpose, so there is a second version, which a client selects by two more fields:
//
//     X-Pubky-Version    2
//     X-Pubky-Audience   push.example
//                        pubky-push/2:<audience>:<method>:<path>:<timestamp>:<body hash>
//
// Order: first the checks that need no cryptography (form, time), then the signature; before it nothing is looked up.
// Verification is a separate step, because it is the only expensive one: the shell may use another thread for it.
//
// Rejected: a memory of requests by signature. Some phones randomise Ed25519, so one message has many signatures; the
// message identifies the request.

/// A request with a valid head and time, whose signature is not verified yet.
public struct SignedRequest: Sendable {
  /// The key that must have signed it.
  public let owner: PushOwner
  /// When it was signed, Unix seconds.
  public let timestamp: Int64
  /// The version of the signed message: 1 or 2.
  public let version: Int

  private let key: Ed25519PublicKey
  private let signature: [UInt8]
  /// The messages that may have been signed, the usual one first.
  private let messages: [[UInt8]]
  private let needsRegistration: Bool

  /// Most bytes of each of the five fields.
  public static let fieldByteCountMaximum = 255

  /// Reads the head of a request.
  ///
  /// - Parameters:
  ///   - target: the request's target.
  ///   - fields: all of the request's header fields, repeated ones included.
  ///   - body: as received.
  ///   - rules: which signatures this relay accepts.
  ///   - now: Unix seconds.
  /// - Throws: `invalid_signature` for a field that is missing or malformed, `expired_timestamp`; both with the relay's
  ///   time if the timestamp is wrong.
  public init(
    target: PushTarget, fields: [HeaderField], body: [UInt8], rules: SignatureRules, now: Int64
  ) throws(PushRefusal) {
    let head = SignatureHead(fields)
    let signature = try head.signature()
    let timestamp = try head.timestamp(now: now)
    let version = try head.version(rules)
    let (octets, key) = try head.key()
    guard abs(now - timestamp.seconds) <= rules.windowSeconds else {
      let difference = timestamp.seconds - now
      throw PushRefusal(
        .expiredTimestamp,
        "the request was signed \(abs(difference)) seconds \(difference < 0 ? "ago" : "in the future") "
          + "by this relay's clock, and \(rules.windowSeconds) are allowed: set the clock right and sign again",
        serverTime: now)
    }
    let digits = SHA256.hash(body).description
    messages = target.signedPaths.map { path in
      let message = "\(target.method):\(path):\(timestamp.text):\(digits)"
      return Array((version.audience.map { "pubky-push/2:\($0):\(message)" } ?? message).utf8)
    }
    owner = PushOwner(.pubky, octets)
    self.key = key
    self.signature = signature
    self.timestamp = timestamp.seconds
    self.version = version.number
    needsRegistration = version.number == 1 && rules.firstVersion == .registeredOnly
  }

  /// Verifies the signature: about 100 microseconds of arithmetic, and no state.
  ///
  /// - Throws: `invalid_signature`.
  public func verified() throws(PushRefusal) -> VerifiedRequest {
    guard let message = messages.first(where: { key.isValid(signature, of: $0) }) else {
      throw PushRefusal(
        .invalidSignature,
        "the signature is not the key's for this method, path, timestamp and body: sign "
          + (version == 1
            ? "METHOD:path:timestamp:hex(sha256(body))"
            : "pubky-push/2:audience:METHOD:path:timestamp:"
              + "hex(sha256(body))")
          + ", with the path below the mount (/wake, not /v1/wake) and the body as it is sent")
    }
    return VerifiedRequest(
      owner: owner, timestamp: timestamp, digest: SHA256.hash(message), needsRegistration: needsRegistration)
  }
}

/// A request whose sender is proved.
public struct VerifiedRequest: Hashable, Sendable {
  /// The key that signed it.
  public let owner: PushOwner
  /// The time of signing, Unix seconds.
  public let timestamp: Int64
  /// SHA-256 of what was signed: with the owner it identifies the request in the memory of past requests.
  public let digest: Octets32
  /// Whether it is valid only if the owner has a device here; see ``SignatureRules/FirstVersion/registeredOnly``.
  public let needsRegistration: Bool

  /// A proved request: proved by ``SignedRequest/verified()``, or by the caller in another way.
  public init(owner: PushOwner, timestamp: Int64, digest: Octets32, needsRegistration: Bool = false) {
    self.owner = owner
    self.timestamp = timestamp
    self.digest = digest
    self.needsRegistration = needsRegistration
  }

  /// The answer to a key that must use version 2.
  public static let registrationNeeded = PushRefusal(
    .invalidSignature,
    "this relay takes signatures of version 1 only from keys that have a device here: \(SignatureRules.form), with the"
      + " name that GET /info gives as audience")
}

/// The five fields, each at most once.
struct SignatureHead {
  private let fields: [HeaderField]

  init(_ fields: [HeaderField]) { self.fields = fields }

  /// A field's value; nil if it is missing.
  private func value(_ name: String) throws(PushRefusal) -> String? {
    let found = fields.filter { $0.isNamed(name) }
    guard let field = found.first else { return nil }
    guard found.count == 1 else { throw Self.refusal("\(name) occurs \(found.count) times: send it once") }
    guard !field.value.isEmpty else { throw Self.refusal("\(name) is empty") }
    guard field.value.utf8.count <= SignedRequest.fieldByteCountMaximum else {
      throw Self.refusal("\(name) is too long")
    }
    return field.value
  }

  private func required(_ name: String) throws(PushRefusal) -> String {
    guard let value = try value(name) else {
      throw Self.refusal("\(name) is missing: requests are signed with X-Pubky-Pubkey, -Timestamp and -Signature")
    }
    return value
  }

  func signature() throws(PushRefusal) -> [UInt8] {
    let text = try required("X-Pubky-Signature")
    guard text.utf8.count == 128, let bytes = Hexadecimal.decode(text.lowercased().utf8) else {
      throw Self.refusal("X-Pubky-Signature is not 128 hexadecimal digits")
    }
    return bytes
  }

  func timestamp(now: Int64) throws(PushRefusal) -> (seconds: Int64, text: String) {
    let text = try required("X-Pubky-Timestamp")
    let isPlain = (1...11).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    // One instant has one spelling.
    guard isPlain, text == "0" || !text.hasPrefix("0"), let seconds = Int64(text) else {
      throw PushRefusal(
        .invalidSignature,
        "X-Pubky-Timestamp is not Unix seconds in 1 to 11 digits (not milliseconds, no sign, no "
          + "leading zero)", serverTime: now)
    }
    return (seconds, text)
  }

  func version(_ rules: SignatureRules) throws(PushRefusal) -> (number: Int, audience: String?) {
    let audience = try value("X-Pubky-Audience")
    switch try value("X-Pubky-Version") {
    case nil, "1":
      if audience != nil {
        throw Self.refusal("X-Pubky-Audience belongs to version 2: send X-Pubky-Version: 2 with it, and sign it")
      }
      guard rules.firstVersion != .reject else {
        throw Self.refusal("this relay takes signatures of version 2 only: \(rules.howToSign)")
      }
      return (1, nil)
    case "2":
      guard let audience else { throw Self.refusal("X-Pubky-Audience is missing, which version 2 signs") }
      guard rules.audiences.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) else {
        throw Self.refusal("X-Pubky-Audience names another relay: GET /info says what this one is called")
      }
      return (2, audience)
    default: throw Self.refusal("X-Pubky-Version is neither 1 nor 2")
    }
  }

  func key() throws(PushRefusal) -> (Octets32, Ed25519PublicKey) {
    let text = try required("X-Pubky-Pubkey")
    guard let octets = ZBase32.octets(text) else {
      throw Self.refusal("X-Pubky-Pubkey is not a key: 52 lower-case characters of z-base-32, the last one y or o")
    }
    guard let key = Ed25519PublicKey(octets) else {
      throw Self.refusal("no key pair signs alone for X-Pubky-Pubkey: make another key")
    }
    return (octets, key)
  }

  private static func refusal(_ message: String) -> PushRefusal { PushRefusal(.invalidSignature, message) }
}

extension RequestBody {
  /// Checks the signed member `audience`, in which a client of version 1 may name the relay.
  ///
  /// - Throws: `invalid_signature` if it is present and not one of the relay's names.
  public func checkAudience(_ rules: SignatureRules) throws(PushRefusal) {
    guard let audience = try text("audience", byteCountMaximum: SignedRequest.fieldByteCountMaximum) else { return }
    guard rules.audiences.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) else {
      throw PushRefusal(
        .invalidSignature,
        rules.audiences.isEmpty
          ? "'audience' names a relay, and this one has no name: leave it out"
          : "'audience' names another relay: GET /info says what this one is called")
    }
  }
}
