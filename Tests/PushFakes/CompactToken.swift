import Cryptography
import Frames

/// A JSON Web Token in its compact form, not verified yet.
struct CompactToken {
  let header: JSONValue
  let claims: JSONValue
  let signature: [UInt8]
  /// What was signed.
  let message: [UInt8]

  /// Reads `header.claims.signature`; nil when it is none.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let head = Base64URL.bytes(parts[0]), let body = Base64URL.bytes(parts[1]),
      let signature = Base64URL.bytes(parts[2]), let header = JSONValue(json: head), let claims = JSONValue(json: body)
    else { return nil }
    self.header = header
    self.claims = claims
    self.signature = signature
    message = Array((parts[0] + "." + parts[1]).utf8)
  }
}
