/// JSON Web Tokens, signed and compact (RFC 7515, RFC 7519): `header.claims.signature`, each as ``Base64URL``.
///
/// Both parts are signed as given, so they must be JSON; the header must say `ES256` for a key on P-256, and `RS256`
/// for an RSA key.
public enum WebToken {
  /// The token of a key on P-256 (ES256).
  public static func signed(header: [UInt8], claims: [UInt8], by key: P256SecretKey) -> String {
    signed(header: header, claims: claims) { key.sign($0) }
  }

  /// The token of an RSA key (RS256).
  public static func signed(header: [UInt8], claims: [UInt8], by key: RSASecretKey) -> String {
    signed(header: header, claims: claims) { key.sign($0) }
  }

  private static func signed(header: [UInt8], claims: [UInt8], _ sign: ([UInt8]) -> [UInt8]) -> String {
    let text = "\(Base64URL.text(of: header)).\(Base64URL.text(of: claims))"
    return "\(text).\(Base64URL.text(of: sign(Array(text.utf8))))"
  }
}
