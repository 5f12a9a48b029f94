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
        let unnamed = try roost.command(["publish", "--local", "--content", "x"]).output
        #expect(unnamed.contains("name the account, as in --as alice; there are alice, bob"), "\(unnamed)")
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
        #expect(reports[1].contains(#""isNew":true"#) && reports[1].contains(#""state":"stored""#))
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
        let typed = try roost.command(
          ["publish", "--local", "--content", "-", "--as", "bob", "--json"], input: "a\nb\n")
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
        for wrong in ["bob", "npub1x", "alice@example.com", "nsec1" + String(repeating: "q", count: 57)] {
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
        // Some seqs are left out after a kill.
        let line = try behind.readLine { $0.hasPrefix(#"{"seq":"#) && $0.contains(#","event":{"#) }
        #expect(line.contains(#""content":"two""#))
        let seq = line.dropFirst(#"{"seq":"#.count).prefix { $0 != "," }
        _ = try behind.readLine { $0 == #"{"isStoredEnd":true,"seq":\#(seq)}"# }
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
        let output = try roost.command(["export", "--output", "-"])
        #expect(output.status == .exited(0) && output.output.utf8.elementsEqual(text))
        #expect(try roost.command(["export", "-o", "-", "--resume"]).status == .exited(2))
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

    @Test("A file that is no list of events, or ends before the line to begin at, is refused with what to do")
    func importForms() throws {
      try withRoost(.store) { roost in
        let notes = makeNotes(0..<3).map { String(decoding: $0.json, as: UTF8.self) }
        let text = notes.joined(separator: "\n") + "\n"
        let file = roost.path("in.jsonl")
        try write("\u{FEFF}" + text, to: file)
        #expect(try roost.command(["import", file]).output == "3 lines: 3 stored\n")
        #expect(try roost.command(["import", "-"], input: "\u{FEFF}" + text).output == "3 lines: 3 there already\n")
        for (line, status) in [(3, 0), (4, 1), (100, 1)] as [(Int, Int32)] {
          let end = try roost.command(["import", file, "--from-line", "\(line)"])
          #expect(end.status == .exited(status), "\(end.output)")
          if status != 0 { #expect(end.output.contains("has no line \(line): it ends with line 3"), "\(end.output)") }
        }
        let forms: [([UInt8], String)] = [
          ([0x1F, 0x8B, 8, 0, 0x0A, 1], "gunzip -c "), ([0x28, 0xB5, 0x2F, 0xFD, 0], "zstd -dc "),
          (Array("[\(notes.joined(separator: ","))]\n".utf8), "jq -c '.[]' "),
          (Array("\u{FEFF} \n[\n  \(notes[0])\n]".utf8), "jq -c '.[]' "), ([0xFF, 0xFE, 0x7B, 0], "UTF-16"),
        ]
        for (bytes, hint) in forms {
          try write(bytes, to: file)
          let refused = try roost.command(["import", file])
          #expect(refused.status == .exited(1) && refused.output.contains(hint), "\(refused.output)")
        }
        // What relays say is no array of events: each line is told.
        try write(#"["EVENT","x",\#(notes[0])]"# + "\n" + text, to: file)
        let told = try roost.command(["import", file])
        #expect(told.output.hasPrefix("4 lines: 3 there already, 1 invalid\nline 1: "), "\(told.output)")
      }
    }

    @Test("Lines that are no events are told in the order of the file, those too long for an event among them")
    func importOrder() throws {
      try withRoost(.store) { roost in
        let long = String(repeating: "x", count: 1_100_000)
        let (file, report) = (roost.path("in.jsonl"), roost.path("errors.jsonl"))
        let notes = makeNotes(0..<2).map { String(decoding: $0.json, as: UTF8.self) }
        try write(["a", long, "b", notes[0], "c", long, notes[1], long, long].joined(separator: "\n"), to: file)
        let told = try roost.command(["import", file, "--errors", report, "--json"])
        let value = try JSONPayload.decode(JSONValue.self, from: told.output.utf8)
        guard case .array(let lines)? = value["invalidLines"] else { throw DeadlinePassed(description: told.output) }
        #expect(lines.map { $0["line"] } == [1, 2, 3, 5, 6, 8, 9].map { .integer($0) }, "\(told.output)")
        #expect(value["stored"] == .integer(2) && value["lines"] == .integer(9) && value["invalid"] == .integer(7))
        let written = roost.lines("errors.jsonl").map { $0.prefix { $0 != "," } }
        #expect(written == [1, 2, 3, 5, 6, 8, 9].map { "{\"line\":\($0)" })
      }
    }

    @Test("A search that could find nothing is refused with the reason, and not answered with everything")
    func wordlessSearch() throws {
      try withRoost(.store) { roost in
        _ = try roost.command(["import", "-"], input: String(decoding: makeNotes(0..<1)[0].json, as: UTF8.self))
        for typed in ["!!", "-", "+ &"] {
          for command in [["export", "--filter"], ["observe"]] {
            let refused = try roost.command(command + [#"{"search":"\#(typed)"}"#])
            #expect(refused.status == .exited(2) && refused.output.contains("no word"), "\(refused.output)")
          }
          let count = try roost.client().call("store.count", #"{"filters":[{"search":"\#(typed)"}]}"#)
          #expect(count.text.hasPrefix(#"{"count":0"#), "\(count.text)")
        }
        #expect(try roost.command(["export", "--filter", #"{"search":"⚡"}"#]).status == .exited(0))
      }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      defer { Descriptors.close(file) }
      try #require(bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count)
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
