/// How much one side may have in flight to the other: the first grant, before any CREDIT.
public struct Window: Codable, Hashable, Sendable {
  /// Frames that spend credit.
  public var frames: UInt64
  /// Payload bytes of those frames. A frame may be sent while at least one byte is left, so the total can be overdrawn
  /// by one payload.
  public var bytes: UInt64

  /// A window of this size.
  public init(frames: UInt64, bytes: UInt64) {
    self.frames = frames
    self.bytes = bytes
  }

  /// 64 frames and 1 MiB.
  public static let standard = Window(frames: 64, bytes: 1 << 20)
}

/// The payload of HELLO, JSON of at most 64 KiB: the peer's name and role, and the methods it serves.
///
/// Only `role` and `name` are required: `{"role":"client","name":"my-script"}`.
public struct Hello: Codable, Sendable {
  /// Lowest and highest protocol version the peer speaks; absent: `[1,1]`.
  public var `protocol`: [UInt8]?
  /// The peer's name: a worker's name in `supervisor.conf`, any text of at most 64 bytes for a client.
  public var name: String
  /// A role of the registry: `client`, `relay-connector`, …
  public var role: String
  /// Random text that distinguishes this start of the program from others.
  public var instance: String?
  /// The generation that a managed worker received in `ROOST_GENERATION`.
  public var generation: UInt64?
  /// The one-time token of `roost attach`.
  public var token: String?
  /// Process id, for display.
  public var pid: Int32?
  /// The program's own version, for display.
  public var version: String?
  /// Methods the peer serves, by name.
  public var methods: [String]?
  /// The largest length field the peer accepts, in bytes; absent: 1 MiB.
  public var frameLimit: Int?
  /// What the peer lets the hub send before its first CREDIT; absent: 64 frames and 1 MiB.
  public var window: Window?
  /// Whether the peer understands CREDIT for a single answer (`re` ≠ 0); absent: it does not, and receives none.
  public var answerCredit: Bool?
  /// Whether this client grants credit for each of its answers separately, by CREDIT with the request's id in `re`;
  /// absent: parts spend the credit of the connection.
  public var answerGrants: Bool?
  /// Whether the hub writes the sender's role into the REQUESTs and EVENTs that it passes on to this worker
  /// (``FrameHeader/callerRole``); absent: their `re` is 0.
  public var callerRole: Bool?
  /// The sandbox that the worker could set up, as text for `roost status --sandbox`.
  public var sandbox: String?

  /// The greeting of a peer with this name and role.
  public init(name: String, role: String) {
    self.name = name
    self.role = role
  }

  /// The largest payload of a HELLO, in bytes.
  public static let byteCountMaximum = 64 << 10
  /// The longest name, in UTF-8 bytes.
  public static let nameByteCountMaximum = 64
  /// The maximum number of methods in one HELLO.
  public static let methodCountMaximum = 256
}

/// The payload of WELCOME, JSON: what the peer needs to begin.
public struct Welcome: Codable, Sendable {
  /// The protocol version in use: 1.
  public var `protocol`: UInt8
  /// The peer's own endpoint.
  public var endpoint: UInt32
  /// The largest length field on this connection, in bytes, in both directions.
  public var frameLimit: Int
  /// What the peer may send before the hub's first CREDIT.
  public var window: Window
  /// What the peer may send of each answer before the hub's first CREDIT for it, in parts and their payload bytes;
  /// absent: the hub has no such window.
  public var answerWindow: Window?
  /// Whether the hub follows the credit that this client grants for each answer; the first grant is ``answerWindow``.
  /// Absent: the peer did not request it, or the hub does not support it.
  public var answerGrants: Bool?
  /// Methods, topics, roles and endpoints.
  public var registry: Registry
  /// A worker's settings from `supervisor.conf`, as JSON; absent for clients.
  public var configuration: JSONValue?
  /// Log level by category for workers; the key `*` is the general one.
  public var logLevels: [String: String]?

  /// A welcome with these contents.
  public init(
    endpoint: UInt32, frameLimit: Int, window: Window, answerWindow: Window? = nil, registry: Registry,
    configuration: JSONValue? = nil, logLevels: [String: String]? = nil
  ) {
    self.protocol = FrameHeader.version
    self.endpoint = endpoint
    self.frameLimit = frameLimit
    self.window = window
    self.answerWindow = answerWindow
    self.registry = registry
    self.configuration = configuration
    self.logLevels = logLevels
  }
}

/// The payload of REGISTRY and a part of WELCOME: the numbers that headers use.
public struct Registry: Codable, Sendable, Equatable {
  /// A method that can be requested.
  public struct Method: Codable, Sendable, Equatable {
    /// Its number in the header's `method`.
    public var number: UInt16
    /// The role that serves it.
    public var role: String
    /// A method that is served as described.
    public init(number: UInt16, role: String) {
      self.number = number
      self.role = role
    }
  }
  /// A worker's place on the bus.
  public struct Member: Codable, Sendable, Equatable {
    /// The worker's name.
    public var name: String
    /// Its role.
    public var role: String
    /// Its present endpoint; older endpoints of the same worker continue to work.
    public var endpoint: UInt32
    /// Whether it takes work now; if not, messages wait in its mailbox.
    public var isReady: Bool
    /// A member.
    public init(name: String, role: String, endpoint: UInt32, isReady: Bool) {
      self.name = name
      self.role = role
      self.endpoint = endpoint
      self.isReady = isReady
    }
  }
  /// Methods by name.
  public var methods: [String: Method]
  /// Topic numbers by name.
  public var topics: [String: UInt16]
  /// Role numbers by name: a destination is 0x80000000 + the number.
  public var roles: [String: UInt16]
  /// The workers.
  public var members: [Member]

  /// A registry with these contents.
  public init(methods: [String: Method], topics: [String: UInt16], roles: [String: UInt16], members: [Member]) {
    self.methods = methods
    self.topics = topics
    self.roles = roles
    self.members = members
  }
}

extension Registry {
  /// The worker whose connection an endpoint is: its present connection in this registry, or the next one on its seat,
  /// whose REGISTRY is still on its way. Nil for any other endpoint: a seat is given to other peers later, and its next
  /// holder is not known yet.
  ///
  /// A worker that comes back gets the turn after its last one. The hub never gives that turn to another worker,
  /// because a seat that is given away is first reserved for one turn. A client may get it; hence the role.
  ///
  /// - Parameters:
  ///   - endpoint: the connection's endpoint.
  ///   - role: the number of its role, as the hub wrote it (``FrameHeader/callerRole``).
  public func member(at endpoint: Endpoint, role: UInt16) -> Member? {
    members.first { member in
      let known = Endpoint(rawValue: member.endpoint)
      guard known.seat == endpoint.seat, roles[member.role] == role else { return false }
      return known == endpoint || Endpoint(seat: known.seat, turn: known.turn &+ 1) == endpoint
    }
  }
}

/// The payload of STATUS, JSON: one line about what a worker is doing, and a progress counter.
public struct StatusReport: Codable, Sendable {
  /// One line for people; at most 200 bytes are shown.
  public var text: String
  /// Any number that grows while the work makes progress.
  public var progress: UInt64?
  /// A status line.
  public init(text: String, progress: UInt64? = nil) {
    self.text = text
    self.progress = progress
  }
}

/// The payload of GAP, JSON `{"dropped":17}`: how many events of the topic this subscriber has missed.
public struct Gap: Codable, Sendable {
  /// Events dropped since the last one delivered.
  public var dropped: UInt64
  /// A gap of this many events.
  public init(dropped: UInt64) { self.dropped = dropped }
}

/// The 16 bytes of a CREDIT, little-endian. They are totals since WELCOME, or, with `re` ≠ 0, totals of one answer
/// since its request was delivered (to its worker) or sent (by its caller). Because they are totals, a repeated or late
/// one does no harm.
///
///      0        8        16
///     ┌────────┬────────┐
///     │ frames │ bytes  │
///     └────────┴────────┘
public struct Credit: Hashable, Sendable {
  /// The total number of frames that the other side may have sent.
  public var frames: UInt64
  /// The total number of payload bytes that the other side may have sent.
  public var bytes: UInt64

  /// Totals of this size.
  @inlinable
  public init(frames: UInt64, bytes: UInt64) {
    self.frames = frames
    self.bytes = bytes
  }

  /// Reads a payload; nil when it is not 16 bytes.
  public init?(_ payload: UnsafeRawBufferPointer) {
    guard payload.count == 16 else { return nil }
    frames = UInt64(littleEndian: payload.loadUnaligned(as: UInt64.self))
    bytes = UInt64(littleEndian: payload.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  /// The payload.
  public var payload: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      raw.storeBytes(of: frames.littleEndian, as: UInt64.self)
      raw.storeBytes(of: bytes.littleEndian, toByteOffset: 8, as: UInt64.self)
      count = 16
    }
  }
}
