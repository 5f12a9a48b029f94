// Events that only their author may publish (NIP-70).

internal import JSON

extension Event {
  /// Whether the event is protected: a relay accepts it only from its authenticated author.
  public var isProtected: Bool { unsigned.isProtected }

  /// Whether it is a repost that contains a protected event, which relays must refuse.
  public var embedsProtected: Bool {
    guard kind == EventKind.repost || kind == EventKind.genericRepost, !content.isEmpty else { return false }
    do throws(EventFault) {
      return try Event(json: Array(content.utf8)).isProtected
    } catch {
      return false
    }
  }
}

extension UnsignedEvent {
  /// Whether the event is, or will be, protected.
  public var isProtected: Bool { !tags.named("-").isEmpty }
}

extension ScannedEvent {
  /// The same, read from the event's text.
  public func isProtected(in bytes: UnsafeRawBufferPointer) -> Bool {
    var reader = TagReader(self, in: bytes)
    while reader.nextTag() {
      if let name = reader.nextString(), name.equals("-", in: bytes) { return true }
    }
    return false
  }
}
