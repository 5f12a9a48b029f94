import Contracts
import Cryptography
import Frames
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Roost between two relays by other people that have nothing in common but the protocol: nostr-sdk's, and
  /// nostr-relay.
  @Suite("Two real relays", .enabled(if: NostrRelay.isAvailable, Comment(rawValue: NostrRelay.absence)))
  struct TwoRelaysTests {
    private static let file = SharedFolder.repository + "/Tests/Peers/events.jsonl"

    /// The events of that file.
    private static func events() throws -> [Event] {
      let text = String(decoding: SharedFolder.bytes(ofFile: file) ?? [], as: UTF8.self)
      return try text.split(separator: "\n").map { try Event(json: Array($0.utf8)) }
    }

    @Test("observe shows what either relay has once, verified, and of each event it is known which relays have it")
    func observing() throws {
      let events = try Self.events()
      let directory = try TemporaryDirectory()
      // Some at one relay only.
      let path = directory.path + "/some.jsonl"
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll(
        events.prefix(16).map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), to: file)
      Descriptors.close(file)
      let (local, other) = (try RealRelay(path), try NostrRelay(events: Self.file))
      let relays = [local.url, other.url]
      try PlannerRig.run(relays: relays) { rig in
        let shown = try rig.observed(#"{"kinds":[1]}"#, at: relays, last: makeEvents(100..<101)[0])
        #expect(shown.count == 24 && Set(shown) == Set(events))
        for event in shown { try event.verify() }
        for (number, event) in events.enumerated() {
          #expect(try rig.seen(event.id) == Set(number < 16 ? relays : [other.url]), "\(number)")
        }
        let status = try rig.storeStatus()
        // nostr-relay reads `limit` 0 as none, so its live REQ brings what its page brings.
        let duplicates: Set<UInt64> = [16, 40]
        #expect(status.verified == 25 && duplicates.contains(status.duplicates) && status.invalid == 0, "\(status)")
        try other.awaitCompression()
      }
    }

    @Test("publish is confirmed by both, also by one that had it and says false; at one's refusal the other has it")
    func publishing() throws {
      let (local, other) = (try RealRelay(), try NostrRelay())
      try PlannerRig.run(relays: [local.url, other.url]) { rig in
        func publish(_ event: Event) throws -> String {
          let done = try rig.roost.command(
            ["publish", String(decoding: event.json, as: UTF8.self), "--relay", local.url, "--relay", other.url])
          #expect(done.status == .exited(0), "\(done.output)")
          return done.output
        }
        let events = makeEvents(0..<2)
        #expect(try publish(events[0]).hasSuffix("\n2 of 2 relays have it.\n"))
        #expect(try publish(events[0]).hasSuffix("\n2 of 2 relays have it.\n"), "asked again")

        try rig.fill(other.url, [events[1].json])
        let again = try rig.publish(events[1].json, at: other.url)
        #expect(!again.isAccepted && again.message == "duplicate: exists")
        let known = try publish(events[1])
        #expect(known.hasSuffix("\n2 of 2 relays have it.\n") && known.contains("has it  \(other.url)"), "\(known)")

        let author = SecretKey.generate()
        let long = UnsignedEvent(
          pubkey: author.publicKey, createdAt: 1_700_000_000, kind: 1, content: String(repeating: "x", count: 5_000)
        ).signed(by: author)
        let refused = try publish(long)
        #expect(refused.contains("failed  \(other.url): invalid: 280 characters"), "\(refused)")
        #expect(refused.hasSuffix("\n1 of 2 relays has it.\n"), "\(refused)")
        #expect(try publish(makeEvents(2..<3)[0]).hasSuffix("\n2 of 2 relays have it.\n"), "late, but taken")
      }
    }
  }
}
