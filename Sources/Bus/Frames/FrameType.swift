/// The types of frame of RBP/1, as numbered in `docs/protocol.md`.
///
/// Types below 16 maintain a connection; the others carry work. A number that is not listed is a violation.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// First frame of a peer: its name, its role and the methods it serves. Payload ``Hello``.
  case hello = 1
  /// The hub's answer to HELLO. Payload ``Welcome``.
  case welcome = 2
  /// The peer can take work now.
  case ready = 3
  /// Methods, roles and endpoints changed. Payload ``Registry``.
  case registry = 4
  /// Requests a PONG with the same id in `re`.
  case ping = 5
  /// Answers PING.
  case pong = 6
  /// Absolute totals that the other side may have sent since WELCOME. Payload ``Credit``, 16 bytes.
  case credit = 7
  /// Finish what is in flight and leave; `ttl` is the deadline.
  case drain = 8
  /// This side will send nothing more.
  case goodbye = 9
  /// Last frame before the hub closes the connection. Payload ``Refusal``.
  case fatal = 10
  /// A worker's one-line state and progress counter. Payload ``StatusReport``.
  case status = 11
  /// A worker needs `ttl` more milliseconds to start or to stop.
  case extend = 12
  /// New settings for a running worker. Payload JSON.
  case config = 13
  /// Requests work; receives exactly one terminal answer.
  case request = 16
  /// An answer. Terminal unless ``FrameFlags/more`` is set.
  case response = 17
  /// A terminal answer with the reason of a refusal. Payload ``Refusal``.
  case error = 18
  /// Cancels a request; the terminal answer still comes.
  case cancel = 19
  /// The request `re` makes progress; not terminal.
  case progress = 20
  /// A message without an answer: to a topic (destination 0) or to an endpoint.
  case event = 24
  /// The receiver has taken over frame `re`: an EVENT is handled, a REQUEST is accepted and will take long.
  case ack = 25
  /// The receiver has not handled EVENT `re`: deliver it again after `ttl` milliseconds, or never (`ttl` 0).
  case nack = 26
  /// Subscribes to a topic. `method` is the topic.
  case subscribe = 27
  /// Ends a subscription.
  case unsubscribe = 28
  /// Events of topic `method` were dropped for a slow external subscriber. Payload ``Gap``.
  case gap = 29

  /// Whether a frame of this type spends credit. Terminal answers, and frames that maintain a connection, never do, so
  /// a terminal answer cannot be stuck behind a request. This prevents a deadlock in cycles of workers.
  @inlinable
  public func spendsCredit(flags: FrameFlags) -> Bool {
    switch self {
    case .request, .progress, .event, .subscribe, .unsubscribe, .gap: true
    case .response: flags.contains(.more)
    default: false
    }
  }

  /// Whether the frame ends the request it answers.
  @inlinable
  public func isTerminal(flags: FrameFlags) -> Bool {
    self == .error || (self == .response && !flags.contains(.more))
  }
}

/// The flag bits of a frame header. Bits without a name must be zero.
///
/// The names are computed, so that other modules see the numbers and need no call for each frame.
public struct FrameFlags: OptionSet, Sendable, Hashable {
  /// The 16 bits in the header.
  public let rawValue: UInt16

  /// Flags from the bits in the header.
  @inlinable
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// More parts of this answer follow.
  @inlinable
  public static var more: FrameFlags { FrameFlags(rawValue: 1 << 0) }
  /// Delivered before, to a generation of the worker that died.
  @inlinable
  public static var redelivered: FrameFlags { FrameFlags(rawValue: 1 << 1) }
  /// Never deliver it twice: after a death the sender learns `outcome: unknown`.
  @inlinable
  public static var atMostOnce: FrameFlags { FrameFlags(rawValue: 1 << 2) }
  /// An EVENT that its receiver acknowledges.
  @inlinable
  public static var needsAck: FrameFlags { FrameFlags(rawValue: 1 << 3) }
  /// The payload's layout is the method's own; without it the payload is JSON.
  @inlinable
  public static var raw: FrameFlags { FrameFlags(rawValue: 1 << 8) }

  /// All bits that have a meaning.
  @inlinable
  public static var known: FrameFlags { [.more, .redelivered, .atMostOnce, .needsAck, .raw] }
}
