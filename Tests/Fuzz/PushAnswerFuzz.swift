// Fuzz entry for what push platforms answer: error bodies of APNs and FCM, Google's token endpoint, `Retry-After`.
// `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc FoundationEssentials
// corpus: push-answers
//
// The first byte chooses the status, the second the length of a header; the header and the body are the rest. Whatever
// comes, a wait is bounded, a reason is a word, and a token is condemned only by an answer that says so.
import PushDelivery

private let statuses = [200, 400, 401, 403, 404, 405, 410, 413, 429, 500, 502, 503, 302, 0, -1, 999]
private let now: Int64 = 1_700_000_000_000

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPushAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard bytes.count >= 2 else { return 0 }
  let header = bytes.dropFirst(2).prefix(Int(bytes[1]))
  let body = Array(bytes.dropFirst(2 + header.count))
  let answer = PushAnswer(
    status: statuses[Int(bytes[0]) % statuses.count],
    retryAfter: header.isEmpty ? nil : String(decoding: header, as: UTF8.self), body: body)
  for platform in PushPlatform.allCases {
    let verdict = PushVerdict(answer, of: platform, unixMilliseconds: now)
    precondition(verdict == PushVerdict(answer, of: platform, unixMilliseconds: now), "an answer means one thing")
    check(verdict, answer, platform)
  }
  switch GoogleTokenAnswer(answer, unixMilliseconds: now) {
  case .granted(let token, _): precondition(token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "fit for a header")
  case .refused(let reason): check(reason)
  case .failed(let wait, let reason):
    check(reason)
    check(wait)
  }
  return 0
}

private func check(_ verdict: PushVerdict, _ answer: PushAnswer, _ platform: PushPlatform) {
  switch verdict {
  case .delivered: precondition((200...299).contains(answer.status), "what is not taken is not delivered")
  case .tokenDead:
    precondition((400...499).contains(answer.status), "no trouble condemns a token")
    precondition(platform == .webPush || !answer.body.isEmpty, "nothing said condemns no token")
  case .tokenSuspect(let reason), .providerFault(let reason), .renewCredential(let reason), .messageFault(let reason):
    check(reason)
  case .retry(let wait, let reason):
    check(reason)
    check(wait)
  case .delayToken(let wait), .throttled(let wait): check(wait)
  case .resend: break
  }
}

private func check(_ wait: UInt64?) {
  precondition(wait.map { (1_000...3_600_000).contains($0) } ?? true, "a wait is bounded")
}

private func check(_ reason: PushReason) {
  precondition((1...48).contains(reason.description.utf8.count), "a reason is a word")
}
