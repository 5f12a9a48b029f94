import Contracts
import Frames
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `roost publish` to relays, and `roost queue`.
  @Suite("The publish and queue commands")
  struct PublishCommandTests {
    @Test("publish shows each relay's word and ends with all of them; queue shows, retries and calls off")
    func commands() throws {
      let directory = try TemporaryDirectory()
      let alpha = try AnsweringRelay(directory, "alpha")
      let beta = try AnsweringRelay(directory, "beta")
      try withRoost(.publishing) { roost in
        let events = makeEvents(0..<3)
        func text(_ number: Int) -> String { String(decoding: events[number].json, as: UTF8.self) }
        let to = ["--relay", alpha.url, "--relay", beta.url]
        try beta.answer("false blocked: not here")
        let first = try roost.command(["publish", text(0)] + to)
        #expect(first.status == .exited(0), "\(first.output)")
        #expect(first.output.hasPrefix("note accepted, for 2 relays\n  \(events[0].id.note)\n"), "\(first.output)")
        #expect(first.output.contains("has it  \(alpha.url)"), "\(first.output)")
        #expect(first.output.contains("  failed  \(beta.url): blocked: not here\n"), "\(first.output)")
        #expect(first.output.hasSuffix("\n1 of 2 relays has it.\n"), "\(first.output)")
        let shown = try roost.command(["queue", "show", events[0].id.note])
        #expect(shown.status == .exited(0) && shown.output.contains("blocked: not here"), "\(shown.output)")

        try beta.stop()
        let second = try roost.command(["publish", text(1), "--timeout", "1s"] + to)
        #expect(second.status == .exited(0))
        let end = "Accepted; 1 of 2 relays has it so far: roost queue show \(events[1].id)\n"
        #expect(second.output.hasSuffix(end), "\(second.output)")
        let called = try roost.command(["queue", "cancel", "\(events[1].id)", "--relay", beta.url, "--json"])
        let publication = try JSONPayload.decode(Publication.self, from: Array(called.output.utf8))
        #expect(publication.state == .confirmed)
        try beta.start()
        try beta.answer("true")
        #expect(try roost.command(["queue", "retry", "\(events[1].id)"]).status == .exited(0))
        try awaitSoon("the relay has it") { beta.count(of: events[1]) == 1 }

        let lines = try roost.command(["publish", text(2), "--json"] + to).output.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("\(events[2].id)") && lines[0].contains("confirmed"), "\(lines)")
        let list = try roost.command(["queue", "--json"]).output.split(separator: "\n")
        #expect(list.count == 3 && list[0].contains("\(events[2].id)"))
        #expect(try roost.command(["queue", "show", "\(makeEvents(0..<1)[0].id)"]).output.contains("never accepted"))
        #expect(try roost.command(["queue", "show", "x"]).status == .exited(2))
        #expect(try roost.command(["publish", text(0), "--local", "--relay", alpha.url]).status == .exited(2))
      }
    }

    @Test("Without a planner it is told what is missing, and --local needs none")
    func withoutPlanner() throws {
      try withRoost(.store) { roost in
        let text = String(decoding: makeEvents(0..<1)[0].json, as: UTF8.self)
        let refused = try roost.command(["publish", text])
        #expect(refused.status == .exited(1) && refused.output.contains("[worker.outbox-planner]"), "\(refused.output)")
        let stored = try roost.command(["publish", text, "--local"])
        #expect(stored.status == .exited(0) && stored.output.contains("stored as number 1"), "\(stored.output)")
      }
    }
  }
}
