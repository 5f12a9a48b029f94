internal import Cryptography
internal import Nostr

// The set that is reconciled, as it was at one moment: records in order, and the sum of all ids before every 64th
// record. Sums modulo 2^256 can be subtracted, so the fingerprint of any range is the difference of two sums and at
// most 126 additions, whatever its length: a message of a thousand ranges costs the same with a thousand records as
// with a million. Rejected: a tree of sums (Negentropy's B+ tree). It pays when the set changes during the
// reconciliation; this set never does.

/// The events that are reconciled: sorted, each once, and unchanging. 40.5 bytes each.
public struct ReconcileRecords: Sendable {
  /// The records in order.
  public let records: [ReconcileRecord]
  /// The sum of the ids before each multiple of ``stride``.
  private let sums: [IDSum]

  private static let stride = 64

  /// The number of records.
  public var count: Int { records.count }

  /// Sorts the records, and keeps each once. A record at ``ReconcileRecord/infinity`` is left out: no range can contain
  /// it.
  public init(_ unsorted: consuming [ReconcileRecord]) {
    var sorted = unsorted
    sorted.sort()
    // An array that has grown may hold twice the memory it needs, so the result is a new one of the right size.
    var records: [ReconcileRecord] = []
    records.reserveCapacity(sorted.count)
    for record in sorted where record.timestamp < ReconcileRecord.infinity && record != records.last {
      records.append(record)
    }
    self.records = records
    var sums: [IDSum] = []
    sums.reserveCapacity(records.count / Self.stride + 1)
    var sum = IDSum()
    for (index, record) in records.enumerated() {
      if index % Self.stride == 0 { sums.append(sum) }
      sum.add(record.id)
    }
    if records.count % Self.stride == 0 { sums.append(sum) }
    self.sums = sums
  }

  /// The first index, not below `start`, whose record is not before the bound.
  func index(of bound: ReconcileBound, from start: Int) -> Int {
    if bound.timestamp == ReconcileRecord.infinity { return records.count }
    let sought = ReconcileRecord(timestamp: bound.timestamp, id: bound.id)
    var (low, high) = (start, records.count)
    while low < high {
      let middle = low + (high - low) / 2
      if records[middle] < sought { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The fingerprint of the records of a range.
  func fingerprint(_ range: Range<Int>, _ hasher: SHA256) -> Fingerprint {
    var sum = sum(before: range.upperBound)
    sum.subtract(self.sum(before: range.lowerBound))
    return sum.fingerprint(count: range.count, hasher)
  }

  private func sum(before end: Int) -> IDSum {
    let stop = end / Self.stride
    var sum = sums[stop]
    for index in stop * Self.stride..<end { sum.add(records[index].id) }
    return sum
  }
}

/// The 16 bytes that represent the ids of a range.
typealias Fingerprint = ArraySlice<UInt8>

/// A sum of ids, read as little-endian numbers, modulo 2^256. The lowest word comes first.
struct IDSum {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  static let fingerprintByteCount = 16

  mutating func add(_ id: EventID) {
    let other = Self.words(id)
    var carry = false
    Self.add(other.0, to: &words.0, &carry)
    Self.add(other.1, to: &words.1, &carry)
    Self.add(other.2, to: &words.2, &carry)
    Self.add(other.3, to: &words.3, &carry)
  }

  mutating func subtract(_ other: IDSum) {
    var borrow = false
    Self.subtract(other.words.0, from: &words.0, &borrow)
    Self.subtract(other.words.1, from: &words.1, &borrow)
    Self.subtract(other.words.2, from: &words.2, &borrow)
    Self.subtract(other.words.3, from: &words.3, &borrow)
  }

  /// The digest of the sum and of the number of ids in it.
  func fingerprint(count: Int, _ hasher: SHA256) -> Fingerprint {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Octets32.byteCount + ReconcileWriter.numberByteMaximum)
    for word in [words.0, words.1, words.2, words.3] {
      withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }
    ReconcileWriter.append(number: UInt64(count), to: &bytes)
    return hasher.hash(bytes).bytes.prefix(Self.fingerprintByteCount)
  }

  @inline(__always)
  private static func words(_ id: EventID) -> (UInt64, UInt64, UInt64, UInt64) {
    withUnsafeTemporaryAllocation(byteCount: Octets32.byteCount, alignment: 8) { bytes in
      guard let base = bytes.baseAddress else { preconditionFailure("32 bytes have an address") }
      id.octets.write(to: base)
      let words = UnsafeRawPointer(base)
      return (
        UInt64(littleEndian: words.load(as: UInt64.self)),
        UInt64(littleEndian: words.load(fromByteOffset: 8, as: UInt64.self)),
        UInt64(littleEndian: words.load(fromByteOffset: 16, as: UInt64.self)),
        UInt64(littleEndian: words.load(fromByteOffset: 24, as: UInt64.self))
      )
    }
  }

  @inline(__always)
  private static func add(_ other: UInt64, to word: inout UInt64, _ carry: inout Bool) {
    let (partial, first) = word.addingReportingOverflow(other)
    let (whole, second) = partial.addingReportingOverflow(carry ? 1 : 0)
    (word, carry) = (whole, first || second)
  }

  @inline(__always)
  private static func subtract(_ other: UInt64, from word: inout UInt64, _ borrow: inout Bool) {
    let (partial, first) = word.subtractingReportingOverflow(other)
    let (whole, second) = partial.subtractingReportingOverflow(borrow ? 1 : 0)
    (word, borrow) = (whole, first || second)
  }
}
