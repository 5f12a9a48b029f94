/// Adds up the points of many buckets at once.
///
/// A sum of two points in affine form is the cheapest there is, but for its division. So the points of a bucket are
/// added in pairs, and all pairs of a round, of all buckets, share one inversion (Montgomery's trick): a sum then costs
/// five products and a square, against eleven in Jacobian coordinates. A round halves what is in each bucket.
///
/// Equal points are doubled, and opposite ones disappear. Neither puts a zero into the shared inversion.
///
/// Use: `begin`, `announce` for each point, `allot`, `put` for each point in the same buckets, `sum`, then the
/// subscript.
struct BucketSums: ~Copyable {
  private var points = Scratch<CurvePoint>()
  private var denominators = Scratch<FieldElement>()
  /// For each pair the product of the denominators before its own.
  private var products = Scratch<FieldElement>()
  /// Where the points of a bucket begin.
  private var starts = Scratch<Int>()
  private var counts = Scratch<Int>()
  /// The buckets with more than one point.
  private var active = Scratch<Int>()
  private var bucketCount = 0

  /// Empties everything.
  mutating func begin(bucketCount: Int) {
    self.bucketCount = bucketCount
    starts.reserve(bucketCount)
    counts.reserve(bucketCount)
    active.reserve(bucketCount)
    counts.base.initialize(repeating: 0, count: bucketCount)
  }

  /// One point will be put into this bucket.
  @inline(__always)
  mutating func announce(_ bucket: Int) { counts.base[bucket] &+= 1 }

  /// Makes room for all announced points.
  mutating func allot() {
    var total = 0
    for bucket in 0..<bucketCount {
      starts.base[bucket] = total
      total &+= counts.base[bucket]
      counts.base[bucket] = 0
    }
    points.reserve(total)
    denominators.reserve(total / 2)
    products.reserve(total / 2)
  }

  /// Puts an announced point into its bucket.
  @inline(__always)
  mutating func put(_ point: CurvePoint, into bucket: Int) {
    let count = counts.base[bucket]
    points.base[starts.base[bucket] &+ count] = point
    counts.base[bucket] = count &+ 1
  }

  /// The sum of a bucket after ``sum()``; nil for an empty bucket and for the point at infinity.
  @inline(__always)
  subscript(bucket: Int) -> CurvePoint? { counts.base[bucket] == 0 ? nil : points.base[starts.base[bucket]] }

  /// Adds up each bucket.
  mutating func sum() {
    let (active, counts) = (active.base, counts.base)
    var activeCount = 0
    for bucket in 0..<bucketCount where counts[bucket] > 1 {
      active[activeCount] = bucket
      activeCount &+= 1
    }
    while activeCount > 0 {
      let (pairCount, product) = multiplyDenominators(activeCount)
      addPairs(activeCount, pairCount, inverse: product.inverted())
      var remaining = 0
      for index in 0..<activeCount where counts[active[index]] > 1 {
        active[remaining] = active[index]
        remaining &+= 1
      }
      activeCount = remaining
    }
  }

  /// Writes the denominators of all pairs from the last to the first: `addPairs` needs them from the first.
  private func multiplyDenominators(_ activeCount: Int) -> (pairCount: Int, product: FieldElement) {
    let (active, counts, starts, points) = (active.base, counts.base, starts.base, points.base)
    let (products, denominators) = (products.base, denominators.base)
    var product = FieldElement.one
    var index = 0
    for position in stride(from: activeCount &- 1, through: 0, by: -1) {
      let bucket = active[position]
      let first = points + starts[bucket]
      var pair = counts[bucket] / 2
      while pair > 0 {
        pair &-= 1
        let left = first + 2 &* pair
        var denominator = left[1].x - left[0].x
        if _slowPath(denominator.isZero) {
          // No point of the curve has y = 0: its order is odd.
          denominator = left[0].y == left[1].y ? left[0].y.doubled() : .one
        }
        products[index] = product
        denominators[index] = denominator
        product = product * denominator
        index &+= 1
      }
    }
    return (index, product)
  }

  private func addPairs(_ activeCount: Int, _ pairCount: Int, inverse all: FieldElement) {
    let (active, counts, starts, points) = (active.base, counts.base, starts.base, points.base)
    let (products, denominators) = (products.base, denominators.base)
    var inverse = all
    var index = pairCount
    for position in 0..<activeCount {
      let bucket = active[position]
      let first = points + starts[bucket]
      let count = counts[bucket]
      var sumCount = 0
      for pair in 0..<count / 2 {
        let left = first[2 &* pair]
        let right = first[2 &* pair &+ 1]
        index &-= 1
        let quotient = inverse * products[index]
        inverse = inverse * denominators[index]
        var numerator = right.y - left.y
        if _slowPath(left.x == right.x) {
          if !numerator.isZero { continue }
          let square = left.x.squared()
          numerator = square.doubled() + square
        }
        let slope = numerator * quotient
        let x = slope.squared() - left.x - right.x
        first[sumCount] = CurvePoint(x: x, y: slope * (left.x - x) - left.y)
        sumCount &+= 1
      }
      if count & 1 == 1 {
        first[sumCount] = first[count &- 1]
        sumCount &+= 1
      }
      counts[bucket] = sumCount
    }
  }
}
