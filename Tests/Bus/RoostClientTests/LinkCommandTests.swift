import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Glibc
import LinuxSystem
import MessageHub
import TestSupport
import Testing

// The real `roost` against the real hub, and workers that the test plays: what is asked of `link-feed`, in which order,
// and what a person sees of its answers.

@Suite(.serialized) struct LinkCommandTests {
  private static let bob = "82341f882b6eabcd2ba7f1ef90aad961cf074af15b9ef44a09f9d2a8fbfbe6a2"
  private static let ann = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"
  private static let alice = "6e468422dfb74a5738702a8823b9b28168abab8655faacb6853cd0ee15deee93"
  private static let id = "3f2a91" + String(repeating: "0", count: 58)

  private struct Run: Equatable {
    var status: Int32
    var output: String
  }

  /// What was asked of a played worker, in its order.
  @EventLoopActor
  private final class Asked {
    var requests: [(method: String, json: JSONValue)] = []
    var attempts: [UInt16] = []
    /// The connections of the workers.
    var streams: [ByteStream] = []

    func all(_ method: String) -> [JSONValue] { requests.filter { $0.method == method }.map(\.json) }
  }

  @EventLoopActor
  private func worker(
    _ hub: FakeHub, _ role: Role, _ asked: Asked,
    _ serve: @escaping @EventLoopActor (BusRequest, JSONValue) async -> Void
  ) async throws -> BusConnection {
    let stream = try await BusSocket.connect(path: hub.path, environment: [:])
    asked.streams.append(stream)
    var hello = Hello(name: role.name, role: role.name)
    hello.methods = BuiltInMethods.all.filter { $0.server == role && $0.kind != .topic }.map(\.name)
    let deadline = EventLoop.process.now.advanced(milliseconds: 10_000)
    let worker = try await BusConnection.open(stream, greeting: hello, deadline: deadline)
    worker.onRequest = { request in
      let json = (try? JSONPayload.decode(JSONValue.self, from: request.payload.bytes)) ?? .null
      asked.requests.append((request.method, json))
      asked.attempts.append(request.attempt)
      EventLoopActor.task { await serve(request, json) }
    }
    worker.start()
    worker.sendReady()
    return worker
  }

  /// Answers with rows, and a last answer.
  @EventLoopActor
  private static func rows(_ request: BusRequest, _ rows: [some Encodable]) async {
    do throws(Refusal) {
      for row in rows { try await request.send(part: BusPayload(json: row)) }
      request.respond(BusPayload(json: StoreCount(count: rows.count)))
    } catch { request.refuse(error) }
  }

  /// Runs a test with a hub and a `link-feed` that `serve` plays; contacts and accounts are always answered.
  @EventLoopActor
  private func withLinkFeed(
    _ serve: @escaping @EventLoopActor (BusRequest, JSONValue) async -> Void,
    _ body: @EventLoopActor (FakeHub, Asked) async throws -> Void
  ) async throws {
    LoopThread.start()
    let directory = try TemporaryDirectory()
    let hub = try FakeHub(path: directory.path + "/roost.sock")
    let asked = Asked()
    let feed = try await worker(hub, .linkFeed, asked) { request, json in
      if request.method == LinkMethod.contacts.name {
        await Self.rows(request, [LinkContact(publicKey: Self.bob, name: "Bob")])
      } else {
        await serve(request, json)
      }
    }
    let signer = try await worker(hub, .signer, Asked()) { request, _ in
      let account = SignerAccount(
        name: "alice", publicKey: Self.alice, npub: "npub1alice", state: .unlocked, isEncrypted: false, origin: .file,
        createdAt: 0)
      let accounts = SignerAccounts(
        accounts: [account], problems: [], sealingKey: "", isMemoryLocked: true, waiting: 0)
      request.respond(BusPayload(json: accounts))
    }
    try await body(hub, asked)
    feed.leave()
    signer.leave()
    hub.stop()
  }

  @EventLoopActor
  private func roost(_ hub: FakeHub, _ arguments: [String], input: String = "") async throws -> Run {
    let pipe = try Descriptors.pipe()
    let process = try SpawnedProcess(
      SpawnedProcess.builtProgram("roost"), arguments,
      environment: ["ROOST_SOCKET=\(hub.path)", "PATH=/usr/bin:/bin"], descriptors: [0: pipe.first])
    Descriptors.close(pipe.first)
    try Descriptors.writeAll(input, to: pipe.second)
    Descriptors.close(pipe.second)
    // @unchecked: this function alone has the process, and waits for the thread that it is given to.
    nonisolated(unsafe) let program = process
    let (output, ending) = try await JoinedThread.run {
      (try program.readAllOutput(within: 60), try program.waitForEnd())
    }
    guard case .exited(let status) = ending else { return Run(status: -1, output: output) }
    return Run(status: status, output: output)
  }

  private static func sent(_ stage: SendingStage, _ message: String? = nil) -> SentLink {
    SentLink(
      id: id, conversation: bob, stage: stage,
      copies: [
        SentLink.Copy(
          recipient: bob, wrap: id, stage: stage, relays: stage == .sent ? ["wss://a.example"] : [], message: message),
        SentLink.Copy(recipient: alice, wrap: id, stage: .sent, relays: ["wss://b.example"]),
      ])
  }

  @Test("A link goes out once with a token, and which relay has it for whom is said in two lines")
  func post() async throws {
    try await LoopThread.run {
      try await withLinkFeed({ request, _ in request.respond(BusPayload(json: Self.sent(.sent))) }) { hub, asked in
        let posted = try await roost(
          hub, ["links", "post", "Bob", "https://example.com/", "--note", "look", "--as", "alice"])
        #expect(posted == Run(status: 0, output: "Sent to Bob: wss://a.example has it.\n  \(Self.id)\n"))
        let wanted = try #require(asked.all("links.post").first)
        #expect(wanted["to"]?.text == "Bob" && wanted["url"]?.text == "https://example.com/")
        #expect(wanted["note"]?.text == "look" && wanted["account"]?.text == "alice")
        #expect(wanted["token"]?.text?.count == 32 && wanted["waitMilliseconds"]?.integer == 12_000)
        #expect(wanted["givesUp"] == nil)
        let json = try await roost(
          hub, ["links", "post", Self.bob, "https://example.com/", "--no-wait", "--json"])
        #expect(try JSONPayload.decode(SentLink.self, from: Array(json.output.utf8)) == Self.sent(.sent))
        let again = try #require(asked.all("links.post").last)
        #expect(again["waitMilliseconds"]?.integer == 0 && again["token"] != wanted["token"])
      }
    }
  }

  @Test("A supervisor that comes back after its death gets the same request with the same token again")
  func deaths() async throws {
    try await LoopThread.run {
      var isFirst = true
      try await withLinkFeed({ request, _ in
        // The first is never answered.
        if isFirst { isFirst = false } else { request.respond(BusPayload(json: Self.sent(.sent))) }
      }) { hub, asked in
        async let posting = roost(hub, ["links", "post", "Bob", "https://example.com/"])
        try await eventually("the first request is there") { !asked.all("links.post").isEmpty }
        hub.stop()
        try hub.start()
        let next = try await worker(hub, .linkFeed, asked) { request, _ in
          request.respond(BusPayload(json: Self.sent(.sent)))
        }
        let posted = try await posting
        #expect(posted.status == 0 && posted.output.contains("wss://a.example has it"), "\(posted)")
        let tokens = asked.all("links.post").compactMap { $0["token"]?.text }
        #expect(tokens.count == 2 && Set(tokens).count == 1)
        next.leave()
      }
    }
  }

  @Test("A worker that dies gets the request again, with the same token, in its next life")
  func workerDeath() async throws {
    try await LoopThread.run {
      // The first life never answers.
      try await withLinkFeed({ _, _ in }) { hub, asked in
        async let posting = roost(hub, ["links", "post", "Bob", "https://example.com/"])
        try await eventually("the first request is there") { !asked.all("links.post").isEmpty }
        asked.streams[0].close()
        let next = try await worker(hub, .linkFeed, asked) { request, _ in
          request.respond(BusPayload(json: Self.sent(.sent)))
        }
        let posted = try await posting
        #expect(posted.status == 0 && posted.output.contains("wss://a.example has it"), "\(posted)")
        let tokens = asked.all("links.post").compactMap { $0["token"]?.text }
        #expect(tokens.count == 2 && Set(tokens).count == 1)
        next.leave()
      }
    }
  }

  @Test("What was given up comes back on standard error, with exit code 1; nothing of it with --json")
  func givenUp() async throws {
    try await LoopThread.run {
      let refusal = Refusal(.notSent, "no relay has taken it", outcome: .done)
      try await withLinkFeed({ request, _ in request.refuse(refusal) }) { hub, asked in
        let text = "first line\n\nlast line"
        let replied = try await roost(
          hub, ["links", "reply", Self.id, "-", "--wait", "1", "--give-up"], input: text + "\n")
        #expect(replied.status == 1)
        #expect(
          replied.output.hasPrefix("What you typed:\n\(text)\nroost: no relay has taken it\n"), "\(replied.output)")
        let wanted = try #require(asked.all("links.reply").first)
        #expect(wanted["text"]?.text == text && wanted["givesUp"] == .bool(true))
        #expect(wanted["waitMilliseconds"]?.integer == 1_000)
        let json = try await roost(hub, ["messages", "send", "Bob", "hello there", "--give-up", "--json"])
        #expect(json.status == 1 && json.output.hasPrefix(#"{"code":"not-sent""#) && !json.output.contains("hello"))
      }
    }
  }

  @Test("A text that failed for another reason comes back only if it was in no shell's history")
  func refused() async throws {
    try await LoopThread.run {
      let refusal = Refusal(.noRelays, "Bob names no relays for gift wraps", outcome: .notStarted)
      try await withLinkFeed({ request, _ in request.refuse(refusal) }) { hub, _ in
        let typed = try await roost(hub, ["messages", "send", "Bob", "hello there"])
        #expect(typed.status == 1 && !typed.output.contains("hello there"))
        let piped = try await roost(hub, ["messages", "send", "Bob", "-"], input: "hello there")
        #expect(piped.output.contains("hello there") && piped.output.contains("names no relays"))
        let secret = try await roost(
          hub, ["messages", "send", "Bob", "-"],
          input: "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5")
        #expect(secret.status == 1 && secret.output.contains("--allow-secrets"))
      }
    }
  }

  @Test("Everyone is named as they are typed: a key in digits, a contact by its name, an account at second hand")
  func addressing() async throws {
    try await LoopThread.run {
      try await withLinkFeed({ request, json in
        let names = json["to"]?.elements.compactMap(\.text) ?? []
        if names.contains(where: { $0.utf8.count != 64 && $0 != "Bob" }) {
          request.refuse(Refusal(.noSuchConversation, "there is no contact 'x'", outcome: .notStarted))
        } else {
          request.respond(BusPayload(json: Self.sent(.sent)))
        }
      }) { hub, asked in
        let sent = try await roost(
          hub,
          ["messages", "send", "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6", "Bob", "alice", "hi"])
        #expect(sent.status == 0, "\(sent.output)")
        let recipients = asked.all("messages.send").map { $0["to"]?.elements.compactMap(\.text) ?? [] }
        #expect(recipients == [[Self.ann, "Bob", "alice"], [Self.ann, "Bob", Self.alice]])
        let unknown = try await roost(hub, ["messages", "send", "Bobb", "hi"])
        #expect(
          unknown.status == 1 && unknown.output.contains("roost links contacts add NPUB NAME"), "\(unknown.output)")
      }
    }
  }

  private static func row(_ number: Int) -> LinkRow {
    var row = LinkRow(
      id: Hexadecimals.id(number), conversation: bob, sort: .post, author: bob, isOwn: false,
      at: Int64(10_000 - number),
      isUnread: number < 2, place: "\(number)")
    (row.url, row.label) = ("https://example.com/\(number)", "Link")
    return row
  }

  private enum Hexadecimals {
    static func id(_ number: Int) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits + String(repeating: "f", count: 56)
    }
  }

  /// 2,500 posts, in pages.
  @EventLoopActor
  private static func serveRows(_ request: BusRequest, _ json: JSONValue) async {
    switch request.method {
    case "links.show":
      let first = (json["before"]?.text.flatMap { Int($0) } ?? -1) + 1
      let end = min(2_500, first + Int(json["limit"]?.integer ?? 0))
      await rows(request, (first..<max(first, end)).map(row))
    case "links.list":
      await rows(request, [LinkConversationRow(id: bob, members: [bob], lastAt: 1, posts: 2_500, unread: 1)])
    default: request.respond(BusPayload(json: StoreCount(count: 2)))
    }
  }

  @Test("Posts are shown page by page, each once, and marked as read unless that is not wanted")
  func show() async throws {
    try await LoopThread.run {
      try await withLinkFeed(Self.serveRows) { hub, asked in
        let all = try await roost(hub, ["links", "show", "Bob", "--all", "--keep-unread"])
        let lines = all.output.split(separator: "\n")
        #expect(all.status == 0 && lines.count == 2_500 && Set(lines).count == 2_500)
        #expect(lines[0].hasSuffix("https://example.com/0") && lines[2_499].hasSuffix("https://example.com/2499"))
        #expect(!all.output.contains("\u{1B}") && lines[0].contains("•") && !lines[2].contains("•"))
        #expect(asked.all("links.read").isEmpty)
        let some = try await roost(hub, ["links", "show", "Bob", "--limit", "1200", "--json"])
        #expect(some.output.split(separator: "\n").count == 1_200)
        #expect(asked.all("links.read").map { $0["conversation"]?.text } == ["Bob"])
        let first = try await roost(hub, ["links", "show", "Bob"])
        #expect(first.output.split(separator: "\n").count == 101 && first.output.contains("--all"))
      }
    }
  }

  @Test("A post is named by its first digits, which the worker finds; fewer than eight are refused")
  func prefix() async throws {
    try await LoopThread.run {
      try await withLinkFeed(Self.serveRows) { hub, asked in
        let read = try await roost(hub, ["links", "read", "--post", "0000001a"])
        #expect(read == Run(status: 0, output: "Read; 2 unread before.\n"))
        #expect(asked.all("links.read").last?["post"]?.text == "0000001a")
        let shown = try await roost(hub, ["links", "show", "--post", "0000001ABC", "--keep-unread", "--limit", "1"])
        #expect(shown.status == 0 && asked.all("links.show").map { $0["post"]?.text } == ["0000001abc"])
        for post in ["0000001", "0000001g", Hexadecimals.id(26) + "0"] {
          let refused = try await roost(hub, ["links", "read", "--post", post])
          #expect(refused.status == 2 && refused.output.contains("the first 8 digits or more"), "\(refused)")
        }
        #expect(asked.all("links.list").isEmpty, "nothing is looked through")
      }
    }
  }

  @Test("Relays for a contact need a yes in so many words, and are taken back without one")
  func agreement() async throws {
    try await LoopThread.run {
      try await withLinkFeed({ request, json in
        var contact = LinkContact(publicKey: Self.bob, name: "Bob")
        contact.relays = json["relays"]?.elements.compactMap(\.text) ?? []
        request.respond(BusPayload(json: contact))
      }) { hub, asked in
        let asking = try await roost(hub, ["links", "contacts", "relays", "Bob", "wss://Relay.example/"])
        #expect(asking.status == 1 && asking.output.contains("wss://relay.example"))
        #expect(
          asking.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
            "If you agree, add --yes."))
        #expect(asked.all("links.contact").isEmpty)
        let agreed = try await roost(hub, ["links", "contacts", "relays", "Bob", "wss://Relay.example/", "--yes"])
        #expect(agreed.status == 0 && agreed.output.contains("you agree to send to wss://relay.example"), "\(agreed)")
        let revoked = try await roost(hub, ["links", "contacts", "relays", Self.bob, "--none"])
        #expect(revoked.status == 0 && asked.all("links.contact").last?["relays"]?.elements.isEmpty == true)
      }
    }
  }

  @Test("Sessions are chosen and taken back for a contact, and a post says in which session it is")
  func sessions() async throws {
    try await withLinkFeed({ request, json in
      if request.method == LinkMethod.post.name {
        var sent = Self.sent(.sent)
        (sent.conversation, sent.session) = ("3F3A", "Films")
        return request.respond(BusPayload(json: sent))
      }
      var contact = LinkContact(publicKey: Self.bob, name: "Bob")
      contact.sessions = json["sessions"] == .bool(true) ? true : nil
      request.respond(BusPayload(json: contact))
    }) { hub, asked in
      let chosen = try await roost(hub, ["links", "contacts", "sessions", "Bob"])
      #expect(chosen.status == 0 && chosen.output.contains("links are written in sessions"), "\(chosen.output)")
      let revoked = try await roost(hub, ["links", "contacts", "sessions", Self.bob, "--off"])
      #expect(revoked.status == 0 && !revoked.output.contains("sessions"))
      let wanted = asked.all("links.contact")
      #expect(wanted.map { $0["sessions"] } == [.bool(true), .bool(false)])
      #expect(wanted.allSatisfy { $0["publicKey"]?.text == Self.bob && $0["relays"] == nil && $0["name"] == nil })
      #expect(try await roost(hub, ["links", "contacts", "sessions", "Zoe"]).status == 1)
      let sent = try await roost(hub, ["links", "post", "Bob", "https://a.b", "--session", "Films"])
      #expect(sent.status == 0 && sent.output.contains("In the session Films: roost links show 3F3A"), "\(sent.output)")
      #expect(asked.all("links.post").map { $0["session"]?.text } == ["Films"])
    }
  }

  @Test("On a terminal the question about relays is asked, and nothing changes after a no")
  func question() async throws {
    try await LoopThread.run {
      try await withLinkFeed({ request, json in
        var contact = LinkContact(publicKey: Self.bob, name: "Bob")
        contact.relays = json["relays"]?.elements.compactMap(\.text) ?? []
        request.respond(BusPayload(json: contact))
      }) { hub, asked in
        for (answer, status) in [("n", Int32(1)), ("y", 0)] {
          let path = hub.path
          let ending = try await JoinedThread.run { () -> SpawnedProcess.Ending in
            let terminal = try PseudoTerminal()
            let process = try terminal.start(
              SpawnedProcess.builtProgram("roost"), ["links", "contacts", "relays", "Bob", "wss://relay.example"],
              environment: ["ROOST_SOCKET=\(path)", "PATH=/usr/bin:/bin"])
            try terminal.awaitText(
              "While Bob names no relays for gift wraps, what you send goes to wss://relay.example")
            try terminal.answer("Do you agree? [y/n] ", answer)
            try terminal.awaitText(answer == "y" ? "you agree to send to wss://relay.example" : "Nothing was changed.")
            return try process.waitForEnd()
          }
          #expect(ending == .exited(status))
          #expect(asked.all("links.contact").count == (answer == "y" ? 1 : 0))
        }
      }
    }
  }

  @Test("What makes no sense is refused before anything is asked")
  func usage() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      for wrong in [
        ["links", "post", "Bob"], ["links", "post", "Bob", "ftp://a.b"], ["links", "post", "Bob", "https://a@b/"],
        ["links", "post", "Bob", "https://a.b", "--wait", "121"],
        ["links", "post", "Bob", "https://a.b", "--wait", "0"],
        ["links", "post", "Bob", "https://a.b", "--wait", "5", "--no-wait"],
        ["links", "post", "Bob", "https://a.b", "--no-wait", "--give-up"], ["links", "reply", "3f2a910", "x"],
        ["links", "reply", Self.id], ["links", "show"], ["links", "show", "Bob", "--post", Self.id],
        ["links", "show", "Bob", "--limit", "0"], ["links", "show", "Bob", "--limit", "5", "--all"], ["links", "read"],
        ["links", "list", "--limit", "1001"], ["links", "contacts", "add", "Bob"],
        ["links", "contacts", "rename", "Bob", " "], ["links", "contacts", "relays", "Bob"],
        ["links", "contacts", "relays", "Bob", "wss://a.b", "--none"],
        ["links", "contacts", "relays", "Bob", "https://a.b"], ["links", "contacts", "sessions"],
        ["links", "post", "Bob", "https://a.b", "--session", " "],
        ["links", "open", "--read"], ["links", "open", "x", "--make", "https://a.b", "--post", Self.id],
        ["links", "open", "--make", "https://a.b"], ["links", "open", "--make", "ftp://a.b", "--post", Self.id],
        ["messages", "send", "Bob"], ["messages", "send", "Bob", "Ann", "x", "--legacy"],
        ["messages", "send", "Bob", "x", "--legacy", "--subject", "y"], ["messages", "show"],
      ] {
        let run = try await roost(hub, wrong)
        #expect(run.status == 2, "\(wrong): \(run.output)")
      }
      let empty = try await roost(hub, ["links", "reply", Self.id, "-"], input: " \n")
      #expect(empty.status == 1 && empty.output.contains("the text is empty"))
      hub.stop()
    }
  }

  @Test("A deep link is made and read without a supervisor, and a bad one is refused with words")
  func open() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      hub.stop()
      let made = try await roost(hub, ["links", "open", "--make", "HTTPS://Example.com/a", "--post", Self.id])
      #expect(made.status == 0 && made.output.hasPrefix("linkstr://open?p="))
      let address = String(made.output.dropLast())
      let read = try await roost(hub, ["links", "open", "--read", address])
      #expect(read.status == 0 && read.output.hasPrefix("https://example.com/a\n  shared 20"))
      let json = try JSONPayload.decode(
        JSONValue.self, from: Array(try await roost(hub, ["links", "open", "--read", address, "--json"]).output.utf8))
      #expect(json["post"]?.text == Self.id && json["url"]?.text == "https://example.com/a")
      let bad = try await roost(hub, ["links", "open", "--read", "linkstr://open?p=e30"])
      #expect(bad.status == 1 && bad.output.contains("what is in it cannot be read"))
    }
  }

  @Test("Where no link-feed is configured, the line to add to supervisor.conf is shown")
  func absent() async throws {
    let directory = try TemporaryDirectory()
    try await LoopThread.run {
      let hub = try FakeHub(path: directory.path + "/roost.sock")
      let run = try await roost(hub, ["links", "list"])
      #expect(run.status == 1 && run.output.contains("add [worker.link-feed] to supervisor.conf"), "\(run.output)")
      hub.stop()
    }
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  fileprivate var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
}
