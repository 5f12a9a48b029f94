import Clocks
import Contracts
import Cryptography
import Frames
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// `people.feed` with real workers.
  @Suite("A feed") struct FeedTests {
    @Test(
      "The newest stored events come first, without asking any relay, then their end, then new ones; muted ones not")
    func page() throws {
      try FeedRig.run { rig in
        let (bob, carol, dave) = (SecretKey.generate(), SecretKey.generate(), SecretKey.generate())
        let stored = (0..<10).map { rig.event(bob, [], "\($0)", at: 1_000 + Int64($0)) }
        for event in stored { try rig.store(event) }
        try rig.store(rig.event(carol, at: 2_000))
        try rig.store(rig.event(dave, at: 3_000))
        try rig.follow([bob, carol], at: 10)
        try rig.store(rig.event(rig.alice, kind: 10_000, [["p", "\(carol.publicKey)"]], at: 10))
        let feed = try rig.follow("people.feed", #""account":"alice","limit":4"#)
        try feed.awaitStored()
        #expect(feed.items.map(\.id) == stored.reversed().prefix(4).map { "\($0.id)" })
        #expect(feed.storedEnds.map(\.isComplete) == [false])
        let state = try #require(feed.states.first)
        #expect(state.people == 2 && state.isListKnown == true && state.privateMutes == .none)
        let new = rig.event(bob, [], "new")
        let seq = try rig.store(new)
        try feed.await(new)
        #expect(feed.items.last?.seq == seq && feed.items.count == 5)
        for (arguments, code) in [
          (#"{"account":"nobody"}"#, RefusalCode.noSuchAccount), (#"{"kinds":[]}"#, .badRequest),
          (#"{"limit":501}"#, .badRequest), (#"{"set":"30002:\#(bob.publicKey):x"}"#, .badRequest),
          (#"{"policy":"network-only"}"#, .badRequest),
        ] {
          #expect(try rig.rig.client.call("people.feed", arguments).refusal?.code == code, "\(arguments)")
        }
        feed.cancel()
        // The one that is cancelled may still count when the last of them comes.
        let asked = try (0...PeopleFeed.callerMaximum).map { _ in
          try rig.rig.client.ask("people.feed", #"{"policy":"cache-only"}"#)
        }
        try rig.rig.client.wait("one is too many") { asked.contains { rig.rig.client.terminalCounts[$0] != nil } }
        let ended = asked.filter { rig.rig.client.terminalCounts[$0] != nil }
        for id in ended { #expect(try rig.rig.client.answer(to: id).refusal?.code == .full) }
      }
    }

    @Test(
      "Follows, mutes and unfollows hold from the list on: nothing twice, nothing missed, in order, through deaths",
      arguments: seeds(1))
    func changes(_ seed: UInt64) throws {
      try FeedRig.run { rig in
        var random = SeededGenerator(seed: seed)
        let people = (0..<8).map { _ in SecretKey.generate() }
        // The first two are never touched.
        var followed: Set<Int> = [0, 1, 2, 3]
        var muted: Set<Int> = []
        /// Since which seq each is as now.
        var since = [Int64](repeating: 0, count: people.count)
        var time: Int64 = 1_000
        var written: [(id: String, author: Int, seq: Int64, isShown: Bool)] = []
        func changeLists() throws {
          time += 1
          let person = Int.random(in: 2..<people.count, using: &random)
          let seq: Int64
          if Bool.random(using: &random) {
            if followed.remove(person) == nil { followed.insert(person) }
            seq = try rig.follow(followed.sorted().map { people[$0] }, at: time)
          } else {
            if muted.remove(person) == nil { muted.insert(person) }
            let tags = muted.sorted().map { ["p", "\(people[$0].publicKey)"] }
            seq = try rig.store(rig.event(rig.alice, kind: 10_000, tags, at: time))
          }
          since[person] = seq
        }
        try rig.follow(followed.sorted().map { people[$0] }, at: time)
        let feed = try rig.follow("people.feed", #""account":"alice","kinds":[1],"policy":"cache-only""#)
        try feed.awaitStored()
        let victims = ["event-store", "outbox-planner", "people"]
        for round in 0..<120 {
          if Int.random(in: 0..<4, using: &random) == 0 { try changeLists() }
          let author = Int.random(in: 0..<people.count, using: &random)
          let event = rig.event(people[author], [], "\(round)", at: 5_000 + Int64(round))
          let seq = try rig.store(event)
          written.append(("\(event.id)", author, seq, followed.contains(author) && !muted.contains(author)))
          if round % 20 == 19 { try rig.rig.kill(victims[round / 20 % victims.count]) }
          try feed.take()
        }
        let last = rig.event(people[0], [], "last", at: 9_000)
        try rig.store(last)
        try feed.await(last)
        #expect(feed.resumedCount >= 2)
        let got = Dictionary(grouping: feed.items, by: \.id)
        #expect(got.values.allSatisfy { $0.count == 1 }, "nothing comes twice")
        #expect(feed.items.map(\.seq) == feed.items.map(\.seq).sorted(), "in the order of seq")
        for event in written {
          if event.isShown {
            // What a later list takes away may not have been read yet when the feed was interrupted.
            let isStill = followed.contains(event.author) && !muted.contains(event.author)
            if isStill, event.seq > since[event.author] { #expect(got[event.id] != nil, "missed: \(event)") }
          } else if event.seq > since[event.author] {
            #expect(got[event.id] == nil, "of one who is not followed, or muted: \(event)")
          }
        }
        #expect(written.count { $0.author < 2 } == written.count { $0.author < 2 && got[$0.id] != nil })
      }
    }

    @Test("Without any death exactly what was followed and not muted when it was stored is shown")
    func exact() throws {
      try FeedRig.run { rig in
        let people = (0..<4).map { _ in SecretKey.generate() }
        try rig.follow([people[0]], at: 1)
        let feed = try rig.follow("people.feed", #""account":"alice","policy":"cache-only""#)
        try feed.awaitStored()
        var expected: [String] = []
        for round in 0..<40 {
          let followed = (0..<4).filter { $0 == 0 || (round / $0) % 2 == 1 }
          try rig.follow(followed.map { people[$0] }, at: 2 + Int64(round))
          for (number, person) in people.enumerated() {
            let event = rig.event(person, [], "\(round)", at: 1_000 + Int64(round))
            try rig.store(event)
            if followed.contains(number) { expected.append("\(event.id)") }
          }
        }
        try awaitSoon("all are here") {
          try feed.take()
          return feed.items.count >= expected.count
        }
        #expect(feed.items.map(\.id) == expected)
      }
    }

    @Test("Private mutes hold while the account is open; while it is locked the public ones do, and the caller sees it")
    func privateMutes() throws {
      try FeedRig.run { rig in
        let signer = SignerRig(roost: rig.rig.roost, client: rig.rig.client)
        let (bob, carol) = (SecretKey.generate(), SecretKey.generate())
        try rig.follow([bob, carol], at: 1)
        let hidden = String(decoding: JSONPayload.encode([["p", "\(carol.publicKey)"]]), as: UTF8.self)
        let content = try NIP44.encrypt(hidden, with: try ConversationKey(rig.alice, rig.alice.publicKey))
        try rig.store(rig.event(rig.alice, kind: 10_000, [["word", "spam"]], content, at: 2))
        _ = try signer.ask(
          "signer.passphrase", SignerPassphrase(account: "alice", present: nil, new: try signer.sealed("pass word")),
          as: SignerAccount.self)
        _ = try signer.ask("signer.lock", SignerLock(account: "alice"), as: SignerAccounts.self)
        let feed = try rig.follow("people.feed", #""account":"alice","policy":"cache-only""#)
        try feed.awaitStored()
        #expect(feed.states.map(\.privateMutes) == [.locked])
        let shown = rig.event(carol, [], "while it is locked")
        try rig.store(rig.event(bob, [], "SPAM"))
        try rig.store(shown)
        try feed.await(shown)
        #expect(try signer.unlock("alice", "pass word") == nil)
        try awaitSoon("the private mutes are read") {
          try feed.take()
          return feed.states.last?.privateMutes == .read
        }
        try rig.store(rig.event(carol, [], "muted"))
        let last = rig.event(bob, [], "last")
        try rig.store(last)
        try feed.await(last)
        #expect(feed.items.map(\.id) == [shown, last].map { "\($0.id)" })
      }
    }
  }
}
