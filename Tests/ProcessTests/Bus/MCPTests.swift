import Cryptography
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost mcp`, by a client of the protocol by other people, and by messages that no client sends.
  @Suite("Tools for assistant programs")
  struct MCPTests {
    private static let interpreter = SharedFolder.repository + "/.venv-mcp/bin/python"

    @Test(
      "A client lists and calls them, is refused, cancels, and continues after the death of roostd",
      .enabled(if: access(interpreter, X_OK) == 0, "no .venv-mcp: run Scripts/python-environment.sh"))
    func client() throws {
      let relay = try KeepingRelay()
      try FeedRig.run([relay.url]) { rig in
        let bob = SecretKey.generate()
        try rig.follow([bob], at: 1_700_000_000)
        try rig.store(rig.event(bob, kind: 0, [], #"{"name":"bob","about":"Bob of the test"}"#, at: 1_700_000_000))
        try rig.store(rig.event(bob, kind: 4, [["p", "\(rig.alice.publicKey)"]], "secret", at: 1_700_000_003))
        // Five in each second: a page ends in the middle of one.
        for number in 0..<30 { try rig.store(rig.event(bob, [], "\(number)", at: 1_700_000_000 + Int64(number / 5))) }
        let roost = rig.rig.roost
        let program = try LineProgram(
          Self.interpreter, [SharedFolder.repository + "/Tests/Peers/mcp_client.py"],
          environment: [
            "PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1", "ROOST_SOCKET=\(roost.socket)", "BOB=\(bob.publicKey)",
            "ROOST_PROGRAM=\(SpawnedProcess.builtProgram("roost"))",
          ])
        try program.line(with: "kill", within: 60)
        try roost.killDaemonAndWorkers()
        try program.send("kill")
        try program.line(with: "start", within: 60)
        try roost.startAgain()
        try program.send("start")
        let (output, ending) = try program.finish()
        #expect(output == "kill\nstart\ndone\n" && ending == .exited(0), "\(output)")
      }
    }

    @Test("A message that cannot be read, or is no request, is answered by an error, and ends nothing")
    func malformed() throws {
      try withRoost { roost in
        let program = try LineProgram(roost, ["mcp"])
        for (message, code) in [
          ("nonsense", -32_700), (#"{"jsonrpc":"2.0","id":1}"#, -32_600), ("[]", -32_600),
          (#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#, -32_601),
          (#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}"#, -32_602),
          (#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"supervisor.status"}}"#, -32_602),
        ] {
          try program.send(message)
          try program.line(with: #""error":{"code":\#(code),"#)
        }
        try program.send(#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#)
        try program.send(#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#)
        try program.line(with: #"{"id":"x","jsonrpc":"2.0","result":{}}"#)
        // Of the earlier revisions the caller's is taken, and of an unknown one the newest is offered.
        for (wanted, given) in [("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25")] {
          try program.send(
            #"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"\#(wanted)"}}"#)
          try program.line(with: #""protocolVersion":"\#(given)""#)
        }
        #expect(try program.finish().ending == .exited(0))
      }
    }

    @Test("It starts without a supervisor, and each call says that no supervisor answers")
    func away() throws {
      let directory = try TemporaryDirectory()
      let program = try LineProgram(
        SpawnedProcess.builtProgram("roost"), ["mcp", "--socket", directory.path + "/roost.sock"])
      try program.send(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
      try program.line(with: #""name":"search_events""#)
      try program.send(
        #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_relays","arguments":{}}}"#)
      let answer = try program.line(with: #""isError":true"#)
      #expect(answer.contains("no-supervisor") && answer.contains("not-started"), "\(answer)")
      #expect(try program.finish().ending == .exited(0))
    }
  }
}
