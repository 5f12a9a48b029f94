// Fuzz entry for messages of NIP-77, which strangers send. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: reconciliation
//
// Whatever the bytes are, either side answers within its limit or says what is wrong, and what it answers can be read
// by the other.
import Cryptography
import Nostr
import Reconciliation

private func records(_ numbers: StrideTo<Int>) -> ReconcileRecords {
  ReconcileRecords(
    numbers.map {
      ReconcileRecord(timestamp: UInt64($0 / 3), id: EventID(SHA256.hash([UInt8($0 & 0xFF), UInt8($0 >> 8)])))
    })
}

private let limit = Reconciler.messageByteMinimum
private let here = Reconciler(records(stride(from: 0, to: 2_000, by: 1)), messageByteMaximum: limit)
private let there = Reconciler(records(stride(from: 0, to: 2_000, by: 7)), messageByteMaximum: limit)

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReconciler(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let message = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(ReconcileFault) {
    let answer = try here.answer(to: message)
    precondition(answer.count <= limit, "an answer keeps the limit")
    check(answer)
  } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
  do throws(ReconcileFault) {
    let step = try here.received(message)
    precondition(step.needs.count * EventID.byteCount <= count, "a need was named")
    precondition(Set(step.haves).count == step.haves.count, "a record is missed once in a message")
    guard let next = step.next else { return 0 }
    precondition(next.count <= limit, "a message keeps the limit")
    check(next)
  } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
  return 0
}

private func check(_ message: [UInt8]) {
  do throws(ReconcileFault) { _ = try there.answer(to: message) } catch {
    preconditionFailure("what was written is refused: \(error)")
  }
}
