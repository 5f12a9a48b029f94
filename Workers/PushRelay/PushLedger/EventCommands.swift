public import Cryptography
public import PushDelivery

/// What the owner of a Nostr key wants to be woken for. Replaces what was there.
public struct RulesCommand: Sendable {
  /// What asked for it.
  public var message: SignedMessage
  /// As the relay writes it; at most ``PushLedger/rulesByteCountMaximum`` bytes.
  public var rules: [UInt8]
  /// Unix seconds until which it is kept at least, where there is a device; see ``ContactsCommand/keepUntil``.
  public var keepUntil: Int64

  /// Rules.
  public init(message: SignedMessage, rules: [UInt8], keepUntil: Int64) {
    self.message = message
    self.rules = rules
    self.keepUntil = keepUntil
  }
}

/// Events that somebody is to be woken for.
public struct EventBatch: Sendable {
  /// The wake: without a sender, with a topic.
  public var wake: Wake
  /// The ids of the events. Those that its recipient was woken for before do not count.
  public var events: [Octets32]

  /// A batch.
  public init(wake: Wake, events: [Octets32]) {
    self.wake = wake
    self.events = events
  }
}

/// Events that came, and how far the store was read.
public struct EventsCommand: Sendable {
  /// For each recipient and topic one.
  public var batches: [EventBatch]
  /// Where to go on after a start; nil leaves it.
  public var place: EventPlace?

  /// Events.
  public init(batches: [EventBatch], place: EventPlace?) {
    self.batches = batches
    self.place = place
  }
}

/// How far the event store was read.
public struct EventPlace: Hashable, Sendable {
  /// The last seq that is done with.
  public var seq: Int64
  /// When that was, Unix seconds.
  public var readAt: Int64

  /// A place.
  public init(seq: Int64, readAt: Int64) {
    self.seq = seq
    self.readAt = readAt
  }
}

/// An owner of a Nostr key with devices.
public struct WatchedOwner: Hashable, Sendable {
  /// Who.
  public var owner: PushOwner
  /// What he has said he wants to be woken for; nil: nothing was said.
  public var rules: [UInt8]?
  /// Whom he has blocked.
  public var blocked: [PushOwner]
  /// Since when there has been a device of his that can be woken, without a gap, Unix seconds. A renewal does not
  /// change it.
  public var watchedSince: Int64
}
