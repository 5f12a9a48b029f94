import Contracts
import Frames
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// A real relay-connector, in its sandbox, and relays at `wss://`.
  @Suite("Encrypted relays")
  struct EncryptedRelayTests {
    private static func settings(_ more: [String: String] = [:]) throws -> [String: String] {
      ["ca-file": "\"\(try TestCertificates.path("authority"))\"", "sandbox": "\"try\""].merging(more) { _, new in new }
    }

    @Test("A relay at wss:// is dialled, asked and listed, with its authority read in the sandbox")
    func good() throws {
      let relay = try SimpleRelay("500", try TestCertificates.path("good"))
      try withRoost(.connector("[\"\(relay.url)\"]", Self.settings())) { roost in
        let client = try roost.client()
        let answer = try client.call("relay.request", #"{"filters":[{"kinds":[1]}]}"#)
        #expect(answer.isResponse && answer.parts.count == 500, "\(answer.text)")
        try awaitSoon("the count") { try roost.status(client).workers.first?.text == "1 of 1 relays connected" }
        let list = try JSONPayload.decode(RelayStates.self, from: try client.call("relay.list").terminal.payload).relays
        #expect(list.map(\.relay) == [relay.url] && list.first?.state == "open")
      }
    }

    @Test("A relay whose certificate is not good is refused to the caller, in words that say what is wrong")
    func bad() throws {
      for (name, words) in [
        ("expired", "the certificate of localhost has expired (2001-12-31)"),
        ("other", "the certificate is for other.example, *.other.example, 192.0.2.7 and 2 more, not localhost"),
        ("stranger", "is from no authority that this machine trusts (by \"Nobody You Know\")"),
      ] {
        let relay = try SimpleRelay("1", try TestCertificates.path(name))
        try withRoost(.connector("[]", try Self.settings(["ephemeral": "true"]))) { roost in
          let client = try roost.client()
          let refusal = try client.call("relay.request", #"{"relay":"\#(relay.url)"}"#).refusal
          #expect(refusal?.code == "relay-unreachable" && refusal?.outcome == .notStarted)
          #expect(refusal?.message.contains(words) == true, "\(refusal?.message ?? "")")
          // The same relay without TLS, and a relay without TLS as one with it.
          let plain = "ws" + relay.url.dropFirst(3)
          #expect(try client.call("relay.request", #"{"relay":"\#(plain)"}"#).refusal?.code == "relay-unreachable")
        }
      }
      let plain = try SimpleRelay("1")
      try withRoost(.connector("[]", try Self.settings(["ephemeral": "true"]))) { roost in
        let secure = "wss" + plain.url.dropFirst(2)
        let refusal = try roost.client().call("relay.request", #"{"relay":"\#(secure)"}"#).refusal
        #expect(refusal?.code == "relay-unreachable", "\(refusal?.message ?? "")")
      }
    }

    @Test("Of an encrypted relay without end nothing is read while its caller takes nothing")
    func slowReader() throws {
      let endless = try SimpleRelay("10000000", try TestCertificates.path("good"))
      let small = try SimpleRelay("3000", try TestCertificates.path("good"))
      try withRoost(.connector("[\"\(endless.url)\", \"\(small.url)\"]", Self.settings())) { roost in
        let deaf = try roost.client("deaf")
        try deaf.ask("relay.request", #"{"relay":"\#(endless.url)"}"#)
        let looking = try roost.client("looking")
        try awaitSoon("something is kept") { try roost.status(looking).keptBytes > 10_000 }
        let connector = try #require(try roost.status(looking).workers.first?.pid)
        let before = ProcessTable.memory(of: connector)?.residentByteCount ?? 0
        let answer = try roost.client("app").call("relay.request", #"{"relay":"\#(small.url)"}"#)
        #expect(answer.isResponse && answer.parts.count == 3_000, "\(answer.text)")
        let after = ProcessTable.memory(of: connector)?.residentByteCount ?? 0
        #expect(before > 0 && after < before + (8 << 20), "\(before >> 10) KiB, then \(after >> 10) KiB")
      }
    }

    @Test("A ca-file that cannot be read keeps the connector from starting, and its log says why")
    func missingFile() throws {
      let settings = ["ca-file": "\"/nonexistent/ca.pem\""]
      try withRoost(.connector("[\"wss://localhost:1\"]", settings), awaitsReady: false) { roost in
        let client = try roost.client()
        try roost.awaitWorker("relays", "has failed", client) { $0.state == "failed" }
        let why = try client.call("supervisor.why", #"{"worker":"relays"}"#).text
        #expect(
          why.contains("ca-file: the authorities in /nonexistent/ca.pem cannot be read: No such file or directory"),
          "\(why)")
      }
    }
  }
}
