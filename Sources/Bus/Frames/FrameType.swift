/// The kinds of frame of RBP/1, as numbered in `docs/protocol.md`.
///
/// Types below 16 run a connection; the others carry work. A number that is not listed is a violation.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// First frame of a peer: who it is and what it serves. Payload ``Hello``.
  case hello = 1
  /// The hub's answer to HELLO. Payload ``Welcome``.
  case welcome = 2
  /// The peer can take work now.
  case ready = 3
  /// Methods, roles and endpoints changed. Payload ``Registry``.
  case registry = 4
  /// Asks for a PONG with the same id in `re`.
  case ping = 5
  /// Answers PING.
  case pong = 6
  /// Absolute totals the other side may have sent since WELCOME. Payload ``Credit``, 16 bytes.
  case credit = 7
  /// Finish what is in hand and leave; `ttl` is the deadline.
  case drain = 8
  /// Nothing more will come from this side.
  case goodbye = 9
  /// Last frame before the connection is cut. Payload ``Refusal``.
  case fatal = 10
  /// A worker's one-line state and progress counter. Payload ``StatusReport``.
  case status = 11
  /// A worker needs `ttl` more milliseconds to start or to stop.
  case extend = 12
  /// New settings for a running worker. Payload JSON.
  case config = 13
  /// Asks for work; gets exactly one terminal answer.
  case request = 16
  /// An answer. Terminal unless ``FrameFlags/more`` is set.
  case response = 17
  /// A terminal answer that says why not. Payload ``Refusal``.
  case error = 18
  /// Gives up a request; the terminal answer still comes.
  case cancel = 19
  /// The request `re` is moving; not terminal.
  case progress = 20
  /// A message nobody answers: to a topic (destination 0) or to an endpoint.
  case event = 24
  /// The frame `re` was taken over: an EVENT is done with, a REQUEST is accepted and will take long.
  case ack = 25
  /// The EVENT `re` was not taken: deliver again after `ttl` milliseconds, or never (`ttl` 0).
  case nack = 26
  /// Asks for a topic's events. `method` is the topic.
  case subscribe = 27
  /// Ends a subscription.
  case unsubscribe = 28
  /// Events of topic `method` were dropped for a slow external subscriber. Payload ``Gap``.
  case gap = 29

  /// Whether a frame of this type spends credit. Answers that end a request, and what keeps a connection going, never
  /// do, so an answer cannot be stuck behind a request: that is what keeps cycles of workers from deadlock.
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
/// The names are computed, so that other modules see the numbers instead of calling for them with every frame.
public struct FrameFlags: OptionSet, Sendable, Hashable {
  /// The 16 bits as they stand in the header.
  public let rawValue: UInt16

  /// Takes the bits as they stand in the header.
  @inlinable
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Not the last part of this answer.
  @inlinable
  public static var more: FrameFlags { FrameFlags(rawValue: 1 << 0) }
  /// Delivered before, to an instance of the worker that died.
  @inlinable
  public static var redelivered: FrameFlags { FrameFlags(rawValue: 1 << 1) }
  /// Never deliver twice: after a death the sender learns `outcome: unknown`.
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
