public import Cryptography

/// Decides whether an event is what its author signed: its id is the hash of its canonical form, and the signature over
/// that id is the author's (NIP-01). In the event store `GateJob` calls it, and `RelayTrust` decides whether the
/// signature of a relay's event is verified at all.
///
/// Belongs to one thread at a time: it reuses a hasher and a buffer for every event.
public final class EventVerifier {
  private let hasher = SHA256()
  private var form: [UInt8] = []

  /// A verifier.
  public init() { form.reserveCapacity(4_096) }

  /// The id the event must have. Costs under a microsecond for a short note.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - bytes: the text the event was read from.
  public func identify(_ event: ScannedEvent, in bytes: UnsafeRawBufferPointer) -> EventID {
    form.removeAll(keepingCapacity: true)
    event.appendCanonicalForm(of: bytes, to: &form)
    let id = EventID(hasher.hash(form))
    // One event of a megabyte must not leave a buffer of a megabyte.
    if form.capacity > Self.keptByteCount { form = [] }
    return id
  }

  /// What is wrong with the event; nil if it is valid. About 30 µs, nearly all of it for the signature.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - bytes: the text the event was read from.
  ///   - key: its author's key, if it was computed before.
  public func fault(
    of event: ScannedEvent, in bytes: UnsafeRawBufferPointer, key: ParsedPublicKey? = nil
  ) -> EventFault? {
    guard let signature = event.signature(in: bytes) else {
      return .badField("sig", "128 lower-case hexadecimal digits")
    }
    let id = identify(event, in: bytes)
    guard id == event.id else { return .wrongID(id) }
    guard let key = key ?? ParsedPublicKey(event.pubkey) else { return .badPublicKey(event.pubkey) }
    return signature.isValid(for: id.octets, by: key) ? nil : .badSignature
  }

  /// Largest buffer that is kept for the next event.
  private static let keptByteCount = 64 << 10
}
