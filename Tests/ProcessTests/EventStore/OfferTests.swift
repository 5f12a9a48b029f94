import Contracts
import Cryptography
import Frames
import Glibc
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Runs of one's own events, each with its outcome.
  @Suite("Offering events to the store")
  struct OfferTests {
    private let author = SecretKey.generate()

    private func event(_ time: Int64, kind: UInt16 = 1, _ tags: [[String]] = [], _ content: String = "") -> Event {
      UnsignedEvent(pubkey: author.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
        .signed(by: author)
    }

    @Test("A run with every outcome is told each of them, in order")
    func everything() throws {
      try withRoost(.store) { roost in
        let store = try StoreClient(roost)
        let (first, gone, profile) = (event(100), event(101), event(200, kind: 0))
        #expect(
          try store.offer([first.json, gone.json, profile.json])
            == [.stored(seq: 1), .stored(seq: 2), .stored(seq: 3)])
        let deletion = event(150, kind: 5, [["e", "\(gone.id)"]])
        #expect(try store.offer([deletion.json]) == [.stored(seq: 4)])
        let forged = String(decoding: event(300, [], "a text").json, as: UTF8.self)
          .replacing("a text", with: "another")
        let run: [[UInt8]] = [
          first.json, deletion.json, gone.json, event(199, kind: 0).json, Array(forged.utf8),
          event(300, [["expiration", "5"]]).json, event(300, kind: 20_001).json, event(300, kind: 20_001).json,
          Array("{}".utf8), event(301, [], String(repeating: "x", count: 1 << 20)).json, event(302).json,
        ]
        // The one that is too large would fill the frame alone.
        let outcomes = try store.offer(run.filter { $0.count < 1 << 20 })
        #expect(outcomes.count == 10)
        #expect(outcomes[0] == .duplicate(seq: 1) && outcomes[1] == .duplicate(seq: 4))
        #expect(outcomes[2...3] == [.deleted, .superseded])
        #expect(outcomes[5...7] == [.expired, .ephemeral, .ephemeralAgain] && outcomes[9] == .stored(seq: 5))
        for (index, word) in [(4, "id is wrong"), (8, "")] {
          guard case .invalid(let reason) = outcomes[index] else {
            Issue.record("\(outcomes[index])")
            continue
          }
          #expect(reason.contains(word) || word.isEmpty && !reason.isEmpty, "\(reason)")
        }
        let vanish = event(400, kind: 62, [["relay", "ALL_RELAYS"]])
        #expect(try store.offer([vanish.json]) == [.stored(seq: 6)])
        #expect(try store.offer([event(399).json, event(401).json]) == [.vanished, .stored(seq: 7)])
      }
    }

    @Test("What cannot be read is refused whole; an event that is too large is invalid, and its neighbours are stored")
    func limits() throws {
      var layout = Layout.store
      layout.bus["frame-limit"] = "\"64KiB\""
      try withRoost(layout) { roost in
        let store = try StoreClient(roost)
        for bad: [UInt8] in [[1], [9, 0, 0, 0, 1], [UInt8](repeating: 0, count: 4 * (OfferRun.countMaximum + 1))] {
          #expect(try store.peer.answer(to: try store.send(bad, to: "store.offer")).refusal?.code == .badPayload)
        }
        #expect(try store.peer.call("store.offer", "{}").refusal?.code == .badPayload)
        #expect(try store.offer([]) == [])
        let large = event(1, [], String(repeating: "x", count: 61_300))
        let outcomes = try store.offer([event(2).json, large.json, event(3).json])
        #expect(outcomes[0] == .stored(seq: 1) && outcomes[2] == .stored(seq: 2))
        guard case .invalid(let reason) = outcomes[1] else {
          Issue.record("\(outcomes)")
          return
        }
        #expect(reason.contains("bytes"), "\(reason)")
        // As many as a run may have, none of them an event: the answer fits the smallest frame.
        let bad = try store.offer(Array(repeating: [], count: OfferRun.countMaximum))
        #expect(bad.count == OfferRun.countMaximum)
      }
    }

    @Test("Killed between runs, the store has every event it said is stored, under the seq it said")
    func killed() throws {
      try withRoost(.store) { roost in
        let events = makeEvents(0..<1_200)
        var stored: [EventID: Int64] = [:]
        for round in 0..<3 {
          let store = try StoreClient(roost)
          let runs = try stride(from: 0, to: events.count, by: 64).map { start in
            let run = events[start..<min(start + 64, events.count)]
            return (run, try store.sendOffer(run.map(\.json)))
          }
          if round < 2 {
            // Not to wait for anything: each time it dies somewhere else.
            usleep(UInt32.random(in: 1_000...60_000))
            kill(try #require(roost.worker("event-store").pid), SIGKILL)
          }
          for (run, id) in runs {
            let answer = try store.peer.answer(to: id, within: 60)
            guard answer.isResponse else { continue }
            for (event, outcome) in zip(run, try OfferOutcome.read(answer.terminal.payload)) {
              switch outcome {
              case .stored(let seq), .duplicate(let seq):
                #expect(stored.updateValue(seq, forKey: event.id) ?? seq == seq)
              default: Issue.record("\(outcome)")
              }
            }
          }
          try roost.awaitReady()
        }
        #expect(stored.count == events.count)
        let store = try StoreClient(roost)
        let id = try store.peer.ask("store.observe", #"{"filters":[{}],"afterSeq":0,"pages":true}"#)
        for event in try store.await(events.count, of: id).flatMap(\.events) {
          let id = try Event(json: Array(event.json.utf8)).id
          #expect(event.seq == stored[id])
        }
      }
    }
  }
}
