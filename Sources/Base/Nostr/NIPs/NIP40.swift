internal import Glibc
internal import JSON

// When an event must no longer be shown or kept (NIP-40).

extension Event {
  /// The second at which the event expires; nil if it does not, or its expiration is not a valid time.
  public var expiration: Int64? { unsigned.expiration }

  /// Whether it has expired at the second `now`.
  public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
}

extension UnsignedEvent {
  /// The second at which the event expires; nil if it does not, or its expiration is not a valid time.
  public var expiration: Int64? { firstValue(of: "expiration").flatMap { plainNumber($0.utf8) } }
}

extension ScannedEvent {
  /// The same, read from the event's text.
  public func expiration(in bytes: UnsafeRawBufferPointer) -> Int64? {
    guard mayExpire(in: bytes) else { return nil }
    var reader = TagReader(self, in: bytes)
    while reader.nextTag() {
      guard let name = reader.nextString(), name.equals("expiration", in: bytes), let value = reader.nextString() else {
        continue
      }
      return plainNumber(Array(value.string(in: bytes).utf8))
    }
    return nil
  }
  /// Whether the tag name may occur in the tags. Nearly no event has it, and searching for its rarest letter costs a
  /// tenth of reading the tags. An escape could be part of it, so it counts as a possible match.
  private func mayExpire(in bytes: UnsafeRawBufferPointer) -> Bool {
    guard var place = bytes.baseAddress.map({ $0 + tags.lowerBound }) else { return false }
    let end = place + tags.count
    if memchr(place, Int32(UInt8(ascii: "\\")), tags.count) != nil { return true }
    while let found = memchr(place, Int32(UInt8(ascii: "x")), end - place) {
      place = UnsafeRawPointer(found) + 1
      // The next byte is still inside the tags: they end with a bracket.
      if place.load(as: UInt8.self) == UInt8(ascii: "p") { return true }
    }
    return false
  }
}
