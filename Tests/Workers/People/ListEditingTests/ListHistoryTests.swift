import Nostr
import Testing

@testable import ListEditing

/// This device, and versions by another one.
struct Desk {
  var history = ListHistory(kind: 10_000, author: Author.key, salt: Array(repeating: 1, count: 16))
  var now: Int64 = 1_000
  var lastMerge: ListMerge?

  static func tags(_ words: String) -> [[String]] { words.split(separator: " ").map { ["word", String($0)] } }

  /// The words of the list as it is now.
  var words: String { history.current?.contents.tags.map { $0[1] }.joined(separator: " ") ?? "" }

  /// An edit here, which these relays confirm: `+a -b`.
  @discardableResult
  mutating func edits(_ text: String, _ relays: String...) throws -> Event? {
    let changes = text.split(separator: " ").map { word -> ListChange in
      word.hasPrefix("+") ? .add("word", String(word.dropFirst())) : .remove("word", String(word.dropFirst()))
    }
    return try writes(try history.next(.changes(changes)), relays)
  }

  /// Decides about what has come; nil if no version is written.
  @discardableResult
  mutating func merges(_ relays: String...) throws -> Event? {
    let step = try history.next()
    lastMerge = step.merge
    return try writes(step, relays)
  }

  private mutating func writes(_ step: ListStep, _ relays: [String]) throws -> Event? {
    now += 10
    guard let contents = step.contents else {
      _ = history.settled(step)
      return nil
    }
    let event = Author.event(contents, at: max(now, (step.newestCreatedAt ?? 0) + 1))
    _ = history.wrote(event, step)
    for relay in relays { _ = history.confirmed(event.id, by: relay, at: now) }
    return event
  }

  /// Another device's version comes from these relays.
  @discardableResult
  mutating func comes(_ words: String, _ relays: String..., age: Int64 = 0) -> Event {
    now += 10
    let event = Author.event(10_000, Self.tags(words), at: now - age)
    if relays.isEmpty { _ = history.received(event, at: now) }
    for relay in relays { _ = history.received(event, from: relay, at: now) }
    return event
  }
}

@Suite("Versions of two devices")
struct ListHistoryTests {
  /// A list of five words that was edited here once, and is at one relay.
  private func desk(_ words: String = "a b c d e") throws -> Desk {
    var desk = Desk()
    desk.comes(words, "r1")
    try desk.edits("+x", "r1")
    return desk
  }

  @Test("are the newest one as long as nothing was edited here, and nothing is put on top")
  func newestIsTaken() throws {
    var desk = Desk()
    desk.comes("a b c d e", "r1")
    desk.comes("z", "r1")
    desk.comes("a b", "r1", age: 500)
    #expect(!desk.history.isUndecided && desk.words == "z")
  }

  @Test("an edit by a device that had not seen ours is kept, and ours is put on top of it")
  func stale() throws {
    var desk = try desk()
    desk.comes("a b c d e f", "r1")
    let event = try #require(try desk.merges("r1"))
    #expect(desk.words == "a b c d e f x" && event.tags.count == 7)
    #expect(desk.lastMerge?.restoredCount == 1)
    #expect(
      desk.lastMerge?.sentence
        == "another device has written a list; it lacked 1 change made here, and they were put on top of it")
  }

  @Test("an edit by a device that had seen ours needs no further version")
  func fresh() throws {
    var desk = try desk()
    desk.comes("b c d e x f", "r1")
    #expect(try desk.merges() == nil)
    #expect(desk.words == "b c d e x f" && !desk.history.isUndecided)
  }

  @Test("what we removed does not come back by a stale device, and what it removes stays removed")
  func removals() throws {
    var desk = try desk()
    try desk.edits("-a", "r1")
    desk.comes("a c d e x", "r2")
    #expect(try desk.merges() != nil)
    #expect(desk.words == "c d e x")
  }

  @Test("our last change undone by a device that can have seen it stays undone, else it is put on top")
  func undone() throws {
    var seen = try desk()
    seen.comes("a b c d e", "r1")
    #expect(try seen.merges() == nil && seen.words == "a b c d e")
    var unseen = try desk()
    unseen.comes("a b c d e", "r2")
    #expect(try unseen.merges() != nil && unseen.words == "a b c d e x")
    var unknown = try desk()
    unknown.comes("a b c d e")
    #expect(try unknown.merges() != nil && unknown.words == "a b c d e x")
    // A relay that had it only afterwards proves nothing.
    var late = Desk()
    late.comes("a b c d e", "r1")
    let event = try #require(try late.edits("+x"))
    late.comes("a b c d e", "r1")
    _ = late.history.confirmed(event.id, by: "r1", at: late.now + 1)
    #expect(try late.merges() != nil && late.words == "a b c d e x")
  }

  @Test("what another device removed and put back is there, also if no relay is known for its versions")
  func putBack() throws {
    for relays in [("r1", "r1"), ("r1", ""), ("", "r1"), ("", ""), ("r1", "r2")] {
      for isDecidedBetween in [true, false] {
        var desk = try desk()
        func comes(_ words: String, _ relay: String) {
          if relay.isEmpty { desk.comes(words) } else { desk.comes(words, relay) }
        }
        for words in ["a b d e x", "a b d e x c", "a b d e x c y", "a b d e x c"] {
          comes(words, words.contains("c") ? relays.1 : relays.0)
          if isDecidedBetween || words.hasSuffix("y") { try desk.merges("r1") }
        }
        try desk.merges("r1")
        // What was added and taken back stays if no relay is known that had both: nothing is lost.
        let wanted = relays.1.isEmpty ? "a b c d e x y" : "a b c d e x"
        #expect(Set(desk.words) == Set(wanted), "\(relays) \(isDecidedBetween): \(desk.words)")
      }
    }
  }

  @Test("a stale device that writes an old version again undoes nothing")
  func republished() throws {
    var desk = try desk()
    try desk.edits("+y", "r1")
    try desk.edits("+z", "r1")
    desk.comes("a b c d e", "r1")
    #expect(try desk.merges("r1") != nil)
    #expect(desk.words == "a b c d e x y z")
  }

  @Test("a list that is written again is followed if its device can have seen ours, and no other one is")
  func once() throws {
    var desk = try desk("a b c d e f g h i")
    desk.comes("a b c d e", "r1")
    #expect(try desk.merges("r1") != nil)
    #expect(desk.lastMerge?.isDoubtful == true && desk.words == "a b c d e f g h i x")
    var other = desk
    other.comes("a b c d e", "r2")
    #expect(try other.merges("r1") != nil && other.words == "a b c d e f g h i x")
    desk.comes("a b c d e", "r1")
    #expect(try desk.merges("r1") == nil && desk.words == "a b c d e")
    #expect(desk.lastMerge?.yieldedCount == 5)
  }

  @Test("an application that fails in the same way each time loses nothing", arguments: ["", "z"])
  func failing(words: String) throws {
    var desk = try desk()
    for _ in 0..<4 {
      desk.comes(words, "r1")
      #expect(try desk.merges("r1") != nil)
      #expect(Set(desk.words.split(separator: " ")) == Set("a b c d e x \(words)".split(separator: " ")))
    }
  }

  @Test("an application that writes from its own old copy loses nothing, until it is given up")
  func cached() throws {
    var desk = try desk()
    var words = "a b c d e"
    for number in 0...ListHistory.retryCountMaximum {
      words += " f\(number)"
      desk.comes(words, "r1")
      #expect(try desk.merges("r1") != nil)
      #expect(desk.words == words + " x")
    }
    desk.comes(words + " g", "r1")
    #expect(try desk.merges("r1") == nil)
    #expect(desk.words == words + " g" && desk.lastMerge?.hasGivenUp == true)
    #expect(
      desk.lastMerge?.sentence
        == "another device removes 1 change again each time; it was put on top 16 times, and is left now")
    try desk.edits("+x", "r1")
    #expect(desk.history.memo.retryCount == 0)
  }

  @Test("a list that lacks a quarter is doubted: nothing is removed, and what was removed does not return")
  func doubted() throws {
    var desk = try desk("a b c d e f g h")
    try desk.edits("-h", "r1")
    desk.comes("a b h new", "r1")
    #expect(try desk.merges("r1") != nil)
    #expect(desk.words == "a b new c d e f g x")
    #expect(desk.lastMerge?.sentence?.hasPrefix("another device has written a list without most of yours") == true)
  }

  @Test("a device that began with nothing loses nothing, also of a short list")
  func fromNothing() throws {
    var desk = Desk()
    try desk.edits("+x +y", "r1")
    desk.comes("b", "r2")
    #expect(try desk.merges("r1") != nil && desk.words == "b x y")
    var other = Desk()
    try other.edits("+x +y", "r1")
    other.comes("b", "r1")
    #expect(try other.merges("r1") == nil && other.words == "b")
  }

  @Test("a version that comes late is older than ours and loses nothing; what is older than the first edit is history")
  func late() throws {
    var desk = try desk()
    try desk.edits("+y", "r1")
    desk.comes("a b c d e f", "r2", age: 15)
    #expect(try desk.merges("r1") != nil && desk.words == "a b c d e x y f")
    desk.comes("a old", "r2", age: 500)
    #expect(try desk.merges() == nil && desk.words == "a b c d e x y f")
  }

  @Test("what an edit removes in the step that brings it in stays removed, also when an older version comes later")
  func mergedAndRemoved() throws {
    var desk = try desk()
    desk.comes("a b c d e y", "r1")
    try desk.edits("-y", "r1")
    #expect(desk.words == "a b c d e x")
    desk.comes("a b c d e z", "r1", age: 25)
    try desk.merges("r1")
    #expect(Set(desk.words.split(separator: " ")) == Set("a b c d e x z".split(separator: " ")))
  }

  @Test("several versions are decided about together")
  func several() throws {
    var desk = try desk()
    desk.comes("a b c d e f", "r2")
    desk.comes("b c d e", "r3")
    desk.comes("a b c d e g", "r3")
    #expect(try desk.merges("r1") != nil)
    #expect(Set(desk.words.split(separator: " ")) == ["b", "c", "d", "e", "f", "g", "x"])
  }

  @Test("where both change one entry, the later change counts, be it in whichever version")
  func conflicts() throws {
    func desk(ours: Int64, theirs: Int64) throws -> String? {
      var history = ListHistory(kind: 0, author: Author.key)
      _ = history.received(Author.event(0, content: #"{"a":"1","b":"1"}"#), at: 1_000)
      for (fields, time) in [(["a", "d"], ours), (["b"], 3_000)] {
        let step = try history.next(.changes(fields.map { .set($0, text: "2") }))
        _ = history.wrote(Author.event(try #require(step.contents), at: time), step)
      }
      _ = history.received(Author.event(0, content: #"{ "a":"3","b":"1","c":"1"}"#, at: theirs), from: "r", at: 4_000)
      let step = try history.next()
      #expect(step.merge?.conflictCount == 1)
      return step.contents?.content
    }
    #expect(try desk(ours: 2_000, theirs: 2_500) == #"{"a":"3","b":"2","d":"2","c":"1"}"#)
    #expect(try desk(ours: 2_000, theirs: 1_500) == #"{"a":"2","b":"2","d":"2","c":"1"}"#)
    #expect(try desk(ours: 2_000, theirs: 3_500) == #"{ "a":"3","b":"2","c":"1","d":"2"}"#)
  }

  @Test("of one second: the lower id is the newer one")
  func sameSecond() throws {
    var desk = try desk()
    let ours = try #require(desk.history.current)
    for word in ["p", "q", "r", "s"] {
      var copy = desk
      let event = Author.event(10_000, Desk.tags("a b c d e \(word)"), at: desk.now)
      _ = copy.history.received(event, from: "r2", at: desk.now)
      let step = try copy.history.next()
      #expect(step.newest == (event.id < ours.id ? event.id : ours.id))
      #expect(Set(step.contents?.tags.map { $0[1] } ?? []) == ["a", "b", "c", "d", "e", "x", word])
    }
    desk.now += 1
  }

  @Test("what another device adds and takes back while ours is on its way stays removed, and so does what ours removed")
  func takenBack() throws {
    for word in ["p", "q", "r", "s"] {
      for isDecidedBetween in [true, false] {
        var desk = try desk()
        desk.comes("a b c d e x y", "r1")
        try desk.merges("r1")
        let ours = try #require(try desk.edits("-y"))
        let at = ours.createdAt
        func comes(_ words: String, at time: Int64) {
          _ = desk.history.received(Author.event(10_000, Desk.tags(words), at: time), from: "r1", at: time)
        }
        // It has read the list before ours came to the relay, within the same second.
        comes("a b c d e x y \(word)", at: at)
        _ = desk.history.confirmed(ours.id, by: "r1", at: at)
        desk.now = at - 9
        if isDecidedBetween { try desk.merges("r1") }
        comes("a b c d e x y", at: at + 1)
        try desk.merges("r1")
        #expect(Set(desk.words) == Set("a b c d e x"), "\(word) \(isDecidedBetween): \(desk.words)")
      }
    }
  }

  @Test("what we add within the second of another device's addition is what that device removes, as relays show ours")
  func removedOurs() throws {
    for word in ["p", "q", "r", "s"] {
      var desk = try desk()
      let ours = try #require(try desk.edits("+y"))
      let at = ours.createdAt
      let theirs = Author.event(10_000, Desk.tags("a b c d e x \(word)"), at: at)
      // Relays show ours.
      guard ours.id < theirs.id else { continue }
      _ = desk.history.confirmed(ours.id, by: "r1", at: at)
      _ = desk.history.received(theirs, from: "r1", at: at)
      _ = desk.history.received(Author.event(10_000, Desk.tags("a b c d e x"), at: at + 1), from: "r1", at: at + 1)
      desk.now = at - 8
      try desk.merges("r1")
      #expect(Set(desk.words) == Set("a b c d e x \(word)"), "\(desk.words)")
    }
  }

  // MARK: The private part

  @Test("a private part is merged when both are decrypted, and kept when one is not")
  func hidden() throws {
    func event(_ letter: String, at time: Int64) -> Event {
      Author.event(10_000, [["t", "open"]], content: "Ag" + String(repeating: letter, count: 130), at: time)
    }
    var history = ListHistory(kind: 10_000, author: Author.key)
    _ = history.received(event("A", at: 1_000), hiddenText: #"[["word","a"]]"#, from: "r1", at: 1_000)
    let step = try history.next(.changes([.add("word", "x", to: .hidden)]))
    let ours = Author.event(
      try #require(step.contents), at: 2_000, encrypted: "Ag" + String(repeating: "B", count: 130))
    _ = history.wrote(ours, step)
    var broken = history
    _ = history.received(event("C", at: 3_000), hiddenText: #"[ ["word","a"], ["word","c"] ]"#, from: "r2", at: 3_000)
    let merged = try #require(try history.next().contents)
    #expect(merged.hiddenText == #"[ ["word","a"], ["word","c"],["word","x"] ]"# && merged.mustEncrypt)
    _ = broken.received(event("D", at: 3_000), from: "r2", at: 3_000)
    let kept = try #require(try broken.next().contents)
    #expect(kept.content == ours.content && !kept.mustEncrypt && kept.tags == [["t", "open"]])
  }

  @Test("a profile that is garbage does not replace ours")
  func garbageProfile() throws {
    var history = ListHistory(kind: 0, author: Author.key)
    let step = try history.next(.changes([.set("name", text: "a")]))
    _ = history.wrote(Author.event(try #require(step.contents), at: 1_000), step)
    _ = history.received(Author.event(0, content: "[1,2]", at: 2_000), from: "r", at: 2_000)
    #expect(try history.next().contents?.content == #"{"name":"a"}"#)
  }

  // MARK: Undo

  @Test("the changes of a version are taken back on the newest one")
  func undo() throws {
    var desk = try desk()
    let before = try #require(desk.history.current?.contents)
    try desk.edits("+y -a", "r1")
    let version = try #require(desk.history.current?.contents)
    try desk.edits("+z", "r1")
    let step = try desk.history.next(.undo(of: version, to: before))
    #expect(step.contents?.tags.map { $0[1] } == ["b", "c", "d", "e", "x", "z", "a"])
  }

  // MARK: What is stored

  @Test("are the same after a restart, and a missing version is noticed")
  func restart() throws {
    var desk = try desk()
    let pending = desk.comes("a b c d e f", "r1")
    let memo = desk.history.memo
    let head = try #require(desk.history.current)
    #expect(ListHistory.needed(memo) == [head.id, pending.id])
    func restored(_ contents: (EventID) -> ListContents?) -> ListHistory? {
      ListHistory(
        kind: 10_000, author: Author.key, identifier: "", memo: memo, records: desk.history.records, contents: contents)
    }
    let same = try #require(restored { $0 == head.id ? head.contents : ListContents(pending) })
    #expect(try same.next().contents?.tags == desk.history.next().contents?.tags)
    #expect(restored { $0 == head.id ? head.contents : nil } == nil)
  }

  @Test("are bounded in number and bytes: the newest and the largest are kept")
  func bounded() throws {
    var history = ListHistory(kind: 10_000, author: Author.key)
    var forgotten: Set<EventID> = []
    let large = Author.event(10_000, (0..<100).map { ["t", "\($0)"] }, at: 1)
    _ = history.received(large, at: 1)
    var last: EventID?
    for time in 2...Int64(ListHistory.recordCountMaximum + 40) {
      let event = Author.event(10_000, [["t", "a"], ["t", "\(time)"]], at: time)
      forgotten.formUnion(history.received(event, at: time).forgotten)
      last = event.id
    }
    #expect(history.records.count == ListHistory.recordCountMaximum)
    let kept = history.records.filter(\.isKept)
    #expect(kept.count == ListHistory.keptCountMaximum && kept.contains { $0.id == last })
    #expect(!forgotten.contains(large.id) && history.current?.id == last)
    // Distances are right after records were dropped.
    let hashes = history.hasher.hashes(of: ListState(contents(10_000, [["t", "a"], ["t", "90"]])))
    let place = try #require(history.nearest(hashes))
    #expect(history.records[place].createdAt == 90)
    #expect(history.hashes(at: place) == hashes)
  }

  @Test("have hashes of private entries by the private salt alone, once the history was begun with one")
  func privateSalt() {
    var (open, sealed) = (fresh10000(), fresh10000())
    sealed.privateSalt = Array(repeating: 9, count: 32)
    func hashes(_ history: ListHistory, _ place: EntryPlace) -> UInt64 {
      history.hasher.hash(EntryKey(place, "word", "a"), occurrences: [["word", "a"]])
    }
    #expect(hashes(open, .open) == hashes(sealed, .open) && hashes(open, .hidden) != hashes(sealed, .hidden))
    open.memo.hasPrivateSalt = nil
    sealed.memo.hasPrivateSalt = nil
    #expect(hashes(open, .hidden) == hashes(sealed, .hidden), "an old history continues as it was begun")
  }

  private func fresh10000() -> ListHistory {
    ListHistory(kind: 10_000, author: Author.key, salt: Array(repeating: 1, count: 16))
  }

  @Test("of others are no versions of this list")
  func others() throws {
    var history = ListHistory(kind: 30_000, author: Author.key, identifier: "a")
    _ = history.received(Author.event(30_000, [["d", "b"]]), at: 1)
    _ = history.received(Author.event(30_002, [["d", "a"]]), at: 1)
    #expect(history.records.isEmpty)
    _ = history.received(Author.event(30_000, [["d", "a"]]), at: 1)
    #expect(history.records.count == 1)
  }
}
