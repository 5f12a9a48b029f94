import Contracts
import Frames
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A service of the desktop, at a unix socket: takes what the `notify` of a test sends to it.
private final class NoticeService {
  struct Notice: Decodable {
    var arguments: [String]
    var names: [String]
    var internet: String
  }

  let path: String
  private let socket: Int32

  init(_ path: String) throws {
    self.path = path
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    try #require(path.utf8.count < room)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
  }

  deinit { Descriptors.close(socket) }

  /// What has come and was not taken yet.
  func notices() throws -> [Notice] {
    var found: [Notice] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
      found.append(try JSONPayload.decode(Notice.self, from: Array(buffer[..<count])))
    }
    return found
  }

  /// Waits for so many notices.
  func await(_ count: Int) throws -> [Notice] {
    var found: [Notice] = []
    try awaitSoon("\(count) notices are shown", within: 60, every: 50) {
      found += try notices()
      return found.count >= count
    }
    return found
  }
}

/// A browser in the page of links.
private final class PageVisitor {
  struct Play: Decodable {
    var way: String
    var media: String?
    var why: String?
  }

  private struct Request: Encodable {
    var method = "page.play"
    var arguments: [String: String]
  }

  private struct Answer: Decodable { var result: Play }

  private let lines: LinePeer

  init(_ rig: LinkRig) throws {
    lines = try LinePeer("page_client.py")
    let address: PageAddress = try rig.rig.ask("page.enter", PageEnter())
    #expect(try lines.ask(Array(address.address.utf8)) == Array("entered".utf8))
  }

  /// Clicks Play on all of them at once.
  func play(_ urls: [String]) throws -> [Play] {
    let requests = urls.map { Request(arguments: ["url": $0]) }
    return try JSONPayload.decode([Answer].self, from: lines.ask(JSONPayload.encode(requests))).map(\.result)
  }
}

extension ProcessTests {
  /// The programs of the page: each in its sandbox, with what a stranger wrote as arguments.
  @Suite("Programs of links", .enabled(if: PythonPeer.isAvailable, "no .venv: run Scripts/python-environment.sh"))
  struct LinkProgramTests {
    private static func put(_ script: String, at path: String) throws {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o700)
      defer { Descriptors.close(file) }
      try Descriptors.writeAll("#!/usr/bin/python3\n\(script)\n", to: file)
    }

    /// The logs of roostd and its workers.
    private static func logs(_ rig: LinkRig) -> String {
      ["roostd.out", "log/link-page.log", "log/roostd.log"].flatMap { rig.rig.roost.lines($0) }
        .joined(separator: "\n")
    }

    private static let notify = """
      import json, os, socket, sys
      try:
        internet = "opened" if socket.socket(socket.AF_INET) else ""
      except OSError as fault:
        internet = fault.strerror
      told = {"arguments": sys.argv[1:], "names": sorted(os.environ), "internet": internet}
      socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(json.dumps(told).encode(), os.environ["SERVICE"])
      """

    @Test("Each notice is shown once, by a program that reaches a service of this machine and no other machine")
    func notices() throws {
      let directory = try TemporaryDirectory()
      let service = try NoticeService(directory.path + "/service")
      // Of this name: its body is escaped.
      for name in ["notify", "notify-send"] {
        let program = directory.path + "/" + name
        try Self.put(Self.notify, at: program)
        let page = [
          "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"", "notify": "[\"\(program)\", \"--mine\"]",
          "programs-environment": "[\"SERVICE=\(service.path)\"]",
        ]
        let (relay, peer) = (try RealRelay(), try LinkPeer())
        try LinkRig.run("alice", [relay.url], page: page) { alice in
          try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
          try alice.follow()
          let notes: [String?] = ["-u <b>loud</b> & \\n", nil, "the third"]
          for (index, note) in notes.enumerated() {
            let post = try peer.post(to: alice.publicKey, "https://example.com/\(index)", note: note)
            try peer.send([post.wrap], [relay.url])
            try alice.await(wraps: index + 1)
          }
          let found = try service.await(3)
          let told = try alice.notices()
          #expect(found.map { $0.arguments.first } == ["--mine", "--mine", "--mine"])
          #expect(found.map { $0.arguments.dropFirst().first } == told.map(\.title))
          let bodies = found.map { $0.arguments.last ?? "" }
          #expect(Array(bodies.dropFirst()) == told.dropFirst().map(\.body) && told.count == 3, "\(bodies) \(told)")
          let escaped = " -u &lt;b&gt;loud&lt;/b&gt; &amp; \\\\n"
          #expect(bodies.first == (name == "notify" ? " -u <b>loud</b> & \\n" : escaped), "\(bodies)")
          #expect(Set(found.map(\.internet)) == ["Address family not supported by protocol"], "\(found)")
          let names = ["HOME", "LANG", "PATH", "ROOST_INSTANCE", "ROOST_WORKER", "SERVICE", "TMPDIR"]
          #expect(found.allSatisfy { Set($0.names).subtracting(["LC_CTYPE"]) == Set(names) }, "\(found)")

          // After a restart none is shown again, and the next one is.
          try alice.rig.kill("link-page")
          try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
          let last = try peer.post(to: alice.publicKey, "https://example.com/last", note: "the last")
          try peer.send([last.wrap], [relay.url])
          #expect(try service.await(1).map { $0.arguments.last } == ["the last"])
          #expect(try service.notices().isEmpty)
        }
      }
    }

    @Test("A notice that its program does not show comes into the log, without its words")
    func failingNotices() throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/notify"
      // The first time its words are its own, then they are the stranger's.
      let script = """
        import sys
        print(sys.argv[2][:9] if "secret" in sys.argv[2] else "no service", file=sys.stderr)
        sys.exit(3)
        """
      try Self.put(script, at: program)
      let page = [
        "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"", "notify": "[\"\(program)\"]",
      ]
      let (relay, peer) = (try RealRelay(), try LinkPeer())
      try LinkRig.run("alice", [relay.url], page: page) { alice in
        try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
        let reasons = ["code 3: no service", "because they repeat the notice"]
        for (note, reason) in zip(["hello", "confidential and secret"], reasons) {
          let post = try peer.post(to: alice.publicKey, "https://example.com/", note: note)
          try peer.send([post.wrap], [relay.url])
          try awaitSoon("the failure is in the log", within: 60, every: 50) { Self.logs(alice).contains(reason) }
        }
        #expect(!Self.logs(alice).contains("confident") && !Self.logs(alice).contains("secret"))
      }
    }

    @Test("Notices that come faster than they are shown wait, and the log counts those that were dropped")
    func manyNotices() throws {
      let directory = try TemporaryDirectory()
      let (service, program) = (try NoticeService(directory.path + "/service"), directory.path + "/notify")
      let gate = directory.path + "/gate"
      let wait = "import os, time\nwhile not os.path.exists('\(gate)'): time.sleep(0.02)\n"
      try Self.put(wait + Self.notify, at: program)
      let page = [
        "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"", "notify": "[\"\(program)\"]",
        "programs-environment": "[\"SERVICE=\(service.path)\"]",
      ]
      let (relay, peer) = (try RealRelay(), try LinkPeer())
      try LinkRig.run("alice", [relay.url], page: page) { alice in
        try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
        let posts = try (0..<40).map {
          try peer.post(to: alice.publicKey, "https://example.com/\($0)", note: "note \($0)")
        }
        try peer.send(posts.map(\.wrap), [relay.url])
        try alice.await(wraps: 40)
        try Self.put("", at: gate)
        var shown: [String] = []
        func dropped() -> Int {
          // One file: roostd repeats the line in its own output.
          alice.rig.roost.lines("log/link-page.log").joined(separator: "\n")
            .matches(of: /([0-9]+) notices? (was|were) not shown/).compactMap { Int($0.1) }.reduce(0, +)
        }
        try awaitSoon("each is shown or counted", within: 60, every: 50) {
          shown += try service.notices().compactMap(\.arguments.last)
          return shown.count + dropped() >= 40
        }
        #expect(shown.count + dropped() == 40 && Set(shown).count == shown.count && dropped() > 0, "\(shown)")
        #expect(Self.logs(alice).contains("they came faster than the program shows them"))
      }
    }

    /// Whether notify-send, dbus-daemon and GLib for Python are here.
    private static let hasDesktop: Bool = {
      let probe = try? SpawnedProcess(
        "/usr/bin/python3", [SharedFolder.repository + "/Tests/Peers/notification_service.py", "--probe"])
      return (try? probe?.waitForEnd()) == .exited(0)
    }()

    private struct Shown: Decodable, Equatable {
      var app: String
      var title: String
      var body: String
    }

    @Test(
      "notify-send shows a notice over the session bus, whose socket is a file or abstract, as its author wrote it",
      .enabled(if: hasDesktop, "no notify-send: apt install libnotify-bin dbus python3-gi"))
    func desktop() throws {
      for options in [[], ["--abstract"]] {
        let directory = try TemporaryDirectory()
        let input = try Descriptors.pipe()
        defer { for descriptor in [input.first, input.second] { Descriptors.close(descriptor) } }
        let service = try SpawnedProcess(
          "/usr/bin/python3",
          [SharedFolder.repository + "/Tests/Peers/notification_service.py", directory.path] + options,
          descriptors: [0: input.first])
        let bus = try service.readLine { $0.hasPrefix("unix:") }
        let page = [
          "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"",
          "notify": "[\"/usr/bin/notify-send\", \"--app-name=Roost\"]",
          "programs-environment": "[\"DBUS_SESSION_BUS_ADDRESS=\(bus)\"]",
        ]
        let (relay, peer) = (try RealRelay(), try LinkPeer())
        try LinkRig.run("alice", [relay.url], page: page) { alice in
          try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
          try alice.follow()
          let note = "--help <b>is</b> a \\n & \"more\""
          let post = try peer.post(to: alice.publicKey, "https://example.com/", note: note)
          try peer.send([post.wrap], [relay.url])
          let line = try service.readLine(within: 60) { $0.hasPrefix("{") }
          let shown = try JSONPayload.decode(Shown.self, from: Array(line.utf8))
          let markup = " --help &lt;b&gt;is&lt;/b&gt; a \\n &amp; \"more\""
          #expect(shown == Shown(app: "Roost", title: try alice.notices().first?.title ?? "", body: markup))
        }
      }
    }

    private static let extractor = """
      import socket, sys, time
      try:
        sys.exit("a unix socket" if socket.socket(socket.AF_UNIX) else "")
      except OSError:
        socket.socket(socket.AF_INET).close()
      assert len(sys.argv) == 3 and sys.argv[1] == "--mine"
      url = sys.argv[2]
      kind = url[-1]
      if kind == "1":
        print("[info] found", "ftp://x.example/a", "http://media.example/low.mp4", sep="\\n")
        print("https://media.example/high.mp4?a=1&b=2", "https://media.example/other.mp4", sep="\\n")
      if kind == "2":
        print("http://media.example/a.mp4")
      if kind == "4":
        sys.exit("ERROR: " + url + " is gone")
      if kind == "5":
        time.sleep(60)
      if kind == "6":
        time.sleep(0.5)
        print("https://media.example/slow.mp4")
      """

    @Test("The extractor finds the file of a link, or the reason is shown with the provider's own player")
    func extraction() throws {
      let directory = try TemporaryDirectory()
      let program = directory.path + "/extractor"
      try Self.put(Self.extractor, at: program)
      let page = [
        "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"", "extractor": "[\"\(program)\", \"--mine\"]",
        "extractor-time": "\"3s\"",
      ]
      try LinkRig.run("alice", [], inbox: [], page: page) { alice in
        try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
        let visitor = try PageVisitor(alice)
        let base = "https://www.tiktok.com/@a/video/730473047304"
        let played = try visitor.play((1...5).map { "\(base)\($0)" })
        #expect(played.map(\.way) == ["media", "frame", "frame", "frame", "frame"], "\(played)")
        #expect(played[0].media == "https://media.example/high.mp4?a=1&b=2" && played[0].why == nil)
        #expect(played[1].why?.contains("plain http") == true, "\(played[1])")
        #expect(played[2].why == "the extractor found no address of a file")
        let gone = "code 1: ERROR: \(base)4 is gone"
        #expect(played[3].why?.hasSuffix(gone) == true, "\(played[3])")
        #expect(played[4].why?.contains("longer than the 3000 ms") == true, "\(played[4])")

        // Two run, eight wait.
        let many = try visitor.play(Array(repeating: "\(base)6", count: 11))
        #expect(many.map(\.way) == Array(repeating: "media", count: 10) + ["frame"], "\(many)")
        #expect(many[10].why?.hasPrefix("8 links wait for the extractor already") == true, "\(many[10])")

        let logs = Self.logs(alice)
        #expect(logs.contains("the extractor has failed") && !logs.contains("730473047304"))
        #expect(access(alice.directory + "/link-page/programs/1", F_OK) != 0)

        // What a click finds missing, the doctor finds too.
        #expect(unlink(program) == 0)
        let missing = try visitor.play(["\(base)1"])
        #expect(missing[0].way == "frame" && missing[0].why?.contains("the extractor is not run") == true)
        let doctor = try alice.client.call("supervisor.doctor").terminal.payload
        let check = try JSONPayload.decode(DoctorResult.self, from: doctor).checks.first { $0.name == "extractor" }
        #expect(check?.isGood == false, "\(String(describing: check))")
        #expect(check?.text == "'extractor' of [worker.link-page], \(program), is not there")
      }
    }

    /// Where yt-dlp is: the packages of `.venv`; nil without it.
    private static let packages: String? = {
      let found = (8...20).map { "\(SharedFolder.repository)/.venv/lib/python3.\($0)/site-packages" }
      return found.first { access($0 + "/yt_dlp/__main__.py", R_OK) == 0 }
    }()

    @Test(
      "yt-dlp finds the file of a video in its sandbox, over HTTPS that it checks",
      .enabled(if: packages != nil, "no yt-dlp in .venv: run Scripts/python-environment.sh"))
    func realExtractor() throws {
      let packages = try #require(Self.packages)
      let (authority, stranger) = (try TestCertificates.path("authority"), try TestCertificates.path("self"))
      let input = try Descriptors.pipe()
      defer { for descriptor in [input.first, input.second] { Descriptors.close(descriptor) } }
      let site = try SpawnedProcess(
        "/usr/bin/python3",
        [SharedFolder.repository + "/Tests/Peers/video_site.py", try TestCertificates.path("video")],
        descriptors: [0: input.first])
      let port = try site.readLine { $0.allSatisfy(\.isNumber) }
      let words = [
        "/usr/bin/python3", "-m", "yt_dlp", "--proxy", "http://127.0.0.1:\(port)", "--get-url", "--format",
        "b[ext=mp4]",
        // Else the authorities of a package of .venv count.
        "--compat-options", "no-certifi",
      ]
      for (trusted, isFound) in [(authority, true), (stranger, false)] {
        let page = [
          "listen": "\"127.0.0.1:\(try RelayVisitor.freePort())\"", "extractor": "\(words)",
          "programs-read": "\([packages, trusted])",
          "programs-environment": "\(["PYTHONPATH=\(packages)", "SSL_CERT_FILE=\(trusted)"])",
        ]
        try LinkRig.run("alice", [], inbox: [], page: page) { alice in
          try alice.rig.roost.awaitWorker("link-page", "is ready", alice.client) { $0.state == "ready" }
          let played = try PageVisitor(alice).play(["https://www.tiktok.com/@a/video/7304730473047304731"])
          #expect(played[0].media == (isFound ? "https://media.example/high.mp4?a=1&b=2" : nil), "\(played)")
          #expect(isFound || played[0].why?.contains("CERTIFICATE_VERIFY_FAILED") == true, "\(played)")
        }
      }
    }
  }
}
