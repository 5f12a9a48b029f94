public import Cryptography

/// The platform whose servers deliver a push to a device.
public enum PushPlatform: String, Hashable, Sendable, CaseIterable, Codable {
  /// APNs.
  case ios
  /// FCM.
  case android
  /// Web Push and UnifiedPush (RFC 8030).
  case webPush = "webpush"

  /// The number in the ledger and in the data that tokens are bound to; never reused.
  public var number: UInt8 {
    switch self {
    case .ios: 1
    case .android: 2
    case .webPush: 3
    }
  }
}

/// The address of a device at its platform. It is a secret: with it, anyone can push to the device.
public enum PushToken: Hashable, Sendable {
  /// 32 to 100 bytes, as APNs gives them to an app.
  case apple([UInt8])
  /// 32 to 4,096 characters of `A-Za-z0-9:_-`, as FCM gives them.
  case google(String)
  /// An endpoint (`https`, at most 2,048 characters), its key `p256dh` (65 bytes, uncompressed P-256) and its secret
  /// `auth` (16 bytes): RFC 8291.
  case web(endpoint: String, publicKey: [UInt8], authentication: [UInt8])

  /// Its platform.
  public var platform: PushPlatform {
    switch self {
    case .apple: .ios
    case .google: .android
    case .web: .webPush
    }
  }
}

/// A registered device.
public struct PushDevice: Hashable, Sendable {
  /// Its row in the ledger; 0 before it has one.
  public var number: Int64 = 0
  /// The key that registered it.
  public var owner: PushOwner
  /// The device's name at its owner: 1 to 128 bytes without control characters.
  public var id: String
  /// The device's id at this push relay: 32 hexadecimal digits, random.
  public var relayID: String
  /// Its address.
  public var token: PushToken
  /// The types of wakes that it wants; see ``Wake/isWanted(by:)``.
  public var capabilities: [String]
  /// Unix seconds of the last registration.
  public var registeredAt: Int64
  /// When its registration expires, in Unix seconds.
  public var expiresAt: Int64
  /// Whether the owner has proven to hold the token; required for a token that another owner had before.
  public var isVerified: Bool = true
  /// An X25519 key to seal messages to it; nil: the fields are sent in clear.
  public var sealingKey: Octets32?

  /// A device.
  public init(
    owner: PushOwner, id: String, relayID: String, token: PushToken, capabilities: [String], registeredAt: Int64,
    expiresAt: Int64, isVerified: Bool = true, sealingKey: Octets32? = nil
  ) {
    self.owner = owner
    self.id = id
    self.relayID = relayID
    self.token = token
    self.capabilities = capabilities
    self.registeredAt = registeredAt
    self.expiresAt = expiresAt
    self.isVerified = isVerified
    self.sealingKey = sealingKey
  }
}
