import Contracts
import Nostr
import OutboxRouting
import Testing

@Suite("The planner's copy of what is observed")
struct ObserveMirrorTests {
  private let notes = InterestBench.observe([Filter(kinds: [1])])
  private let profiles = InterestBench.observe([Filter(kinds: [0])])

  private func changes(
    _ version: Int64, of generation: Int64 = 7, _ changed: [ActiveObserve] = [], removed: [String] = []
  ) -> ObserveChanges {
    ObserveChanges(generation: generation, version: version, changed: changed, removed: removed)
  }

  @Test("begins with a list, and goes on by numbered changes")
  func order() {
    var mirror = ObserveMirror()
    var step = mirror.received(changes(3, [notes]))
    #expect(step == .list)
    mirror.listBegins()
    step = mirror.listed([notes], ObserveListEnd(generation: 7, version: 3, count: 1))
    #expect(step == .take(changed: [notes], removed: []))
    step = mirror.received(changes(3, [notes]))
    #expect(step == .nothing)
    step = mirror.received(changes(4, [profiles], removed: [notes.key]))
    #expect(step == .take(changed: [profiles], removed: [notes.key]) && Set(mirror.observes.keys) == [profiles.key])
    step = mirror.received(changes(6))
    #expect(step == .list, "5 is missing")
    step = mirror.received(changes(5, of: 8))
    #expect(step == .list, "another life")
  }

  @Test("takes what came while the list was on its way, if the list did not have it")
  func early() {
    var mirror = ObserveMirror()
    mirror.listBegins()
    for version in 2...4 as ClosedRange<Int64> {
      let step = mirror.received(version == 4 ? changes(4, [profiles], removed: [notes.key]) : changes(version))
      #expect(step == .nothing)
    }
    let step = mirror.listed([notes], ObserveListEnd(generation: 7, version: 3, count: 1))
    #expect(step == .take(changed: [profiles], removed: [notes.key]))
  }

  @Test("forgets what a new list does not have, and takes over only what differs")
  func relisting() {
    var mirror = ObserveMirror()
    mirror.listBegins()
    _ = mirror.listed([notes, profiles], ObserveListEnd(generation: 7, version: 3, count: 2))
    mirror.listBegins()
    mirror.listFailed()
    mirror.listBegins()
    let step = mirror.listed([profiles], ObserveListEnd(generation: 8, version: 0, count: 1))
    #expect(step == .take(changed: [], removed: [notes.key]))
  }

  @Test("A list that another one must follow hides nothing: what it had is taken from the next")
  func overtaken() {
    var mirror = ObserveMirror()
    mirror.listBegins()
    var step = mirror.listed([profiles], ObserveListEnd(generation: 7, version: 1, count: 1))
    #expect(step == .take(changed: [profiles], removed: []))
    mirror.listBegins()
    _ = mirror.received(changes(1, of: 8))
    step = mirror.listed([notes], ObserveListEnd(generation: 7, version: 3, count: 1))
    #expect(step == .list, "the store has begun another life meanwhile")
    mirror.listBegins()
    step = mirror.listed([notes], ObserveListEnd(generation: 8, version: 1, count: 1))
    #expect(step == .take(changed: [notes], removed: [profiles.key]))
    #expect(mirror.observes == [notes.key: notes])
  }
}
