import Frames
import TestSupport
import Testing

extension ProcessTests {
  /// Client libraries that nobody here wrote, as ordinary clients of the local relay.
  @Suite(
    "Other people's clients at the local relay",
    .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LocalRelayClientTests {
    private func run(_ script: String, _ arguments: String..., needs nip: Int? = nil) throws {
      try LocalRelayHouse.run { house in
        if let nip, try !speaks(nip, house) { try Test.cancel("the relay does not say that it knows NIP-\(nip)") }
        let peer = try start(script, [house.url] + arguments)
        let output = try peer.readAllOutput(within: 90)
        #expect(try peer.waitForEnd() == .exited(0), "\(output)")
      }
    }

    private func start(_ script: String, _ arguments: [String]) throws -> SpawnedProcess {
      try SpawnedProcess(
        PythonPeer.interpreter, [SharedFolder.repository + "/Tests/Peers/\(script)"] + arguments,
        environment: ["PYTHONUNBUFFERED=1", "RUST_LOG=error"])
    }

    /// Whether the relay says that it knows a NIP.
    private func speaks(_ nip: Int, _ house: LocalRelayHouse) throws -> Bool {
      let answer = try RelayVisitor.exchange(
        port: house.port,
        [
          "GET / HTTP/1.1", "Host: 127.0.0.1:\(house.port)", "Connection: close", "Accept: application/nostr+json",
        ])
      let body = try #require(answer.firstRange(of: "\r\n\r\n"))
      let document = try JSONPayload.decode(JSONValue.self, from: answer[body.upperBound...].utf8)
      guard case .array(let numbers)? = document["supported_nips"] else { return false }
      return numbers.contains(.integer(Int64(nip)))
    }

    @Test("nostr-sdk publishes, finds what is stored, is told of what comes, searches, counts and deletes")
    func sdk() throws { try run("sdk_client.py", "publish") }

    @Test("nostr-sdk with a signer shows itself when it is asked to, and gets its gift wraps and nobody else's")
    func sdkWraps() throws { try run("sdk_client.py", "wraps") }

    @Test("nostr-sdk gets by reconciliation what it lacks, from a relay that says it can (NIP-77)")
    func sdkSync() throws { try run("sdk_client.py", "sync", needs: 77) }

    @Test("nostr-sdk whose relay died comes again by itself, and goes on where it listened")
    func sdkReconnect() throws {
      try LocalRelayHouse.run { house in
        let peer = try start("sdk_client.py", [house.url, "reconnect"])
        _ = try peer.readLine { $0 == "ready" }
        try house.kill("local-relay")
        try house.awaitVisitor().put(Author().event("after"))
        let output = try peer.readAllOutput(within: 90)
        #expect(try peer.waitForEnd() == .exited(0), "\(output)")
      }
    }

    @Test("pynostr publishes, finds and deletes")
    func pynostr() throws { try run("pynostr_client.py") }

    @Test("monstr reads of the relay, publishes, listens, deletes, and answers the challenge")
    func monstr() throws { try run("monstr_client.py") }
  }
}
