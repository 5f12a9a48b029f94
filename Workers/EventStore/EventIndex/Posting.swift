public import Cryptography
public import Nostr

// How an event is found again.
//
// An event is filed under terms: its kind, its author, both together, each of its one-letter tags, and "everything". A
// posting says that an event (by its seq) of a certain second stands under a certain term. A filter is answered by
// walking backwards in time through the postings of the fewest terms that must contain every match, and looking at each
// event found (`QueryPlan`); so a term may be a mere hash: another value under the same number costs a look, never a
// wrong answer.
//
// Postings of recent events are kept in memory as sorted runs (`PostingMemory`), and are written to the database as
// whole segments, in order. A B-tree that took each posting at its place would touch a page for nearly every one: 74 µs
// an event at 400,000 events and growing, and none of that growth for sorted segments (decision 0008). What is in
// memory is made again from the events themselves after a death.

/// That an event stands under a term.
public struct Posting: Hashable, Sendable, Comparable {
  /// The term, see ``TermMaker``.
  public var term: UInt64
  /// The event's `created_at`.
  public var time: Int64
  /// The event's place in the order of commits.
  public var seq: Int64

  /// A posting.
  public init(term: UInt64, time: Int64, seq: Int64) {
    self.term = term
    self.time = time
    self.seq = seq
  }

  /// By term, then time, then seq.
  @inline(__always)
  public static func < (left: Posting, right: Posting) -> Bool {
    if left.term != right.term { return left.term < right.term }
    if left.time != right.time { return left.time < right.time }
    return left.seq < right.seq
  }
}

/// Makes terms. The key is the database's own, made once and kept in it.
public struct TermMaker: Sendable, Hashable {
  private let hash: SipHash

  /// The term under which every event stands.
  public static let everything: UInt64 = 0

  /// Makes terms with this key.
  public init(_ hash: SipHash) { self.hash = hash }

  /// What a term is of: keeps a kind and a tag's value that look alike apart.
  private enum Sort: UInt8 {
    case kind = 1
    case author = 2
    case authorAndKind = 3
    case tag = 4
    case address = 5
    case id = 6
  }

  /// Events of this kind.
  public func term(kind: UInt16) -> UInt64 { make(.kind, kind: kind) }

  /// Events of this author.
  public func term(author: PublicKey) -> UInt64 { make(.author, author.octets) }

  /// Events of this author and this kind.
  public func term(author: PublicKey, kind: UInt16) -> UInt64 { make(.authorAndKind, author.octets, kind: kind) }

  /// Events with this tag.
  public func term(_ letter: TagLetter, _ value: TagValue) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 2 + value.utf8.count, alignment: 8) { bytes in
      bytes[0] = Sort.tag.rawValue
      bytes[1] = letter.ascii
      UnsafeMutableRawBufferPointer(rebasing: bytes[2...]).copyBytes(from: value.utf8)
      return hash.hash(UnsafeRawBufferPointer(bytes))
    }
  }

  /// The place of a replaceable or addressable event: of all that share it, one is kept.
  public func term(address author: PublicKey, kind: UInt16, identifier: TagValue) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 35 + identifier.utf8.count, alignment: 8) { bytes in
      Self.write(.address, author.octets, kind, to: bytes)
      UnsafeMutableRawBufferPointer(rebasing: bytes[35...]).copyBytes(from: identifier.utf8)
      return hash.hash(UnsafeRawBufferPointer(bytes))
    }
  }

  /// The place of an id.
  public func term(id: EventID) -> UInt64 { make(.id, id.octets) }

  /// The place of an id as far as one author is concerned.
  public func term(id: EventID, author: PublicKey) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 67, alignment: 8) { bytes in
      Self.write(.id, author.octets, 0, to: bytes)
      if let base = bytes.baseAddress { id.octets.write(to: base + 35) }
      return hash.hash(UnsafeRawBufferPointer(bytes))
    }
  }

  private func make(_ sort: Sort, _ octets: Octets32? = nil, kind: UInt16 = 0) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 35, alignment: 8) { bytes in
      Self.write(sort, octets, kind, to: bytes)
      return hash.hash(UnsafeRawBufferPointer(bytes))
    }
  }

  private static func write(_ sort: Sort, _ octets: Octets32?, _ kind: UInt16, to bytes: UnsafeMutableRawBufferPointer)
  {
    guard let base = bytes.baseAddress else { return }
    base.storeBytes(of: sort.rawValue, as: UInt8.self)
    base.storeBytes(of: kind.littleEndian, toByteOffset: 1, as: UInt16.self)
    if let octets {
      octets.write(to: base + 3)
    } else {
      (base + 3).initializeMemory(as: UInt8.self, repeating: 0, count: 32)
    }
  }

  /// Everything an event stands under, each term once.
  public func terms(of event: IndexedEvent) -> [UInt64] {
    var terms = [
      Self.everything, term(kind: event.kind), term(author: event.pubkey), term(author: event.pubkey, kind: event.kind),
    ]
    terms.reserveCapacity(4 + event.tags.count)
    if event.tags.count < 16 {
      for (index, tag) in event.tags.enumerated() where !event.tags[..<index].contains(tag) {
        terms.append(term(tag.letter, tag.value))
      }
    } else {
      for tag in Set(event.tags) { terms.append(term(tag.letter, tag.value)) }
    }
    return terms
  }
}
