// Fuzz entry for signatures that are verified in batches: relays choose them. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// with: Tests/BatchTrial/TrialAuthor.swift Tests/BatchTrial/OrderInteger.swift
// corpus: batches
// longest: 512
//
// The first two bytes say how many claims a batch has, and of how many authors and sources. Then come changes of 34
// bytes: what is changed, of which claim, and 32 bytes. The verdicts must be those of libsecp256k1, and a batch of true
// claims must hold.
internal import BatchVerification
internal import Cryptography

private let authors = (0..<8).map { TrialAuthor(0, $0) }
private let claims = (0..<8).map { count in
  (0..<64).map { authors[$0 % (count + 1)].claim(SHA256.hash([UInt8(count), UInt8($0)])) }
}
// @unchecked: libFuzzer calls the entry on one thread.
private nonisolated(unsafe) let verifier = BatchVerifier()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBatch(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard input.count >= 2 else { return 0 }
  var batch = Array(claims[Int(input[1] & 7)].prefix(1 + Int(input[0] & 63)))
  let sourceCount = Int(input[1] >> 3) + 1
  for index in batch.indices { batch[index] = batch[index].with(source: Int64(index % sourceCount)) }
  var rest = input.dropFirst(2)
  while rest.count >= 34 {
    change(&batch, rest.prefix(34))
    rest = rest.dropFirst(34)
  }
  let expected = batch.map(\.isValid)
  let verdicts = verifier.verdicts(of: batch)
  precondition(verdicts.isValid == expected, "a batch and libsecp256k1 agree")
  precondition(!verdicts.hasDisagreement, "no audit finds what a batch has not")
  precondition(verdicts.retriedCount == 0 || expected.contains(false), "a batch of true claims holds")
  return 0
}

private func change(_ batch: inout [SignatureClaim], _ bytes: ArraySlice<UInt8>) {
  let (choice, place) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1])
  guard let octets = Octets32(bytes.dropFirst(2)) else { return }
  let index = Int(place) % batch.count
  let other = Int(octets.bytes[31]) % batch.count
  let claim = batch[index]
  let scalar = OrderInteger(claim.signature.scalar)
  switch choice & 15 {
  case 0: batch[index] = claim.with(message: octets)
  case 1: batch[index] = claim.with(point: octets)
  case 2: batch[index] = claim.with(scalar: octets)
  case 3: batch[index] = claim.with(key: authors[Int(octets.bytes[0]) % authors.count].key)
  case 4: batch[index] = batch[other]
  case 5: batch[index] = claim.with(point: batch[other].signature.point)
  case 6: batch[index] = claim.with(scalar: (-scalar).octets)
  case 7: batch[index] = claim.with(scalar: (scalar + OrderInteger(octets)).octets)
  case 8:
    // Two that cancel under equal coefficients.
    let second = batch[other]
    batch[index] = claim.with(scalar: (scalar + OrderInteger(octets)).octets)
    batch[other] = second.with(scalar: (OrderInteger(second.signature.scalar) + -OrderInteger(octets)).octets)
  case 9, 10, 11:
    // A nonce that the input chooses, and every sign.
    guard OrderInteger(octets) != OrderInteger(0), OrderInteger(octets).octets == octets else { return }
    let sign = TrialAuthor.Sign.allCases[Int(choice & 15) - 9]
    batch[index] = authors[Int(place) % authors.count].claim(claim.message, nonce: octets, sign, source: claim.source)
  case 12: batch[index] = claim.with(message: claim.signature.point)
  case 13: batch[index] = claim.with(source: Int64(place))
  default:
    // The nonce of another signature of this author, with s of its own.
    batch[index] = claim.with(message: batch[other].message, point: batch[other].signature.point)
  }
}
