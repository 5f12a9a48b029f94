public import PushDelivery

/// What became of a command, in the order of the commands.
public enum LedgerAnswer: Hashable, Sendable {
  /// The device is registered.
  case registered(PushRegistration)
  /// A newer message stands, of the device, the contacts or the rules, and stays. Nothing was done; but of devices
  /// without a name, taken away together, those that are older went: their rows.
  case superseded(removed: [Int64] = [])
  /// It is none any more, or never was; the rows of devices that went by it.
  case unregistered(removed: [Int64] = [])
  /// The sender hears that it is queued, under this id.
  case queued(id: [UInt8])
  /// The sender hears that there is nobody.
  case recipientNotFound
  /// The sender is to wait, for what he has spent himself or for another reason; nothing was written.
  case limited(retryAfterSeconds: Int, isOwnLimit: Bool = false)
  /// The sender has called another wake so; nothing was done.
  case nonceReused
  /// The contacts stand as asked.
  case contactsKept
  /// The rules stand as asked.
  case rulesKept
  /// How many wakes were put into the queue.
  case noted(queued: Int)
  /// More contacts than an owner may have; nothing was done.
  case tooManyContacts
  /// As many Nostr keys as may be have devices already, and this is another; nothing was done.
  case tooManyKeys
  /// A registration brought a code that is not the one that was sent to this device with this token, or one whose time
  /// is over. It counts as an attempt, and nothing else was done.
  case challengeFailed
  /// The message is so old that it may have been answered and forgotten; nothing was done.
  case stale
  /// There is no room for it; nothing was done, and later there may be.
  case unavailable
  /// Whether the device was taken away.
  case pruned(Bool)
  /// What was forgotten.
  case swept(PushSweep)
  /// Rows that are under the newest key now, rows that no key opened, and rows that are still under another key.
  case rekeyed(changed: Int, broken: Int, remaining: Int64)
  /// It is done.
  case done
}

/// A registration, as its owner hears of it.
public struct PushRegistration: Hashable, Sendable {
  /// What its owner calls the device, or what it is called for want of a name.
  public var deviceID: String
  /// What this relay calls it: 32 hexadecimal digits.
  public var relayID: String
  /// Unix seconds from which it is none any more.
  public var expiresAt: Int64
  /// Whether its owner has shown that the token is his.
  public var isVerified: Bool
  /// What is to be sent to the device. Not there when it was proved, when the message had been answered before, and
  /// when this device was sent another less than a minute ago, or is to be.
  public var challenge: PushChallenge?
  /// Rows of devices that went by it: of the same token, or one too many. None when it had been answered before.
  public var removed: [Int64] = []
}

/// What is sent to a device so that its owner can show that the token is his.
public struct PushChallenge: Hashable, Sendable {
  /// The device's row.
  public var device: Int64
  /// Where to.
  public var token: PushToken
  /// 32 hexadecimal digits, to be sent back. In the ledger is its hash only.
  public var code: String
  /// Unix seconds from which it may be sent, at most ``PushLedger/challengeWaitMaximum`` from now: others' go before
  /// it.
  public var sendAt: Int64
  /// Unix seconds from which it proves nothing.
  public var expiresAt: Int64
}

/// What a sweep has forgotten.
public struct PushSweep: Hashable, Sendable {
  /// Devices whose time was over.
  public var expiredDevices = 0
  /// Wakes that became worthless in the queue.
  public var expiredWakes = 0
  /// Whether there may be more at once.
  public var isMore = false
}

/// Answers as they are kept beside a message: a number, and what belongs to it.
///
///     1 registered   isVerified 1 | expiresAt 8 | relay id 32 | device id
///     2 superseded   3 unregistered   4 queued (id)   5 recipient not found   6 contacts kept
///     7 rules kept
enum KeptAnswer {
  /// Nil for what is not kept: whoever heard it may come again with the same message.
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
