public import Frames

/// The bounds of the hub, with their defaults; `[bus]` in `supervisor.conf` changes some. At each of them something
/// definite happens; nothing grows past one.
public struct HubLimits: Sendable, Equatable {
  /// What a peer may send before it hears more: 256 frames, 1 MiB. Beyond it the peer is cut (`no-credit`). That is
  /// about one full read of small frames: with 64 a sender and the hub take turns instead of working at the same time.
  public var window = Window(frames: 256, bytes: 1 << 20)
  /// How many parts of one streamed answer a worker may send beyond what the answer's caller has taken: 64 frames, 256
  /// KiB. Beyond it a part holds its sender's credit; a peer that knows of answer windows waits instead. Well below
  /// ``window``, so that an answer which its caller leaves untaken leaves room for the others.
  public var answerWindow = Window(frames: 64, bytes: 256 << 10)
  /// Frames in a worker's mailbox from which its senders get their credit back only when a frame leaves.
  public var mailboxFrames = 1_000
  /// Payload bytes in a worker's mailbox, with the same effect.
  public var mailboxBytes = 12 << 20
  /// The bound of a client's mailbox. Events of topics are dropped there, with a gap marker; and while parts of answers
  /// fill it, no credit comes back to the client.
  public var clientMailboxFrames = 256
  /// The same for a client, in payload bytes.
  public var clientMailboxBytes = 1 << 20
  /// Parts that a client may leave untaken, of all its answers together, if it grants each of them: 4,096, the windows
  /// of 64 answers. While as many wait, its further requests are refused (`full`).
  public var untakenFrames = 4_096
  /// The same in payload bytes: 4 MiB, a third of ``poolBytes``.
  public var untakenBytes = 4 << 20
  /// Payload bytes of answers that one client may leave untaken: two thirds of ``poolBytes``, so that no client fills
  /// it alone. From here on an answer of which one more part comes is given up.
  public var clientShareBytes: Int { max(clientMailboxBytes, poolBytes - poolBytes / 3) }
  /// Payload bytes that all mailboxes and all unanswered requests hold together; above it every mailbox counts as full,
  /// and an answer to a client that leaves ``clientMailboxBytes`` untaken is given up.
  public var poolBytes = 12 << 20
  /// Unanswered requests of one peer from which its credit comes back only with the answers. Of a worker's window no
  /// more than three quarters are withheld so: the rest is for requests that it makes while it serves one, or a circle
  /// of such workers could wait for each other. What it asks beyond four times this number is refused (`full`).
  public var outstandingRequests = 1_024
  /// The same for a local relay, each of whose clients has requests of its own that stay open: its subscriptions.
  public var relayedRequests = 32_768
  /// Deliveries of one message, each ended by the worker's death, after which it is quarantined.
  public var deliveriesMaximum: UInt16 = 3
  /// Whether the owner of the hub keeps what is quarantined, unless it is secret; the refusal to the sender says it.
  public var keepsDeadLetters = true
  /// How long a worker may take to answer a request that was cancelled or has expired before the hub stops waiting.
  public var cancelGraceMilliseconds: UInt64 = 5_000
  /// Time to live of requests that bring none; 0 = no limit.
  public var defaultTTLMilliseconds: UInt32 = 0

  /// The defaults.
  public init() {}
}
