public import PushDelivery

/// A wake in the queue.
public struct OpenWake: Hashable, Sendable {
  /// The wake, with its number.
  public var wake: Wake
  /// Rows of devices that it needs to be brought to no more.
  public var settledDevices: Set<Int64>
  /// Whether it is to be brought to none at all, and settled as ``WakeEnd/dropped``.
  public var isDropped = false
}

/// What became of a wake, as its sender may know it.
public enum WakeProgress: Hashable, Sendable {
  /// It waits, or the sender may not know more.
  case queued
  /// It has ended.
  case ended(WakeEnd)
}

/// Whom an owner wants to hear from.
public struct PushContacts: Hashable, Sendable {
  /// Whom he has allowed or blocked.
  public var contacts: [PushOwner: ContactKind] = [:]
  /// His policy; nil: none was set.
  public var policy: String?
}

/// Something kept for the relay itself.
public struct SavedBytes: Hashable, Sendable {
  /// What was saved.
  public var bytes: [UInt8]
  /// When, as it was told.
  public var savedAt: Int64
}

/// How much of the limits was spent.
public struct SavedLimits: Hashable, Sendable {
  /// As the limits wrote it.
  public var snapshot: [UInt8]
  /// When, as it was told.
  public var savedAt: Int64
  /// Whether nothing was done after it but closing.
  public var isClean: Bool
}

/// A device, as the operator sees it: without its token.
public struct DeviceSummary: Hashable, Sendable {
  /// Its row.
  public var number: Int64
  /// Who registered it.
  public var owner: PushOwner
  /// What its owner calls it.
  public var id: String
  /// What this relay calls it.
  public var relayID: String
  /// Whose servers bring it pushes.
  public var platform: PushPlatform
  /// What it wants to be woken for.
  public var capabilities: [String]
  /// Unix seconds of the last registration.
  public var registeredAt: Int64
  /// Unix seconds from which it is none any more.
  public var expiresAt: Int64
  /// Whether its owner has shown that the token is his.
  public var isVerified: Bool
  /// Whether its token cannot be opened: nothing is sent to it.
  public var isQuarantined: Bool
  /// Whether what it is sent is sealed for it, so that no platform can read it.
  public var isSealed: Bool
}

/// Totals of the file's life.
public enum PushTotal: String, Hashable, Sendable, CaseIterable {
  /// Registrations that took effect.
  case registrations
  /// Devices that their owners took away.
  case removals
  /// Devices that left because there were too many.
  case evictedDevices
  /// Devices whose time was over.
  case expiredDevices
  /// Devices that their platform knew no more.
  case prunedDevices
  /// Devices whose token did not open.
  case quarantinedDevices
  /// Tokens that a new owner has proved to be his.
  case movedTokens
  /// Wakes that were put into the queue.
  case acceptedWakes
  /// Wakes for events of Nostr, among those accepted.
  case eventWakes
  /// Wakes that were answered and not put into the queue.
  case droppedWakes
  /// Wakes that a platform took for one device at least.
  case deliveredWakes
  /// Wakes that no platform takes.
  case failedWakes
  /// Wakes that became worthless in the queue.
  case expiredWakes
  /// Wakes in whose place another was brought.
  case coalescedWakes
  /// Messages that came again.
  case repeatedMessages

  var counter: String { "total.\(rawValue)" }
}

/// Figures for the operator. Nobody is named in them.
public struct PushStatistics: Hashable, Sendable {
  /// Devices that can be woken, by platform.
  public var devices: [PushPlatform: Int64] = [:]
  /// Devices whose token does not open.
  public var quarantinedDevices: Int64 = 0
  /// Tokens that open under each key, by the key's name; also those whose device's time is over, until they are swept.
  public var tokensByKey: [String: Int64] = [:]
  /// Wakes in the queue.
  public var queuedWakes: Int64 = 0
  /// Devices of Nostr keys that can be woken, or have yet to show that their token is theirs.
  public var nostrDevices: Int64 = 0
  /// Totals of the file's life.
  public var totals: [PushTotal: Int64] = [:]
}
