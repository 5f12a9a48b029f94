internal import Glibc
internal import JSON

// When an event is no longer to be shown or kept (NIP-40).

extension Event {
  /// The second at which the event expires; nil when it does not, or says so in a form that is no time.
  public var expiration: Int64? { unsigned.expiration }

  /// Whether it has expired at the second `now`.
  public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
}

extension UnsignedEvent {
  /// The second at which the event expires; nil when it does not, or says so in a form that is no time.
  public var expiration: Int64? { firstValue(of: "expiration").flatMap { plainNumber($0.utf8) } }
}

extension ScannedEvent {
  /// The same, out of the text the event was read from.
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
  /// Whether the word may stand among the tags: nearly no event has it, and to look for its rarest letter costs a tenth
  /// of going through them. An escape could be part of it.
  private func mayExpire(in bytes: UnsafeRawBufferPointer) -> Bool {
    guard var place = bytes.baseAddress.map({ $0 + tags.lowerBound }) else { return false }
    let end = place + tags.count
    if memchr(place, Int32(UInt8(ascii: "\\")), tags.count) != nil { return true }
    while let found = memchr(place, Int32(UInt8(ascii: "x")), end - place) {
      place = UnsafeRawPointer(found) + 1
      // What follows is inside the tags: they end with a bracket.
      if place.load(as: UInt8.self) == UInt8(ascii: "p") { return true }
    }
    return false
  }
}
