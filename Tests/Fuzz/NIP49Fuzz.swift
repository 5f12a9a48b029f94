// Fuzz entry for encrypted keys and the passphrases that open them. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: nip49
//
// The first byte says what the rest is: a text as somebody pastes it; the bytes behind a text with a right checksum,
// which no fuzzer finds by itself; or what somebody types as a passphrase.
import Cryptography
import Nostr

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNIP49(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let choice = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  switch choice & 3 {
  case 0: read(String(decoding: rest, as: UTF8.self))
  case 1: read(Bech32.encode(hrp: "ncryptsec", data: rest))
  default: normalize(rest)
  }
  return 0
}

private func read(_ text: String) {
  do throws(NIP49Fault) {
    let encrypted = try EncryptedSecretKey(text)
    precondition(encrypted.text == text.lowercased(), "a key has one spelling")
    precondition(encrypted.memoryByteCount <= 3 << 30, "what is read can be opened")
    guard encrypted.logN <= 3, let passphrase = passphrase([]) else { return }
    _ = try encrypted.open(with: passphrase)
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
}

private func normalize(_ typed: [UInt8]) {
  guard let once = passphrase(typed) else {
    precondition(typed.count > Passphrase.byteCountMaximum || String(validating: typed, as: UTF8.self) == nil)
    return
  }
  let bytes = once.withBytes { Array($0) }
  precondition(String(validating: bytes, as: UTF8.self) != nil, "what is normalized is UTF-8")
  // What has grown beyond the bound cannot be typed again.
  guard bytes.count <= Passphrase.byteCountMaximum else { return }
  precondition(passphrase(bytes)?.withBytes { Array($0) } == bytes, "what is normalized stays as it is")
}

private func passphrase(_ typed: [UInt8]) -> Passphrase? {
  typed.withUnsafeBytes { bytes in
    do throws(PassphraseFault) { return try Passphrase(utf8: bytes) } catch { return nil }
  }
}
