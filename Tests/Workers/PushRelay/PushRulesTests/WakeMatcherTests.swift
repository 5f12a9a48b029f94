import Clocks
import Cryptography
import Nostr
import PushDelivery
import PushRules
import Testing

@Suite("Watching for events")
struct WakeMatcherTests {
  private let world = World()

  private func moment(_ milliseconds: UInt64) -> PushMoment {
    PushMoment(
      instant: Instant(nanoseconds: 0).advanced(milliseconds: milliseconds), unixMilliseconds: world.now * 1_000)
  }

  private func watch(seq: Int64? = nil, caughtUp: Int64? = 10) -> WakeMatcher {
    var watch = WakeMatcher(judge: EventJudge(), pauseMilliseconds: 30_000, seq: seq)
    let result1 = watch.watch([world.me.publicKey: WakeRules()])
    #expect(result1)
    watch.began(pastIsNews: false)
    if let caughtUp { watch.caughtUp(seq: caughtUp) }
    return watch
  }

  private func note(_ number: Int) -> Event { world.event(1, content: "\(number)") }

  @Test("The first event wakes at once, those of the pause behind it together at its end, each topic by itself")
  func groups() {
    var watch = watch()
    for number in 0..<5 {
      watch.received(note(number), seq: 11 + Int64(number), at: moment(0))
      if number == 0 {
        let result2 = watch.due(at: moment(0).instant)
        #expect(result2.map(\.events) == [[note(0).id]])
      }
    }
    let result3 = watch.due(at: moment(29_999).instant)
    #expect(result3.isEmpty)
    watch.received(world.event(4), seq: 20, at: moment(100))
    let result4 = watch.due(at: moment(100).instant)
    #expect(result4.map(\.topic) == [.message])
    #expect(watch.deadline == moment(30_000).instant)
    let later = watch.due(at: moment(30_000).instant)
    #expect(later.map(\.topic) == [.mention])
    #expect(later.first?.events == (1..<5).map { note($0).id })
    #expect(watch.deadline == nil)
    let result5 = watch.due(at: moment(90_000).instant)
    #expect(result5.isEmpty)
    watch.received(note(9), seq: 30, at: moment(90_000))
    let result6 = watch.due(at: moment(90_000).instant)
    #expect(result6.count == 1)
  }

  @Test("A group keeps the ids of so many events, the last among them")
  func bound() {
    var watch = watch()
    for number in 0..<200 { watch.received(note(number), seq: 11 + Int64(number), at: moment(0)) }
    let events = watch.due(at: moment(0).instant).first?.events ?? []
    #expect(events.count == WakeMatcher.groupMaximum && events.last == note(199).id)
  }

  @Test("What waits for the end of a pause is not behind the place that is kept")
  func place() {
    var watch = watch()
    #expect(watch.place == 10)
    watch.received(note(0), seq: 11, at: moment(0))
    #expect(watch.place == 10)
    _ = watch.due(at: moment(0).instant)
    #expect(watch.place == 11)
    watch.received(note(1), seq: 15, at: moment(1))
    watch.received(world.event(1, by: world.me), seq: 19, at: moment(1))
    #expect(watch.seq == 19 && watch.place == 11)
    _ = watch.due(at: moment(30_000).instant)
    #expect(watch.place == 19)
  }

  @Test("What was stored before somebody was watched for is history; what comes after a break is not, if it is new")
  func history() {
    var watch = watch(seq: 5, caughtUp: nil)
    watch.received(note(0), seq: 6, at: moment(0))
    #expect(!watch.isFollowing(world.me.publicKey))
    watch.caughtUp(seq: 7)
    let result7 = watch.due(at: moment(0).instant)
    #expect(watch.isFollowing(world.me.publicKey) && result7.isEmpty)
    watch.ended()
    watch.began(pastIsNews: false)
    watch.received(world.event(1_059), seq: 8, at: moment(0))
    #expect(watch.counts.dismissed == [.old: 1])
    watch.received(note(1), seq: 9, at: moment(0))
    let result8 = watch.due(at: moment(0).instant)
    #expect(result8.map(\.topic) == [.mention])
    watch.began(pastIsNews: true)
    watch.received(world.event(1_059), seq: 12, at: moment(0))
    let result9 = watch.due(at: moment(0).instant)
    #expect(result9.map(\.topic) == [.message])
    let other = world.other.publicKey
    let result10 = watch.watch([world.me.publicKey: WakeRules(), other: WakeRules()])
    #expect(result10)
    let result11 = watch.watch([world.me.publicKey: WakeRules(), other: World.all])
    #expect(!result11)
    watch.began(pastIsNews: true)
    watch.received(world.event(1, by: world.me, tags: [["p", other.description]]), seq: 13, at: moment(0))
    let result12 = watch.due(at: moment(60_000).instant)
    #expect(result12.isEmpty)
  }

  @Test("A key that was watched for before the process died is no new one")
  func known() {
    var watch = WakeMatcher(judge: EventJudge(), pauseMilliseconds: 0, seq: 5)
    _ = watch.watch([world.me.publicKey: WakeRules()], known: [world.me.publicKey])
    watch.began(pastIsNews: false)
    watch.received(note(0), seq: 6, at: moment(0))
    let result13 = watch.due(at: moment(0).instant)
    #expect(result13.count == 1)
  }

  @Test("The newest mute list counts, and goes with its owner")
  func lists() {
    var watch = watch()
    let author = world.other.publicKey.description
    watch.received(world.list([["p", author]]), seq: 11, at: moment(0))
    watch.received(world.list([], age: 10), seq: 12, at: moment(0))
    watch.received(note(0), seq: 13, at: moment(0))
    #expect(watch.counts.dismissed == [.muted: 1])
    watch.received(world.list([]), seq: 14, at: moment(0))
    watch.received(note(0), seq: 15, at: moment(0))
    let result14 = watch.due(at: moment(0).instant)
    #expect(result14.count == 1)
    let result15 = watch.watch([:])
    #expect(result15)
    #expect(watch.keys.isEmpty && watch.deadline == nil)
  }

  @Test("Another store is read from its end")
  func otherStore() {
    var watch = watch()
    watch.storeChanged()
    #expect(watch.seq == nil && watch.place == nil)
    watch.began(pastIsNews: true)
    watch.caughtUp(seq: 2)
    #expect(watch.place == 2)
  }
}
