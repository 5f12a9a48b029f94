// Fuzz entry for filters and the messages that carry them, which any client of a local relay may send.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: filters
//
// The input is a client's message, in UTF-8, which its WebSocket has looked at. What is taken must be written and read
// as the same, with bounds kept; its filters must merge to filters that cover them; subtracting one from itself must
// leave nothing. The relay's half is read from the same bytes, for harm only.
import Nostr

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFilter(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
  defer { bytes.deallocate() }
  bytes.copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
  check(UnsafeRawBufferPointer(bytes))
  return 0
}

private func check(_ bytes: UnsafeRawBufferPointer) {
  do throws(FilterFault) { check(try Filter(json: bytes)) } catch { precondition(!error.description.isEmpty) }
  guard String(validating: bytes, as: UTF8.self) != nil else { return }
  do throws(RelayMessageFault) { _ = try RelayMessage(bytes) } catch { precondition(!error.description.isEmpty) }
  do throws(ClientMessageFault) {
    switch try ClientMessage(bytes) {
    case .event(let range), .authentication(let range):
      precondition(range.upperBound < bytes.count && bytes[range.lowerBound] == UInt8(ascii: "{"), "an event is inside")
    case .subscription(let id, let filters), .counting(let id, let filters):
      check(id)
      precondition((1...RawFilters.countMaximum).contains(filters.count), "filters are bounded")
      for filter in filters { check(filter) }
      checkMerging(filters)
    case .reconciliation(let id, let filter, _):
      check(id)
      check(filter)
    case .closing(let id), .reconciliationMessage(let id, _), .reconciliationEnd(let id): check(id)
    case .unknown: break
    }
  } catch {
    precondition(error.reason.word != nil, "a fault has a reason that a client can be given")
  }
}

private func check(_ id: String) {
  let maximum = ClientMessage.subscriptionCharacterCountMaximum
  precondition((1...maximum).contains(id.unicodeScalars.count), "an id is within the bound")
}

private func check(_ filter: Filter) {
  do throws(FilterFault) {
    let again = try Filter(json: filter.json)
    precondition(again == filter && again.json == filter.json, "a filter is read as it was written")
  } catch {
    preconditionFailure("a filter that was written is refused: \(error)")
  }
  precondition(filter.covers(filter), "a filter covers itself")
  precondition(filter.subtracting(filter).matchesNothing, "a filter without itself is nothing")
}

private func checkMerging(_ filters: [Filter]) {
  // Merging compares each with each.
  let some = Array(filters.prefix(12))
  let merged = Filter.merge(some)
  precondition(merged.count <= some.count, "merging makes no filter more")
  for filter in some where !filter.matchesNothing && filter.limit == nil && filter.search == nil {
    precondition(merged.contains { $0.covers(filter) }, "what was merged is covered")
  }
}
