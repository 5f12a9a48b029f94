public import Cryptography
public import PushDelivery

/// What the owner of a Nostr key wants to be woken for. Replaces the earlier rules.
public struct RulesCommand: Sendable {
  /// The message that requested it.
  public var message: SignedMessage
  /// In the relay's own form; at most ``PushLedger/rulesByteCountMaximum`` bytes.
  public var rules: [UInt8]
  /// Unix seconds until which it is kept at least, if there is a device; see ``ContactsCommand/keepUntil``.
  public var keepUntil: Int64

  /// Rules.
  public init(message: SignedMessage, rules: [UInt8], keepUntil: Int64) {
    self.message = message
    self.rules = rules
    self.keepUntil = keepUntil
  }
}

/// Events for which a recipient is to be woken.
public struct EventBatch: Sendable {
  /// The wake: without a sender, with a topic.
  public var wake: Wake
  /// The ids of the events. Those for which the recipient was woken before do not count.
  public var events: [Octets32]

  /// A batch.
  public init(wake: Wake, events: [Octets32]) {
    self.wake = wake
    self.events = events
  }
}

/// Events that arrived, and how far the store was read.
public struct EventsCommand: Sendable {
  /// One for each recipient and topic.
  public var batches: [EventBatch]
  /// Where to continue after a start; nil leaves it unchanged.
  public var place: EventPlace?

  /// Events.
  public init(batches: [EventBatch], place: EventPlace?) {
    self.batches = batches
    self.place = place
  }
}

/// How far the event store was read.
public struct EventPlace: Hashable, Sendable {
  /// The last seq that needs no more work.
  public var seq: Int64
  /// When the store was read to there, Unix seconds.
  public var readAt: Int64

  /// A place.
  public init(seq: Int64, readAt: Int64) {
    self.seq = seq
    self.readAt = readAt
  }
}

/// An owner of a Nostr key with devices.
public struct WatchedOwner: Hashable, Sendable {
  /// The owner.
  public var owner: PushOwner
  /// The rules of the owner; nil: none were set.
  public var rules: [UInt8]?
  /// The senders that the owner has blocked.
  public var blocked: [PushOwner]
  /// Since when the owner has had, without a gap, a device that can be woken; Unix seconds. A renewal does not change
  /// it.
  public var watchedSince: Int64
}
