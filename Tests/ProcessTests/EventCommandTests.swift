import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost publish`, `observe`, `profile` and `export`, with a real roostd, store and signer.
  @Suite("The commands about events")
  struct EventCommandTests {
    @Test("A text is signed and published; drafts and signed events come in lines, and a bad line stops no other")
    func publish() throws {
      try withRoost(.storeAndSigner) { roost in
        let none = try roost.command(["publish", "--local", "--content", "x"])
        #expect(none.status == .exited(1) && none.output.contains("no account"))
        for name in ["alice", "bob"] { _ = try roost.client().call("signer.generate", #"{"name":"\#(name)"}"#) }
        #expect(try roost.command(["publish", "--local", "--content", "x"]).output.contains("alice, bob"))
        let first = try roost.command([
          "publish", "--local", "--content", "hello", "--tag", "t=nostr", "--tag", #"["x","1","2"]"#, "--as", "alice",
        ])
        #expect(first.status == .exited(0) && first.output.hasPrefix("note stored as number 1\n  note1"))
        #expect(first.output.contains("no relay was sent it"))
        let signed = try #require(
          try roost.command(["export", "--tag", "t=nostr"]).output.split(separator: "\n").first)
        let event = try Event(json: Array(signed.utf8))
        #expect(event.tags == [["t", "nostr"], ["x", "1", "2"]] && event.content == "hello")
        let lines = [
          String(signed), #"{"kind":1,"content":"two"}"#, "nonsense", "", #"{"kind":22242}"#, #"{"kind":20001}"#,
        ]
        let many = try roost.command(
          ["publish", "--local", "-", "--as", "bob", "--json"], input: lines.joined(separator: "\n") + "\n")
        #expect(many.status == .exited(1))
        let reports = many.output.split(separator: "\n")
        #expect(reports.count == 5, "\(many.output)")
        #expect(reports[0].contains(#""isNew":false"#) && reports[0].contains(#""line":1"#))
        #expect(reports[1].contains(#""isNew":true"#) && reports[1].contains(#""state":"optimistic""#))
        #expect(reports[2].contains(#""line":3"#) && reports[2].contains("bad-request"))
        #expect(reports[3].contains(#""line":5"#) && reports[3].contains("forbidden"))
        #expect(!reports[4].contains("seq") && reports[4].contains(#""isNew":true"#))
        for wrong in [
          ["publish"], ["publish", "hello"], ["publish", "{}", "--content", "x"], ["publish", "--kind", "1"],
        ] {
          #expect(try roost.command(wrong).status == .exited(2), "\(wrong)")
        }
        let time = try roost.command(["observe", "--until", "yesterday"])
        #expect(time.status == .exited(2) && time.output.contains("A time is 2025-11-21"), "\(time.output)")
        let named = try roost.command(["key", "generate", "a b"])
        #expect(named.status == .exited(2) && named.output.contains("A name is 1 to 32"), "\(named.output)")
        let typed = try roost.command(["publish", "--local", "--content", "-", "--as", "bob", "--json"], input: "a\nb\n")
        #expect(typed.status == .exited(0))
        #expect(try roost.command(["export", "--author", "bob"]).output.contains(#""content":"a\nb""#))
      }
    }

    @Test("A profile is shown by npub, digits or account, harmless; of a stranger nothing is told")
    func profile() throws {
      try withRoost(.storeAndSigner) { roost in
        let answer = try roost.client().call("signer.generate", #"{"name":"alice"}"#)
        let alice = try JSONPayload.decode(SignerAccount.self, from: answer.terminal.payload)
        let unknown = try roost.command(["profile", "alice"])
        #expect(unknown.status == .exited(1) && unknown.output.contains("Nothing of this person is stored"))
        let metadata = #"{"name":"Al\u001b]0;x\u0007","about":"\u202eabc","lud16":"a@b.c"}"#
        for (kind, content, tags) in [("0", metadata, []), ("10002", "", ["r=wss://relay.example"]), ("1", "hi", [])] {
          let tags = tags.flatMap { ["--tag", $0] }
          #expect(
            try roost.command(["publish", "--local", "--kind", kind, "--content", content] + tags).status == .exited(0))
        }
        #expect(
          try roost.command(["publish", "--local", "--kind", "3", "--content", "", "--tag", "p=\(alice.npub)"]).status
            == .exited(0))
        for key in ["alice", alice.npub, "nostr:" + alice.npub, alice.publicKey] {
          let shown = try roost.command(["profile", key])
          #expect(shown.status == .exited(0))
          #expect(shown.output.hasPrefix("Al\\e]0;x\\u{7}\n\(alice.npub)\n"), "\(shown.output)")
          #expect(shown.output.contains("wss://relay.example") && shown.output.contains("followed by 1"))
        }
        let json = try roost.command(["profile", "alice", "--json"])
        let value = try JSONPayload.decode(JSONValue.self, from: json.output.utf8)
        #expect(value["lud16"] == .string("a@b.c") && value["account"] == .string("alice"))
        #expect(value["followerCount"] == .integer(1) && value["followCount"] == .integer(1))
        for wrong in ["bob", "npub1x", "alice@example.com", "nsec1" + String(repeating: "q", count: 58)] {
          let refused = try roost.command(["profile", wrong])
          #expect(refused.status == .exited(1) && !refused.output.contains("qqqq"), "\(refused.output)")
        }
      }
    }

    @Test("What is observed is told with names and without escapes, and goes on after the store was killed")
    func observe() throws {
      try withRoost(.storeAndSigner) { roost in
        _ = try roost.client().call("signer.generate", #"{"name":"alice"}"#)
        _ = try roost.command(["publish", "--local", "--kind", "0", "--content", #"{"name":"Alice"}"#])
        _ = try roost.command(["publish", "--local", "--content", "one\u{1B}[2J"])
        let arguments = ["observe", "--kind", "1", "--author", "alice", "--limit", "5", "--since", "1d"]
        let program = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket])
        let first = try program.readLine { $0.contains("one") }
        #expect(first.contains("  Alice npub1") && first.hasSuffix("  note  one\\e[2J"), "\(first)")
        _ = try program.readLine { $0.hasPrefix("-- that was stored") }
        kill(try #require(roost.worker("event-store").pid), SIGKILL)
        try roost.awaitReady()
        _ = try roost.command(["publish", "--local", "--content", "two"])
        _ = try program.readLine { $0.hasSuffix("  note  two") }
        program.send(SIGINT)
        #expect(try program.waitForEnd() == .exited(130))
        let behind = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"), ["observe", "--after", "2", "--json", "--socket", roost.socket])
        let line = try behind.readLine { $0.hasPrefix(#"{"seq":3,"event":{"#) }
        #expect(line.contains(#""content":"two""#))
        _ = try behind.readLine { $0 == #"{"isStoredEnd":true,"seq":3}"# }
        behind.send(SIGINT)
        #expect(try behind.waitForEnd() == .exited(130))
        for wrong in [
          ["--kind", "x"], ["--since", "yesterday"], ["--tag", "tt=x"], ["{"], [#"{"author":[]}"#], ["--policy", "x"],
          ["--exclusive"], ["--relay", "https://x"],
        ] {
          #expect(try roost.command(["observe"] + wrong).status == .exited(2), "\(wrong)")
        }
        let twice = try roost.command(["observe", #"{"kinds":[1]}"#, "--kind", "1"])
        #expect(twice.status == .exited(1) && twice.output.contains("say it once"))
      }
    }

    @Test("An export that was cut off is finished where it ended, half a line and the store's death notwithstanding")
    func export() throws {
      try withRoost(.storeAndSigner) { roost in
        let notes = makeNotes(0..<1_000)
        let file = roost.path("in.jsonl")
        try write(notes.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: file)
        #expect(try roost.command(["import", file]).status == .exited(0))
        let whole = roost.path("whole.jsonl")
        #expect(
          try roost.command(["export", "--output", whole]).output.hasSuffix("whole.jsonl: 1000 events written\n"))
        let text = SharedFolder.bytes(ofFile: whole) ?? []
        #expect(text == notes.reversed().flatMap { $0.json + [0x0A] })
        #expect(try roost.command(["export", "--output", whole]).output.contains("is there already"))
        // As a killed process leaves it.
        let cut = roost.path("cut.jsonl")
        for length in [0, 100, text.count / 2, text.count - 1, text.count] {
          try write(String(decoding: text[..<length], as: UTF8.self), to: cut)
          #expect(try roost.command(["export", "-o", cut, "--resume", "--json"]).status == .exited(0))
          #expect(SharedFolder.bytes(ofFile: cut) == text, "cut at \(length)")
        }
        let few = roost.path("few.jsonl")
        #expect(try roost.command(["export", "-o", few, "--limit", "10"]).status == .exited(0))
        #expect(try roost.command(["export", "-o", few, "--limit", "25", "--resume"]).status == .exited(0))
        #expect(SharedFolder.bytes(ofFile: few) == notes.reversed().prefix(25).flatMap { $0.json + [0x0A] })
        try write("a letter to somebody", to: cut)
        #expect(try roost.command(["export", "-o", cut, "--resume"]).output.contains("cannot be finished"))
        #expect(SharedFolder.bytes(ofFile: cut) == Array("a letter to somebody".utf8))
        let until = try roost.command(["export", "--until", "1700000003", "--since", "1700000001"])
        #expect(until.output.split(separator: "\n").count == 3)
      }
    }

    private func write(_ text: String, to path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(text, to: file)
      Descriptors.close(file)
    }
  }
}

extension RunningRoost {
  /// Runs `roost` with a text on its standard input, and waits for its end. Standard error goes with the output.
  func command(_ arguments: [String], input: String = "") throws -> (status: SpawnedProcess.Ending, output: String) {
    let pipe = try Descriptors.pipe()
    defer { Descriptors.close(pipe.first) }
    let process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), arguments + ["--socket", socket], descriptors: [0: pipe.first])
    try Descriptors.writeAll(input, to: pipe.second)
    Descriptors.close(pipe.second)
    let output = try process.readAllOutput()
    return (try process.waitForEnd(), output)
  }
}
