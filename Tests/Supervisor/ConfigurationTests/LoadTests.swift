import Contracts
import Testing

@testable import RoostConfiguration

@Suite("Finding and reading the file")
struct LoadTests {
  private func load(
    _ path: String?, files: [String: [UInt8]], surroundings: ConfigurationSurroundings = checkout,
    refusal: String? = nil
  ) throws(ConfigurationError) -> SupervisorConfiguration {
    try Configuration.load(
      path: path, surroundings: surroundings,
      readFile: { (path: String) throws(FileReading.Failure) -> [UInt8]? in files[path] },
      permissionCheck: { _ in refusal })
  }

  @Test("With no file named and none there, the tried paths are told in their order")
  func missing() {
    #expect(
      throws: ConfigurationError.missing(tried: [
        "/home/ada/roost/supervisor.conf", "/home/ada/.config/roost/supervisor.conf",
        "/etc/xdg/roost/supervisor.conf", "/etc/roost/supervisor.conf",
      ])
    ) { try load(nil, files: [:]) }
    #expect(throws: ConfigurationError.missing(tried: ["x.conf"])) { try load("x.conf", files: [:]) }
    #expect(
      "\(ConfigurationError.missing(tried: ["x.conf"]))"
        == "there is no configuration file x.conf; write it, or name another with --config")
    let distrust = "\(ConfigurationError.untrusted(path: "x.conf", reason: "Give it to user 0."))"
    #expect(distrust.hasPrefix("x.conf: refused: Give it to user 0. The file"))
  }

  @Test("The first file that exists is taken, and a named one is seen from the working directory")
  func order() throws {
    let files = ["/etc/roost/supervisor.conf": [UInt8](), "/home/ada/.config/roost/supervisor.conf": []]
    #expect(try load(nil, files: files).file == "/home/ada/.config/roost/supervisor.conf")
    #expect(try load("../x.conf", files: ["/home/ada/x.conf": []]).file == "/home/ada/x.conf")
  }

  @Test("A file that others can change is refused with the reason")
  func untrusted() {
    #expect(throws: ConfigurationError.untrusted(path: "x.conf", reason: "group-writable")) {
      try load("x.conf", files: ["/home/ada/roost/x.conf": []], refusal: "group-writable")
    }
  }

  @Test("A file that is too long, not UTF-8 or cut by a NUL is refused")
  func notText() {
    let file = "/home/ada/roost/x.conf"
    #expect(throws: ConfigurationError.self) {
      try load("x.conf", files: [file: [UInt8](repeating: 0x20, count: Configuration.fileByteCountMaximum + 1)])
    }
    func description(of bytes: [UInt8]) -> String? {
      do throws(ConfigurationError) {
        _ = try load("x.conf", files: [file: bytes])
        return nil
      } catch { return "\(error)" }
    }
    #expect(description(of: Array("a\nb".utf8) + [0xFF, 0x0A]) == "x.conf:2:2: this is not UTF-8")
    #expect(description(of: Array("[bus]\n".utf8) + [0]) == "x.conf:2:1: a control character, U+0000; not a text file?")
  }

  @Test("On a real disk: nothing there is nil, a directory and a device are refused, a file is read whole")
  func disk() throws {
    #expect(try FileReading.contents(of: testFolder + "/nothing") == nil)
    #expect(try FileReading.contents(of: #filePath + "/nothing") == nil)
    #expect(throws: FileReading.Failure(reason: "it is not a regular file")) {
      try FileReading.contents(of: testFolder)
    }
    #expect(throws: FileReading.Failure(reason: "it is not a regular file")) {
      try FileReading.contents(of: "/dev/zero")
    }
    #expect(try FileReading.contents(of: #filePath)?.starts(with: Array("import".utf8)) == true)
  }
}

@Suite("What is allowed and hardly meant")
struct DoubtTests {
  private func verdict(_ text: String, programs: Set<String> = []) -> ConfigurationVerdict {
    Configuration.check(
      path: "x.conf", surroundings: checkout,
      readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in Array(text.utf8) },
      permissionCheck: { _ in nil },
      program: {
        $0 == "/open"
          ? .changeable("/open: Others may write to it: chmod go-w /open")
          : $0 == "/" || $0 == "/home"
            ? .directory
            : $0 == "/tmp"
              ? .directory : $0 == "/etc/passwd" ? .notExecutable : programs.contains($0) ? .runnable : .missing
      })
  }

  private func doubts(_ text: String, programs: Set<String> = []) -> [String] {
    verdict(text, programs: programs).doubts.map(\.description)
  }

  @Test("A file without a worker is a doubt, and nothing else is said of it")
  func noWorker() {
    #expect(
      doubts("# nothing") == ["x.conf: no worker: roostd would run nothing; a table [worker.NAME] gives it one"])
  }

  @Test("A program that is in none of its directories, or not at its path, is told with its line")
  func programs() {
    let text = """
      [worker.signer]
      [worker.store]
      role = "event-store"
      [worker.mine]
      role = "example"
      program = "/srv/mine"
      [role.example]
      serves = ["example.*"]
      """
    let folder = "/home/ada/roost/.build/release"
    #expect(
      doubts(text, programs: ["\(folder)/signer"]) == [
        "x.conf:3: [worker.store] role: there is no program 'event-store' in \(folder)",
        "x.conf:6: [worker.mine] program: /srv/mine is not there",
      ])
    #expect(doubts(text, programs: ["\(folder)/signer", "\(folder)/event-store", "/srv/mine"]).isEmpty)
    #expect(
      doubts("[worker.signer]") == ["x.conf:1: [worker.signer] there is no program 'signer' in \(folder)"])
  }

  @Test("A planner that follows others to private addresses is a doubt")
  func privateAddresses() {
    let folder = "/home/ada/roost/.build/release"
    func doubts(_ value: Bool) -> [String] {
      self.doubts(
        "[worker.outbox-planner]\nallow-private-relays = \(value)", programs: ["\(folder)/outbox-planner"])
    }
    #expect(doubts(false).isEmpty)
    let place = "x.conf:2: [worker.outbox-planner] allow-private-relays: "
    #expect(doubts(true) == [place + WorkerConfiguration.privateAddressRisk])
  }

  @Test("A program that is a directory, or may not be run, is told as that")
  func unfitPrograms() {
    for (path, complaint) in [("/tmp", "is a directory, not a program"), ("/etc/passwd", "is not executable")] {
      #expect(
        doubts("[worker.mine]\nrole = \"example\"\nprogram = \"\(path)\"\n[role.example]\nserves = [\"example.*\"]")
          == ["x.conf:3: [worker.mine] program: \(path) \(complaint)"])
    }
  }

  @Test("What a job's program is and reads is told where it gives too much away, or nothing")
  func jobs() throws {
    let state = try parse("").supervisor.stateDirectory
    let text = """
      [worker.dvm-provider.job.5001]
      program = ["/open"]
      read = ["/", "/nosuch", "/home", "\(state)", "\(state)/signer", "/tmp"]
      """
    let provider = "/home/ada/roost/.build/release/dvm-provider"
    let place = "x.conf:3: [worker.dvm-provider.job.5001] read: "
    #expect(
      doubts(text, programs: [provider, state, state + "/signer"]) == [
        "x.conf:2: [worker.dvm-provider.job.5001] program: /open can be changed by others, and is not run then:"
          + " /open: Others may write to it: chmod go-w /open",
        place + "/ lets the program read all files, keys among them; name what it needs",
        place + "/nosuch is not there, and stays denied if it comes later",
        place + "/home holds state-directory, with what the workers keep",
        place + "\(state) holds state-directory, with what the workers keep",
        place + "\(state)/signer lies in state-directory, among what the workers keep",
      ])
  }

  @Test("An argument that is a file beside the configuration, or one that the program may not read, is told")
  func arguments() {
    let text = """
      [worker.dvm-provider.job.5001]
      program = ["/bin/py", "jobs/x.py", "--model=m.bin", "/srv/y.py", "/srv/read/z", "/bin/py", "-", "fast", "other"]
      read = ["/srv/read"]
      [worker.dvm-provider.job.5002]
      program = ["jobs/x.py", "jobs/x.py"]
      enabled = false
      """
    let home = "/home/ada/roost"
    let there = ["/bin/py", "\(home)/jobs/x.py", "\(home)/m.bin", "/srv/y.py", "/srv/read", "/srv/read/z", home]
    let place = "x.conf:2: [worker.dvm-provider.job.5001] program"
    func beside(_ name: String) -> String {
      "\"\(name)\" is there beside this file, and the program looks for it in its own, empty folder; write"
        + " \"\(home)/\(name)\", and name that in read"
    }
    #expect(
      doubts(text, programs: Set(there + [home + "/.build/release/dvm-provider"])) == [
        "\(place)[1]: \(beside("jobs/x.py"))", "\(place)[2]: \(beside("m.bin"))",
        "\(place)[3]: /srv/y.py is there, and the program may not read it; name it in read",
      ])
  }

  @Test("A file of a push relay that is not there is told, and a limit above the one that holds")
  func pushRelay() {
    let text = """

      [worker.push-relay]
      ca-file = "/nope.pem"
      strangers-hour = 500
      version-1 = "registered-only"
      web-push-contact = "mailto:a@example.org"
      """

    #expect(
      doubts(text, programs: ["/home/ada/roost/.build/release/push-relay"]) == [
        "x.conf:3: [worker.push-relay] ca-file: /nope.pem is not there",
        "x.conf:4: [worker.push-relay] strangers-hour: 500 is above recipient-hour, 100, which holds for strangers too",
        "x.conf:5: [worker.push-relay] version-1: without audience no client can sign version 2,"
          + " so no new key can register",
      ])
  }

  @Test("A push relay that can wake nobody is told, and one that Apple would not listen to")
  func platforms() {
    let program: Set = ["/home/ada/roost/.build/release/push-relay"]
    func told(_ lines: String...) -> [String] {
      doubts((["[worker.push-relay]"] + lines).joined(separator: "\n"), programs: program)
    }
    #expect(told().count == 1 && told()[0].contains("without web-push-contact"))
    #expect(told("enabled = false").isEmpty)
    let contact = #"web-push-contact = "mailto:a@example.org""#
    #expect(told(contact).isEmpty)
    let none = told("web-push = false")
    #expect(none.count == 1 && none[0].contains("no platform is on"), "\(none)")
    let wrong = told(#"web-push-contact = "me""#)
    #expect(wrong.isEmpty, "what is wrong with it was told")
    let owners = #"nostr-owners = ["\#(String(repeating: "a", count: 64))"]"#
    #expect(told(contact, owners).count == 1 && told(contact, owners)[0].contains("without public-url"))
    #expect(told(contact, owners, #"public-url = "https://push.example""#).isEmpty)
  }

  @Test("A provider whose programs serve strangers is told when the machine cannot hold those; others are not")
  func strangers() {
    func told(_ keys: String, _ work: String = #"program = ["/p"]"#) -> [String] {
      let text = "[worker.dvm-provider]\n\(keys)\n[worker.dvm-provider.job.5001]\n\(work)\n"
      return Configuration.check(
        path: "x.conf", surroundings: checkout,
        readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in Array(text.utf8) },
        permissionCheck: { _ in nil }, program: { _ in .runnable }, strangers: "this kernel has no Landlock"
      ).doubts.map(\.description)
    }
    let key = String(repeating: "a", count: 64)
    for keys in [#"customers = "anyone""#, "customers = [\"\(key)\"]"] {
      #expect(told(keys) == ["x.conf:2: [worker.dvm-provider] customers: this kernel has no Landlock"])
      #expect(told(keys, #"builtin = "count""#).isEmpty)
      #expect(told(keys, "program = [\"/p\"]\nenabled = false").isEmpty)
    }
    #expect(told("").isEmpty)
    #expect(told(#"customers = "accounts""#).isEmpty)
  }

  @Test("A file of a push relay is told that is of another kind than its setting wants, or open to others")
  func pushFiles() {
    func told(_ key: String, _ finding: SecretFileFinding) -> String {
      let text = "[worker.push-relay]\nweb-push-contact = \"mailto:a@b\"\n\(key) = \"/f\"\n"
      let verdict = Configuration.check(
        path: "x.conf", surroundings: checkout,
        readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in Array(text.utf8) },
        permissionCheck: { _ in nil }, program: { _ in .runnable }, file: { _ in finding })
      return verdict.doubts.map(\.message).joined(separator: "\n")
    }
    let key = SecretFileFinding(.file, contents: .pem(["PRIVATE KEY"]))
    let certificate = SecretFileFinding(.file, isOpenToOthers: true, contents: .pem(["CERTIFICATE"]))
    let account = SecretFileFinding(.file, contents: .object)
    for (name, good) in [
      ("apns-key-file", key), ("key-file", key), ("certificate-file", certificate), ("ca-file", certificate),
      ("fcm-account-file", account), ("key-ring-file", .init(.file, contents: .other)),
    ] { #expect(told(name, good).isEmpty, "\(name)") }
    #expect(told("ca-file", key) == "/f holds no certificate in PEM: it holds a PRIVATE KEY")
    #expect(told("apns-key-file", certificate).contains("chmod 600 /f"))
    #expect(told("apns-key-file", account).contains("holds no key in PEM as Apple gives it"))
    #expect(told("fcm-account-file", key).contains("no service account of Google's"))
    #expect(told("key-ring-file", .init(.file, contents: .empty)).contains("it is empty"))
    #expect(told("key-file", .init(.directory)) == "/f is a directory, not a file")
    #expect(told("ca-file", .init(.unreadable("Permission denied"))) == "/f cannot be read: Permission denied")
  }

  @Test("A price is told as one that cannot be received yet, of a kind that is served")
  func price() {
    let text = """
      [worker.dvm-provider.job.5400]
      price = 21000
      [worker.dvm-provider.job.5302]
      price = 21000
      enabled = false
      """
    let found = doubts(text, programs: ["/home/ada/roost/.build/release/dvm-provider"])
    #expect(found.count == 1)
    #expect(
      found.first?.hasPrefix(
        "x.conf:2: [worker.dvm-provider.job.5400] price: a price can be asked for, and not yet be received") == true,
      "\(found)")
  }

  @Test("A job's program that may not be run is told what it lacks")
  func notExecutable() {
    let text = "[worker.dvm-provider.job.5001]\nprogram = [\"/etc/passwd\"]"
    #expect(
      doubts(text, programs: ["/home/ada/roost/.build/release/dvm-provider"]) == [
        "x.conf:2: [worker.dvm-provider.job.5001] program: /etc/passwd is not executable: chmod +x /etc/passwd"
      ])
  }

  @Test("A log category that nothing of Roost's logs in is told, with the one that resembles it")
  func levels() {
    let text = "[worker.signer]\n[log]\nlevels = { relay = \"debug\", relya = \"debug\" }"
    let known = LogCategory.builtIn.joined(separator: ", ")
    #expect(
      doubts(text, programs: ["/home/ada/roost/.build/release/signer"]) == [
        "x.conf:3: [log] levels.relya: nothing of Roost's own logs in category 'relya'; known: \(known)"
          + "; did you mean 'relay'?"
      ])
  }

  @Test("Doubts are told beside problems, but none that a problem may be the cause of")
  func besideProblems() {
    let text = """
      [worker.relay-connector]
      restart = "alwasy"
      relays = ["https://one.example", "wss://two.example"]
      [worker.mine]
      role = "nobody"
      [worker.signer]
      program = 7
      """
    let verdict = verdict(text)
    guard case .failure(.problems(let problems)) = verdict.outcome else {
      Issue.record("the file has problems")
      return
    }
    #expect(problems.map(\.line) == [2, 3, 5, 7])
    #expect(verdict.doubts.map(\.line) == [1], "\(verdict.doubts)")
    #expect(doubts("[worker.\"A b\"]").isEmpty, "a worker whose name is wrong is not no worker")
    #expect(doubts("[worker").isEmpty)
  }
}

@Suite("Where things go")
struct DirectoryTests {
  private func settings(
    file: String, _ environment: [String: String], text: String = ""
  ) throws -> SupervisorSettings {
    try Configuration.parse(
      text, file: file,
      surroundings: ConfigurationSurroundings(
        environment: environment, currentDirectory: "/src", programDirectory: "/usr/libexec/roost")
    ).supervisor
  }

  @Test("In a checkout everything is beside the file")
  func besideTheFile() throws {
    let settings = try settings(
      file: "/src/roost/supervisor.conf", ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1"])
    #expect(settings.stateDirectory == "/src/roost/run/state")
    #expect(settings.runDirectory == "/src/roost/run")
    #expect(settings.logDirectory == "/src/roost/run/logs")
    #expect(settings.socket == "/src/roost/run/roost.sock")
    #expect(settings.programDirectories == ["/usr/libexec/roost"])
  }

  @Test(
    "Under a configuration directory the XDG base directories are used",
    arguments: ["/home/ada/.config/roost/supervisor.conf", "/etc/roost/supervisor.conf", "/etc/xdg/roost/a.conf"])
  func installed(file: String) throws {
    let settings = try settings(
      file: file, ["HOME": "/home/ada", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_STATE_HOME": "/home/ada/state/"])
    #expect(settings.stateDirectory == "/home/ada/state/roost")
    #expect(settings.runDirectory == "/run/user/1/roost")
    #expect(settings.logDirectory == "/home/ada/state/roost/logs")
    #expect(settings.socket == "/run/user/1/roost/roost.sock")
  }

  @Test("Missing and relative variables fall back to the home directory, and that to the system's")
  func fallbacks() throws {
    let file = "/etc/roost/supervisor.conf"
    let user = try settings(file: file, ["HOME": "/home/ada", "XDG_STATE_HOME": "relative", "XDG_RUNTIME_DIR": ""])
    #expect(user.stateDirectory == "/home/ada/.local/state/roost")
    #expect(user.runDirectory == "/home/ada/.local/state/roost/run")
    #expect(try settings(file: file, [:]).stateDirectory == "/var/lib/roost")
  }

  @Test("Logs and socket follow the directories that the file gives")
  func followers() throws {
    let text = "[supervisor]\nstate-directory = \"/s\"\nrun-directory = \"/r\"\n"
    #expect(try settings(file: "/etc/roost/a.conf", ["HOME": "/h"], text: text).logDirectory == "/s/logs")
    #expect(try settings(file: "/etc/roost/a.conf", ["HOME": "/h"], text: text).socket == "/r/roost.sock")
    #expect(try settings(file: "/src/a.conf", ["HOME": "/h"], text: text).logDirectory == "/r/logs")
  }

  @Test("A socket of 107 bytes is accepted and one of 108 refused, counted in UTF-8")
  func socketLength() {
    func socket(byteCount: Int) -> String { "/ø" + String(repeating: "x", count: byteCount - 3) }
    #expect(complaints(about: "[supervisor]\nsocket = \"\(socket(byteCount: 107))\"").isEmpty)
    let refusal = complaints(about: "[supervisor]\nsocket = \"\(socket(byteCount: 108))\"")
    #expect(refusal.count == 1 && refusal[0].contains("is 108 bytes long"))
    var deep = checkout
    deep.currentDirectory = "/" + String(repeating: "d", count: 120)
    #expect(
      complaints(about: "", surroundings: deep).first?.hasPrefix("supervisor.conf: [supervisor] socket: ") == true)
  }
}
