public import Cryptography
public import JSON

/// Why a text is not a valid event (NIP-01).
public enum EventFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not JSON, or JSON of another shape.
  case notJSON(JSONFault)
  /// Bytes that are not UTF-8.
  case notUTF8
  /// A required key is missing.
  case missingKey(String)
  /// A key occurs twice: two readers could see two events.
  case repeatedKey(String)
  /// A field does not have the form that NIP-01 requires; the second text says which form that is.
  case badField(String, String)
  /// The event has more bytes than are accepted.
  case tooLarge(byteCount: Int, maximum: Int)
  /// The id is not the hash of the rest; contains the right id.
  case wrongID(EventID)
  /// No point of the curve has this public key.
  case badPublicKey(PublicKey)
  /// The signature does not match this id and public key.
  case badSignature

  /// The end of a sentence, without a full stop: `not an event: its kind is not a number from 0 to 65535`.
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
