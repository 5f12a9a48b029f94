// Two forms of the sum of products of points with scalars of 128 bits. Both put points into buckets, and BucketSums
// adds them up.
//
// By positions (Strauss), for few points. Each scalar is written with odd signed digits of `width` bits, about one in
// `width` + 1 positions, and each point has a table of its odd multiples. A bucket is a position of a bit.
//
// By digits (Pippenger), for many points. Each scalar is written with signed digits, one in each window of `width`
// bits. A bucket is a digit of a window, and the sum of a window is the sum of its buckets, each times its digit.

/// Σ scalar · point, and the memory that it takes. It belongs to one thread.
struct MultiScalarSum: ~Copyable {
  private var points = Scratch<CurvePoint>()
  private var scalars = Scratch<UInt128>()
  private var digits = Scratch<Int16>()
  private var tables = Scratch<CurvePoint>()
  private var buckets = BucketSums()
  private var count = 0
  private var capacity = 0

  /// How a sum is computed.
  enum Form: Hashable, Sendable {
    case positions(width: Int)
    case digits(width: Int)

    /// The fastest form for so many points. On a loaded machine the forms beside these took up to a tenth more or less.
    init(pointCount: Int) {
      switch pointCount {
      case ..<100: self = .positions(width: 4)
      case ..<250: self = .digits(width: 5)
      case ..<450: self = .digits(width: 6)
      case ..<1_000: self = .digits(width: 7)
      case ..<3_000: self = .digits(width: 8)
      case ..<8_000: self = .digits(width: 9)
      default: self = .digits(width: 11)
      }
    }
  }

  /// Bits of a scalar.
  private static let bitCount = 128
  /// Bit positions of digits: a digit may carry into the position above the highest bit.
  private static let positionCount = bitCount + 2
  /// Points in buckets at a time, so that they stay in a processor's cache.
  private static let bucketedMaximum = 2_048

  /// Forgets all points and makes room for `capacity`.
  mutating func begin(capacity: Int) {
    points.reserve(capacity)
    scalars.reserve(capacity)
    self.capacity = capacity
    count = 0
  }

  /// Adds a term; at most `capacity` of them.
  mutating func add(_ point: CurvePoint, times scalar: UInt128) {
    precondition(count < capacity, "there is room for each term")
    points.base[count] = point
    scalars.base[count] = scalar
    count += 1
  }

  /// The sum. `form` is for tests and measurements.
  mutating func sum(_ form: Form? = nil) -> ProjectivePoint {
    switch form ?? Form(pointCount: count) {
    case _ where count == 0: .infinity
    case .positions(let width): sumByPositions(width)
    case .digits(let width): sumByDigits(width)
    }
  }

  // MARK: By digits

  private mutating func sumByDigits(_ width: Int) -> ProjectivePoint {
    let windowCount = Self.bitCount / width + 1
    let bucketCount = 1 << (width - 1)
    writeDigits(width, windowCount)
    let windowsAtOnce = max(1, Self.bucketedMaximum / count)
    var total = ProjectivePoint.infinity
    var upper = windowCount
    while upper > 0 {
      let lower = max(0, upper - windowsAtOnce)
      fillBuckets(lower..<upper, bucketCount)
      buckets.sum()
      for window in (lower..<upper).reversed() {
        for _ in 0..<width { total = total.doubled() }
        total = total + weightedSum((window - lower) * bucketCount, bucketCount)
      }
      upper = lower
    }
    return total
  }

  /// Digits from −2^(width − 1) + 1 to 2^(width − 1), window by window.
  private mutating func writeDigits(_ width: Int, _ windowCount: Int) {
    digits.reserve(windowCount * count)
    let (digits, count) = (digits.base, count)
    let highest = 1 << (width - 1)
    let mask = UInt64(2 * highest - 1)
    for index in 0..<count {
      var bits = ScalarBits(scalars.base[index])
      var carry = 0
      for window in 0..<windowCount {
        var digit = Int(truncatingIfNeeded: bits.low & mask) &+ carry
        carry = digit > highest ? 1 : 0
        digit &-= carry &<< width
        digits[window &* count &+ index] = Int16(truncatingIfNeeded: digit)
        bits.shift(by: width)
      }
    }
  }

  private mutating func fillBuckets(_ windows: Range<Int>, _ bucketCount: Int) {
    let (count, digits, points) = (count, digits.base, points.base)
    buckets.begin(bucketCount: windows.count * bucketCount)
    for window in windows {
      let row = digits + window &* count
      let base = (window &- windows.lowerBound) &* bucketCount &- 1
      for index in 0..<count where row[index] != 0 { buckets.announce(base &+ abs(Int(row[index]))) }
    }
    buckets.allot()
    for window in windows {
      let row = digits + window &* count
      let base = (window &- windows.lowerBound) &* bucketCount &- 1
      for index in 0..<count {
        let digit = Int(row[index])
        if digit > 0 {
          buckets.put(points[index], into: base &+ digit)
        } else if digit < 0 {
          buckets.put(-points[index], into: base &- digit)
        }
      }
    }
  }

  /// Σ (index + 1) · bucket.
  private func weightedSum(_ first: Int, _ bucketCount: Int) -> ProjectivePoint {
    var running = ProjectivePoint.infinity
    var total = ProjectivePoint.infinity
    for bucket in (first..<first + bucketCount).reversed() {
      if let point = buckets[bucket] { running = running + point }
      total = total + running
    }
    return total
  }

  // MARK: By positions

  private mutating func sumByPositions(_ width: Int) -> ProjectivePoint {
    makeTables(rowCount: 1 << (width - 2))
    digits.reserve(Self.positionCount * count)
    let (count, digits, tables) = (count, digits.base, tables.base)
    buckets.begin(bucketCount: Self.positionCount)
    for index in 0..<count {
      let row = digits + index &* Self.positionCount
      writeOddDigits(of: scalars.base[index], width, into: row)
      for position in 0..<Self.positionCount where row[position] != 0 { buckets.announce(position) }
    }
    buckets.allot()
    for index in 0..<count {
      let row = digits + index &* Self.positionCount
      for position in 0..<Self.positionCount where row[position] != 0 {
        let digit = Int(row[position])
        let point = tables[(abs(digit) >> 1) &* count &+ index]
        buckets.put(digit < 0 ? -point : point, into: position)
      }
    }
    buckets.sum()
    var total = ProjectivePoint.infinity
    for position in (0..<Self.positionCount).reversed() {
      total = total.doubled()
      if let point = buckets[position] { total = total + point }
    }
    return total
  }

  /// Odd digits below 2^(width − 1) in magnitude, with `width` − 1 zeros or more after each.
  private func writeOddDigits(of scalar: UInt128, _ width: Int, into row: UnsafeMutablePointer<Int16>) {
    row.update(repeating: 0, count: Self.positionCount)
    let mask = (1 << width) - 1
    var bits = ScalarBits(scalar)
    var carry = 0
    var position = 0
    while position < Self.positionCount {
      if Int(truncatingIfNeeded: bits.low & 1) == carry {
        bits.shift(by: 1)
        position &+= 1
        continue
      }
      var digit = Int(truncatingIfNeeded: bits.low) & mask &+ carry
      carry = digit &>> (width &- 1) & 1
      digit &-= carry &<< width
      row[position] = Int16(truncatingIfNeeded: digit)
      bits.shift(by: width)
      position &+= width
    }
  }

  /// Row `i` of the tables has 2 · `i` + 1 times each point; the row behind them twice each point.
  private mutating func makeTables(rowCount: Int) {
    let count = count
    tables.reserve((rowCount + 1) * count)
    let tables = tables.base
    tables.update(from: points.base, count: count)
    let twice = tables + rowCount * count
    addRows(tables, tables, into: twice)
    for row in 1..<max(rowCount, 1) { addRows(tables + (row - 1) * count, twice, into: tables + row * count) }
  }

  private mutating func addRows(
    _ left: UnsafePointer<CurvePoint>, _ right: UnsafePointer<CurvePoint>, into row: UnsafeMutablePointer<CurvePoint>
  ) {
    buckets.begin(bucketCount: count)
    for index in 0..<count {
      buckets.announce(index)
      buckets.announce(index)
    }
    buckets.allot()
    for index in 0..<count {
      buckets.put(left[index], into: index)
      buckets.put(right[index], into: index)
    }
    buckets.sum()
    for index in 0..<count {
      guard let sum = buckets[index] else { preconditionFailure("a small multiple of a point is finite") }
      row[index] = sum
    }
  }
}

/// The bits of a scalar from the lowest.
private struct ScalarBits {
  private(set) var low: UInt64
  private var high: UInt64

  init(_ scalar: UInt128) {
    low = UInt64(truncatingIfNeeded: scalar)
    high = UInt64(truncatingIfNeeded: scalar >> 64)
  }

  /// Drops bits, 1 to 63.
  @inline(__always)
  mutating func shift(by count: Int) {
    low = low &>> UInt64(truncatingIfNeeded: count) | high &<< UInt64(truncatingIfNeeded: 64 &- count)
    high &>>= UInt64(truncatingIfNeeded: count)
  }
}
