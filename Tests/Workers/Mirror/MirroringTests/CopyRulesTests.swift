import Cryptography
import Mirroring
import Nostr
import Testing

/// Which events are to have copies, and when relays are compared.
@Suite("The rules of copies")
struct CopyRulesTests {
  private let secret = SecretKey.generate()

  private func exception(_ kind: UInt16, _ tags: [[String]] = [], isApart: Bool = false, isLocal: Bool = false)
    -> String?
  {
    let event = UnsignedEvent(pubkey: secret.publicKey, createdAt: 100, kind: kind, tags: tags, content: "")
      .signed(by: secret)
    return CopyRules.exception(event, isApart: isApart, isLocal: isLocal, at: 1_000)
  }

  @Test("Notes, lists, deletions, articles and protected events have copies; the rest has a reason")
  func eligible() {
    for kind: UInt16 in [0, 1, 3, 5, 6, 7, 1_111, 10_002, 10_050, 30_023] { #expect(exception(kind) == nil) }
    #expect(exception(1, [["-"]]) == nil && exception(1, [["expiration", "2000"]]) == nil)
    for kind: UInt16 in [4, 13, 62, 1_059, 1_234, 21_059, 20_001, 22_242, 29_999, 30_024, 31_234] {
      #expect(exception(kind) != nil, "\(kind)")
    }
    #expect(exception(1, [["expiration", "1000"]])?.contains("NIP-40") == true)
    #expect(exception(9, [["h", "group"]])?.contains("NIP-29") == true)
    #expect(exception(5, [["k", "1"], ["k", "1059"]]) == nil)
    #expect(exception(5, [["e", "x"], ["k", "1059"]])?.contains("gift wraps") == true)
    #expect(exception(1, isApart: true)?.contains("named") == true)
    #expect(exception(1, isLocal: true)?.contains("not published") == true)
  }

  @Test("Copies by number of relays")
  func counted() {
    #expect(CopyRules.copies(ofEvents: 10, relayCount: 3, missing: [1: 2, 3: 1]) == [1, 0, 2, 7])
    #expect(CopyRules.copies(ofEvents: 0, relayCount: 2, missing: [1: 5]) == [0, 5, 0], "deleted meanwhile")
    #expect(CopyRules.copies(ofEvents: 10, relayCount: 0, missing: [:]) == [])
  }

  @Test("Windows of time have no gap, and events of one second are in one window")
  func windows() {
    #expect(CopyRules.windows([], size: 2) == [])
    #expect(CopyRules.windows([5], size: 2) == [0...5])
    #expect(CopyRules.windows([9, 1, 2, 2, 2, 3], size: 2) == [0...2, 3...9])
    #expect(CopyRules.windows([1, 2, 3, 4], size: 2) == [0...2, 3...4])
    #expect(CopyRules.windows([7, 7, 7], size: 2) == [0...7])
  }

  @Test("Of the named relays as many are used as are lacking")
  func targets() {
    #expect(CopyRules.targets(["b", "a"], ["a", "c", "d"], wanted: 3) == ["a", "b", "c"])
    #expect(CopyRules.targets(["b", "a", "e"], ["c"], wanted: 3) == ["a", "b", "e"])
    #expect(CopyRules.targets([], ["c"], wanted: 3) == ["c"])
  }

  @Test("A round is due at first, after a week, or with other relays; those that failed are tried sooner")
  func schedule() {
    var schedule = CopySchedule(scrubSeconds: 604_800)
    #expect(schedule.nextAt(endedAt: nil, areNew: false, at: 50) == 50)
    #expect(schedule.nextAt(endedAt: 10, areNew: false, at: 50) == 604_810)
    #expect(schedule.nextAt(endedAt: 10, areNew: true, at: 50) == 50)
    #expect(schedule.nextAt(endedAt: 100, areNew: false, at: 50) == 50, "the clock was set back")
    schedule.ended(["a", "b"], failed: ["a"], at: 50)
    #expect(schedule.retried(at: 349) == [] && schedule.retried(at: 350) == ["a"])
    schedule.ended(["a", "b"], failed: ["a"], at: 400)
    #expect(schedule.retried(at: 999) == [] && schedule.retried(at: 1_000) == ["a"])
    for _ in 0..<20 { schedule.ended(["a", "b"], failed: ["a"], at: 1_000) }
    #expect(schedule.retried(at: 999 + CopySchedule.retrySecondsMaximum) == [])
    #expect(schedule.retried(at: 1_000 + CopySchedule.retrySecondsMaximum) == ["a"])
    #expect(schedule.retried(at: 10) == ["a"], "the clock was set back")
    schedule.ended(["b"], failed: [], at: 1_000)
    #expect(schedule.retried(at: 1_000 + CopySchedule.retrySecondsMaximum) == ["a"], "it is another relay")
    schedule.ended(["a"], failed: [], at: 2_000)
    #expect(schedule.retried(at: 1_000_000) == [])
    #expect(CopySchedule(scrubSeconds: 0).nextAt(endedAt: nil, areNew: true, at: 50) == nil)
  }
}
