public import Cryptography
public import JSON

// An event, read in one pass and left in place.
//
// Every event of every relay is read here, most of them for the second time. So one pass over the bytes extracts what
// decides about the event (id, author, time, kind, signature), checks that the rest has NIP-01's form, and records
// where tags and content are. Nothing is allocated. In the same pass the scanner notices whether tags and content are
// already in canonical form, as they are in nearly all events: then the hash is computed over these very bytes.
//
// It refuses what two readers could read differently: a repeated key, a lone surrogate, invalid UTF-8, a number that is
// not written in plain digits. It reads what is only unusual (white space, other keys, unnecessary escapes).
//
// Rejected: JSONDecoder (25 times slower, see docs/benchmarks.md); an event of owned strings here (six allocations for
// an event whose id is already known).

/// An event's fields: small ones as values, others as their places in the text. Nothing is verified: ``EventVerifier``
/// does that.
///
/// Ranges are offsets into the buffer it was read from.
public struct ScannedEvent: Sendable {
  /// The id it claims.
  public let id: EventID
  /// The author it claims.
  public let pubkey: PublicKey
  /// Seconds since 1970 by the author's clock, 0 … 2^63-1.
  public let createdAt: Int64
  /// The kind.
  public let kind: UInt16
  /// The place of 128 bytes that must be the digits of the signature. They are read only for verification, which most
  /// events never need, because they were seen before.
  public let signatureDigits: Range<Int>
  /// The array of tags, brackets included: arrays of at least one string each.
  public let tags: Range<Int>
  /// The content.
  public let content: JSONString
  /// The whole object, braces included.
  public let range: Range<Int>
  /// Whether tags and content are in their canonical form (NIP-01), so that the id is the hash of their bytes.
  public let isCanonical: Bool
  /// Whether the object has the seven keys and nothing else, without white space: then its bytes may be passed on
  /// unchanged.
  public let isCompact: Bool

  /// The most bytes that are read. The limit for accepting events is lower, and the code that accepts them checks it
  /// first: `EventLimit` of the contracts.
  public static let byteCountMaximum = 1 << 20

  /// Reads one event object from `bytes`, which must contain nothing else but white space around it.
  ///
  /// - Throws: what is wrong with it; never `wrongID`, `badPublicKey` or `badSignature`, which are not checked here.
  public init(_ bytes: UnsafeRawBufferPointer) throws(EventFault) {
    guard bytes.count <= Self.byteCountMaximum else {
      throw .tooLarge(byteCount: bytes.count, maximum: Self.byteCountMaximum)
    }
    do {
      var reading = EventReading(bytes)
      self = try reading.read()
    } catch let fault as JSONFault {
      throw .notJSON(fault)
    } catch let fault as EventFault {
      throw fault
    } catch {
      preconditionFailure("no other error is thrown here: \(error)")
    }
  }

  /// The signature it claims; nil if its 128 bytes are not all lower-case hexadecimal digits.
  ///
  /// - Parameter bytes: the text this event was read from.
  public func signature(in bytes: UnsafeRawBufferPointer) -> Signature? {
    bytes.baseAddress.flatMap { Signature(hexadecimalAt: $0 + signatureDigits.lowerBound) }
  }

  init(
    id: EventID, pubkey: PublicKey, createdAt: Int64, kind: UInt16, signatureDigits: Range<Int>, tags: Range<Int>,
    content: JSONString, range: Range<Int>, isCanonical: Bool, isCompact: Bool
  ) {
    self.id = id
    self.pubkey = pubkey
    self.createdAt = createdAt
    self.kind = kind
    self.signatureDigits = signatureDigits
    self.tags = tags
    self.content = content
    self.range = range
    self.isCanonical = isCanonical
    self.isCompact = isCompact
  }
}
