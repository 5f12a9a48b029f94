public import Cryptography
public import JSON

/// Why something is not a valid event (NIP-01).
public enum EventFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not JSON, or JSON of another shape.
  case notJSON(JSONFault)
  /// Bytes that are no UTF-8.
  case notUTF8
  /// A key that an event must have is not there.
  case missingKey(String)
  /// A key stands there twice: two readers could see two events.
  case repeatedKey(String)
  /// A field has another form than NIP-01 gives it; the second text says which form that is.
  case badField(String, String)
  /// The event has more bytes than are taken.
  case tooLarge(byteCount: Int, maximum: Int)
  /// The id is not the hash of the rest; what it would be.
  case wrongID(EventID)
  /// There is no point of the curve with this public key.
  case badPublicKey(PublicKey)
  /// The signature does not belong to this id and public key.
  case badSignature

  /// A sentence's end, without a full stop: `not an event: its kind is not a number from 0 to 65535`.
  public var description: String {
    switch self {
    case .notJSON(let fault): "not an event: \(fault)"
    case .notUTF8: "not an event: it is not UTF-8"
    case .missingKey(let key): "not an event: it has no \"\(key)\""
    case .repeatedKey(let key): "not an event: it has \"\(key)\" twice"
    case .badField(let name, let form): "not an event: its \(name) is not \(form)"
    case .tooLarge(let count, let maximum): "the event has \(count) bytes; at most \(maximum) are taken"
    case .wrongID(let id): "the id is wrong: by its contents it would be \(id)"
    case .badPublicKey(let key): "the public key \(key) is not on the curve"
    case .badSignature: "the signature is wrong"
    }
  }
}
