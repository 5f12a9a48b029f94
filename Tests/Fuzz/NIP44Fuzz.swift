// Fuzz entry for encrypted payloads, which anybody can send to anybody. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: nip44
//
// The first byte says what the rest is: a payload or a content of NIP-04 as it comes, which must be refused or read; a
// padded plaintext under a right code, because no fuzzer finds one by itself; or a plaintext, which must come back.
@testable import Cryptography
@testable import Nostr

private let key = ConversationKey(SecretMemory(byteCount: 32) { $0.copyBytes(from: [UInt8](repeating: 7, count: 32)) })
private let nonce = [UInt8](repeating: 9, count: 32)
private let secretKey: SecretKey = {
  let key = [UInt8](repeating: 5, count: 32).withUnsafeBytes { SecretKey(bytes: $0) }
  guard let key else { preconditionFailure("this is a key") }
  return key
}()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNIP44(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let choice = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  switch choice & 3 {
  case 0: decryptPayload(String(decoding: rest, as: UTF8.self))
  case 1: decryptContent(String(decoding: rest, as: UTF8.self))
  case 2: decryptPadded(rest)
  default: checkReturn(of: rest)
  }
  return 0
}

private func decryptPayload(_ payload: String) {
  do throws(NIP44Fault) {
    let plaintext = try NIP44.decrypt(payload, with: key)
    precondition(!plaintext.isEmpty, "no payload holds nothing")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}

private func decryptContent(_ content: String) {
  do throws(NIP04Fault) {
    let text = try NIP04.decrypt(content, by: secretKey, from: secretKey.publicKey)
    let vector = Base64.decode(String(content.suffix(24)))
    let again = try NIP04.encrypt(text, by: secretKey, for: secretKey.publicKey, vector: vector)
    precondition(again == content, "a content has one spelling")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}

/// Encrypts and signs whatever stands where length, text and zeros should.
private func decryptPadded(_ padded: [UInt8]) {
  var bytes = [2] + nonce + padded + [UInt8](repeating: 0, count: 32)
  let end = bytes.count - 32
  nonce.withUnsafeBytes { nonce in
    MessageKeys.derive(from: key, nonce: nonce) { keys in
      bytes.withUnsafeMutableBytes { bytes in
        ChaCha20.apply(
          key: keys.cipherKey, nonce: keys.cipherNonce, to: UnsafeMutableRawBufferPointer(rebasing: bytes[33..<end]))
        let hmac = HMACSHA256(key: keys.codeKey)
        hmac.update(UnsafeRawBufferPointer(rebasing: bytes[1..<end]))
        hmac.end(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
      }
    }
  }
  do throws(NIP44Fault) {
    let plaintext = try NIP44.decrypt(Base64.encode(bytes), with: key)
    let start = plaintext.count < 65_536 ? 2 : 6
    precondition(padded.dropFirst(start).starts(with: plaintext), "what was written is read")
    let right = start + NIP44.paddedByteCount(of: plaintext.count)
    precondition(padded.count == right, "the padding belongs to the length")
  } catch {
    precondition(error != .wrongCode && error != .notBase64, "the code is right")
  }
}

private func checkReturn(of plaintext: [UInt8]) {
  do throws(NIP44Fault) {
    let payload = try NIP44.encrypt(plaintext, with: key, nonce: nonce)
    let decrypted = try NIP44.decrypt(payload, with: key)
    precondition(decrypted == plaintext, "what was encrypted comes back")
  } catch {
    precondition(error == .emptyPlaintext && plaintext.isEmpty, "only nothing is refused: \(error)")
  }
}
