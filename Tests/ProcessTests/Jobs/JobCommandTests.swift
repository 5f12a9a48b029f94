import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Jobs as people and programs submit them, done by the provider of this machine.
  @Suite("Jobs from the command line, and from the examples")
  struct JobCommandTests {
    private static func run(
      jobs: [Int: [String: String]] = [:], _ body: (ServingRig, Event) throws -> Void
    ) throws {
      var layout = ServingRig.layout(["customers": "\"accounts\""], jobs: jobs)
      var tracker = Layout.Worker(name: "dvm-tracker")
      tracker.keys = [
        "role": "\"dvm-tracker\"", "program": "\"\(SpawnedProcess.builtProgram("dvm-tracker"))\"", "sandbox": "\"try\"",
      ]
      layout.workers.append(tracker)
      try withRoost(layout) { roost in
        let rig = try ServingRig(roost)
        let author = SecretKey.generate()
        let note = UnsignedEvent(
          pubkey: author.publicKey, createdAt: WallClock.seconds, kind: 1, content: "hello nostr, from a test"
        ).signed(by: author)
        #expect(try rig.store.publish(note).isResponse)
        try body(rig, note)
      }
    }

    private static func output(
      _ rig: ServingRig, _ program: String, _ arguments: [String]
    ) throws -> (text: String, status: SpawnedProcess.Ending) {
      let process = try SpawnedProcess(
        program, arguments, environment: ["ROOST_SOCKET=\(rig.roost.socket)", "PATH=/usr/bin:/bin"])
      let text = try process.readAllOutput()
      return (text, try process.waitForEnd())
    }

    private static let search = ["--kind", "5302", "--param", "search=nostr"]

    @Test("A search that is submitted and waited for prints the events that were found; --json each change")
    func submitted() throws {
      try Self.run { rig, note in
        let roost = SpawnedProcess.builtProgram("roost")
        let told = try Self.output(rig, roost, ["job", "submit"] + Self.search + ["--wait"])
        #expect(told.text.contains("hello nostr, from a test") && told.status == .exited(0), "\(told)")
        let json = try Self.output(
          rig, roost, ["job", "submit", "--wait", "--json", "--key", "mine"] + Self.search)
        let last = try JSONPayload.decode(Job.self, from: try #require(json.text.split(separator: "\n").last).utf8)
        #expect(last.state == .settled && last.key == "mine")
        let result = try Self.output(rig, roost, ["job", "show", "mine", "--result"])
        #expect(result.text == "[[\"e\",\"\(note.id)\"]]\n")
        let again = try Self.output(rig, roost, ["job", "submit", "--json", "--key", "mine"] + Self.search)
        #expect(try JSONPayload.decode(Job.self, from: again.text.utf8).id == last.id)
        let list = try Self.output(rig, roost, ["job", "list", "--json"])
        #expect(list.text.split(separator: "\n").count == 2)
        #expect(try Self.output(rig, roost, ["job", "show", "nobodys"]).status == .exited(1))
        #expect(try Self.output(rig, roost, ["job", "submit", "--kind", "1"]).status == .exited(2))
      }
    }

    @Test("What makes no sense is refused with its flag's name, before anything is asked")
    func senseless() throws {
      let roost = SpawnedProcess.builtProgram("roost")
      let submit = ["job", "submit", "--kind", "5050"]
      for (flags, words) in [
        (["--topic", ""], "is empty"), (["--input", "url=notaurl"], "such as https://"),
        (["--input", "event=note1nonsense"], "is no event"), (["--pay-maximum", "5sat"], "--pay auto"),
        (["--one-by-one"], "--provider"), (["--bid", "-1"], "not '-1'"),
        (["--output", ""], "--output is a MIME type"),
        (["--local", "--relay", "wss://a.example"], "--local or --relay"),
        (["--answer-within", "100000h"], "720h"), (["--provider", "xyz"], "--provider is a key: npub1"),
      ] {
        let process = try SpawnedProcess(roost, submit + flags, environment: ["ROOST_SOCKET=/nowhere"])
        let text = try process.readAllOutput()
        #expect(try process.waitForEnd() == .exited(2) && text.contains(words), "\(flags): \(text)")
      }
    }

    @Test("An event is taken as note1…, a job without a result says what became of it, a tracker that it is stopped")
    func words() throws {
      try Self.run { rig, note in
        let roost = SpawnedProcess.builtProgram("roost")
        let job = ["job", "submit", "--json", "--local", "--key", "mine", "--kind", "5050", "--input"]
        #expect(try Self.output(rig, roost, job + ["event=\(note.id.note)"]).status == .exited(0))
        try awaitSoon("its request is in the store") {
          let found = try rig.store.query(#"{"kinds":[5050]}"#)
          return found.count == 1 && found[0].contains(note.id.description)
        }
        for _ in 0..<2 { #expect(try Self.output(rig, roost, ["job", "cancel", "mine"]).status == .exited(0)) }
        let shown = try Self.told(rig, ["job", "show", "mine", "--result"])
        #expect(shown.contains("is cancelled") && !shown.contains("it was done"), "\(shown)")
        #expect(try Self.output(rig, roost, ["stop", "dvm-tracker"]).status == .exited(0))
        let away = try Self.told(rig, ["job", "list"])
        #expect(!away.contains("supervisor.conf") && away.contains("dvm-tracker"), "\(away)")
      }
    }

    @Test("Who submits hears whose job it is, how to go on, and that it is settled; who calls off what has ended, that")
    func spoken() throws {
      try Self.run { rig, _ in
        let submitted = try Self.told(rig, ["job", "submit", "--key", "mine"] + Self.search)
        #expect(
          submitted.contains("No person has an account here") && submitted.contains("dvm-tracker"), "\(submitted)")
        #expect(submitted.contains("roost job watch "), "\(submitted)")
        let waited = try Self.told(rig, ["job", "submit", "--wait"] + Self.search)
        #expect(waited.contains("The job is settled."), "\(waited)")
        try awaitSoon("the first one has ended") {
          try Self.told(rig, ["job", "show", "mine"]).contains("settled")
        }
        let cancelled = try Self.output(rig, SpawnedProcess.builtProgram("roost"), ["job", "cancel", "mine"])
        #expect(cancelled.status == .exited(1) && cancelled.text.contains("has ended already, as settled"))
        #expect(try SignerRig(roost: rig.roost, client: rig.client).generate("alice").isOfWorker == false)
        let hers = try Self.told(rig, ["job", "submit"] + Self.search)
        #expect(hers.contains("for alice, submitted just now") && !hers.contains("No person"), "\(hers)")
      }
    }

    @Test("The provider of this machine is listed with its kinds, and what names it, or is encrypted, stays here")
    func host() throws {
      try Self.run { rig, note in
        let host = try #require(try ServingRig.status(rig.client).provider)
        let listed = try Self.told(rig, ["job", "providers", "--json", "--kind", "5302"])
        let told = try JSONPayload.decode(JobProvider.self, from: listed.utf8)
        #expect(told.provider == host && told.kinds == [5_302, 5_400] && told.isHere == true)
        for flags in [["--provider", host], ["--encrypt", "auto"]] {
          let json = try Self.told(rig, ["job", "submit", "--wait", "--json"] + flags + Self.search)
          let last = try JSONPayload.decode(Job.self, from: try #require(json.split(separator: "\n").last).utf8)
          #expect(last.state == .settled && last.requests.allSatisfy { $0.relays == 0 && $0.providers == [host] })
          #expect(last.result?.content.contains(note.id.description) == true, "\(flags): \(last)")
        }
        let sealed = try Self.told(rig, ["job", "submit", "--kind", "5050", "--encrypt", "auto", "--input", "text=x"])
        #expect(sealed.contains("needs --provider"), "\(sealed)")
      }
    }

    /// What a command of `roost` says.
    private static func told(_ rig: ServingRig, _ arguments: [String]) throws -> String {
      try output(rig, SpawnedProcess.builtProgram("roost"), arguments).text
    }

    @Test("The example in Swift and the one in Python do the same")
    func examples() throws {
      try Self.run { rig, _ in
        let swift = try Self.output(rig, SpawnedProcess.builtProgram("example-job"), ["nostr"])
        #expect(swift.text.contains("\"hello nostr, from a test\"") && swift.status == .exited(0), "\(swift)")
        let script = SharedFolder.repository + "/examples/job.py"
        let python = try Self.output(rig, "/usr/bin/env", ["python3", script, "5302", "--param", "search=nostr"])
        #expect(python.text.contains("hello nostr, from a test") && python.status == .exited(0), "\(python)")
        for text in [swift.text, python.text] {
          let states = text.split(separator: "\n").map { $0.drop { $0 == "-" || $0 == " " } }
            .filter { Job.State(rawValue: String($0)) != nil }
          #expect(zip(states, states.dropFirst()).allSatisfy { $0 != $1 } && !states.isEmpty, "\(text)")
        }
        // What it is about can stand among the inputs as well.
        let words = try Self.output(rig, "/usr/bin/env", ["python3", script, "5302", "--input", "text=nostr"])
        #expect(words.text.contains("hello nostr, from a test") && words.status == .exited(0), "\(words)")
        let bad = try Self.output(rig, "/usr/bin/env", ["python3", script, "5302", "--input", "nostr"])
        #expect(bad.text.contains("is no NAME=VALUE") && bad.status == .exited(2), "\(bad)")
      }
    }

    private static func python(_ rig: ServingRig, _ name: String, _ arguments: [String]) throws -> (
      text: String, status: SpawnedProcess.Ending
    ) {
      try output(rig, "/usr/bin/env", ["python3", "\(SharedFolder.repository)/examples/\(name)"] + arguments)
    }

    @Test("The examples in Python keep to credit: a large input, and an answer of more parts than a window has")
    func large() throws {
      let folder = try TemporaryDirectory()
      var jobs: [Int: [String: String]] = [:]
      for (kind, script) in [(5_998, "wc -c"), (5_999, #"echo '[{"a":1}]'"#)] {
        let file = open("\(folder.path)/\(kind)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
        try Descriptors.writeAll("#!/bin/sh\n\(script)\n", to: file)
        Descriptors.close(file)
        jobs[kind] = ["program": "[\"\(folder.path)/\(kind)\"]"]
      }
      try Self.run(jobs: jobs) { rig, note in
        let text = String(repeating: "x", count: 100 << 10)
        let counted = try Self.python(rig, "job.py", ["5998", "--input", "text=" + text])
        let number = counted.text.split(separator: "\n").last.flatMap { Int($0) }
        #expect(number.map { $0 > text.utf8.count } == true && counted.status == .exited(0), "\(counted)")
        // A result that is no list of events is printed as it is.
        let odd = try Self.python(rig, "job.py", ["5999"])
        #expect(odd.text.hasSuffix("[{\"a\":1}]\n") && odd.status == .exited(0), "\(odd)")
        let submitted = try Self.python(
          rig, "client.py", ["job.submit", "{\"kind\":5998,\"inputs\":[{\"type\":\"text\",\"data\":\"\(text)\"}]}"])
        #expect(submitted.text.contains("\"kind\": 5998") && submitted.status == .exited(0))
        let author = SecretKey.generate()
        for number in 0..<80 {
          let note = UnsignedEvent(
            pubkey: author.publicKey, createdAt: WallClock.seconds, kind: 1, content: "\(number)"
          ).signed(by: author)
          #expect(try rig.store.publish(note).isResponse)
        }
        let notes = try Self.python(rig, "client.py", ["store.query", #"{"filters":[{"kinds":[1]}]}"#])
        #expect(notes.text.ranges(of: "\"sig\"").count == 81 && notes.status == .exited(0))
        let unnamed = try Self.python(rig, "client.py", ["job.submit", #"{"kind":5998,"output":""}"#])
        #expect(unnamed.text.contains("'output' is empty") && unnamed.status == .exited(1), "\(unnamed)")
        let refused = try Self.python(rig, "client.py", ["store.query", "{}"])
        #expect(refused.text.contains("bad-request") && refused.status == .exited(1), "\(refused)")
      }
    }

    @Test("The example in Python outlives a tracker that is killed while the job is done")
    func outlives() throws {
      let folder = try TemporaryDirectory()
      let file = open("\(folder.path)/5998", O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
      try Descriptors.writeAll("#!/bin/sh\nsleep 3\necho done all the same\n", to: file)
      Descriptors.close(file)
      try Self.run(jobs: [5_998: ["program": "[\"\(folder.path)/5998\"]"]]) { rig, _ in
        let script = "\(SharedFolder.repository)/examples/job.py"
        let example = try SpawnedProcess(
          "/usr/bin/env", ["python3", script, "5998"],
          environment: ["ROOST_SOCKET=\(rig.roost.socket)", "PATH=/usr/bin:/bin"])
        _ = try example.readLine { $0.contains("published") || $0.contains("processing") }
        try rig.kill("dvm-tracker")
        _ = try example.readLine { $0 == "done all the same" }
        #expect(try example.waitForEnd() == .exited(0))
      }
    }

    @Test("The example in Python says which accounts there are, and how to choose one")
    func accounts() throws {
      try Self.run { rig, _ in
        let signer = SignerRig(roost: rig.roost, client: rig.client)
        for name in ["alice", "bob"] { #expect(try signer.generate(name).isOfWorker == false) }
        let search = ["5302", "--param", "search=nostr"]
        let nobodys = try Self.python(rig, "job.py", search)
        #expect(nobodys.text.contains("alice, bob") && nobodys.text.contains("--as"), "\(nobodys)")
        #expect(nobodys.status == .exited(1) && !nobodys.text.contains("Traceback"))
        let hers = try Self.python(rig, "job.py", search + ["--as", "alice"])
        #expect(hers.text.contains("hello nostr, from a test") && hers.status == .exited(0), "\(hers)")
      }
    }

    @Test("A job for the provider of this machine names it, and ends when it says that it cannot")
    func failed() throws {
      try Self.run { rig, _ in
        let roost = SpawnedProcess.builtProgram("roost")
        let json = try Self.output(
          rig, roost, ["job", "submit", "--wait", "--json", "--kind", "5400", "--input", "text=how many?"])
        let last = try JSONPayload.decode(Job.self, from: try #require(json.text.split(separator: "\n").last).utf8)
        let host = try #require(try ServingRig.status(rig.client).provider)
        #expect(last.requests.map(\.providers) == [[host]] && last.providers.map(\.provider) == [host])
        #expect(last.state == .failed && last.reason?.contains("not JSON") == true, "\(last)")
      }
    }

    @Test("Who watches a job hears that its tracker is stopped, and that it is followed again, to its end")
    func away() throws {
      try Self.run { rig, _ in
        let watching = try SpawnedProcess(
          SpawnedProcess.builtProgram("roost"),
          ["job", "submit", "--wait", "--local", "--kind", "5050", "--key", "mine", "--socket", rig.roost.socket])
        _ = try watching.readLine { $0.contains("published: on this machine") }
        #expect(try Self.told(rig, ["stop", "dvm-tracker"]).contains("is stopped"))
        _ = try watching.readLine { $0.contains("dvm-tracker is not running: the job is kept") }
        #expect(try Self.told(rig, ["start", "dvm-tracker"]).contains("is ready"))
        _ = try watching.readLine { $0.contains("It is followed again.") }
        #expect(try Self.told(rig, ["job", "cancel", "mine"]).contains("cancelled"))
        _ = try watching.readLine { $0.contains("The job is cancelled") }
        #expect(try watching.waitForEnd() == .exited(1))
      }
    }

    @Test("Without the signer a job is not accepted, and its submitter hears why and what to do")
    func signerAway() throws {
      try Self.run { rig, _ in
        #expect(try Self.told(rig, ["stop", "signer"]).contains("is stopped"))
        let told = try Self.told(rig, ["job", "submit", "--local", "--kind", "5050", "--as", "alice"])
        let text = told.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("signer is stopped, and only it knows whose the job would be"), "\(text)")
        #expect(text.contains("'roost why signer'") && text.contains("submit it again"), "\(text)")
      }
    }

    @Test("A preimage is taken in capitals as well, and an invoice in its place is told as one")
    func preimage() throws {
      try Self.run { rig, _ in
        let digits = String(repeating: "AB", count: 32)
        let told = try Self.told(rig, ["job", "approve", "nobodys", "--preimage", digits])
        #expect(told.contains("no-such-job"), "\(told)")
        _ = try Self.told(rig, ["job", "submit", "--local", "--kind", "5050", "--key", "mine"])
        let early = try Self.told(rig, ["job", "approve", "mine", "--preimage", digits])
        #expect(early.contains("nothing-to-pay"), "\(early)")
        let invoice = try Self.told(rig, ["job", "approve", "mine", "--preimage", "lnbc1abc"])
        #expect(invoice.contains("this is the invoice"), "\(invoice)")
      }
    }
  }
}
