import Cryptography
import Testing

@Suite struct WebTokenTests {
  private let header = Array(#"{"alg":"ES256","kid":"ABC123DEFG"}"#.utf8)
  private let claims = Array(#"{"iss":"DEF123GHIJ","iat":1437179036}"#.utf8)

  private func parts(_ token: String) throws -> (text: [UInt8], signature: [UInt8]) {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    #expect(Base64URL.bytes(parts[0]) == header && Base64URL.bytes(parts[1]) == claims)
    return (Array("\(parts[0]).\(parts[1])".utf8), try #require(Base64URL.bytes(parts[2])))
  }

  @Test("A token of a key on P-256 has its parts as given, and r and s over both")
  func es256() throws {
    let key = P256SecretKey.generate()
    let (text, signature) = try parts(WebToken.signed(header: header, claims: claims, by: key))
    #expect(P256.isValid(signature, of: text, by: key.publicKey))
    #expect(!P256.isValid(signature, of: text + [0], by: key.publicKey))
  }

  @Test("A token of a key of RSA has its parts as given, and the signature over both")
  func rs256() throws {
    let (text, signature) = try parts(WebToken.signed(header: header, claims: claims, by: RSATests.key))
    #expect(RSA.isValid(signature, of: text, by: RSATests.key.publicKeyDER))
    #expect(!RSA.isValid(signature, of: text + [0], by: RSATests.key.publicKeyDER))
  }

  @Test("The claims of RFC 7515, A.2, are written as they stand there")
  func rfc7515() {
    let claims = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
    let token = WebToken.signed(header: Array(#"{"alg":"RS256"}"#.utf8), claims: Array(claims.utf8), by: RSATests.key)
    #expect(
      token.hasPrefix(
        "eyJhbGciOiJSUzI1NiJ9."
          + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ."))
  }
}
