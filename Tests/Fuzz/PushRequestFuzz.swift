// Fuzz entry for what phones and senders ask of a push relay: targets, header fields, signatures, JSON bodies, tokens,
// tickets. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc FoundationEssentials
// corpus: push-requests
//
// An input is a byte and a request: "POST /v1/wake", a line for each field, an empty line, the body. With an even byte
// it is judged as it came: a signature counts only if it is the key's over what is said to be signed. With an odd one a
// key of ours signs it, so that what lies behind the signature is seen as well: then it is the key's request, and with
// one bit changed it is nobody's.
import Cryptography
import Frames
import PushDelivery
import PushRequests

private let now: Int64 = 1_760_000_000
private let key = Ed25519SecretKey(seed: SHA256.hash(Array("alice".utf8)))
private let owner = PushOwner(.pubky, key.publicKey.octets)
private let rules = SignatureRules(audiences: ["push.example"])

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPushRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let first = bytes.first else { return 0 }
  let request = Said(bytes.dropFirst())
  do throws(PushRefusal) {
    let target = try PushTarget(method: request.method, target: request.target)
    precondition(target.method == request.method && target.signedPaths.allSatisfy { request.target.hasSuffix($0) })
    if first & 1 == 1 { try sign(request, target) } else { try judge(request, target) }
  } catch { check(error) }
  return 0
}

/// A request as it stands in the input.
private struct Said {
  var method = ""
  var target = ""
  var fields: [HeaderField] = []
  var body: [UInt8] = []

  init(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    func line() -> String {
      let line = rest.prefix { $0 != 0x0A }
      rest = rest.dropFirst(line.count + 1)
      return String(decoding: line, as: UTF8.self)
    }
    let words = line().split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    method = String(words[0])
    target = words.count > 1 ? String(words[1]) : ""
    while fields.count < 64 {
      let parts = line().split(separator: ":", maxSplits: 1)
      guard let name = parts.first else { break }
      fields.append(HeaderField(String(name), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""))
    }
    body = Array(rest)
  }
}

/// As it came.
private func judge(_ said: Said, _ target: PushTarget) throws(PushRefusal) {
  let signed = try SignedRequest(target: target, fields: said.fields, body: said.body, rules: rules, now: now)
  precondition(abs(signed.timestamp - now) <= rules.windowSeconds, "the window is kept")
  let verified = try signed.verified()
  let fields = said.fields.filter { $0.isNamed("x-pubky-signature") }
  let signature = Hexadecimal.decode((fields.first?.value ?? "").lowercased().utf8) ?? []
  let plain = "\(target.method):\(target.signedPaths[0]):\(signed.timestamp):\(SHA256.hash(said.body))"
  let message = Array((signed.version == 2 ? "pubky-push/2:push.example:" + plain : plain).utf8)
  let isTheirs = Ed25519PublicKey(verified.owner.key)?.isValid(signature, of: message) == true
  precondition(fields.count == 1 && isTheirs, "a request is his whose key signed it")
  try read(said, target, verified.owner)
}

/// As a key of ours signs it.
private func sign(_ said: Said, _ target: PushTarget) throws(PushRefusal) {
  let message = "\(target.method):\(target.signedPaths[0]):\(now):\(SHA256.hash(said.body))"
  let signature = key.sign(Array(message.utf8))
  let names = ["X-Pubky-Signature", "X-Pubky-Timestamp", "X-Pubky-Pubkey", "X-Pubky-Version", "X-Pubky-Audience"]
  let others = said.fields.filter { field in !names.contains { field.isNamed($0) } }
  func fields(_ signature: [UInt8]) -> [HeaderField] {
    let values = [Hexadecimal.text(of: signature), String(now), owner.name]
    return zip(names, values).map { HeaderField($0, $1) } + others
  }
  func taken(_ fields: [HeaderField], _ body: [UInt8]) -> Bool {
    do throws(PushRefusal) {
      return try SignedRequest(target: target, fields: fields, body: body, rules: rules, now: now).verified().owner
        == owner
    } catch { return false }
  }
  precondition(taken(fields(signature), said.body), "what is signed is taken")
  var forged = signature
  forged[said.body.count % forged.count] ^= 1
  precondition(!taken(fields(forged), said.body), "another signature is refused")
  precondition(!taken(fields(signature), said.body + [0]), "another body is refused")
  try read(said, target, owner)
}

/// What stands in the body.
private func read(_ said: Said, _ target: PushTarget, _ sender: PushOwner) throws(PushRefusal) {
  switch target.route {
  case .register: check(try DeviceRegistration(try body(said.body, target)))
  case .unregister:
    let selection = try DeviceSelection(target: target, body: said.body)
    if case .device(let id) = selection {
      precondition((1...DeviceRegistration.deviceIDByteCountMaximum).contains(id.utf8.count), "a name is bounded")
    }
  case .wake: try check(try WakeRequest(try body(said.body, target), sender: sender), sender)
  case .writeContacts:
    let book = try ContactRules(try body(said.body, target))
    precondition(book.allowed.count + book.blocked.count <= 2 * ContactRules.keyCountMaximum, "lists are bounded")
    precondition(Set(book.allowed).isDisjoint(with: book.blocked), "nobody is both")
  default: break
  }
}

private func body(_ bytes: [UInt8], _ target: PushTarget) throws(PushRefusal) -> RequestBody {
  let body = try RequestBody(bytes, byteCountMaximum: target.route.bodyByteCountMaximum)
  precondition(bytes.count <= target.route.bodyByteCountMaximum, "no body is longer than its route takes")
  // Written again and read again it is the same; numbers beyond 64 bits may be written in another way.
  if !hasFractions(.object(body.members)) {
    let again = try RequestBody(JSONPayload.encode(JSONValue.object(body.members)), byteCountMaximum: .max)
    precondition(again == body, "a body is what it says")
  }
  return body
}

private func hasFractions(_ value: JSONValue) -> Bool {
  switch value {
  case .number: true
  case .array(let values): values.contains(where: hasFractions)
  case .object(let members): members.values.contains(where: hasFractions)
  default: false
  }
}

private func check(_ registration: DeviceRegistration) {
  precondition(registration.capabilities.count <= DeviceRegistration.capabilityCountMaximum, "they are few")
  let isShort = registration.capabilities.allSatisfy {
    $0.utf8.count <= DeviceRegistration.capabilityByteCountMaximum
  }
  precondition(isShort && (registration.challenge?.utf8.count ?? 0) <= DeviceRegistration.challengeByteCountMaximum)
  switch registration.token {
  case .apple(let token): precondition((32...100).contains(token.count), "an APNs token has its length")
  case .google(let token):
    precondition((32...4_096).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) })
  case .web(let endpoint, let publicKey, let authentication):
    precondition(endpoint.hasPrefix("https://") && P256.isPublicKey(publicKey) && authentication.count == 16)
    precondition(endpoint.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "fit for a request line")
  }
}

private func check(_ wake: WakeRequest, _ sender: PushOwner) throws(PushRefusal) {
  precondition(wake.sender == sender && wake.nonce.count == WakeRequest.nonceByteCount && Wake.isType(wake.type))
  precondition((wake.payload?.count ?? 0) <= Wake.payloadByteCountMaximum, "a push has room for it")
  guard let ticket = wake.ticket else { return }
  try ticket.verify(recipient: wake.recipient, sender: sender, now: now)
  precondition(ticket.issuer == wake.recipient && ticket.expiresAt > now, "a ticket is its recipient's")
}

extension JSONValue {
  fileprivate init?(_ bytes: [UInt8]) {
    do { self = try JSONPayload.decode(JSONValue.self, from: bytes) } catch { return nil }
  }
}

/// A refusal is a word, a status and a sentence that fits into JSON.
private func check(_ refusal: PushRefusal) {
  precondition((400...503).contains(refusal.status) && (1...512).contains(refusal.message.utf8.count), "it says why")
  let members = if case .object(let members)? = JSONValue(refusal.body) { members } else { [:] as [String: JSONValue] }
  precondition(members["error"] == .string(refusal.code.rawValue) && members["message"] != nil, "it is JSON")
}
