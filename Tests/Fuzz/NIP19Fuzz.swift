// Fuzz entry for what people paste: entities of NIP-19, lightning addresses, and texts that refer to entities.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: entities
//
// A checksum stands before everything worth trying, and no fuzzer guesses one. So the first byte says what the rest is:
// data behind one of the prefixes, given its checksum here, or a text as it came. What is read and can be written must
// read as the same again; a reference must stand inside its text and be what its place says.
import Nostr

private let prefixes = ["npub", "nsec", "note", "nprofile", "nevent", "naddr", "nrelay", "nostr", "lnurl"]

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEntities(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  let rest = Array(bytes.dropFirst())
  if first < prefixes.count {
    let text = Bech32.encode(hrp: prefixes[Int(first)], data: rest)
    checkBech32(text, hrp: prefixes[Int(first)], data: rest)
    check(text)
    if let address = LightningAddress(lnurl: text) { check(address) }
  } else {
    let text = String(decoding: rest, as: UTF8.self)
    check(text)
    if let address = LightningAddress(text) { check(address) }
    checkReferences(in: text)
  }
  return 0
}

private func checkBech32(_ text: String, hrp: String, data: [UInt8]) {
  do throws(Bech32Fault) {
    let read = try Bech32.decode(text, maximumCount: text.utf8.count)
    precondition(read.hrp == hrp && read.data == data, "data is read as it was written")
  } catch {
    preconditionFailure("what was written is refused: \(error)")
  }
}

private func check(_ text: String) {
  do throws(EntityFault) {
    let entity = try NostrEntity(text)
    precondition(text.utf8.count <= NostrEntity.characterCountMaximum, "no entity is longer than the bound")
    guard let written = entity.text else { return }
    do throws(EntityFault) {
      let again = try NostrEntity(written)
      precondition(again == entity && again.text == written, "an entity is read as it was written")
    } catch {
      preconditionFailure("what was written is refused: \(error)")
    }
  } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
}

private func check(_ address: LightningAddress) {
  precondition(address.page.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a page's address needs no escapes")
  precondition(LightningAddress(lnurl: address.lnurl) == address, "an address is read as it was written")
  precondition(LightningAddress(address.description) == address, "and as it is spoken")
}

private func checkReferences(in text: String) {
  let references = NostrReference.find(in: text)
  precondition(references.count <= NostrReference.countMaximum, "references are bounded")
  var end = text.startIndex
  for reference in references {
    precondition(reference.range.lowerBound >= end, "references stand in order and apart")
    end = reference.range.upperBound
    do throws(EntityFault) {
      let entity = try NostrEntity(uri: String(text[reference.range]))
      precondition(entity == reference.entity, "a reference is what stands there")
    } catch {
      preconditionFailure("what was found is refused alone: \(error)")
    }
  }
}
