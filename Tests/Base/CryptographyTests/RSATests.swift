import Cryptography
import TestSupport
import Testing

@Suite struct RSATests {
  /// Making one takes longer than all tests with it.
  static let key = RSASecretKey.generate()

  @Test("What is signed is valid, the same each time, and with any part changed it is not")
  func roundTrip() {
    let key = Self.key
    let signature = key.sign([1, 2, 3])
    #expect(signature.count == 256 && key.sign([1, 2, 3]) == signature)
    #expect(RSA.isValid(signature, of: [1, 2, 3], by: key.publicKeyDER))
    #expect(!RSA.isValid(signature, of: [1, 2, 4], by: key.publicKeyDER))
    #expect(!RSA.isValid(Array(signature.dropLast()), of: [1, 2, 3], by: key.publicKeyDER))
    #expect(!RSA.isValid(signature + [0], of: [1, 2, 3], by: key.publicKeyDER))
    #expect(!RSA.isValid([], of: [1, 2, 3], by: key.publicKeyDER))
    for bit in stride(from: 0, to: 2_048, by: 61) {
      var changed = signature
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!RSA.isValid(changed, of: [1, 2, 3], by: key.publicKeyDER), "bit \(bit)")
    }
  }

  @Test("The signature of RFC 7515, A.2, is valid")
  func rfc7515() throws {
    let modulus = try #require(
      Base64URL.bytes(
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
          + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXB"
          + "dQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia"
          + "GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
      ))
    let signature = try #require(
      Base64URL.bytes(
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
          + "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB"
          + "_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rq"
          + "Vt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
      ))
    let text =
      "eyJhbGciOiJSUzI1NiJ9."
      + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    #expect(RSA.isValid(signature, of: Array(text.utf8), by: info(modulus: modulus)))
    #expect(!RSA.isValid(signature, of: Array(text.utf8) + [0], by: info(modulus: modulus)))
  }

  @Test("A key that is short, cut off, followed by anything or of another kind verifies nothing")
  func otherKeys() throws {
    let key = Self.key
    let signature = key.sign([1])
    let der = key.publicKeyDER
    #expect(RSA.isValid(signature, of: [1], by: der))
    #expect(!RSA.isValid(signature, of: [1], by: der + [0]))
    for count in stride(from: 0, to: der.count, by: 7) {
      #expect(!RSA.isValid(signature, of: [1], by: Array(der[..<count])))
    }
    let short = [0x80] + [UInt8](repeating: 1, count: 127)
    #expect(!RSA.isValid([UInt8](repeating: 0, count: 128), of: [1], by: info(modulus: short)))
    let head: Octets = "3059301306072a8648ce3d020106082a8648ce3d030107034200"
    #expect(!RSA.isValid(signature, of: [1], by: head.bytes + P256SecretKey.generate().publicKey))
  }

  /// SubjectPublicKeyInfo of a modulus without a zero in front, and the exponent 65,537.
  private func info(modulus: [UInt8]) -> [UInt8] {
    func item(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] {
      let count = body.count
      return [tag] + (count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]) + body
    }
    let algorithm: Octets = "300d06092a864886f70d0101010500"
    let exponent: Octets = "0203010001"
    let key = item(0x30, item(2, [0] + modulus) + exponent.bytes)
    return item(0x30, algorithm.bytes + item(3, [0] + key))
  }
}
