// Fuzz entry for secret keys in PEM. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: key-texts
//
// The first byte says what the rest is: a text as it stands in a file, or the DER inside one, put into Base64 here,
// under each of the labels. What is read must sign what its public key accepts, and be read again as it is written.
import Cryptography

private let labels = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzKeyText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: start, count: count)
  guard let first = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  guard first < labels.count else {
    read(String(decoding: rest, as: UTF8.self))
    return 0
  }
  var body = ""
  var text = Substring(Base64.encode(rest))
  while !text.isEmpty {
    body += text.prefix(64) + "\n"
    text = text.dropFirst(64)
  }
  let label = labels[Int(first)]
  read("-----BEGIN \(label)-----\n\(body)-----END \(label)-----\n")
  return 0
}

private func read(_ text: String) {
  if let key = P256SecretKey(pem: text) {
    precondition(P256.isPublicKey(key.publicKey), "a public key is a point of the curve")
    precondition(P256.isValid(key.sign([1]), of: [1], by: key.publicKey), "a key signs")
    precondition(P256SecretKey(pem: key.pem)?.publicKey == key.publicKey, "a key is read as it is written")
  }
  if let key = RSASecretKey(pem: text) {
    precondition(RSA.isValid(key.sign([1]), of: [1], by: key.publicKeyDER), "a key signs")
    precondition(RSASecretKey(pem: key.pem)?.publicKeyDER == key.publicKeyDER, "a key is read as it is written")
  }
}
