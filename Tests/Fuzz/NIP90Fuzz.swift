// Fuzz entry for jobs (NIP-90), whose requests and answers come from anybody. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: nip90
//
// The input is a byte that says which kind of event, its tags as JSON, a zero, its content, a zero, and what its
// content was decrypted to. What is read is within its bounds; terms that can be written are read as they were, and
// give no cause for complaint then.
import Cryptography
import Nostr

private let key: SecretKey = {
  let key = [UInt8](repeating: 5, count: 32).withUnsafeBytes { SecretKey(bytes: $0) }
  guard let key else { preconditionFailure("this is a key") }
  return key
}()
private let kinds: [UInt16] = [5_000, 5_300, 5_905, 6_000, 6_300, 6_303, 6_400, 6_905, 6_970, 7_000]

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNIP90(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let first = bytes.first else { return 0 }
  let parts = bytes.dropFirst().split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
  let plaintext = String(decoding: parts.count > 2 ? parts[2] : [], as: UTF8.self)
  let kind = kinds[Int(first) % kinds.count]
  let head = "{\"pubkey\":\"\(key.publicKey)\",\"created_at\":1,\"kind\":\(kind),\"content\":\"\",\"tags\":"
  do throws(EventFault) {
    let tags = try UnsignedEvent(json: Array(head.utf8) + Array(parts[0]) + [UInt8(ascii: "}")])
    let content = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
    let signature = Signature(at: [UInt8](repeating: 1, count: Signature.byteCount))
    let event = UnsignedEvent(pubkey: key.publicKey, createdAt: 1, kind: kind, tags: tags.tags, content: content)
    check(Event(event, signature: signature), plaintext)
  } catch {
    return 0
  }
  return 0
}

private func check(_ event: Event, _ plaintext: String) {
  do throws(JobFault) {
    if event.kind == EventKind.jobFeedback {
      let feedback = try JobFeedback(event)
      check(feedback.answer)
      check(feedback.decrypted(plaintext).answer)
    } else if EventKind.jobResults.contains(event.kind) {
      let result = try JobResult(event)
      check(result.answer)
      _ = result.schemaVerdict
      _ = result.decrypted(plaintext).schemaVerdict
      precondition(result.inputs.count <= JobLimits.inputCountMaximum, "inputs are bounded")
    } else {
      let request = try JobRequest(event)
      check(request)
      check(request.decrypted(plaintext))
    }
  } catch {
    precondition(error == .namesNoRequest, "nothing else is refused")
  }
}

private func check(_ answer: JobAnswer) {
  precondition(answer.recipients.count <= JobLimits.providerCountMaximum, "recipients are bounded")
  precondition(answer.remark?.utf8.count ?? 0 <= JobLimits.remarkByteCountMaximum, "what stands beside is bounded")
  guard let amount = answer.amount else { return }
  precondition(
    (0...JobAmount.millisatoshisMaximum).contains(amount.millisatoshis ?? 0), "an amount is bounded")
  precondition(amount.payableMillisatoshis ?? 1 > 0, "what can be paid is more than nothing")
}

private func check(_ request: JobRequest) {
  let terms = request.terms
  precondition(terms.inputs.count <= JobLimits.inputCountMaximum, "inputs are bounded")
  precondition(terms.parameters.count <= JobLimits.parameterCountMaximum, "parameters are bounded")
  precondition(terms.relays.count <= JobLimits.relayCountMaximum, "relays are bounded")
  precondition(terms.providers.count <= JobLimits.providerCountMaximum, "providers are bounded")
  precondition(!"\(request) \(String(reflecting: request))".contains("\""), "a request is told by its id")
  var clear = terms
  clear.isEncrypted = false
  do {
    let again = try JobRequest(clear.template(by: key.publicKey, createdAt: 1).signed(by: key))
    precondition(again.terms == clear && again.diagnostics.isEmpty, "terms are read as they were written")
  } catch let fault as JobDraftFault {
    precondition(!fault.description.isEmpty, "a fault says what it is")
  } catch {
    preconditionFailure("what was written is refused: \(error)")
  }
}
