public import Frames

// How a backup gets the files of all workers as they were at one moment. The caller of a backup asks each worker that
// keeps files by its endpoint:
//
//     backup.hold      the worker's writers wait, and the present state is kept
//     backup.release   once all workers have answered: the writers continue; later calls keep the state from expiring
//     backup.read      each file, from any byte on
//     backup.end       the state is no longer needed
//
// If `backup.release` reports of any worker that its writers did not wait until then, the states belong to different
// moments: the caller ends them all and begins again, with more time.

/// `backup.hold`: the worker's writers wait, for so long at most, and the present state of its files is kept until
/// `backup.end`, or until it was not read for ``idleSeconds``. Publishers wait with them.
public struct BackupHold: MethodArguments, Hashable {
  /// An example of the arguments.
  public static let example = #"{"milliseconds":1000}"#

  /// How long the writers wait for `backup.release` at most.
  public var milliseconds: Int32

  /// The longest time of waiting, in milliseconds.
  public static let millisecondMaximum: Int32 = 10_000
  /// How many states a worker keeps; one more ends the state that was not asked for the longest time.
  public static let countMaximum = 3
  /// A state that was not asked for, by `backup.read` or `backup.release`, for so many seconds is no longer kept.
  public static let idleSeconds: UInt64 = 600

  /// A hold.
  public init(milliseconds: Int32) { self.milliseconds = milliseconds }

  /// Numbers with bounds.
  public static var ranges: [FieldRange<Self>] {
    [FieldRange("milliseconds", from: 1, to: Int64(millisecondMaximum)) { Int64($0.milliseconds) }]
  }
}

/// The answer of `backup.hold`.
public struct BackupSnapshot: Codable, Sendable, Hashable, Payload {
  /// The name of the state, for the other methods.
  public var snapshot: String
  /// The files, relative to the worker's directory.
  public var files: [String]

  /// A state.
  public init(snapshot: String, files: [String]) { (self.snapshot, self.files) = (snapshot, files) }
}

/// `backup.release`, `backup.end`: a state.
public struct BackupState: MethodArguments, Hashable {
  /// An example of the arguments.
  public static let example = #"{"snapshot":"9f2c…"}"#

  /// The name of the state.
  public var snapshot: String

  /// A state.
  public init(snapshot: String) { self.snapshot = snapshot }
}

/// The answer of `backup.release`.
public struct BackupRelease: Codable, Sendable, Hashable, Payload {
  /// Whether the writers have waited until now.
  public var isWhole: Bool

  /// An answer.
  public init(isWhole: Bool) { self.isWhole = isWhole }
}

/// `backup.read`: one file of a state, as ``BackupPart``s. A database is copied first, which takes a second for each
/// few hundred MB, and needs as much space in the worker's directory until `backup.end`.
public struct BackupRead: MethodArguments, Hashable {
  /// An example of the arguments.
  public static let example = #"{"snapshot":"9f2c…","file":"events.db","offset":0}"#

  /// The name of the state.
  public var snapshot: String
  /// One of its files.
  public var file: String
  /// The first byte wanted.
  public var offset: Int64

  /// A read.
  public init(snapshot: String, file: String, offset: Int64 = 0) {
    (self.snapshot, self.file, self.offset) = (snapshot, file, offset)
  }

  /// Numbers with bounds.
  public static var ranges: [FieldRange<Self>] { [FieldRange("offset") { $0.offset }] }
}

/// A part of a file, RAW: the size of the whole file, 8 bytes little-endian, and then bytes of it. At least one part is
/// sent, also of an empty file.
public struct BackupPart: Sendable, Hashable {
  /// The size of the whole file.
  public var byteCount: Int64
  /// Bytes, after those of the part before.
  public var bytes: [UInt8]

  /// The most bytes of a file in one part.
  public static let byteCountMaximum = 256 << 10

  /// A part.
  public init(byteCount: Int64, bytes: [UInt8]) { (self.byteCount, self.bytes) = (byteCount, bytes) }
}

extension BackupPart: Payload {
  /// The layout.
  public static var form: PayloadForm {
    .raw(name: "backup-part", drawing: "0 u64 size of the whole file, little-endian\n8 to the end: bytes of the file")
  }

  /// Reads a part.
  ///
  /// - Throws: `bad-payload` when it is JSON, or has no size.
  public static func read(_ bytes: [UInt8], isRaw: Bool, of method: String) throws(Refusal) -> Self {
    guard isRaw, bytes.count >= 8 else {
      throw Refusal(.badPayload, "a part of a file is RAW, at least 8 bytes", outcome: .notStarted)
    }
    let size = bytes[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Self(byteCount: Int64(clamping: size), bytes: Array(bytes[8...]))
  }

  /// The bytes.
  public var written: (bytes: [UInt8], isRaw: Bool) {
    ((0..<8).map { UInt8(truncatingIfNeeded: byteCount >> ($0 * 8)) } + bytes, true)
  }
}

extension RefusalCode {
  /// The worker does not keep this state of its files, or no longer.
  public static let noSuchSnapshot: RefusalCode = "no-such-snapshot"
}
