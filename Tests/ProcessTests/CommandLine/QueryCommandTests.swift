import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost query`, and `roost` alone.
  @Suite("Asking, and the first look")
  struct QueryCommandTests {
    private static func ids(_ output: String) throws -> [EventID] {
      try output.split(separator: "\n").map { try Event(json: Array($0.utf8)).id }
    }

    /// Runs a line of a shell in which `roost` is the program.
    private static func shell(_ line: String, _ roost: RunningRoost) throws -> (String, SpawnedProcess.Ending) {
      let process = try SpawnedProcess(
        "/bin/bash", ["-o", "pipefail", "-c", line],
        environment: [
          "PATH=\(SpawnedProcess.builtProgram("roost").dropLast("/roost".count)):/usr/bin:/bin",
          "ROOST_SOCKET=\(roost.socket)",
        ])
      return (try process.readAllOutput(within: 120), try process.waitForEnd())
    }

    @Test("What is stored comes as bare events, newest first, by flags, JSON and standard input alike")
    func local() throws {
      try withRoost(.storeAndSigner) { roost in
        let notes = makeNotes(0..<20)
        let reply = UnsignedEvent(
          pubkey: SecretKey.generate().publicKey, createdAt: 1_700_000_500, kind: 1111,
          tags: [["e", "\(notes[3].id)"], ["p", "\(notes[3].pubkey)"], ["d", "x"]], content: "pumpkin soup")
        let key = SecretKey.generate()
        let signed = UnsignedEvent(
          pubkey: key.publicKey, createdAt: reply.createdAt, kind: reply.kind, tags: reply.tags,
          content: reply.content
        ).signed(by: key)
        let text = (notes + [signed]).map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined()
        let file = try roost.write(Array(text.utf8), to: "in.jsonl")
        #expect(try roost.command(["import", file]).status == .exited(0))
        let newest = notes.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }.prefix(5).map(\.id)
        let author = notes[0].pubkey
        for arguments in [
          ["-k", "1", "-a", author.npub, "-l", "5"], [#"{"kinds":[1]}"#, "--limit", "5"],
          [#"{"kinds":[1],"limit":5}"#, "--author", "\(author)", "--json"],
        ] {
          let answer = try roost.command(["query"] + arguments)
          #expect(answer.status == .exited(0))
          #expect(try Self.ids(answer.output) == newest, "\(arguments): \(answer.output)")
        }
        for flags in [
          ["-e", notes[3].id.note], ["-p", notes[3].pubkey.npub, "-k", "1111"], ["-d", "x"], ["-i", signed.id.note],
          ["--search", "pumpkin"], ["-s", "1700000400", "-k", "1111"], ["-t", "e=\(notes[3].id)", "-u", "1700000500"],
        ] {
          let found = try roost.command(["query"] + flags)
          #expect(found.output == String(decoding: signed.json, as: UTF8.self) + "\n", "\(flags): \(found.output)")
        }
        let lines = notes.prefix(3).map { #"{"ids":["\#($0.id)"]}"# }
        let piped = try roost.command(["query", "-"], input: "\n" + lines.joined(separator: "\n"))
        #expect(try Set(Self.ids(piped.output)) == Set(notes.prefix(3).map(\.id)), "\(piped.output)")
        let nothing = try roost.command(["query", "-k", "7"])
        #expect(nothing.output.isEmpty && nothing.status == .exited(0))
      }
    }

    @Test("What cannot be asked is refused in words, with the exit codes of other commands")
    func refusals() throws {
      try withRoost(.storeAndSigner) { roost in
        for (arguments, words) in [
          ([], "What is asked for?"), (["{"], "not a filter"), (["-k", "x"], "A kind is"),
          (["--search", "…"], "no word"),
          (["note1x"], "To ask for that: --id"), (["npub1x"], "--author"),
          (["-k", "1", "wss://relay.example"], "--relay"), (["-i", "npub1x"], "is no event"),
          (["--knd", "1"], "Did you mean '--kind'?"),
          (["-k", "1", "--policy", "x"], "It is one of"), (["-k", "1", "--limit", "-1"], "not negative"),
        ] {
          let refused = try roost.command(["query"] + arguments)
          #expect(refused.status == .exited(2) && refused.output.contains(words), "\(arguments): \(refused.output)")
        }
        let empty = try roost.command(["query", "-"], input: "\n")
        #expect(empty.status == .exited(1) && empty.output.contains("standard input has no filter"))
        let many = String(repeating: "{\"kinds\":[1]}\n", count: 65)
        let tooMany = try roost.command(["query", "-"], input: many)
        #expect(tooMany.status == .exited(1) && tooMany.output.contains("more than 64 filters"))
        // No planner: relays cannot be asked, and that is no empty answer.
        let network = try roost.command(["query", "-k", "1", "--relay", "ws://127.0.0.1:1"])
        #expect(network.status == .exited(1) && network.output.contains("which is not ready"), "\(network.output)")
      }
      let away = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"), ["query", "-k", "1", "--socket", "/nonexistent/roost.sock"])
      #expect(try away.readAllOutput().contains("no-supervisor"))
      #expect(try away.waitForEnd() == .exited(3))
    }

    @Test("A long answer takes little memory while its reader is slow, and a pipe that closes early ends it in silence")
    func pipes() throws {
      try withRoost(.storeAndSigner) { roost in
        let key = SecretKey.generate()
        let long = String(repeating: "long ", count: 6_000)
        let notes = (0..<700).map {
          UnsignedEvent(pubkey: key.publicKey, createdAt: 1_700_000_000 + Int64($0), kind: 1, content: long).signed(
            by: key)
        }
        let text = notes.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined()
        let file = try roost.write(Array(text.utf8), to: "in.jsonl")
        #expect(try roost.command(["import", file]).status == .exited(0))
        let slow = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["query", "-k", "1", "--socket", roost.socket])
        _ = try slow.readLine { $0.hasPrefix("{") }
        // All 20 MB could have come by now.
        let early = roost.memory(of: slow.pid)
        #expect(try slow.readAllOutput(within: 60).split(separator: "\n").count == notes.count)
        #expect(try slow.waitForEnd() == .exited(0))
        #expect(early < 64 << 20, "\(early) bytes")
        let (head, ending) = try Self.shell("roost query -k 1 2>&1 | head -n 2 | wc -l", roost)
        #expect(head == "2\n" && ending == .exited(0), "\(head)")
      }
    }

    @Test("Relays are asked before the answer, which is then in order and complete; one that is down is named")
    func network() throws {
      let relays = [try KeepingRelay(), try KeepingRelay()]
      try withRoost(PlannerRig.layout(relays.map(\.url) + ["ws://127.0.0.1:1"])) { roost in
        let rig = PlannerRig(roost: roost, client: try roost.client())
        let events = makeEvents(0..<6)
        for (number, event) in events.enumerated() { try rig.put(event, on: relays[number % 2]) }
        let here = try roost.command(["query", "-k", "1"])
        #expect(here.output.isEmpty && here.status == .exited(0), "\(here.output)")
        let only = ["--policy", "network-only", "--exclusive", "--relay", relays[0].url]
        let now = try roost.command(["query", "-k", "1"] + only)
        let sent = now.output.split(separator: "\n").filter { $0.hasPrefix("{") }
        let ids = try Set(Self.ids(sent.joined(separator: "\n")))
        #expect(ids == Set([0, 2, 4].map { events[$0].id }), "\(now.output)")
        #expect(now.status == .exited(0))
        let all = try roost.command(["query", "-k", "1", "-l", "5", "--policy", "cache-with-network"])
        let lines = all.output.split(separator: "\n")
        let found = try Self.ids(lines.filter { $0.hasPrefix("{") }.joined(separator: "\n"))
        #expect(found == events.reversed().prefix(5).map(\.id), "\(all.output)")
        #expect(lines.contains { $0.hasPrefix("-- ws://127.0.0.1:1 cannot be asked yet") }, "\(all.output)")
        #expect(all.status == .exited(0))
      }
    }

    @Test("'roost' alone says how it is in a few lines, and how to start one where none runs; --color decides")
    func overview() throws {
      try withRoost(.storeAndSigner) { roost in
        _ = try roost.client().call("signer.generate", #"{"name":"alice"}"#)
        let told = try roost.command([])
        #expect(told.output.hasPrefix("2 workers, 2 ready · "), "\(told.output)")
        #expect(told.output.contains("All is well.") && told.output.contains("'roost help'"))
        #expect(told.output.split(separator: "\n").count < 8 && told.status == .exited(0))
        let json = try JSONPayload.decode(JSONValue.self, from: try roost.command(["--json"]).output.utf8)
        #expect(json["status"]?["workers"] != nil && json["checks"] != nil && json["addresses"] == .array([]))
        #expect(!told.output.contains("\u{1B}["))
        #expect(try roost.command(["status", "--color", "always"]).output.contains("\u{1B}["))
        let none = try roost.command(["status", "--color", "never"])
        #expect(!none.output.contains("\u{1B}[") && none.status == .exited(0))
        let wrong = try roost.command(["statsu"])
        #expect(wrong.status == .exited(2) && wrong.output.contains("Did you mean 'roost status'?"), "\(wrong.output)")
      }
      let away = try SpawnedProcess(
        SpawnedProcess.builtProgram("roost"), [], environment: ["ROOST_SOCKET=/nonexistent/roost.sock"])
      let told = try away.readAllOutput()
      #expect(told.hasPrefix("Roost is not running here.\n  roost setup") && told.split(separator: "\n").count == 4)
      #expect(try away.waitForEnd() == .exited(3))
    }

    @Test("ROOST_ACCOUNT is the account where --as names none")
    func account() throws {
      try withRoost(.storeAndSigner) { roost in
        for name in ["alice", "bob"] { _ = try roost.client().call("signer.generate", #"{"name":"\#(name)"}"#) }
        let unnamed = try Self.shell("roost publish --local -c x", roost)
        #expect(unnamed.0.contains("name the account") && unnamed.1 == .exited(1), "\(unnamed.0)")
        for (line, author) in [
          ("ROOST_ACCOUNT=bob roost publish --local -c one -t t=one", "bob"),
          ("ROOST_ACCOUNT=bob roost publish --local -c two -t t=two --as alice", "alice"),
        ] {
          #expect(try Self.shell(line, roost).1 == .exited(0))
          let tag = author == "bob" ? "one" : "two"
          #expect(try Self.shell("roost query -a \(author) -t t=\(tag) | wc -l", roost).0 == "1\n")
        }
        #expect(try Self.shell("ROOST_ACCOUNT=bob roost links share", roost).0.hasPrefix("npub1"))
        let help = try Self.shell("ROOST_ACCOUNT=bob roost publish --help", roost).0
        #expect(help.contains("$ROOST_ACCOUNT") && !help.contains("bob"))
      }
    }
  }
}
