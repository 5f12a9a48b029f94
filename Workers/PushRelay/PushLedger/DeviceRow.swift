internal import Cryptography
internal import PushDelivery
internal import Storage

/// A row of the table of devices, with its token still sealed.
struct DeviceRow {
  var number: Int64
  var owner: PushOwner
  var id: String
  var isNamed: Bool
  var relayID: String
  var platform: PushPlatform
  var ringKey: Int64
  var sealed: [UInt8]
  var tokenIndex: [UInt8]
  var capabilities: [String]
  var signedAt: Int64
  var registeredAt: Int64
  var expiresAt: Int64
  var isVerified: Bool
  var isQuarantined: Bool
  var sealingKey: Octets32?

  static let relayIDDigitCount = 32

  static let columns = """
    number, owner, id, isNamed, relayID, platform, ringKey, sealed, tokenIndex, capabilities, signedAt, registeredAt, \
    expiresAt, isVerified, isQuarantined, sealingKey
    """

  /// The current row of a statement over ``columns``; nil if it is invalid.
  init?(_ statement: StorageStatement) {
    guard let owner = PushOwner(bytes: statement.bytes(1)), let platform = PushPlatform(number: statement.number(5)),
      let capabilities = Self.capabilities(statement.bytes(9))
    else { return nil }
    number = statement.number(0)
    self.owner = owner
    id = statement.text(2)
    isNamed = statement.number(3) != 0
    relayID = statement.text(4)
    self.platform = platform
    ringKey = statement.number(6)
    sealed = statement.bytes(7)
    tokenIndex = statement.bytes(8)
    self.capabilities = capabilities
    signedAt = statement.number(10)
    registeredAt = statement.number(11)
    expiresAt = statement.number(12)
    isVerified = statement.number(13) != 0
    isQuarantined = statement.number(14) != 0
    sealingKey = Octets32(statement.bytes(15))
  }

  /// A new row.
  init(_ command: RegisterCommand, id: String, keys: LedgerKeys) {
    number = 0
    owner = command.message.owner
    self.id = id
    isNamed = command.deviceID != nil
    relayID = Hexadecimal.text(of: RandomBytes.make(Self.relayIDDigitCount / 2))
    platform = command.token.platform
    tokenIndex = keys.index(of: command.token)
    capabilities = command.capabilities
    signedAt = command.message.timestamp
    registeredAt = command.now
    expiresAt = command.expiresAt
    isVerified = false
    isQuarantined = false
    sealingKey = command.sealingKey
    (ringKey, sealed) = (0, [])
    seal(command.token, keys)
  }

  /// The values of ``columns`` after the number.
  var values: [any Column] {
    [
      owner, id, isNamed, relayID, Int64(platform.number), ringKey, sealed, tokenIndex, Self.bytes(capabilities),
      signedAt, registeredAt, expiresAt, isVerified, isQuarantined, sealingKey?.bytes,
    ]
  }

  var registration: PushRegistration {
    PushRegistration(deviceID: id, relayID: relayID, expiresAt: expiresAt, isVerified: isVerified)
  }

  // MARK: The token

  private var place: [UInt8] { SealedBox.place(owner: owner, deviceID: id, platform: platform) }

  mutating func seal(_ token: PushToken, _ keys: LedgerKeys) {
    sealed = SealedBox.seal(token.bytes, key: keys.ring.newest.token, place: place)
    ringKey = keys.newestNumber
  }

  /// Nil if the token does not open under the key that the row names.
  func token(_ keys: LedgerKeys) -> PushToken? {
    keys.numbered[ringKey].flatMap { token(under: $0) }
  }

  func token(under key: RingKey) -> PushToken? {
    SealedBox.open(sealed, key: key.token, place: place).flatMap { PushToken(bytes: $0, platform: platform) }
  }

  /// The device with its token opened; nil if it does not open.
  func device(_ keys: LedgerKeys) -> PushDevice? {
    guard let token = token(keys) else { return nil }
    var device = PushDevice(
      owner: owner, id: id, relayID: relayID, token: token, capabilities: capabilities, registeredAt: registeredAt,
      expiresAt: expiresAt, isVerified: isVerified, sealingKey: sealingKey)
    device.number = number
    return device
  }

  // MARK: Capabilities: for each its byte count and its bytes

  static func bytes(_ capabilities: [String]) -> [UInt8] {
    capabilities.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8.prefix(Int(UInt8.max))) }
  }

  static func capabilities(_ bytes: [UInt8]) -> [String]? {
    var found: [String] = []
    var rest = bytes[...]
    while let count = rest.popFirst() {
      guard rest.count >= count else { return nil }
      found.append(String(decoding: rest.prefix(Int(count)), as: UTF8.self))
      rest = rest.dropFirst(Int(count))
    }
    return found
  }
}
