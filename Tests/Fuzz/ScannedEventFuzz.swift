// Fuzz entry for the gate: the reader through which every event of every relay passes. `Scripts/fuzz.sh` builds and
// runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: events
//
// What is taken must have its places inside the input, must read the same from its compact form, and must come to the
// same id in both; so must the event that owns its text, and what filters look at. That holds for events whose
// signature has the form of one: the reader leaves its 128 bytes for later, and what has none is refused when it is
// verified.
import Cryptography
import Nostr

// @unchecked: libFuzzer runs on one thread.
private nonisolated(unsafe) let verifier = EventVerifier()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScannedEvent(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // A copy of its own size: the address sanitizer then sees every byte read beyond it.
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
  defer { bytes.deallocate() }
  bytes.copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
  check(UnsafeRawBufferPointer(bytes))
  return 0
}

private func check(_ bytes: UnsafeRawBufferPointer) {
  do throws(EventFault) {
    let event = try ScannedEvent(bytes)
    precondition(event.range.upperBound <= bytes.count, "an event ends inside its text")
    checkTags(of: event, in: bytes)
    guard event.signature(in: bytes) != nil else {
      precondition(verifier.fault(of: event, in: bytes) != nil, "an event without a signature is refused")
      return
    }
    var compact: [UInt8] = []
    event.appendCompactForm(of: bytes, to: &compact)
    if event.isCompact && event.isCanonical {
      checkSize(of: compact, is: event.range.count)
    }
    checkCompact(compact, of: event, in: bytes)
    checkOwner(of: event, in: bytes, compact: compact)
  } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
}

/// Keys may stand in another order, so it is not the bytes that are compared.
private func checkSize(of compact: [UInt8], is count: Int) {
  precondition(compact.count == count, "what is compact and canonical does not change its size")
}

private func checkTags(of event: ScannedEvent, in bytes: UnsafeRawBufferPointer) {
  var reader = TagReader(event, in: bytes)
  while reader.nextTag() {
    var count = 0
    while let text = reader.nextString() {
      count += 1
      precondition(
        text.content.lowerBound > event.tags.lowerBound && text.content.upperBound < event.tags.upperBound,
        "a tag's text stands inside the tags")
    }
    precondition(count > 0, "a tag has at least one string")
  }
  precondition(reader.nextString() == nil && !reader.nextTag(), "after the last tag there is none")
}

private func checkCompact(_ compact: [UInt8], of event: ScannedEvent, in bytes: UnsafeRawBufferPointer) {
  compact.withUnsafeBytes { compactBytes in
    do throws(EventFault) {
      let again = try ScannedEvent(compactBytes)
      precondition(again.isCompact && again.isCanonical, "the compact form is compact and canonical")
      precondition(
        again.id == event.id && again.pubkey == event.pubkey && again.createdAt == event.createdAt
          && again.kind == event.kind && again.signature(in: compactBytes) == event.signature(in: bytes),
        "the compact form says the same")
      precondition(
        verifier.identify(again, in: compactBytes) == verifier.identify(event, in: bytes), "both have one id")
      let (one, other) = (IndexedEvent(event, in: bytes), IndexedEvent(again, in: compactBytes))
      precondition(one.tags == other.tags, "filters see the same in both")
      precondition(event.expiration(in: bytes) == again.expiration(in: compactBytes), "both expire at once")
      precondition(event.isProtected(in: bytes) == again.isProtected(in: compactBytes), "both are protected or none")
    } catch {
      preconditionFailure("the compact form is refused: \(error)")
    }
  }
}

private func checkOwner(of event: ScannedEvent, in bytes: UnsafeRawBufferPointer, compact: [UInt8]) {
  do throws(EventFault) {
    let owner = try Event(event, in: bytes)
    precondition(owner.json == compact, "an event that owns its text writes the compact form")
    precondition(owner.unsigned.id == verifier.identify(event, in: bytes), "it has the same id")
    precondition(IndexedEvent(owner).tags == IndexedEvent(event, in: bytes).tags, "filters see the same of it")
    check(owner.unsigned)
  } catch {
    preconditionFailure("an event that was taken is refused when it is copied: \(error)")
  }
}

private func check(_ rumor: UnsignedEvent) {
  do throws(EventFault) {
    let again = try UnsignedEvent(json: rumor.json)
    precondition(again == rumor, "a rumor is read as it was written")
  } catch {
    preconditionFailure("a rumor that was written is refused: \(error)")
  }
}
