public import Frames

/// The payload of a frame that the hub sends.
public enum HubPayload: Sendable {
  /// No payload.
  case none
  /// The payload of the frame being processed: valid until the next input to the hub, and not copied.
  case input
  /// Bytes kept by the hub.
  case stored([UInt8])

  /// The bytes, given those of the frame being processed.
  public func bytes(input: [UInt8]) -> [UInt8] {
    switch self {
    case .none: []
    case .input: input
    case .stored(let bytes): bytes
    }
  }

  /// The kept bytes' number; 0 for the others.
  var storedByteCount: Int {
    if case .stored(let bytes) = self { return bytes.count }
    return 0
  }
}

/// What the hub wants done after an input. The shell performs the actions in order.
public enum HubAction: Sendable {
  /// Write a frame to a peer.
  case send(seat: SeatIndex, header: FrameHeader, payload: HubPayload)
  /// Tell the peer why (FATAL) and close its connection.
  case cut(seat: SeatIndex, violation: FrameViolation)
  /// A request for one of the supervisor's own methods; answer with ``MessageHub/answer(_:payload:more:now:actions:)``
  /// or ``MessageHub/refuse(_:_:actions:)``. Its payload is the input.
  case serve(HubCall)
  /// A caller of the supervisor's methods gave up, or left.
  case serviceCancelled(HubCall)
  /// A caller that had been refused room for parts has room again: for all its answers, or for that to request `id`.
  case serviceMayContinue(seat: SeatIndex, id: UInt64?)
  /// The terminal answer to ``MessageHub/redeliver(method:payload:isRaw:deaths:now:actions:)``. Its payload may be the
  /// input.
  case injectedAnswer(id: UInt64, header: FrameHeader, payload: HubPayload)
  /// A message that killed its worker too often: keep it for a person to see.
  indirect case keepDeadLetter(DeadLetter)
  /// A dead letter that was tried again under this number has killed this worker, with so many deliveries in all. Its
  /// answer comes next.
  case retryKilled(id: UInt64, worker: String, deliveries: UInt16)
  /// A frame that runs a connection (READY, STATUS, EXTEND, GOODBYE, …), for the supervisor.
  case control(seat: SeatIndex, header: FrameHeader)
}

/// A request that the supervisor itself serves.
public struct HubCall: Hashable, Sendable {
  /// The caller.
  public let caller: Endpoint
  /// The caller's seat.
  public var seat: SeatIndex { SeatIndex(of: caller) }
  /// The caller's id for it.
  public let id: UInt64
  /// The method's number.
  public let method: UInt16
  /// Ties it to what caused it.
  public let trace: UInt64
}

/// A message that was quarantined, with what is known of it.
public struct DeadLetter: Sendable {
  /// The worker it was for.
  public let worker: String
  /// The frame's header as last delivered.
  public let header: FrameHeader
  /// The payload.
  public let payload: [UInt8]
  /// The name of its sender.
  public let sender: String
  /// How often it was delivered and the worker died.
  public let deliveries: UInt16
}

/// Counters of the hub; they only grow.
public struct HubCounters: Sendable, Equatable {
  /// Frames from peers that were taken in.
  public var framesIn: UInt64 = 0
  /// Frames sent to peers.
  public var framesOut: UInt64 = 0
  /// Requests taken in.
  public var requests: UInt64 = 0
  /// Terminal answers that came from workers.
  public var answered: UInt64 = 0
  /// Terminal answers that the hub wrote itself.
  public var refused: UInt64 = 0
  /// Messages delivered again after a death.
  public var redelivered: UInt64 = 0
  /// Messages quarantined.
  public var quarantined: UInt64 = 0
  /// Answers that came too late, or from an earlier delivery.
  public var stale: UInt64 = 0
  /// Calls refused by the access table.
  public var denied: UInt64 = 0
  /// Topic events dropped for slow external subscribers.
  public var dropped: UInt64 = 0
  /// Connections cut for a violation.
  public var violations: UInt64 = 0

  /// All zero.
  public init() {}
}
