import BatchVerification
import Cryptography
import Glibc

// What verifying signatures of 100 authors in batches costs.
//
//     batch-bench
//
// Prints one line of JSON. `known` and `new`: nanoseconds of processor time for one signature, on one thread, by the
// size of the batch; the authors' keys are lifted before, or again in each batch. `oneThread` and `twoThreads`:
// nanoseconds of wall-clock time for one signature in batches of 256 of known keys.

let authorCount = 100
let sizes = [8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096]
let measuredCount = 8_192

func nanoseconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

let secrets = (0..<authorCount).map { _ in SecretKey.generate() }
let keys = secrets.compactMap { LiftedKey($0.publicKey) }
let claims = (0..<measuredCount).map { index in
  let message = SHA256.hash([UInt8(index & 255), UInt8(index >> 8)])
  // Authors come in no order: 37 and 100 have no common factor.
  let author = index * 37 % authorCount
  return SignatureClaim(message: message, signature: secrets[author].sign(message), key: keys[author], source: 0)
}

/// Verifies all in batches of one size.
func verify(_ claims: [SignatureClaim], _ size: Int, withNewKeys: Bool = false) {
  let verifier = BatchVerifier()
  for start in stride(from: 0, to: claims.count, by: size) {
    var batch = Array(claims[start..<min(start + size, claims.count)])
    if withNewKeys {
      var lifted: [PublicKey: LiftedKey] = [:]
      batch = batch.compactMap { claim in
        let key = claim.key.key
        guard let known = lifted[key] ?? LiftedKey(key) else { return nil }
        lifted[key] = known
        return SignatureClaim(message: claim.message, signature: claim.signature, key: known, source: claim.source)
      }
    }
    let verdicts = verifier.verdicts(of: batch)
    precondition(verdicts.isValid.allSatisfy { $0 } && verdicts.isValid.count == batch.count, "all are true")
  }
}

func costs(withNewKeys: Bool) -> String {
  let costs = sizes.map { size in
    let start = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
    verify(claims, size, withNewKeys: withNewKeys)
    return "\"\(size)\": \((nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start) / Double(measuredCount))"
  }
  return "{\(costs.joined(separator: ", "))}"
}

func together(threads: Int) async -> Double {
  let start = nanoseconds(CLOCK_MONOTONIC)
  await withTaskGroup { group in
    for thread in 0..<threads {
      let share = Array(claims[thread * measuredCount / threads..<(thread + 1) * measuredCount / threads])
      group.addTask { for _ in 0..<4 { verify(share, 256) } }
    }
  }
  return (nanoseconds(CLOCK_MONOTONIC) - start) / Double(4 * measuredCount)
}

verify(claims, 256)
let (known, new) = (costs(withNewKeys: false), costs(withNewKeys: true))
let (one, two) = (await together(threads: 1), await together(threads: 2))
print("{\"known\": \(known), \"new\": \(new), \"oneThread\": \(one), \"twoThreads\": \(two)}")
