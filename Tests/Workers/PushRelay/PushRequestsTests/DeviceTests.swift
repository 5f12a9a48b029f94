import Cryptography
import PushDelivery
import PushRequests
import Testing

@Suite("Registrations") struct DeviceRegistrationTests {
  private let token = String(repeating: "0f", count: 32)
  private let p256dh = Base64URL.text(of: P256SecretKey.generate().publicKey)
  private let auth = Base64URL.text(of: Array(0..<16))

  private func registration(_ members: String, allowsPrivate: Bool = false) throws -> DeviceRegistration {
    try DeviceRegistration(
      Sample.body(#"{"platform":"ios","token":"\#(token)"\#(members.isEmpty ? "" : ",")\#(members)}"#),
      allowsPrivateEndpoints: allowsPrivate)
  }

  private func web(_ endpoint: String, allowsPrivate: Bool = false) throws -> DeviceRegistration {
    let json = #"{"platform":"webpush","endpoint":"\#(endpoint)","p256dh":"\#(p256dh)","auth":"\#(auth)"}"#
    return try DeviceRegistration(Sample.body(json), allowsPrivateEndpoints: allowsPrivate)
  }

  @Test("A token is its bytes, in whatever case they came; what is absent stays absent (cases 1 and 3)")
  func apple() throws {
    let plain = try registration("")
    #expect(plain.token == .apple([UInt8](repeating: 0x0F, count: 32)) && plain.deviceID == nil)
    #expect(plain.capabilities.isEmpty && plain.policy == nil && plain.sealingKey == nil && plain.challenge == nil)
    let upper = try DeviceRegistration(
      Sample.body(#"{"platform":"ios","token":"\#(token.uppercased())","device_id":null}"#))
    #expect(upper.token == plain.token)
  }

  @Test("Everything that may be said is read")
  func whole() throws {
    let key = X25519.publicKey(of: X25519.generate())
    for text in [Base64URL.text(of: key.bytes), key.description, key.description.uppercased()] {
      let members = #""capabilities":["wake","x","wake"],"device_id":"é","challenge":"abc","policy":"block_strangers""#
      let registration = try registration(members + #","enc_pubkey":"\#(text)""#)
      #expect(registration.capabilities == ["wake", "x"] && registration.deviceID == "é")
      #expect(
        registration.challenge == "abc" && registration.policy == .blockStrangers && registration.sealingKey == key)
    }
  }

  @Test("The code of a challenge is the same as it is and in base64, and what is neither stays as it is")
  func challenge() throws {
    let code = "0123456789abcdef0123456789abcdef"
    let encoded = Base64.encode(Array(code.utf8))
    for text in [code, encoded, Base64URL.text(of: Array(code.utf8))] {
      #expect(try registration(#""challenge":"\#(text)""#).challenge == code, "\(text)")
    }
    // Hexadecimal digits can be base64 of something; they are the code all the same.
    for text in ["deadbeef", "hello", "TUZZ"] {
      #expect(try registration(#""challenge":"\#(text)""#).challenge == text, "\(text)")
    }
  }

  @Test(
    "A field that makes no sense is named",
    arguments: [
      (#""device_id":"""#, "device_id"), (#""device_id":"a\u0000""#, "device_id"),
      (#""device_id":"a\u0085""#, "device_id"),
      (#""device_id":"\#(String(repeating: "a", count: 129))""#, "device_id"), (#""device_id":5"#, "device_id"),
      (#""capabilities":"wake""#, "capabilities"), (#""capabilities":[1]"#, "capabilities[0]"),
      (#""capabilities":["a","\#(String(repeating: "a", count: 65))"]"#, "capabilities[1]"),
      (#""capabilities":[\#(Array(repeating: "\"a\"", count: 33).joined(separator: ","))]"#, "capabilities"),
      (#""capabilities":["a\n"]"#, "capabilities[0]"), (#""policy":"closed""#, "policy"),
      (#""challenge":"a b""#, "challenge"),
      (#""enc_pubkey":"AAAA""#, "enc_pubkey"), (#""enc_pubkey":"\#(String(repeating: "0", count: 64))""#, "enc_pubkey"),
      (#""enc_pubkey":"01\#(String(repeating: "0", count: 62))""#, "enc_pubkey"),
    ])
  func flaws(members: String, name: String) {
    let refusal = Sample.refusal { _ = try registration(members) }
    #expect(
      refusal?.code == .invalidRequest && refusal?.message.contains("'\(name)'") == true, "\(refusal?.message ?? "")")
  }

  @Test("A subscription of Web Push is read as browsers give it, as fields, and as a text in the token")
  func subscriptions() throws {
    let endpoint = "https://push.example:8443/send/a?b=c"
    let nested = #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"p256dh":"\#(p256dh)","auth":"\#(auth)"}}"#
    let text = nested.replacing("\"", with: "\\\"")
    let found = try [
      web(endpoint), DeviceRegistration(Sample.body(#"{"platform":"webpush","token":\#(nested)}"#)),
      DeviceRegistration(Sample.body(#"{"platform":"webpush","token":"\#(text)"}"#)),
    ].map(\.token)
    let key = try #require(Base64URL.bytes(p256dh))
    #expect(found.allSatisfy { $0 == .web(endpoint: endpoint, publicKey: key, authentication: Array(0..<16)) })
  }

  @Test(
    "An endpoint leads to somebody else's machine over TLS, as far as its text says (case 22)",
    arguments: [
      "http://push.example/", "https://", "https:///a", "ftp://a/", "https://user@push.example/",
      "https://push.example/#a",
      "https://push.example:0/", "https://push.example:65536/", "https://push.example:/", "https://push.example:1a/",
      "https://127.0.0.1/", "https://10.1.2.3:443/a", "https://192.168.1.1/", "https://169.254.169.254/latest",
      "https://[::1]/", "https://[fe80::1]/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/",
      "https://2130706433/", "https://0x7f.1/", "https://127.1/", "https://0x7f000001/", "https://1.2.3.4.5/",
      "https://localhost/", "https://a.LOCALHOST./", "https://a..b/", "https://.a/", "https://push example/",
      "https://push.example\\\\a/", "https://[push.example]/", "https://a:b:c/", "https://127.0.0.1./",
    ])
  func endpoints(endpoint: String) {
    #expect(Sample.refusal { _ = try web(endpoint) }?.code == .invalidToken)
  }

  @Test("An endpoint in the operator's own network is taken where he says so, an address of two meanings is not")
  func privateEndpoints() throws {
    for endpoint in ["https://10.1.2.3/a", "https://[fd00::1]:8443/", "https://localhost:99/"] {
      #expect(try web(endpoint, allowsPrivate: true).token.platform == .webPush)
    }
    #expect(Sample.refusal { _ = try web("https://2130706433/", allowsPrivate: true) }?.code == .invalidToken)
    let long = "https://push.example/" + String(repeating: "a", count: 2_048 - 21)
    #expect(try web(long).token.platform == .webPush)
    #expect(Sample.refusal { _ = try web(long + "a") }?.code == .invalidToken)
  }
}

@Suite("Which device is forgotten") struct DeviceSelectionTests {
  private func selection(_ query: String? = nil, _ json: String = "") throws -> DeviceSelection {
    let target = try PushTarget(method: "DELETE", target: "/v1/register" + (query.map { "?" + $0 } ?? ""))
    return try DeviceSelection(target: target, body: Array(json.utf8))
  }

  @Test("By its name, by the relay's name for it, in the body or in the query (case 8)")
  func forms() throws {
    let relayID = String(repeating: "ab", count: 16)
    #expect(try selection(nil, #"{"device_id":"a"}"#) == .device("a"))
    #expect(try selection(nil, #"{"relay_id":"\#(relayID)"}"#) == .relay(relayID))
    #expect(try selection("device_id=a%2Fb%C3%A9+c") == .device("a/bé+c"))
    #expect(try selection("relay_id=\(relayID)", "{}") == .relay(relayID))
    #expect(try selection(nil, "{}") == .unnamed && selection() == .unnamed)
  }

  @Test(
    "One device is named once",
    arguments: [
      ("device_id=a", #"{"device_id":"a"}"#), ("device_id=a&relay_id=b", ""), ("device_id", ""), ("", ""), ("x=1", ""),
      ("device_id=", ""), ("device_id=%0A", ""), ("device_id=%", ""), ("device_id=%g0", ""), ("device_id=%FF", ""),
      ("relay_id=AB", ""), (nil, #"{"device_id":"a","relay_id":"b"}"#), (nil, #"{"relay_id":"x"}"#), (nil, "[]"),
    ] as [(String?, String)])
  func refused(query: String?, json: String) {
    #expect(Sample.refusal { _ = try selection(query, json) }?.code == .invalidRequest)
  }
}
