internal import Contracts

// One sample of the figures that the page draws. Its record has a fixed layout, little-endian:
//
//     0  version, 1              4  seconds that the sample covers     16 + 8 × count  checksum of all before it
//     1  count of figures        8  the moment, seconds since 1970
//     2  zero                   16  the figures; `missing` where there was none
//
// A later version may append figures: those that are known here are read. A record whose checksum is wrong is
// no sample.

/// A figure of a sample. A raw value never gets another meaning; new ones are appended.
enum Figure: Int, CaseIterable, Sendable {
  /// Events in the store.
  case storedEvents
  /// Events that the store has taken since the last sample.
  case newEvents
  /// Clients of the local relay.
  case clients
  /// Relays that are connected.
  case openRelays
  /// Relays that are to be connected.
  case wantedRelays
  /// Milliseconds from a REQ to its EOSE: half of the relays take no longer.
  case medianLatency
  /// The same: nine of ten relays take no longer.
  case slowLatency
  /// Requests and events that relays have refused since the last sample.
  case refusals
  /// Attempts to connect to relays that have failed since the last sample.
  case connectFailures
  /// Publications that wait for relays.
  case queued
  /// Publications that no relay took, of those that are kept.
  case unpublished
  /// Thousandths of the relays that have sent everything that is one's own.
  case mirrored
  /// Copies that relays lack.
  case lackingCopies
  /// Jobs of this Roost that have not ended.
  case askedJobs
  /// Jobs of others that are worked on, or wait for that.
  case servedJobs
  /// Resident bytes of all processes.
  case memory
}

/// What a Roost's figures were at one moment.
public struct FigureSample: Hashable, Sendable {
  /// The moment, in seconds since 1970.
  public var at: Int64
  /// How many seconds the figures of the kind "since the last sample" cover; 0 when it has none of them.
  var coveredSeconds: UInt32
  /// The figures, by raw value.
  private(set) var values: [Int64]

  /// In place of a figure that a sample does not have.
  static let missing = Int64.min

  init(at: Int64, coveredSeconds: UInt32 = 0) {
    self.at = at
    self.coveredSeconds = coveredSeconds
    values = Array(repeating: Self.missing, count: Figure.allCases.count)
  }

  subscript(figure: Figure) -> Int64? {
    get { values[figure.rawValue] == Self.missing ? nil : values[figure.rawValue] }
    set { values[figure.rawValue] = newValue ?? Self.missing }
  }

  // MARK: The record

  private static let version: UInt8 = 1
  private static let headByteCount = 16
  private static let sumByteCount = 8

  /// The record.
  public var record: [UInt8] {
    var bytes: [UInt8] = [Self.version, UInt8(values.count), 0, 0]
    LittleEndian.append(UInt64(coveredSeconds), 4, to: &bytes)
    LittleEndian.append(UInt64(bitPattern: at), 8, to: &bytes)
    for value in values { LittleEndian.append(UInt64(bitPattern: value), 8, to: &bytes) }
    LittleEndian.append(Self.sum(bytes[...]), Self.sumByteCount, to: &bytes)
    return bytes
  }

  /// Reads a record; nil if it is not whole.
  public init?(record bytes: [UInt8]) {
    guard bytes.count >= Self.headByteCount + Self.sumByteCount, bytes[0] == Self.version else { return nil }
    let end = bytes.count - Self.sumByteCount
    guard end == Self.headByteCount + 8 * Int(bytes[1]),
      Self.sum(bytes[..<end]) == LittleEndian.number(bytes, end, Self.sumByteCount)
    else { return nil }
    self.init(
      at: Int64(bitPattern: LittleEndian.number(bytes, 8, 8)),
      coveredSeconds: UInt32(LittleEndian.number(bytes, 4, 4)))
    for index in 0..<min(Int(bytes[1]), values.count) {
      values[index] = Int64(bitPattern: LittleEndian.number(bytes, Self.headByteCount + 8 * index, 8))
    }
  }

  /// FNV-1a, 64 bits: against chance, not against an attacker.
  private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
