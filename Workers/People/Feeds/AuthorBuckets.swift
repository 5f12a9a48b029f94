public import Cryptography

// Whom relays are asked for, in parts that stay. Each part is an observe of its own, so a part that stays is asked for
// no second time. A key belongs to the part that has its first bits, whatever the others do; so one person less changes
// one part, and a part that has grown too large becomes two.
//
// Who comes later is a part of their own at first: a part that changes is a new REQ at every relay of its people, and a
// relay that has it in one REQ with other parts is asked for those again too, for the last minutes. When sixteen such
// parts have gathered, their people go into the others at once.
//
// Rejected: parts in the order of the list, and parts of as many keys each: one more person at the beginning moves all
// that follow. One observe for all: at each relay of the changed person everyone asked there is asked for again.

/// People in parts by the first bits of their keys.
public struct AuthorBuckets: Sendable {
  /// One part.
  public struct Bucket: Hashable, Sendable {
    /// Its keys, sorted.
    public let people: [PublicKey]
  }

  /// The first bits of the keys of a part.
  private struct Prefix: Hashable, Sendable {
    var bits: UInt64 = 0
    var count = 0

    func contains(_ key: PublicKey) -> Bool { count == 0 || (Self.bits(of: key) ^ bits) >> UInt64(64 - count) == 0 }

    /// The two parts that it consists of.
    var halves: [Prefix] {
      [
        Prefix(bits: bits, count: count + 1),
        Prefix(bits: bits | 1 << UInt64(63 - count), count: count + 1),
      ]
    }

    /// The part that it is a half of.
    var whole: Prefix? {
      guard count > 0 else { return nil }
      return Prefix(bits: count == 1 ? 0 : (bits >> UInt64(65 - count)) << UInt64(65 - count), count: count - 1)
    }

    static func bits(of key: PublicKey) -> UInt64 { key.octets.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
  }

  /// The most people of a part. A relay has some of them: that is what one person more makes it send a new REQ for.
  public static let countMaximum = 100
  /// Two halves with so few people become one, so that a list that shrinks is not left with many small parts. Less than
  /// half of ``countMaximum``, so that one person who comes and goes changes nothing else.
  static let mergeMaximum = 40
  /// Bits that are looked at. Keys that share them all are in one part, however many they are: such keys are not made.
  private static let depthMaximum = 48

  /// Parts of those who came later.
  static let lateMaximum = 16

  private var parts: [Prefix: Set<PublicKey>] = [Prefix(): []]
  private var late: [Set<PublicKey>] = []

  /// No people.
  public init() {}

  /// The parts that have people.
  public var buckets: Set<Bucket> {
    Set((Array(parts.values) + late).lazy.filter { !$0.isEmpty }.map { Bucket(people: $0.sorted()) })
  }

  /// Other people are wanted.
  public mutating func adopt(_ people: Set<PublicKey>) {
    for (prefix, members) in parts where !members.isSubset(of: people) { parts[prefix] = members.intersection(people) }
    late = late.map { $0.intersection(people) }.filter { !$0.isEmpty }
    let first = parts.values.reduce(into: Set<PublicKey>()) { $0.formUnion($1) }
    var new = people.subtracting(late.reduce(first) { $0.union($1) })
    if !first.isEmpty, !new.isEmpty, new.count <= Self.countMaximum {
      late.append(new)
      new = []
    }
    if late.count > Self.lateMaximum || !new.isEmpty {
      new = late.reduce(new) { $0.union($1) }
      late = []
    }
    for prefix in Array(parts.keys) {
      let added = new.filter(prefix.contains)
      if !added.isEmpty { parts[prefix]?.formUnion(added) }
    }
    mergeSmall()
    splitLarge()
  }

  private mutating func splitLarge() {
    var large = parts.keys.filter { isLarge($0) }
    while let prefix = large.popLast(), let members = parts.removeValue(forKey: prefix) {
      for half in prefix.halves {
        parts[half] = members.filter(half.contains)
        if isLarge(half) { large.append(half) }
      }
    }
  }

  private func isLarge(_ prefix: Prefix) -> Bool {
    parts[prefix, default: []].count > Self.countMaximum && prefix.count < Self.depthMaximum
  }

  private mutating func mergeSmall() {
    // The longest first, so that a half that was merged can be merged again.
    var prefixes = parts.keys.sorted { $0.count > $1.count }[...]
    while let prefix = prefixes.popFirst() {
      guard let whole = prefix.whole, let members = parts[prefix] else { continue }
      let others = whole.halves.first { $0 != prefix }.flatMap { parts[$0] }
      guard let others, members.count + others.count <= Self.mergeMaximum else { continue }
      for half in whole.halves { parts[half] = nil }
      parts[whole] = members.union(others)
      let place = prefixes.firstIndex { $0.count <= whole.count } ?? prefixes.endIndex
      prefixes.insert(whole, at: place)
    }
  }
}
