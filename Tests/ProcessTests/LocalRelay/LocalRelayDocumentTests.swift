import Contracts
import Cryptography
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The relay information document (NIP-11), by configuration.
  @Suite("What the local relay says of itself")
  struct LocalRelayDocumentTests {
    private func document(_ house: LocalRelayHouse) throws -> JSONValue {
      let answer = try RelayVisitor.exchange(
        port: house.port,
        [
          "GET / HTTP/1.1", "Host: 127.0.0.1:\(house.port)", "Connection: close", "Accept: application/nostr+json",
        ])
      let body = try #require(answer.firstRange(of: "\r\n\r\n"))
      return try JSONPayload.decode(JSONValue.self, from: answer[body.upperBound...].utf8)
    }

    @Test("Its document has what the configuration says, and after a reload what that says")
    func settings() throws {
      let key = SecretKey.generate().publicKey
      let settings = [
        "name": #""Ada's relay""#, "description": #""for tests""#, "contact": #""mailto:ada@a.example""#,
        "icon": #""https://a.example/i.png""#, "self": "\"\(key.npub)\"", "software": #""https://a.example""#,
        "version": #""7.1""#,
      ]
      try LocalRelayHouse.run(settings) { house in
        let told = try document(house)
        for (name, text) in settings where name != "self" {
          #expect(told[name] == .string(String(text.dropFirst().dropLast())), "\(name)")
        }
        #expect(told["self"] == .string("\(key)"))
        func rewrite(_ change: (inout [String: String]) -> Void) throws {
          try house.roost.rewrite { layout in
            for index in layout.workers.indices where layout.workers[index].name == "local-relay" {
              change(&layout.workers[index].keys)
            }
          }
        }
        try rewrite {
          for name in settings.keys { $0[name] = nil }
          $0["name"] = #""Other""#
        }
        _ = try house.roost.client().call("supervisor.reload")
        try awaitSoon("the document has the new name") { try document(house)["name"] == .string("Other") }
        let plain = try document(house)
        #expect(plain["icon"] == nil && plain["self"] == nil && plain["software"] == nil && plain["contact"] == nil)
        #expect(plain["version"] == .string(RoostVersion.text))
        for (name, value, words) in [
          ("icon", #""i.png""#, "is no address"), ("self", #""npub1x""#, "is no public key"),
          ("self", "7", "public key"),
        ] {
          try rewrite { $0[name] = value }
          let refusal = try house.roost.client().call("supervisor.reload").refusal
          #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
          try rewrite { $0[name] = nil }
        }
      }
    }
  }
}
