import Cryptography
import FoundationEssentials
import TestSupport
import Testing

@Suite struct Base64Tests {
  @Test(
    "The texts of RFC 4648 are written and read",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func texts(plain: String, text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.decode(text) == Array(plain.utf8))
  }

  @Test(
    "A text that writing does not give is refused",
    arguments: [
      "Z", "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zh==", "Zm9=", "Zm8=Zm8=", "Zm8=\n", " Zm8", "Zm-_",
      "Zm8é",
      "Zg==Zg==", "Z=g=", "Zm\u{0}v",
    ])
  func refused(text: String) { #expect(Base64.decode(text) == nil) }

  @Test("Random bytes are written as FoundationEssentials writes them, and any one letter more or less is seen")
  func random() {
    for count in 0..<200 {
      let bytes = RandomBytes.make(count)
      let text = Base64.encode(bytes)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
      guard count > 0 else { continue }
      #expect(Base64.decode(text.dropLast()) == nil && Base64.decode(text + "A") == nil)
    }
  }

  @Test("No two texts are the same bytes")
  func noTwoSpellings() {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=- \n\u{7F}"
    var seen: [[UInt8]: String] = [:]
    for third in letters {
      for last in letters {
        let text = "AQ\(third)\(last)"
        guard let bytes = Base64.decode(text) else { continue }
        #expect(seen.updateValue(text, forKey: bytes) == nil)
        #expect(Base64.encode(bytes) == text)
      }
    }
    // Of three bytes, of two, and of one.
    #expect(seen.count == 64 * 64 + 16 + 1)
  }
}
