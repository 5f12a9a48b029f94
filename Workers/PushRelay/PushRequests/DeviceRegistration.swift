public import Cryptography
internal import Frames
public import PushDelivery
public import PushRules

/// The body of `POST /register`: a device that its owner wants to have woken.
///
///     {"platform":"ios","token":"…","capabilities":["wake"],"device_id":"phone"}
///
/// Also `challenge` (the code from a push, for a token that another key had), `policy`, `enc_pubkey`; from a Nostr key
/// `rules`, the body of `PUT /rules`.
public struct DeviceRegistration: Hashable, Sendable {
  /// The address of the device at its platform.
  public let token: PushToken
  /// The types of wakes that it wants; words that are no types are kept and have no effect.
  public let capabilities: [String]
  /// The owner's name for it; nil: the ledger derives a name from the token.
  public let deviceID: String?
  /// The answer to a challenge from a push: its code, whether it was sent as such or in base64.
  public let challenge: String?
  /// The owner's policy for senders; nil: no change.
  public let policy: AdmissionPolicy?
  /// An X25519 key under which messages to the device are sealed.
  public let sealingKey: Octets32?

  /// The events that wake a Nostr key; nil: no change.
  public let rules: WakeRules?

  /// Most capabilities.
  public static let capabilityCountMaximum = 32
  /// Most bytes of a capability.
  public static let capabilityByteCountMaximum = 64
  /// Most bytes of a device's name.
  public static let deviceIDByteCountMaximum = 128
  /// Most bytes of the answer to a challenge.
  public static let challengeByteCountMaximum = 128

  /// Reads a registration.
  ///
  /// - Parameters:
  ///   - body: what was signed.
  ///   - allowsPrivateEndpoints: whether a Web Push endpoint may have a private address: for a distributor in the
  ///     operator's own network.
  /// - Throws: `invalid_token` if the token is wrong, otherwise `invalid_request`.
  public init(_ body: RequestBody, allowsPrivateEndpoints: Bool = false) throws(PushRefusal) {
    guard let platform = try body.word("platform", of: PushPlatform.self) else {
      throw .invalid("'platform' is missing: it is 'ios', 'android' or 'webpush'")
    }
    token = try PushToken(body, platform: platform, allowsPrivateEndpoints: allowsPrivateEndpoints)
    capabilities = try Self.capabilities(body)
    deviceID = try body.deviceID()
    challenge = try Self.challenge(body)
    policy = try body.word("policy", of: AdmissionPolicy.self)
    sealingKey = try Self.sealingKey(body)
    rules = try body.part("rules").map { (part) throws(PushRefusal) in try WakeRules(part) }
  }

  private static func capabilities(_ body: RequestBody) throws(PushRefusal) -> [String] {
    let texts = try body.texts(
      "capabilities", countMaximum: capabilityCountMaximum, byteCountMaximum: capabilityByteCountMaximum)
    var capabilities: [String] = []
    for (index, text) in (texts ?? []).enumerated() {
      if text.isEmpty || text.hasControlCharacters {
        throw .invalid("'capabilities[\(index)]' is empty or has control characters")
      }
      if !capabilities.contains(text) { capabilities.append(text) }
    }
    return capabilities
  }

  private static func challenge(_ body: RequestBody) throws(PushRefusal) -> String? {
    guard let text = try body.text("challenge", byteCountMaximum: challengeByteCountMaximum) else { return nil }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .invalid("'challenge' is not what a push brought: send it back as it came")
    }
    return code(text)
  }

  /// The code of a challenge: hexadecimal digits, or the same in base64, as a push carries payloads. No text is both:
  /// base64 of a hexadecimal digit begins with M, N, O, Y or Z.
  private static func code(_ text: String) -> String {
    func isCode(_ bytes: some Collection<UInt8>) -> Bool {
      !bytes.isEmpty && bytes.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
    guard !isCode(text.utf8), let bytes = Base64.decode(text) ?? Base64URL.bytes(text), isCode(bytes) else {
      return text
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func sealingKey(_ body: RequestBody) throws(PushRefusal) -> Octets32? {
    guard let text = try body.text("enc_pubkey", byteCountMaximum: 64) else { return nil }
    let bytes = text.utf8.count == 64 ? Hexadecimal.decode(text.lowercased().utf8) : Base64URL.bytes(text)
    guard let bytes, let key = Octets32(bytes) else {
      throw .invalid("'enc_pubkey' is not an X25519 key: 32 bytes in base64url without padding, or in hexadecimal")
    }
    // A key of small order makes the same, publicly known secret with every key.
    guard X25519.sharedSecret(X25519.generate(), with: key) != nil else {
      throw .invalid("'enc_pubkey' is a key that keeps nothing secret: make another one")
    }
    return key
  }
}

extension RequestBody {
  /// The member `device_id`.
  func deviceID() throws(PushRefusal) -> String? {
    guard let text = try text("device_id", byteCountMaximum: DeviceRegistration.deviceIDByteCountMaximum) else {
      return nil
    }
    return try Self.checked(deviceID: text)
  }

  static func checked(deviceID text: String) throws(PushRefusal) -> String {
    guard !text.isEmpty, text.utf8.count <= DeviceRegistration.deviceIDByteCountMaximum, !text.hasControlCharacters
    else {
      throw .invalid(
        "'device_id' is not 1 to \(DeviceRegistration.deviceIDByteCountMaximum) bytes without control characters")
    }
    return text
  }
}
