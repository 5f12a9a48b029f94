import Contracts
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Who publishes while the event store is away, and what he is told: nobody signs the same note twice for want of it.
  @Suite("Publishing to a stopped event store")
  struct PublishUnknownTests {
    private static func start(_ roost: RunningRoost, _ arguments: [String]) throws -> SpawnedProcess {
      try SpawnedProcess(SpawnedProcess.builtProgram("roost"), arguments + ["--socket", roost.socket])
    }

    @Test("Ctrl-C tells that the event is queued and how to call it off; it is sent unless that is done")
    func interrupted() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try withRoost(.publishing) { roost in
        let events = makeEvents(0..<3)
        func text(_ number: Int) -> String { String(decoding: events[number].json, as: UTF8.self) }
        #expect(try roost.command(["stop", "event-store"]).status == .exited(0))
        for number in 0..<2 {
          let process = try Self.start(roost, ["publish", text(number), "--relay", relay.url])
          let notice = try process.readLine { $0.contains("handed over") }
          #expect(notice.contains(events[number].id.note) && notice.contains("'roost start event-store'"), "\(notice)")
          process.send(SIGINT)
          let told = try process.readAllOutput()
          #expect(told.contains("It is queued as \(events[number].id.note), and will be sent"), "\(told)")
          #expect(told.contains("'roost queue cancel \(events[number].id.note)' calls it off"), "\(told)")
          #expect(try process.waitForEnd() == .exited(130))
        }
        let program = try Self.start(roost, ["publish", text(2), "--relay", relay.url, "--json"])
        try awaitSoon("it is queued") { try PublishClient(roost).publication(events[2]) != nil }
        program.send(SIGINT)
        let object = try program.readAllOutput()
        #expect(object.contains(#""id":"\#(events[2].id)""#) && object.contains(#""state":"optimistic""#), "\(object)")
        #expect(try program.waitForEnd() == .exited(130))

        let called = try roost.command(["queue", "cancel", events[0].id.note])
        #expect(called.status == .exited(0) && called.output.contains("cancelled"), "\(called.output)")
        #expect(try roost.command(["start", "event-store"]).status == .exited(0))
        try awaitSoon("the others are sent") { relay.count(of: events[1]) == 1 && relay.count(of: events[2]) == 1 }
        #expect(relay.count(of: events[0]) == 0)
      }
    }

    @Test("Ctrl-C after the acceptance tells that it goes on")
    func interruptedLater() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try relay.stop()
      try withRoost(.publishing) { roost in
        let event = makeEvents(0..<1)[0]
        let process = try Self.start(
          roost, ["publish", String(decoding: event.json, as: UTF8.self), "--relay", relay.url, "--timeout", "60s"])
        _ = try process.readLine { $0.contains("accepted, for 1 relay") }
        process.send(SIGINT)
        let told = try process.readAllOutput()
        #expect(told.contains("It is queued as \(event.id.note), and will be sent"), "\(told)")
        #expect(try process.waitForEnd() == .exited(130))
      }
    }

    @Test("A refusal after which nobody knows what became of the event names it, and says not to repeat the command")
    func unknown() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try withRoost(.publishing) { roost in
        let events = makeEvents(0..<2)
        #expect(try roost.command(["stop", "event-store"]).status == .exited(0))
        func publish(_ number: Int, _ more: [String]) throws -> (status: SpawnedProcess.Ending, output: String) {
          let text = String(decoding: events[number].json, as: UTF8.self)
          return try roost.command(["publish", text, "--relay", relay.url, "--timeout", "2s"] + more)
        }
        let told = try publish(0, [])
        let words = told.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(told.status != .exited(0) && words.contains("do not repeat the command"), "\(told.output)")
        #expect(words.contains("'roost queue show \(events[0].id.note)' tells"), "\(told.output)")
        #expect(!words.contains("try again"), "\(told.output)")
        let shown = try roost.command(["queue", "show", events[0].id.note])
        #expect(shown.status == .exited(0) && shown.output.contains("optimistic"), "\(shown.output)")
        let object = try publish(1, ["--json"]).output
        #expect(object.contains(#""id":"\#(events[1].id)""#) && object.contains(#""outcome":"unknown""#), "\(object)")
        #expect(!object.contains("retryAfterMilliseconds"), "\(object)")
      }
    }

    @Test("Who reads from a stopped store is told after two seconds what is waited for, and an import stored nothing")
    func reading() throws {
      try withRoost(.store) { roost in
        #expect(try roost.command(["stop", "event-store"]).status == .exited(0))
        for arguments in [["observe"], ["export"], ["profile", "npub1" + Self.key]] {
          let process = try Self.start(roost, arguments)
          let notice = try process.readLine { $0.contains("event-store is stopped; 'roost start event-store'") }
          #expect(!notice.isEmpty)
          process.send(SIGKILL)
          _ = try process.waitForEnd()
        }
        let text = String(decoding: makeEvents(0..<1)[0].json, as: UTF8.self) + "\n"
        let imported = try roost.command(["import", "-"], input: text)
        #expect(imported.status == .exited(1) && !imported.output.contains("nothing to store"), "\(imported.output)")
      }
    }

    /// Somebody's, as `npub1…` has it.
    private static let key = "0elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"

    @Test("--local of what was published before does not say that no relay was sent it")
    func formerly() throws {
      let directory = try TemporaryDirectory()
      let relay = try AnsweringRelay(directory, "relay")
      try withRoost(.publishing) { roost in
        let text = String(decoding: makeEvents(0..<1)[0].json, as: UTF8.self)
        #expect(try roost.command(["publish", text, "--relay", relay.url]).status == .exited(0))
        let stored = try roost.command(["publish", text, "--local"])
        #expect(stored.output.contains("Published before, 1 relay has it: roost queue show"), "\(stored.output)")
        #expect(!stored.output.contains("no relay was sent it"), "\(stored.output)")
      }
    }
  }
}
