public import Frames

// The contents of a recording of the bus, as values. `RecordingWriter` and `RecordingReader` handle the bytes;
// docs/recordings.md draws them.
//
// A recording holds one connection of one worker: every complete frame in both directions, in the order in which the
// hub handled it. That order is total, and it makes a replay possible: everything that the worker received before it
// sent a frame precedes that frame. A recording never holds tokens, or payloads of methods that the access table marks
// as secret.

/// A frame that went over the bus.
public struct RecordedFrame: Hashable, Sendable {
  /// The direction of a frame.
  public enum Direction: UInt8, Sendable {
    /// From the hub to the worker.
    case toWorker = 1
    /// From the worker to the hub.
    case fromWorker = 2
  }
  /// Nanoseconds since the recording's start, on the monotonic clock.
  public var nanoseconds: UInt64
  /// Its direction.
  public var direction: Direction
  /// Its header. `payloadByteCount` is the original size, which is more than that of `payload` when the payload was
  /// withheld.
  public var header: FrameHeader
  /// Its payload; empty when it was withheld.
  public var payload: [UInt8]
  /// Whether the payload was left out because it is secret.
  public var isWithheld: Bool
  /// Whether a token was removed from the payload (HELLO); the length is that of the rest.
  public var isTokenRemoved: Bool

  /// A frame; its header gets the payload's length unless the payload was withheld.
  public init(
    nanoseconds: UInt64, direction: Direction, header: FrameHeader, payload: [UInt8], isWithheld: Bool = false,
    isTokenRemoved: Bool = false
  ) {
    self.nanoseconds = nanoseconds
    self.direction = direction
    self.header = header
    self.payload = payload
    self.isWithheld = isWithheld
    self.isTokenRemoved = isTokenRemoved
    if !isWithheld { self.header.payloadByteCount = payload.count }
  }
}

/// One record after the opening.
public enum RecordingEntry: Hashable, Sendable {
  /// A frame.
  case frame(RecordedFrame)
  /// Frames are missing here, because the disk did not take them in time.
  case gap(nanoseconds: UInt64, missingCount: UInt64)
  /// The last record.
  case end(nanoseconds: UInt64, RecordingEnd)
}

/// How a recording ended. JSON: `{"reason":"size","text":"…"}`.
public struct RecordingEnd: Codable, Hashable, Sendable {
  /// A stable word for why.
  public enum Reason: String, Codable, Sendable {
    /// The client that requested it ended it, or disconnected.
    case asked
    /// Its time had ended.
    case time
    /// Its file had reached the maximum size.
    case size
    /// The worker's connection ended: the worker left or died, or the hub closed the connection.
    case connection
  }
  /// Why.
  public var reason: Reason
  /// The same in a sentence.
  public var text: String

  /// An end.
  public init(_ reason: Reason, _ text: String) {
    self.reason = reason
    self.text = text
  }
}

/// The first part of a recording, about itself. JSON; everything that a replay needs to start the worker's program in
/// the same way.
public struct RecordingOpening: Codable, Hashable, Sendable {
  /// The worker's name.
  public var worker: String
  /// Its role.
  public var role: String
  /// The worker's generation: `ROOST_GENERATION`; 0 for a worker that is in no configuration.
  public var generation: UInt32
  /// Whether the recording begins with HELLO. One that begins in the middle cannot be replayed.
  public var isFromStart: Bool
  /// Its program, as `supervisor.conf` names it; empty for a worker that is in no configuration.
  public var program: String
  /// Its arguments.
  public var arguments: [String]
  /// The names of the environment variables that it received.
  public var environment: [String]
  /// The configured sandbox: `try`, `required` or `off`.
  public var sandbox: String
  /// Wall time of the start, RFC 3339; for people.
  public var time: String
  /// The version of roostd.
  public var version: String
  /// Numbers of methods by name, for a recording that begins in the middle and so has no WELCOME with them.
  public var methods: [String: UInt16]?

  /// An opening with these contents.
  public init(
    worker: String, role: String, generation: UInt32, isFromStart: Bool, program: String, arguments: [String],
    environment: [String], sandbox: String, time: String, version: String, methods: [String: UInt16]? = nil
  ) {
    self.worker = worker
    self.role = role
    self.generation = generation
    self.isFromStart = isFromStart
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.sandbox = sandbox
    self.time = time
    self.version = version
    self.methods = methods
  }
}

/// A whole recording in memory.
public struct Recording: Sendable {
  /// Its opening.
  public var opening: RecordingOpening
  /// All records, in order.
  public var records: [RecordingEntry]
  /// Whether bytes of an incomplete record follow, as after a crash or with a full disk. They are not in `records`.
  public var isCutOff: Bool

  /// A recording of these parts.
  public init(opening: RecordingOpening, records: [RecordingEntry], isCutOff: Bool = false) {
    self.opening = opening
    self.records = records
    self.isCutOff = isCutOff
  }

  /// Reads a whole file.
  ///
  /// - Throws: ``RecordingFault`` when it is not a recording, or is damaged. A truncated file is read up to its last
  ///   complete record, if its opening is complete.
  public init(reading bytes: [UInt8]) throws(RecordingFault) {
    var reader = RecordingReader()
    reader.append(bytes)
    var records: [RecordingEntry] = []
    while let record = try reader.next() { records.append(record) }
    guard let opening = reader.opening else { throw .noOpening }
    self.init(opening: opening, records: records, isCutOff: reader.restByteCount > 0)
  }

  /// Only the frames; a frame's number is its index here, counted from 1.
  public var frames: [RecordedFrame] {
    records.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
  }

  /// The worker's settings from WELCOME; nil when the recording has no WELCOME, or one without settings.
  public var settings: JSONValue? {
    let welcome = frames.first { $0.direction == .toWorker && $0.header.type == .welcome && !$0.isWithheld }
    // The replay reports a WELCOME that cannot be read.
    return welcome.flatMap { try? JSONPayload.decode(Welcome.self, from: $0.payload) }?.configuration
  }

  /// How it ended; nil when the end could not be written.
  public var end: RecordingEnd? {
    if case .end(_, let end)? = records.last { end } else { nil }
  }

  /// The number of frames missing in gaps.
  public var missingCount: UInt64 {
    records.reduce(0) { count, record in if case .gap(_, let missing) = record { count + missing } else { count } }
  }
}

/// Why bytes are not a valid recording.
public enum RecordingFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The first bytes are not those of a recording.
  case notARecording
  /// A version this program does not know.
  case version(UInt16)
  /// The file ends within its opening.
  case noOpening
  /// The opening cannot be read.
  case opening(String)
  /// The record at this byte offset cannot be read.
  case record(offset: Int, String)

  /// The fault as a sentence.
  public var description: String {
    switch self {
    case .notARecording: "this is no recording of roost: its first bytes are others"
    case .version(let number): "this recording has version \(number); this program reads \(RecordingLayout.version)"
    case .noOpening: "the file ends before the recording has begun"
    case .opening(let reason): "the recording's opening cannot be read: \(reason)"
    case .record(let offset, let reason): "the record at byte \(offset) is damaged: \(reason)"
    }
  }
}

/// The numbers of the layout, which docs/recordings.md draws.
enum RecordingLayout {
  static let magic = Array("ROOSTREC".utf8)
  static let version: UInt16 = 1
  /// Magic, version, reserved, length of the opening.
  static let fileHeadByteCount = 16
  /// Time, kind, flags, reserved, length of the body.
  static let recordHeadByteCount = 16
  /// The longest opening, in bytes of JSON: the names of the maximum number of methods fit.
  static let openingByteCountMaximum = 128 << 10
  /// The longest body: the largest frame that is possible.
  static let bodyByteCountMaximum = FrameHeader.byteCount + FrameReader.lengthCeiling

  enum Kind: UInt8 {
    case toWorker = 1
    case fromWorker = 2
    case gap = 3
    case end = 4
  }
  static let withheldFlag: UInt8 = 1
  static let tokenRemovedFlag: UInt8 = 2
}
