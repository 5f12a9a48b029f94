import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Names (NIP-05): a real relay-connector in its sandbox, and a server by the standard library of Python.
  @Suite("Names of people")
  struct NameTests {
    private let directory: TemporaryDirectory
    private let bob = SecretKey.generate()

    init() throws { directory = try TemporaryDirectory() }

    /// A server that knows `bob`, and gives these relays for him.
    private func server(_ relays: [String]) throws -> WebServer {
      let names =
        #"{"names":{"bob":"\#(bob.publicKey)","other":"zz"},"relays":{"\#(bob.publicKey)":\#(relays)}}"#
      let path = directory.path + "/names.json"
      let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(names, to: descriptor)
      Descriptors.close(descriptor)
      return try WebServer("good", names: path)
    }

    private func layout(_ server: String?, _ more: [String: String] = [:]) throws -> Layout {
      var keys = [
        "ca-file": "\"\(try TestCertificates.path("authority"))\"", "sandbox": "\"try\"", "ephemeral": "true",
        "connect": "\"on-demand\"",
      ]
      keys["name-server"] = server.map { "\"\($0)\"" }
      return .connector("[]", keys.merging(more) { _, new in new })
    }

    private func ask(_ client: BusPeer, _ name: String) throws -> BusPeer.Answer {
      try client.call("name.resolve", #"{"name":"\#(name)"}"#)
    }

    @Test("A name leads to the key and the relays that its server gives, and to none that the server does not know")
    func resolved() throws {
      let server = try server(["wss://b.example/", "nonsense"])
      try withRoost(layout(server.url + "/names")) { roost in
        let client = try roost.client()
        for name in ["bob@people.example", "BOB@people.example"] {
          let answer = try ask(client, name)
          let found = try JSONPayload.decode(ResolvedName.self, from: answer.terminal.payload)
          #expect(found.name == "bob@people.example" && found.pubkey == "\(bob.publicKey)")
          #expect(found.relays == ["wss://b.example"])
        }
        for (name, reason) in [
          ("carol@people.example", "does not know 'carol'"), ("other@people.example", "does not know 'other'"),
          ("bob@redirect.example", "which is not followed"),
          ("bob@huge.example", "more than 1048576 bytes"),
        ] {
          let refusal = try #require(try ask(client, name).refusal)
          #expect(refusal.code == .noSuchName && refusal.message.contains(reason), "\(refusal)")
        }
        for wrong in ["bob", "bob@127.0.0.1", "bob@localhost", "b ob@a.example", ""] {
          #expect(try ask(client, wrong).refusal?.code == .badRequest, "\(wrong)")
        }
      }
    }

    @Test("Thirty names a minute are looked up, and what is known is not looked up again")
    func rate() throws {
      let server = try server([])
      try withRoost(layout(server.url + "/names")) { roost in
        let client = try roost.client()
        for number in 0..<29 { _ = try ask(client, "n\(number)@people.example") }
        #expect(try ask(client, "bob@people.example").isResponse)
        let refusal = try #require(try ask(client, "one-more@people.example").refusal)
        #expect(refusal.code == .rateLimited && (1...60_000).contains(refusal.retryAfterMilliseconds ?? 0))
        #expect(try ask(client, "bob@people.example").isResponse)
      }
    }

    @Test("A server that is not the user's own is asked at no private address; without 'ephemeral', none is asked")
    func reach() throws {
      try withRoost(layout(nil)) { roost in
        // A name that cannot exist (RFC 6761), so it leads nowhere, with a network and without one.
        let refusal = try #require(try ask(try roost.client(), "bob@no.invalid").refusal)
        #expect(refusal.code == .nameUnreachable || refusal.code == "timed-out", "\(refusal)")
      }
      try withRoost(layout(nil, ["ephemeral": "false"])) { roost in
        let refusal = try #require(try ask(try roost.client(), "bob@no.invalid").refusal)
        #expect(refusal.code == .unavailable && refusal.message.contains("'ephemeral = true'"), "\(refusal)")
      }
    }
  }
}
