public import Cryptography
public import Nostr

// How events are found.
//
// An event is filed under terms: its kind, its author, both together, each of its one-letter tags, and "everything". A
// posting says that an event (by its seq) of a certain second has a certain term. To answer a filter, the reader walks
// backwards in time through the postings of the fewest terms that together cover every match, and checks each event
// found (`QueryPlan`). So a term may be a mere hash: another value with the same number costs a check, never a wrong
// answer.
//
// Postings of recent events are kept in memory as sorted runs (`PostingMemory`), and are written to the database as
// whole segments, in order. A B-tree that took each posting at its place would touch a page for nearly every one: 74 µs
// an event at 400,000 events and growing. Sorted segments do not grow slower (decision 0008). After a death the
// postings in memory are made again from the events.

/// An event that is filed under a term.
public struct Posting: Hashable, Sendable, Comparable {
  /// The term, see ``TermMaker``.
  public var term: UInt64
  /// The event's `created_at`.
  public var time: Int64
  /// The event's number in the order of commits.
  public var seq: Int64

  /// A posting.
  public init(term: UInt64, time: Int64, seq: Int64) {
    self.term = term
    self.time = time
    self.seq = seq
  }

  /// Compares by term, then time, then seq.
  @inline(__always)
  public static func < (left: Posting, right: Posting) -> Bool {
    if left.term != right.term { return left.term < right.term }
    if left.time != right.time { return left.time < right.time }
    return left.seq < right.seq
  }
}

/// Makes terms. The key belongs to the database: it is made once and stored in it.
public struct TermMaker: Sendable, Hashable {
  private let hash: SipHash

  /// The term of every event.
  public static let everything: UInt64 = 0

  /// A maker with this key.
  public init(_ hash: SipHash) { self.hash = hash }

  /// The sort of a term: keeps apart a kind and a tag value that look alike.
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

  /// The address of a replaceable or addressable event; only one event is kept at an address.
  public func term(address author: PublicKey, kind: UInt16, identifier: TagValue) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: 35 + identifier.utf8.count, alignment: 8) { bytes in
      Self.write(.address, author.octets, kind, to: bytes)
      UnsafeMutableRawBufferPointer(rebasing: bytes[35...]).copyBytes(from: identifier.utf8)
      return hash.hash(UnsafeRawBufferPointer(bytes))
    }
  }

  /// An id.
  public func term(id: EventID) -> UInt64 { make(.id, id.octets) }

  /// An id together with one author.
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

  /// All terms of an event, each once.
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
