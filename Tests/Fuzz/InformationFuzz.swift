// Fuzz entry for what relays say of themselves (NIP-11). `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: information
//
// The input is a document. What is read of it is within its bounds, each complaint stands once, and what was
// understood, written again and read again, is the same and gives no cause for complaint.
import FoundationEssentials
import JSON
import Nostr

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzInformation(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  do throws(JSONFault) {
    let (information, complaints) = try RelayInformation.read(bytes)
    precondition(Set(complaints).count == complaints.count, "a complaint stands once")
    precondition(information.supportedNIPs?.count ?? 0 <= RelayInformation.nipMaximum, "the list is bounded")
    let prices = information.fees.map { $0.admission + $0.subscription + $0.publication } ?? []
    precondition(prices.count <= 3 * RelayInformation.feeMaximum, "prices are bounded")
    checkAgain(information)
  } catch {
    precondition(0...count ~= error.byteOffset, "a fault is inside the text")
  }
  return 0
}

private func checkAgain(_ information: RelayInformation) {
  guard let written = try? JSONEncoder().encode(information) else { preconditionFailure("it can be written") }
  // Escapes make it longer, and what is behind the bound is not looked at.
  guard written.count <= RelayInformation.byteCountMaximum else { return }
  do throws(JSONFault) {
    let (again, complaints) = try RelayInformation.read(Array(written))
    precondition(again == information && complaints.isEmpty, "what was written reads as it was")
  } catch {
    preconditionFailure("what was written is refused: \(error)")
  }
}
