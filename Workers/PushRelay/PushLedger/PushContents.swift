public import PushDelivery

/// A wake in the queue.
public struct OpenWake: Hashable, Sendable {
  /// The wake, with its number.
  public var wake: Wake
  /// Rows of devices that no longer need it.
  public var settledDevices: Set<Int64>
  /// Whether it must not be delivered at all, and must be settled as ``WakeEnd/dropped``.
  public var isDropped = false
}

/// What the sender of a wake may learn of its end.
public enum WakeProgress: Hashable, Sendable {
  /// It waits, or the sender may not know more.
  case queued
  /// It has ended.
  case ended(WakeEnd)
}

/// Which senders may wake an owner.
public struct PushContacts: Hashable, Sendable {
  /// The senders that the owner has allowed or blocked.
  public var contacts: [PushOwner: ContactKind] = [:]
  /// The owner's policy; nil: none was set.
  public var policy: String?
}

/// Bytes that the relay keeps for itself.
public struct SavedBytes: Hashable, Sendable {
  /// What was saved.
  public var bytes: [UInt8]
  /// When they were saved, by the time in the command.
  public var savedAt: Int64
}

/// How much of the limits was spent.
public struct SavedLimits: Hashable, Sendable {
  /// As the limits wrote it.
  public var snapshot: [UInt8]
  /// When it was saved, by the time in the command.
  public var savedAt: Int64
  /// Whether only closing followed.
  public var isClean: Bool
}

/// A device for the operator: without its token.
public struct DeviceSummary: Hashable, Sendable {
  /// Its row.
  public var number: Int64
  /// The key that registered it.
  public var owner: PushOwner
  /// The owner's name for it.
  public var id: String
  /// The relay's name for it.
  public var relayID: String
  /// The platform that delivers its pushes.
  public var platform: PushPlatform
  /// The types of wakes that it wants.
  public var capabilities: [String]
  /// Unix seconds of the last registration.
  public var registeredAt: Int64
  /// When the registration expires, Unix seconds.
  public var expiresAt: Int64
  /// Whether its owner has proved the token.
  public var isVerified: Bool
  /// Whether its token does not open: then it gets no pushes.
  public var isQuarantined: Bool
  /// Whether messages to it are sealed, so that no platform can read them.
  public var isSealed: Bool
}

/// Totals of the file's life.
public enum PushTotal: String, Hashable, Sendable, CaseIterable {
  /// Registrations that took effect.
  case registrations
  /// Devices that their owners removed.
  case removals
  /// Devices that were removed because there were too many.
  case evictedDevices
  /// Devices that expired.
  case expiredDevices
  /// Devices that their platform no longer knew.
  case prunedDevices
  /// Devices whose token did not open.
  case quarantinedDevices
  /// Tokens that a new owner has proved.
  case movedTokens
  /// Wakes that were put into the queue.
  case acceptedWakes
  /// Those of the accepted wakes that are for events of Nostr.
  case eventWakes
  /// Wakes that were answered and not put into the queue for delivery.
  case droppedWakes
  /// Wakes that a platform accepted for at least one device.
  case deliveredWakes
  /// Wakes that no platform accepts.
  case failedWakes
  /// Wakes that expired in the queue.
  case expiredWakes
  /// Wakes that another wake replaced.
  case coalescedWakes
  /// Messages that were repeated.
  case repeatedMessages

  var counter: String { "total.\(rawValue)" }
}

/// Figures for the operator. They name no key.
public struct PushStatistics: Hashable, Sendable {
  /// Devices that have not expired and whose token opens, by platform.
  public var devices: [PushPlatform: Int64] = [:]
  /// Devices whose token does not open.
  public var quarantinedDevices: Int64 = 0
  /// Tokens that open under each key, by the key's name; also of expired devices, until they are swept.
  public var tokensByKey: [String: Int64] = [:]
  /// Wakes in the queue.
  public var queuedWakes: Int64 = 0
  /// Devices of Nostr keys that have not expired and whose token opens, proved or not.
  public var nostrDevices: Int64 = 0
  /// Totals of the file's life.
  public var totals: [PushTotal: Int64] = [:]
}
