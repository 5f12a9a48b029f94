import TestSupport
import Testing

@testable import Cryptography

@Suite struct CipherTests {
  private struct Group: Decodable {
    let keySize, ivSize: Int
    let tests: [Case]
    struct Case: Decodable {
      let tcId: Int
      let key, iv, msg, ct: Octets
      let aad, tag: Octets?
      let result: String
    }
  }

  @Test("ChaCha20 gives the key stream of RFC 8439, from counter 0, and takes it back")
  func chaCha20() {
    var bytes = [UInt8](repeating: 0, count: 64)
    let key = [UInt8](repeating: 0, count: 32)
    let nonce = [UInt8](repeating: 0, count: 12)
    func apply() {
      key.withUnsafeBytes { key in
        nonce.withUnsafeBytes { nonce in
          bytes.withUnsafeMutableBytes { ChaCha20.apply(key: key, nonce: nonce, to: $0) }
        }
      }
    }
    apply()
    #expect(
      Hexadecimal.text(of: bytes)
        == "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        + "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586")
    apply()
    #expect(bytes == [UInt8](repeating: 0, count: 64))
  }

  @Test("HChaCha20 gives the key of draft-irtf-cfrg-xchacha-03, 2.2.1")
  func hChaCha20() {
    let nonce: Octets = "000000090000004a0000000031415927"
    var derived = [UInt8](repeating: 0, count: 32)
    Array(UInt8(0)...31).withUnsafeBytes { key in
      nonce.bytes.withUnsafeBytes { nonce in
        derived.withUnsafeMutableBytes { XChaCha20Poly1305.deriveKey(of: key, nonce: nonce, into: $0) }
      }
    }
    #expect(Hexadecimal.text(of: derived) == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
  }

  private func seal(_ message: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> [UInt8] {
    message.withUnsafeBytes { message in
      key.withUnsafeBytes { key in
        nonce.withUnsafeBytes { nonce in
          data.withUnsafeBytes { XChaCha20Poly1305.seal(message, key: key, nonce: nonce, authenticating: $0) }
        }
      }
    }
  }

  private func open(_ sealed: [UInt8], _ key: [UInt8], _ nonce: [UInt8], _ data: [UInt8]) -> [UInt8]? {
    var message = [UInt8](repeating: 0xAA, count: max(sealed.count - 16, 0))
    let isRight = sealed.withUnsafeBytes { sealed in
      key.withUnsafeBytes { key in
        nonce.withUnsafeBytes { nonce in
          data.withUnsafeBytes { data in
            message.withUnsafeMutableBytes {
              XChaCha20Poly1305.open(sealed, key: key, nonce: nonce, authenticating: data, into: $0)
            }
          }
        }
      }
    }
    #expect(isRight || sealed.count < 16 || message.allSatisfy { $0 == 0 }, "what is refused leaves nothing")
    return isRight ? message : nil
  }

  @Test("XChaCha20-Poly1305 seals and opens as the draft and Wycheproof say")
  func xChaCha20Poly1305() throws {
    let nonce: Octets = "404142434445464748494a4b4c4d4e4f5051525354555657"
    let data: Octets = "50515253c0c1c2c3c4c5c6c7"
    let text =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
    let own = seal(Array(text.utf8), Array(0x80...0x9F), nonce.bytes, data.bytes)
    #expect(Hexadecimal.text(of: own.prefix(16)) == "bd6d179d3e83d43b9576579493c0e939")
    #expect(Hexadecimal.text(of: own.suffix(16)) == "c0875924c1c7987947deafd8780acf49")
    for group in try Wycheproof<Group>.groups("xchacha20_poly1305_test.json") where group.ivSize == 192 {
      for test in group.tests {
        let sealed = test.ct.bytes + (test.tag?.bytes ?? [])
        let data = test.aad?.bytes ?? []
        let opened = open(sealed, test.key.bytes, test.iv.bytes, data)
        #expect(opened == (test.result == "valid" ? test.msg.bytes : nil), "case \(test.tcId)")
        guard test.result == "valid" else { continue }
        #expect(seal(test.msg.bytes, test.key.bytes, test.iv.bytes, data) == sealed, "case \(test.tcId)")
      }
    }
  }

  @Test("What XChaCha20-Poly1305 sealed opens, and with any byte changed does not", arguments: [0, 1, 32, 33, 64, 200])
  func changed(count: Int) {
    let message = RandomBytes.make(count)
    let key = RandomBytes.make(32)
    let nonce = RandomBytes.make(24)
    var sealed = seal(message, key, nonce, [7])
    #expect(open(sealed, key, nonce, [7]) == message)
    #expect(open(sealed, key, nonce, [8]) == nil && open(sealed, key, nonce, []) == nil)
    for index in sealed.indices {
      sealed[index] ^= 0x40
      #expect(open(sealed, key, nonce, [7]) == nil, "byte \(index)")
      sealed[index] ^= 0x40
    }
    #expect(open(Array(sealed.dropLast()), key, nonce, [7]) == nil)
    #expect(open(Array(sealed.prefix(15)), key, nonce, [7]) == nil)
  }

  private func encrypt(_ message: [UInt8], _ key: [UInt8], _ vector: [UInt8]) -> [UInt8] {
    message.withUnsafeBytes { message in
      key.withUnsafeBytes { key in
        vector.withUnsafeBytes { AES256CBC.encrypt(message, key: key, vector: $0) }
      }
    }
  }

  private func decrypt(_ ciphertext: [UInt8], _ key: [UInt8], _ vector: [UInt8]) -> [UInt8]? {
    ciphertext.withUnsafeBytes { ciphertext in
      key.withUnsafeBytes { key in
        vector.withUnsafeBytes { AES256CBC.decrypt(ciphertext, key: key, vector: $0) }
      }
    }
  }

  @Test("AES-256-CBC gives the blocks of SP 800-38A and Wycheproof, and refuses wrong padding")
  func aes256CBC() throws {
    let key: Octets = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    let block: Octets = "6bc1bee22e409f96e93d7e117393172a"
    let own = encrypt(block.bytes, key.bytes, Array(0...15))
    #expect(own.count == 32 && Hexadecimal.text(of: own.prefix(16)) == "f58c4c04d6e5f1ba779eabfb5f7bfbd6")
    #expect(decrypt(own, key.bytes, Array(0...15)) == block.bytes)
    #expect(decrypt([], key.bytes, Array(0...15)) == nil && decrypt(Array(own[..<17]), key.bytes, Array(0...15)) == nil)
    for group in try Wycheproof<Group>.groups("aes_cbc_pkcs5_test.json") where group.keySize == 256 {
      for test in group.tests {
        let opened = decrypt(test.ct.bytes, test.key.bytes, test.iv.bytes)
        #expect(opened == (test.result == "valid" ? test.msg.bytes : nil), "case \(test.tcId)")
        guard test.result == "valid" else { continue }
        #expect(encrypt(test.msg.bytes, test.key.bytes, test.iv.bytes) == test.ct.bytes, "case \(test.tcId)")
      }
    }
  }

  @Test("Equal bytes are equal and others are not, wherever they differ")
  func constantTime() {
    let bytes = RandomBytes.make(48)
    func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
      one.withUnsafeBytes { one in other.withUnsafeBytes { ConstantTime.areEqual(one, $0) } }
    }
    #expect(areEqual(bytes, bytes) && areEqual([], []) && !areEqual(bytes, []) && !areEqual([], bytes))
    #expect(!areEqual(bytes, Array(bytes.dropLast())))
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 1
      #expect(!areEqual(bytes, other))
    }
  }

  @Test("What is lent and wiped is gone")
  func wiped() {
    var bytes = RandomBytes.make(40)
    bytes.wipe()
    #expect(bytes == [UInt8](repeating: 0, count: 40))
    #expect(withWipedBytes(32) { $0.count } == 32)
  }
}
