public import Cryptography
public import JSON

// An event, read in one pass and left where it stands.
//
// Every event of every relay comes through here, most of them for the second time. So one pass over the bytes takes out
// what decides about it (id, author, time, kind, signature), looks that the rest has the shape NIP-01 gives it, and
// remembers where tags and content stand. Nothing is allocated. In the same pass the scanner notices whether tags and
// content already stand in canonical form, as they do in nearly all events: then the hash is taken over these very
// bytes.
//
// What is refused is what two readers could read in two ways: a key twice, a lone surrogate, broken UTF-8, a number
// that is not written in plain digits. What is only unusual (white space, other keys, escapes that need not be) is
// read.
//
// Rejected: JSONDecoder (25 times slower, see docs/benchmarks.md); an event of owned strings on this path (six
// allocations for an event whose id we have already).

/// An event's fields, as values where they are small and as places in its text where they are not. Nothing is verified:
/// that is the ``EventVerifier``'s.
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
  /// Where 128 bytes stand that must be the digits of the signature: they are read when it is verified, which most
  /// events, seen before, never are.
  public let signatureDigits: Range<Int>
  /// The array of tags, brackets included: arrays of at least one string each.
  public let tags: Range<Int>
  /// The content.
  public let content: JSONString
  /// The whole object, braces included.
  public let range: Range<Int>
  /// Whether tags and content stand in their canonical form (NIP-01), so that the id is the hash of their bytes.
  public let isCanonical: Bool
  /// Whether the object holds the seven keys and nothing else, without white space: then its bytes may be passed on as
  /// they are.
  public let isCompact: Bool

  /// Most bytes that are looked at. What is taken is less, and whoever takes events looks at that first: `EventLimit`
  /// of the contracts.
  public static let byteCountMaximum = 1 << 20

  /// Reads one event object from `bytes`, which must hold nothing else but white space around it.
  ///
  /// - Throws: what is wrong with it; never `wrongID`, `badPublicKey` or `badSignature`, which are not looked at here.
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

  /// The signature it claims; nil when its 128 bytes are not all lower-case hexadecimal digits.
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
