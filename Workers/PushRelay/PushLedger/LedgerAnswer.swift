public import PushDelivery

/// The answer to a command, in the order of the commands.
public enum LedgerAnswer: Hashable, Sendable {
  /// The device is registered.
  case registered(PushRegistration)
  /// A newer message about the device, the contacts or the rules exists, and stays in effect. Nothing was done; but of
  /// unnamed devices that were to be removed together, the older ones were removed. `removed`: their rows.
  case superseded(removed: [Int64] = [])
  /// The device is no longer registered, or never was. `removed`: the rows of the devices that were removed.
  case unregistered(removed: [Int64] = [])
  /// The sender receives `queued`, with this id.
  case queued(id: [UInt8])
  /// The sender receives `recipient_not_found`.
  case recipientNotFound
  /// The sender must wait, because of its own limit or for another reason; nothing was written.
  case limited(retryAfterSeconds: Int, isOwnLimit: Bool = false)
  /// The sender has used the nonce for another wake; nothing was done.
  case nonceReused
  /// The contacts are stored.
  case contactsKept
  /// The rules are stored.
  case rulesKept
  /// How many wakes were put into the queue.
  case noted(queued: Int)
  /// More contacts than an owner may have; nothing was done.
  case tooManyContacts
  /// The maximum of Nostr keys already have devices, and this is another key; nothing was done.
  case tooManyKeys
  /// A registration has a code that is not the one sent to this device with this token, or one that has expired. It
  /// counts as an attempt; nothing else was done.
  case challengeFailed
  /// The message is so old that its answer may have been forgotten; nothing was done.
  case stale
  /// There is no room for it, but there may be later; nothing was done.
  case unavailable
  /// Whether the device was removed.
  case pruned(Bool)
  /// What was removed of an owner: how many devices and wakes, and the rows of the devices.
  case forgotten(devices: Int, wakes: Int, removed: [Int64])
  /// What was removed.
  case swept(PushSweep)
  /// The numbers of rows that are now under the newest key, of rows that no key opened, and of rows that are still
  /// under another key.
  case rekeyed(changed: Int, broken: Int, remaining: Int64)
  /// It is done.
  case done
}

/// A registration, as its owner receives it.
public struct PushRegistration: Hashable, Sendable {
  /// The owner's name for the device, or the name derived from the token.
  public var deviceID: String
  /// The relay's name for it: 32 hexadecimal digits.
  public var relayID: String
  /// When the registration expires, Unix seconds.
  public var expiresAt: Int64
  /// Whether its owner has proved the token.
  public var isVerified: Bool
  /// What must be sent to the device. Nil if the token is proved, if the message was answered before, and if this
  /// device got or awaits another challenge within a minute.
  public var challenge: PushChallenge?
  /// Rows of devices that this removed: of the same token, or beyond the maximum. Empty if the message was answered
  /// before.
  public var removed: [Int64] = []
}

/// What is sent to a device so that its owner can prove the token.
public struct PushChallenge: Hashable, Sendable {
  /// The device's row.
  public var device: Int64
  /// The token to send it to.
  public var token: PushToken
  /// 32 hexadecimal digits, to be sent back. The ledger has only their hash.
  public var code: String
  /// The earliest time to send it, Unix seconds; at most ``PushLedger/challengeWaitMaximum`` from now: challenges of
  /// other owners go before it.
  public var sendAt: Int64
  /// When it expires, Unix seconds.
  public var expiresAt: Int64
}

/// What a sweep has removed.
public struct PushSweep: Hashable, Sendable {
  /// Devices that had expired.
  public var expiredDevices = 0
  /// Wakes that expired in the queue.
  public var expiredWakes = 0
  /// Whether there may be more to remove at once.
  public var isMore = false
}

/// Answers in the form in which they are stored with a message: a number, and its data.
///
///     1 registered   isVerified 1 | expiresAt 8 | relay id 32 | device id
///     2 superseded   3 unregistered   4 queued (id)   5 recipient not found   6 contacts kept
///     7 rules kept   8 challenge failed
enum KeptAnswer {
  /// Nil for an answer that is not stored: the client may send the same message again.
  static func bytes(_ answer: LedgerAnswer) -> [UInt8]? {
    switch answer {
    case .registered(let registration):
      let expiry = withUnsafeBytes(of: registration.expiresAt.bigEndian) { Array($0) }
      return [1, registration.isVerified ? 1 : 0] + expiry + Array(registration.relayID.utf8)
        + Array(registration.deviceID.utf8)
    case .superseded: return [2]
    case .unregistered: return [3]
    case .queued(let id): return [4] + id
    case .recipientNotFound: return [5]
    case .contactsKept: return [6]
    case .rulesKept: return [7]
    case .challengeFailed: return [8]
    default: return nil
    }
  }

  static func answer(_ bytes: [UInt8]) -> LedgerAnswer? {
    switch bytes.first {
    case 1:
      let relayStart = 10
      let relayEnd = relayStart + DeviceRow.relayIDDigitCount
      guard bytes.count > relayEnd else { return nil }
      let expiry = bytes[2..<relayStart].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return .registered(
        PushRegistration(
          deviceID: String(decoding: bytes[relayEnd...], as: UTF8.self),
          relayID: String(decoding: bytes[relayStart..<relayEnd], as: UTF8.self),
          expiresAt: Int64(bitPattern: expiry), isVerified: bytes[1] == 1))
    case 2: return .superseded()
    case 3: return .unregistered()
    case 4: return .queued(id: Array(bytes.dropFirst()))
    case 5: return .recipientNotFound
    case 6: return .contactsKept
    case 7: return .rulesKept
    case 8: return .challengeFailed
    default: return nil
    }
  }
}
