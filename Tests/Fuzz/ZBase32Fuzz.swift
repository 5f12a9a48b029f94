// Fuzz entry for keys in z-base-32. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: zbase32
// longest: 64
//
// What is read is written as it was, and any 32 bytes are read as they were written. A fuzzer seldom keeps 52 letters
// together, so an input of 32 bytes is also taken for the key itself, and its text tried with each letter at the end.
import Cryptography

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzZBase32(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let text = String(decoding: input, as: UTF8.self)
  if let octets = ZBase32.octets(text) {
    precondition(ZBase32.text(of: octets) == text, "a key has one spelling")
  }
  guard let octets = Octets32(input) else { return 0 }
  let written = ZBase32.text(of: octets)
  precondition(written.utf8.count == ZBase32.characterCount, "a key has 52 letters")
  for last in UInt8(0)..<128 {
    let other = String(written.dropLast()) + String(UnicodeScalar(last))
    guard let read = ZBase32.octets(other) else { continue }
    precondition(last == UInt8(ascii: "y") || last == UInt8(ascii: "o"), "the last letter carries one bit")
    precondition((read == octets) == (other == written), "two texts are two keys")
  }
  precondition(ZBase32.octets(written) == octets, "a key is read as it was written")
  return 0
}
