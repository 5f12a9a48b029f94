// Fuzz entry for what stands in an HTTP request in place of a password. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: nip98
//
// The first byte says what the rest is: a header as it came, or an event's text, put into Base64 here. Nothing but a
// signed event may be taken; and what an event says is signed here by a key of ours, so that what lies behind the
// signature is seen as well: it is then taken for its own request, and for no other.
import Cryptography
import Nostr

private let key = SecretKey.generate()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNIP98(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: start, count: count)
  guard let first = input.first else { return 0 }
  let rest = Array(input.dropFirst())
  guard first & 1 == 1 else {
    _ = verify(String(decoding: rest, as: UTF8.self), method: "POST", url: "https://a.example/", now: 1_800_000_000)
    return 0
  }
  _ = verify("Nostr \(Base64.encode(rest))", method: "POST", url: "https://a.example/", now: 1_800_000_000)
  do throws(EventFault) { sign(try UnsignedEvent(json: rest, author: key.publicKey)) } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
  return 0
}

private func sign(_ said: UnsignedEvent) {
  let event = UnsignedEvent(
    pubkey: key.publicKey, createdAt: said.createdAt, kind: said.kind, tags: said.tags, content: said.content
  ).signed(by: key)
  let url = event.firstValue(of: "u") ?? ""
  let method = event.firstValue(of: "method") ?? ""
  let header = HTTPAuthorization.header(of: event)
  guard verify(header, method: method, url: url, now: event.createdAt) else { return }
  precondition(event.kind == 27_235 && header.utf8.count <= HTTPAuthorization.headerByteCountMaximum)
  precondition(!verify(header, method: method + "x", url: url, now: event.createdAt), "another method is refused")
  precondition(!verify(header, method: method, url: url + "x", now: event.createdAt), "another address is refused")
  let (late, isFar) = event.createdAt.addingReportingOverflow(61)
  precondition(isFar || !verify(header, method: method, url: url, now: late), "another time is refused")
}

private func verify(_ header: String, method: String, url: String, now: Int64) -> Bool {
  switch HTTPAuthorization.verified(header: header, method: method, url: url, bodyHash: nil, now: now) {
  case .success: return true
  case .failure(let fault):
    precondition(!fault.description.isEmpty, "a fault says what it is")
    return false
  }
}
