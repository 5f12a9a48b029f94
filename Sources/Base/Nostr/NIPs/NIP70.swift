// Events that only their author may publish (NIP-70).

internal import JSON

extension Event {
  /// Whether the event is protected: a relay takes it from nobody but its authenticated author.
  public var isProtected: Bool { unsigned.isProtected }

  /// Whether it is a repost that carries a protected event within it, which relays are to refuse.
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
  /// The same, out of the text the event was read from.
  public func isProtected(in bytes: UnsafeRawBufferPointer) -> Bool {
    var reader = TagReader(self, in: bytes)
    while reader.nextTag() {
      if let name = reader.nextString(), name.equals("-", in: bytes) { return true }
    }
    return false
  }
}
