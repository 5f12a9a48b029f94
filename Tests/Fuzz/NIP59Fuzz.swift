// Fuzz entry for what is found inside gift wraps, which anybody can send to anybody. `Scripts/fuzz.sh` builds and runs
// it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: nip59
//
// The input is what was decrypted of a seal by the holder of the key 05…05, what was decrypted of a wrap, and a wrap.
import Cryptography
import Nostr

private let author: SecretKey = {
  let key = [UInt8](repeating: 5, count: 32).withUnsafeBytes { SecretKey(bytes: $0) }
  guard let key else { preconditionFailure("this is a key") }
  return key
}()

private let seal: Seal = {
  let event = UnsignedEvent(pubkey: author.publicKey, createdAt: 1_800_000_000, kind: Seal.kind, content: "sealed")
  do throws(GiftWrapFault) { return try Seal(event.signed(by: author).json) } catch {
    preconditionFailure("this is a seal: \(error)")
  }
}()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNIP59(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let json = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  do throws(GiftWrapFault) {
    let rumor = try Rumor(json, in: seal)
    precondition(rumor.event.pubkey == author.publicKey && rumor.author == author.publicKey, "nobody is impersonated")
    precondition(rumor.id == rumor.event.id, "a rumor has its own id")
    let again = try Rumor(rumor.event.json, in: seal)
    precondition(again.event == rumor.event && again.warnings.isEmpty, "what is written is read")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
  do throws(GiftWrapFault) {
    let other = try Seal(json)
    precondition(other.event.kind == Seal.kind && other.event == seal.event, "no signature is found by chance")
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
  do throws(GiftWrapFault) {
    let wrap = try UnverifiedWrap(json)
    _ = wrap.isAddressed(to: author.publicKey)
    _ = try wrap.open(by: author)
  } catch {
    precondition(!error.description.isEmpty, "every fault has words")
  }
  return 0
}
