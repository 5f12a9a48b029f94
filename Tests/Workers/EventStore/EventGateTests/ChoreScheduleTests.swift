import Clocks
import EventArchive
import EventGate
import Testing

@Suite("The turns of the archive's writer")
struct ChoreScheduleTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  /// A schedule that has swept and rechecked what there was at the start.
  private func rested() -> ChoreSchedule {
    var schedule = ChoreSchedule(now: start)
    for chore in [ArchiveChore.sweep, .recheck] {
      #expect(schedule.nextChore(WriterLoad(), now: start) == chore)
      schedule.choreBegan(chore)
      if chore == .sweep { schedule.swept(0) }
      schedule.ended()
    }
    #expect(schedule.nextChore(WriterLoad(), now: start) == nil)
    return schedule
  }

  private func run(_ schedule: inout ChoreSchedule, _ load: WriterLoad) -> ArchiveChore? {
    let chore = schedule.nextChore(load, now: start)
    if let chore {
      schedule.choreBegan(chore)
      schedule.ended()
    }
    return chore
  }

  @Test("A batch and a chore take turns while both wait")
  func turns() {
    var schedule = rested()
    var load = WriterLoad()
    (load.hasSegmentWork, load.isGateIdle) = (true, false)
    #expect(!schedule.isChoreNext)
    schedule.batchBegan()
    #expect(schedule.isBusy && schedule.isChoreNext)
    schedule.ended()
    #expect(run(&schedule, load) == .segment)
    #expect(!schedule.isChoreNext && !schedule.isBusy)
  }

  @Test("Far above a limit room is made in three slices before the next batch, else in one")
  func room() {
    var schedule = rested()
    schedule.limitsChanged(ArchiveRetention(byteLimit: 1_600))
    for (used, slices) in [(Int64(1_601), 1), (1_701, 3)] {
      var load = WriterLoad()
      (load.usedByteCount, load.isGateIdle) = (used, false)
      schedule.batchBegan()
      schedule.ended()
      var count = 0
      while schedule.isChoreNext {
        #expect(run(&schedule, load) == .evict)
        schedule.evicted(10, isExhausted: false)
        count += 1
      }
      #expect(count == slices && schedule.room == .making)
    }
    #expect(schedule.evictedCount == 40)
  }

  @Test("Where nothing is left that may be removed, it is looked for again after a sweep, or under other limits")
  func exhausted() {
    var schedule = rested()
    schedule.limitsChanged(ArchiveRetention(byteLimit: 1_600))
    var load = WriterLoad()
    load.usedByteCount = 2_000
    #expect(run(&schedule, load) == .evict)
    schedule.evicted(0, isExhausted: true)
    #expect(run(&schedule, load) == nil && schedule.room == .exhausted)
    schedule.limitsChanged(ArchiveRetention(byteLimit: 1_700))
    #expect(run(&schedule, load) == .evict)
    schedule.evicted(0, isExhausted: true)
    #expect(run(&schedule, load) == nil)
    schedule.sweepTimerFired()
    #expect(run(&schedule, load) == .sweep)
    schedule.swept(0)
    #expect(run(&schedule, load) == .recheck && run(&schedule, load) == .evict)
  }

  @Test("Other limits report no room that was not looked for")
  func otherLimits() {
    var schedule = rested()
    schedule.limitsChanged(ArchiveRetention(byteLimit: 1_600))
    var load = WriterLoad()
    load.usedByteCount = 2_000
    #expect(run(&schedule, load) == .evict)
    schedule.sweepTimerFired()
    schedule.limitsChanged(ArchiveRetention(byteLimit: 1_700))
    #expect(run(&schedule, load) == .sweep && schedule.room == .making)
  }

  @Test("Words wait until no event has come for a while; far behind, they get a turn in eight transactions")
  func words() {
    var schedule = rested()
    var load = WriterLoad()
    load.unsearchedCount = 1
    schedule.eventsArrived(at: start)
    #expect(schedule.nextChore(load, now: start.advanced(milliseconds: 249)) == nil)
    #expect(schedule.nextChore(load, now: start.advanced(milliseconds: 250)) == .index)
    load.isGateIdle = false
    #expect(schedule.nextChore(load, now: start.advanced(milliseconds: 250)) == nil)
    load.unsearchedCount = 65_537
    var turns = 0
    for _ in 0..<16 {
      schedule.transactionCommitted()
      if schedule.nextChore(load, now: start) == .index { turns += 1 }
    }
    #expect(turns == 2 && schedule.transactionCount == 16)
  }

  @Test("The scrub waits for its time, and until no event is on its way")
  func scrub() {
    var schedule = rested()
    schedule.scrubTimerFired()
    var load = WriterLoad()
    load.isGateIdle = false
    #expect(run(&schedule, load) == nil)
    #expect(run(&schedule, WriterLoad()) == .scrub && run(&schedule, WriterLoad()) == nil)
  }

  @Test("After a failure no chore is due until the pause ends, and then the same one; batches are written meanwhile")
  func failure() {
    var schedule = rested()
    var load = WriterLoad()
    load.hasTrimWork = true
    #expect(run(&schedule, load) == .trim)
    schedule.choreFailed()
    #expect(run(&schedule, load) == nil)
    schedule.batchBegan()
    schedule.ended()
    schedule.pauseEnded()
    #expect(schedule.isChoreNext && run(&schedule, load) == .trim)
  }

  @Test("Unchecked events are checked slice by slice, and again when a relay is distrusted")
  func rechecking() {
    var schedule = rested()
    schedule.relayDistrusted()
    #expect(run(&schedule, WriterLoad()) == .recheck)
    schedule.recheckedPart()
    #expect(run(&schedule, WriterLoad()) == .recheck && run(&schedule, WriterLoad()) == nil)
  }
}
