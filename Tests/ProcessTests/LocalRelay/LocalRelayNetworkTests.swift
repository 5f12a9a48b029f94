import Contracts
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// The local relay where other machines reach it.
  @Suite(
    "The local relay and the network",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LocalRelayNetworkTests {
    private let guest = Author()
    private static let name = "relay.home.example"

    /// A relay at the loopback, and by TLS where others reach it, with a copy of the certificate `home`.
    private func run(
      beside layout: Layout = .store, _ body: (LocalRelayHouse, NetworkClients, String) throws -> Void
    ) throws {
      guard let address = reachableAddress() else { try Test.cancel("this machine has the loopback only") }
      let directory = try TemporaryDirectory()
      let certificate = directory.path + "/home.pem"
      try replace(certificate, by: "home")
      let (port, reachable) = (try RelayVisitor.freePort(), try RelayVisitor.freePort())
      let settings = [
        "listen": "[\"127.0.0.1:\(port)\", \"0.0.0.0:\(reachable)\"]", "hosts": "[\"\(Self.name)\"]",
        "guests": "[\"\(guest.publicKey.npub)\"]", "certificate-file": "\"\(certificate)\"",
        "key-file": "\"\(certificate)\"",
      ]
      try withRoost(.localRelay(port: port, settings, beside: layout)) { roost in
        let house = LocalRelayHouse(roost: roost, client: try roost.client(), port: port)
        try body(house, try NetworkClients("wss://\(Self.name):\(reachable)", at: address), certificate)
      }
    }

    /// Puts another certificate in the place of one, as those who renew them do.
    private func replace(_ path: String, by name: String) throws {
      try write(try #require(SharedFolder.bytes(ofFile: try TestCertificates.path(name))), to: path)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
      let new = path + ".new"
      let file = Glibc.open(new, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      #expect(file >= 0 && Glibc.write(file, bytes, bytes.count) == bytes.count)
      Glibc.close(file)
      #expect(rename(new, path) == 0)
    }

    @Test("Over the network nothing is done for who has not shown himself, nor for a stranger, nor without TLS")
    func closed() throws {
      try run { house, network, _ in
        let event = guest.event("here")
        try house.visitor().put(event)
        #expect(throws: (any Error).self) { try network.openPlain() }
        let client = try network.open()
        func refusals() throws -> [String] {
          [
            try client.refusal(#"["REQ","a",{}]"#, "CLOSED"), try client.refusal(#"["COUNT","a",{}]"#, "CLOSED"),
            try client.refusal(#"["NEG-OPEN","a",{},"6100000200"]"#, "NEG-ERR"),
            try client.publish(guest.event("no")).reason,
          ]
        }
        #expect(try refusals().allSatisfy { $0.hasPrefix("auth-required: ") })
        for url in ["wss://elsewhere.example", "wss://\(Self.name):1", "ws://0.0.0.0:\(house.port)"] {
          let verdict = try client.authenticate(guest, for: url)
          #expect(!verdict.isAccepted && verdict.reason.hasPrefix("invalid: "), "\(url): \(verdict)")
        }
        #expect(try refusals().allSatisfy { $0.hasPrefix("auth-required: ") })
        #expect(try client.authenticate(Author(), for: network.url).isAccepted)
        #expect(try refusals().allSatisfy { $0.hasPrefix("restricted: ") })
        #expect(try house.visitor().request("{}").ids == [event].ids, "nothing was taken")
      }
    }

    @Test("A guest and an account who have shown themselves are served; an account's events go to the world")
    func admitted() throws {
      try run(beside: PlannerRig.layout([])) { house, network, _ in
        let (alice, event) = (Author(), guest.event("mine"))
        try house.account(of: alice)
        let client = try network.open()
        #expect(try client.authenticate(guest, for: network.url + "/").isAccepted)
        #expect(try client.publish(event) == .init(isAccepted: true, reason: ""))
        #expect(try client.say(#"["REQ","a",{}]"#, until: "EVENT")[1] == .string("a"))
        let hers = try network.open()
        #expect(try hers.authenticate(alice, for: network.url).isAccepted)
        let kept = try hers.publish(alice.event("hers"))
        #expect(kept.isAccepted && kept.reason.contains("sent nowhere"), "no relay is known: \(kept)")
      }
    }

    @Test("Over the network the relay says that one has to show oneself (NIP-11), and shows no page and no figures")
    func documents() throws {
      try run { house, network, _ in
        let (status, body) = try network.get("/", accept: "application/nostr+json")
        let document = try JSONPayload.decode(JSONValue.self, from: body.utf8)
        guard status == "200", case .object(let limits)? = document["limitation"] else {
          throw DeadlinePassed(description: "\(status): \(body)")
        }
        #expect(limits["auth_required"] == .bool(true) && limits["restricted_writes"] == .bool(true))
        #expect(try network.get("/").status == "404" && network.get("/metrics").status == "404")
        let told: LocalRelayStatus = try house.ask("local.status")
        #expect(told.addresses.contains(network.url))
        let port = try #require(network.url.split(separator: ":").last)
        #expect(told.addresses.contains("wss://127.0.0.1:\(port)"), "\(told.addresses)")
        #expect(told.everywhere == ["every IPv4 address, port \(port)"])
        #expect(!told.addresses.contains { $0.contains("0.0.0.0") }, "nobody dials that: \(told.addresses)")
      }
    }

    @Test("A certificate that was replaced is taken at a reload, and nobody's connection ends for it")
    func reloaded() throws {
      try run { house, network, certificate in
        let before = try network.open()
        try replace(certificate, by: "renewed")
        #expect(try house.client.call("supervisor.reload").isResponse)
        var after: NetworkClients.Client?
        try awaitSoon("the new certificate") {
          after = try network.open()
          return after?.serial != before.serial
        }
        #expect(try before.authenticate(guest, for: network.url).isAccepted)
        #expect(try before.publish(guest.event("all the same")).isAccepted)
        try write(Array("no certificate".utf8), to: certificate)
        #expect(try house.client.call("supervisor.reload").isResponse)
        try awaitLog("the new certificate is not taken, and the old one stays in use", house)
        #expect(try network.open().serial == after?.serial)
      }
    }

    @Test("A certificate that was replaced is taken without a word to anybody when somebody comes")
    func renewed() throws {
      try run { house, network, certificate in
        let before = try network.open()
        try replace(certificate, by: "renewed")
        try awaitSoon("the new certificate") { try network.open().serial != before.serial }
        try awaitLog("the certificate is a new one", house)
        #expect(try before.authenticate(guest, for: network.url).isAccepted)
      }
    }

    private func awaitLog(_ words: String, _ house: LocalRelayHouse) throws {
      try awaitSoon("'\(words)' in the log") {
        try house.client.call("supervisor.logs", #"{"worker":"local-relay","lines":200}"#).text.contains(words)
      }
    }

    @Test("Without a certificate, or with half of one, a relay that others reach is refused in the configuration")
    func configuration() throws {
      let certificate = try TestCertificates.path("home")
      for (settings, words) in [
        (["listen": "[\"0.0.0.0:4869\"]"], "can be reached by other machines: there a client must show who it is"),
        (["listen": "[\"[::]:4869\"]"], "over TLS, which takes a certificate; set certificate-file and key-file"),
        (["certificate-file": "\"\(certificate)\""], "this needs key-file as well"),
        (["key-file": "\"\(certificate)\""], "this needs certificate-file as well"),
      ] {
        let directory = try TemporaryDirectory()
        let layout = Layout.localRelay(port: 4_869, settings)
        let file = directory.path + "/supervisor.conf"
        try write(Array(layout.text(directory: directory.path, program: "/bin/true").utf8), to: file)
        let check = try SpawnedProcess(
          SpawnedProcess.builtProgram("roostd"), ["--check", "--config", file], descriptors: [:])
        let output = try check.readAllOutput()
        #expect(try check.waitForEnd() != .exited(0) && output.contains(words), "\(output)")
      }
    }
  }
}
