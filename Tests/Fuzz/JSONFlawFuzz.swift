// Fuzz entry for the search of what is wrong with a JSON text: it runs over the arguments of every method before
// any decoder does. `Scripts/fuzz.sh` builds and runs it.
//
// corpus: filters
// libraries: FoundationEssentials
//
// The oracle is the decoder. What it takes has no half of a surrogate pair; written again, with each name once and
// nothing escaped, it has no flaw at all.
import Frames
import JSON

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSONFlaw(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
  let flaw = JSONFlaw.first(in: bytes)
  // What it does not take is nothing to compare with.
  guard let value = try? JSONPayload.decode(JSONValue.self, from: bytes) else { return 0 }
  // Nor what a lenient decoder takes: a comma after the last element, UTF-16.
  if case .loneSurrogate? = flaw { preconditionFailure("the decoder takes no half of a pair") }
  precondition(JSONFlaw.first(in: JSONPayload.encode(value)) == nil, "what is written has each name once")
  return 0
}
