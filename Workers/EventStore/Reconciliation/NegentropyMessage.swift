internal import Cryptography
internal import Nostr

// The bytes of a message (NIP-77, "Negentropy Protocol V1").
//
//     message      = version 0x61, range*
//     range        = upper bound, mode, payload
//     bound        = time (0 = the end of everything, else 1 + seconds since the bound before), prefix length, prefix
//     payload      = nothing (skip) | 16 bytes (fingerprint) | count, ids (list)
//
// Numbers are base-128 digits, the most significant first, as few as possible. Messages come from strangers: each
// length is compared with the bytes that are left before it is used, and bounds that go back are refused, so a message
// costs no more than its own length and one walk over the records.

/// What is wrong with a message that cannot be read.
public enum ReconcileFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// It has no bytes, not even a version.
  case empty
  /// The other side speaks another version of the protocol: its byte.
  case otherVersion(UInt8)
  /// It ends in the middle of a range.
  case cutOff
  /// A number has more than 64 bits, or a leading zero.
  case badNumber
  /// A time that is too large.
  case badTime
  /// A prefix of an id with more bytes than an id has.
  case badPrefix(byteCount: UInt64)
  /// A range ends before it begins, or follows one that went to the end of everything.
  case badOrder
  /// A mode that is not one of the three.
  case badMode(UInt64)
  /// So many messages have not led to an end.
  case endless(messageCount: Int)

  /// The end of a sentence: `the message cannot be read: it …`.
  public var description: String {
    switch self {
    case .empty: "it has no bytes"
    case .otherVersion(let byte): "its version byte is \(byte), and \(NegentropyMessage.version) is spoken here"
    case .cutOff: "it ends in the middle of a range"
    case .badNumber: "a number in it has more than 64 bits or a leading zero"
    case .badTime: "a time in it is beyond all times"
    case .badPrefix(let count): "a bound has \(count) bytes of an id, which has \(EventID.byteCount)"
    case .badOrder: "its ranges are not in order"
    case .endless(let count): "it is message \(count), and the difference is still not known"
    case .badMode(let mode): "it has a range of mode \(mode), which is unknown"
    }
  }
}

enum NegentropyMessage {
  /// Version 1 of the protocol.
  static let version: UInt8 = 0x61
}

/// What follows a bound.
enum ReconcileMode: UInt64 {
  /// Nothing is to be done in this range.
  case skip = 0
  case fingerprint = 1
  case list = 2
}

/// Where one range ends and the next begins: before the first record of this time whose id is not below this one.
struct ReconcileBound: Hashable {
  var timestamp: UInt64
  /// The prefix, padded with zeros.
  var id: EventID
  /// The number of bytes of the prefix in a message.
  var prefixByteCount: Int

  private static let zeros = [UInt8](repeating: 0, count: EventID.byteCount)

  /// The beginning, and the end, of everything.
  static let beginning = ReconcileBound(timestamp: 0, prefix: [])
  static let end = ReconcileBound(timestamp: ReconcileRecord.infinity, prefix: [])

  /// A bound with a prefix of an id, at most ``EventID/byteCount`` bytes.
  init(timestamp: UInt64, prefix: some Collection<UInt8>) {
    self.timestamp = timestamp
    prefixByteCount = prefix.count
    let bytes = Array(prefix) + Self.zeros.dropFirst(prefix.count)
    guard let octets = Octets32(bytes) else { preconditionFailure("a prefix is no longer than an id") }
    id = EventID(octets)
  }

  /// The bound right before a record.
  init(before record: ReconcileRecord) { self.init(timestamp: record.timestamp, prefix: record.id.octets.bytes) }

  /// The shortest bound between two records that follow each other.
  init(between left: ReconcileRecord, _ right: ReconcileRecord) {
    guard left.timestamp == right.timestamp else {
      self.init(timestamp: right.timestamp, prefix: [])
      return
    }
    let (leftBytes, rightBytes) = (left.id.octets.bytes, right.id.octets.bytes)
    let common = zip(leftBytes, rightBytes).prefix { $0 == $1 }.count
    self.init(timestamp: right.timestamp, prefix: rightBytes.prefix(common + 1))
  }

  static func < (left: ReconcileBound, right: ReconcileBound) -> Bool {
    left.timestamp == right.timestamp ? left.id < right.id : left.timestamp < right.timestamp
  }
}

/// Reads a message from its beginning to its end.
struct ReconcileReader {
  private let bytes: [UInt8]
  private var offset = 0
  private var last = ReconcileBound.beginning

  /// - Throws: when the message has another version.
  init(_ bytes: [UInt8]) throws(ReconcileFault) {
    self.bytes = bytes
    guard let version = bytes.first else { throw .empty }
    guard version == NegentropyMessage.version else { throw .otherVersion(version) }
    offset = 1
  }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func bound() throws(ReconcileFault) -> ReconcileBound {
    guard last.timestamp != ReconcileRecord.infinity else { throw .badOrder }
    let time = try number()
    let byteCount = try number()
    guard byteCount <= UInt64(EventID.byteCount) else { throw .badPrefix(byteCount: byteCount) }
    let prefix = try take(Int(byteCount))
    if time == 0 {
      last = .end
      return last
    }
    let (timestamp, isOver) = last.timestamp.addingReportingOverflow(time - 1)
    guard !isOver, timestamp != ReconcileRecord.infinity else { throw .badTime }
    let bound = ReconcileBound(timestamp: timestamp, prefix: prefix)
    // Two equal bounds have an empty range between them.
    guard !(bound < last) else { throw .badOrder }
    last = bound
    return bound
  }

  mutating func mode() throws(ReconcileFault) -> ReconcileMode {
    let number = try number()
    guard let mode = ReconcileMode(rawValue: number) else { throw .badMode(number) }
    return mode
  }

  mutating func fingerprint() throws(ReconcileFault) -> Fingerprint { try take(IDSum.fingerprintByteCount) }

  /// The ids of a list, in place.
  mutating func ids() throws(ReconcileFault) -> ArraySlice<UInt8> {
    let count = try number()
    guard count <= UInt64((bytes.count - offset) / EventID.byteCount) else { throw .cutOff }
    return try take(Int(count) * EventID.byteCount)
  }

  private mutating func take(_ count: Int) throws(ReconcileFault) -> ArraySlice<UInt8> {
    guard count <= bytes.count - offset else { throw .cutOff }
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  private mutating func number() throws(ReconcileFault) -> UInt64 {
    var number: UInt64 = 0
    let start = offset
    while offset < bytes.count {
      let digit = bytes[offset]
      offset += 1
      guard number >> 57 == 0, !(digit == 0x80 && offset == start + 1) else { throw .badNumber }
      number = number << 7 | UInt64(digit & 0x7F)
      if digit < 0x80 { return number }
    }
    throw .cutOff
  }
}

/// Writes the ranges of a message. A skip is written only when something follows it.
struct ReconcileWriter {
  private(set) var bytes: [UInt8] = [NegentropyMessage.version]
  /// The end of the last range that was written; times are counted from it.
  private var written = ReconcileBound.beginning
  /// The end of a skip that may still have to be written.
  private var skipped: ReconcileBound?

  /// The most bytes of a number.
  static let numberByteMaximum = 10
  /// The most bytes of a bound, its mode and a skip before it.
  static let boundByteMaximum = 2 * (numberByteMaximum + 1 + EventID.byteCount + 1)

  /// A position to which the writer can be rewound.
  struct Mark {
    fileprivate let byteCount: Int
    fileprivate let written: ReconcileBound
    fileprivate let skipped: ReconcileBound?
  }

  /// The present position.
  var mark: Mark { Mark(byteCount: bytes.count, written: written, skipped: skipped) }

  /// Removes what was written since.
  mutating func rewind(to mark: Mark) {
    bytes.removeSubrange(mark.byteCount...)
    (written, skipped) = (mark.written, mark.skipped)
  }

  /// Nothing is to be done up to a bound.
  mutating func skip(to bound: ReconcileBound) { skipped = bound }

  mutating func fingerprint(to bound: ReconcileBound, _ fingerprint: Fingerprint) {
    append(bound, .fingerprint)
    bytes.append(contentsOf: fingerprint)
  }

  mutating func list(to bound: ReconcileBound, _ records: ArraySlice<ReconcileRecord>) {
    append(bound, .list)
    Self.append(number: UInt64(records.count), to: &bytes)
    for record in records { bytes.append(contentsOf: record.id.octets.bytes) }
  }

  private mutating func append(_ bound: ReconcileBound, _ mode: ReconcileMode) {
    if let skipped {
      self.skipped = nil
      append(skipped, .skip)
    }
    if bound.timestamp == ReconcileRecord.infinity {
      bytes += [0, 0]
    } else {
      Self.append(number: 1 + bound.timestamp - written.timestamp, to: &bytes)
      Self.append(number: UInt64(bound.prefixByteCount), to: &bytes)
      bytes.append(contentsOf: bound.id.octets.bytes.prefix(bound.prefixByteCount))
    }
    Self.append(number: mode.rawValue, to: &bytes)
    written = bound
  }

  /// Appends a number as base-128 digits.
  static func append(number: UInt64, to bytes: inout [UInt8]) {
    var shift = 7 * ((max(1, UInt64.bitWidth - number.leadingZeroBitCount) - 1) / 7)
    while shift > 0 {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)) | 0x80)
      shift -= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: number) & 0x7F)
  }
}
