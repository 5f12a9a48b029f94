import Clocks
import Cryptography
import Nostr
import TestSupport
import Testing

@Suite struct NIP98Tests {
  private static let now: Int64 = 1_800_000_000
  private static let url = "https://push.example/v1/devices?page=2"
  private let alice = SecretKey.generate()
  private let body = SHA256.hash(Array("{}".utf8))

  private func header(
    kind: UInt16 = 27_235, createdAt: Int64 = now, tags: [[String]], content: String = ""
  ) -> String {
    let unsigned = UnsignedEvent(
      pubkey: alice.publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
    return HTTPAuthorization.header(of: unsigned.signed(by: alice))
  }

  private var tags: [[String]] { [["u", Self.url], ["method", "POST"], ["payload", body.description]] }

  private func verified(
    _ header: String, method: String = "POST", url: String = url, bodyHash: Octets32?? = nil, now: Int64 = now
  ) -> Result<PublicKey, HTTPAuthorizationFault> {
    HTTPAuthorization.verified(header: header, method: method, url: url, bodyHash: bodyHash ?? body, now: now)
  }

  private func expect(
    _ fault: HTTPAuthorizationFault, _ result: Result<PublicKey, HTTPAuthorizationFault>,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(result == .failure(fault), sourceLocation: location)
    #expect(!fault.description.isEmpty, sourceLocation: location)
  }

  @Test("The example of the NIP is read up to its id, which is not the hash of the rest")
  func example() throws {
    let json =
      #"{"id":"fe964e758903360f28d8424d092da8494ed207cba823110be3a57dfe4b578734","#
      + #""pubkey":"63fe6318dc58583cfe16810f86dd09e18bfd76aabc24a0081ce2856f330504ed","#
      + #""content":"","kind":27235,"created_at":1682327852,"#
      + #""tags":[["u","https://api.snort.social/api/v1/n5sp/list"],["method","GET"]],"#
      + #""sig":"5ed9d8ec958bc854f997bdc24ac337d005af372324747efe4a00e24f4c30437f"#
      + #"f4dd8308684bed467d9d6be3e5a517bb43b1732cc7d33949a3aaf86705c22184"}"#
    let header = "Nostr " + Base64.encode(Array(json.utf8))
    let url = "https://api.snort.social/api/v1/n5sp/list"
    let id = try #require(Octets32("2dd2dfec3df85dd0d4c32af50241f56a077b0969cb508f987afac1e25b0d4c76"))
    let time: Int64 = 1_682_327_852
    expect(
      .notValid(.wrongID(EventID(id))), verified(header, method: "GET", url: url, bodyHash: .some(nil), now: time))
    expect(.wrongTime, verified(header, method: "GET", url: url, bodyHash: .some(nil)))
    expect(.wrongMethod, verified(header, method: "PUT", url: url, bodyHash: .some(nil), now: time))
    expect(.wrongBody, verified(header, method: "GET", url: url, now: time))
  }

  @Test("What a template says, signed, is taken for that request", arguments: ["GET", "POST", "DELETE"])
  func template(method: String) throws {
    for bodyHash in [nil, body] {
      let event = HTTPAuthorization.template(
        method: method, url: Self.url, bodyHash: bodyHash, by: alice.publicKey, createdAt: Self.now
      ).signed(by: alice)
      #expect(event.kind == 27_235 && event.content.isEmpty)
      let header = HTTPAuthorization.header(of: event)
      #expect(try verified(header, method: method, bodyHash: .some(bodyHash)).get() == alice.publicKey)
    }
  }

  @Test("The time may be a minute from now, both ways, and no more")
  func time() throws {
    for distance: Int64 in [-60, -1, 0, 1, 60] {
      #expect(try verified(header(createdAt: Self.now + distance, tags: tags)).get() == alice.publicKey)
    }
    for distance: Int64 in [-61, 61, -Self.now, .max - Self.now] {
      expect(.wrongTime, verified(header(createdAt: Self.now + distance, tags: tags)))
    }
    expect(.wrongTime, verified(header(createdAt: .max, tags: tags), now: -2))
  }

  @Test("Another kind is refused")
  func kind() {
    for kind: UInt16 in [1, 22_242, 27_234] { expect(.wrongKind(kind), verified(header(kind: kind, tags: tags))) }
  }

  @Test(
    "An address that differs in a byte is refused",
    arguments: [
      "", "https://push.example/v1/devices", "https://push.example/v1/devices?page=2/", "HTTPS" + url.dropFirst(5),
      "http" + url.dropFirst(5), url + "&", "https://push.example:443/v1/devices?page=2", "/v1/devices?page=2",
    ])
  func address(other: String) {
    let rest = Array(tags.dropFirst())
    expect(.wrongAddress, verified(header(tags: [["u", other]] + rest)))
    expect(.wrongAddress, verified(header(tags: tags), url: other))
  }

  @Test("A method that differs in a byte is refused", arguments: ["", "GET", "post", "POST ", "PATCH"])
  func method(other: String) {
    expect(.wrongMethod, verified(header(tags: [tags[0], ["method", other], tags[2]])))
    expect(.wrongMethod, verified(header(tags: tags), method: other))
  }

  @Test("A tag that is missing, without a value or there twice is refused")
  func tagCounts() {
    let faults: [HTTPAuthorizationFault] = [.wrongAddress, .wrongMethod, .wrongBody]
    for (index, fault) in faults.enumerated() {
      let name = tags[index][0]
      var changed = tags
      changed.remove(at: index)
      expect(fault, verified(header(tags: changed)))
      changed.append([name])
      // A hash that is not given is none.
      expect(fault, verified(header(tags: changed)))
      expect(.repeatedTag(name), verified(header(tags: tags + [tags[index]])))
      expect(.repeatedTag(name), verified(header(tags: tags + [[name]])))
    }
    #expect(throws: Never.self) { try verified(header(tags: tags + [["relay", "x"]], content: "hi")).get() }
    #expect(throws: Never.self) { try verified(header(tags: tags.map { $0 + ["more"] })).get() }
  }

  @Test("A body has its hash, and a request without one has none or that of nothing")
  func payload() {
    func tags(_ payload: String) -> [[String]] { Array(self.tags.dropLast()) + [["payload", payload]] }
    let nothing = SHA256.hash([]).description
    for payload in [nothing, body.description.uppercased(), "", String(body.description.dropLast())] {
      expect(.wrongBody, verified(header(tags: tags(payload))))
    }
    #expect(throws: Never.self) { try verified(header(tags: tags(nothing)), bodyHash: .some(nil)).get() }
    expect(.wrongBody, verified(header(tags: self.tags), bodyHash: .some(nil)))
    expect(.wrongBody, verified(header(tags: tags("")), bodyHash: .some(nil)))
  }

  @Test("An event with a digit of id, key or signature changed is refused")
  func forged() throws {
    let event = HTTPAuthorization.template(
      method: "POST", url: Self.url, bodyHash: body, by: alice.publicKey, createdAt: Self.now
    ).signed(by: alice)
    let json = String(decoding: event.json, as: UTF8.self)
    let other = SecretKey.generate().publicKey.description
    let texts = [
      json.replacing(alice.publicKey.description, with: other),
      json.replacing(event.id.description, with: SHA256.hash([1]).description),
      json.replacing(event.signature.description, with: String(repeating: "0", count: 128)),
      json.replacing(#""content":"""#, with: #""content":"x""#),
    ]
    for text in texts {
      #expect(text != json)
      guard case .failure(.notValid(let fault)) = verified("Nostr " + Base64.encode(Array(text.utf8))) else {
        Issue.record("\(text) is taken")
        continue
      }
      switch fault {
      case .wrongID, .badSignature: break
      default: Issue.record("\(fault)")
      }
    }
  }

  @Test("Another scheme, no scheme and a scheme alone are refused")
  func schemes() throws {
    let right = header(tags: tags)
    let token = right.dropFirst(6)
    for text in ["", " ", "Bearer \(token)", "\(token)", "Nostr\(token)", "Nostr1 \(token)", "Basic Zm9v"] {
      expect(.wrongScheme, verified(text))
    }
    for text in ["Nostr", "Nostr ", "Nostr \(token) \(token)", "Nostr \(token) x", "Nostr ====", "Nostr \t\(token)"] {
      expect(.notBase64, verified(text))
    }
    for text in ["nostr \(token)", "NOSTR \(token)", "Nostr   \(token)"] {
      #expect(try verified(text).get() == alice.publicKey)
    }
  }

  @Test("What is not Base64 as it is written, or holds no event, is refused")
  func notEvents() {
    let token = header(tags: tags, content: "x").dropFirst(6)
    for text in ["Nostr \(token.dropLast())", "Nostr \(token)=", "Nostr \(token)\n", "Nostr \(token)AAA", "Nostr é"] {
      expect(.notBase64, verified(text))
    }
    for json in ["{}", "[]", "null", " ", "{\"id\":1}", "\u{0}"] {
      guard case .failure(.notValid) = verified("Nostr " + Base64.encode(Array(json.utf8))) else {
        Issue.record("\(json) is taken")
        continue
      }
    }
  }

  @Test("A header of 8 KiB is read, and one of a byte more is not")
  func length() throws {
    func padded(_ count: Int) -> String {
      let right = header(tags: tags)
      return "Nostr" + String(repeating: " ", count: count - right.utf8.count + 1) + right.dropFirst(6)
    }
    let most = HTTPAuthorization.headerByteCountMaximum
    #expect(try verified(padded(most)).get() == alice.publicKey)
    expect(.headerTooLong(byteCount: most + 1), verified(padded(most + 1)))
  }

  @Test("A header with any byte changed is refused", arguments: seeds(4))
  func changed(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let right = Array(header(tags: tags).utf8)
    for _ in 0..<50 {
      var text = right
      let place = Int.random(in: 6..<text.count, using: &random)
      text[place] = (text[place] &+ UInt8.random(in: 1..<95, using: &random) - 32) % 95 + 32
      guard text != right, case .success = verified(String(decoding: text, as: UTF8.self)) else { continue }
      // What is left unread: the spelling of JSON, never its contents.
      Issue.record("byte \(place) is \(text[place])")
    }
  }
}
