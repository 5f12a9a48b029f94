public import Frames

/// The bounds of the hub, from `[bus]` in `supervisor.conf`. At each of them something definite happens; nothing grows
/// past one.
public struct HubLimits: Sendable, Equatable {
  /// What a peer may send before it hears more: 256 frames, 1 MiB. Beyond it the peer is cut (`no-credit`). That is about one
  /// full read of small frames: with 64 a sender and the hub take turns instead of working at the same time.
  public var window = Window(frames: 256, bytes: 1 << 20)
  /// Frames in a worker's mailbox from which its senders get their credit back only when a frame leaves.
  public var mailboxFrames = 1_000
  /// Payload bytes in a worker's mailbox, with the same effect.
  public var mailboxBytes = 12 << 20
  /// The same for a client; events of topics are dropped there, with a gap marker.
  public var clientMailboxFrames = 256
  /// The same for a client, in payload bytes.
  public var clientMailboxBytes = 1 << 20
  /// Payload bytes that all mailboxes and all unanswered requests hold together; above it every mailbox counts as full.
  public var poolBytes = 12 << 20
  /// Unanswered requests of one peer from which its credit comes back only with the answers. A worker that makes
  /// requests while it serves one keeps a quarter of its window for them, or a circle of such workers could wait for
  /// each other.
  public var outstandingRequests = 1_024
  /// Deliveries of one message, each ended by the worker's death, after which it is quarantined.
  public var deliveriesMaximum: UInt16 = 3
  /// How long a worker may take to answer a request that was cancelled or has expired before the hub stops waiting.
  public var cancelGraceMilliseconds: UInt64 = 5_000
  /// Time to live of requests that bring none; 0 = no limit.
  public var defaultTTLMilliseconds: UInt32 = 0

  /// The defaults.
  public init() {}
}
