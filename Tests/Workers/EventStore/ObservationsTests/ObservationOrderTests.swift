// An observation against a model of its shell: an archive of seqs, a caller with credit, a task whose steps take time.
// The order of announcements, of reads and of credit is drawn.
import Clocks
import Contracts
import Frames
import Nostr
import NostrContracts
import Observations
import TestSupport
import Testing

@Suite("The order of an observation")
struct ObservationOrderTests {
  @Test("Each seq is sent once and in order, whatever comes first: announcements, credit, reads", arguments: seeds(12))
  func eachOnce(seed: UInt64) {
    for isPaged in [false, true] {
      var shell = ModelShell(seed: seed, isPaged: isPaged)
      shell.run()
      shell.settle()
      shell.check()
    }
  }

  @Test("An end that comes at any time ends it, and what was sent until then has no gap", arguments: seeds(12))
  func ends(seed: UInt64) {
    var shell = ModelShell(seed: seed, isPaged: seed % 2 == 0)
    shell.run()
    shell.drain()
    shell.settle()
    #expect(shell.ending?.code == .unavailable)
    shell.checkOrder()
  }
}

private struct ModelShell {
  /// An event of the archive, by its seq, or an ephemeral one, by a number below 0.
  struct Sent: Hashable {
    let number: Int64
    let byteCount: Int
  }

  private var machine: ObservationMachine
  private var generator: SeededGenerator
  private let isPaged: Bool
  private let storedCount: Int64
  private let start: Int64
  private let isResumed: Bool

  /// What is stored and matches.
  private var archive: [Sent] = []
  private var announcedSeq: Int64
  private var ephemeralCount: Int64 = 0
  private var waitingByteCountOfOthers = 0

  private var waiting: [[Sent]] = []
  private var page: [Sent] = []
  private var isDue = false
  private var credit = 0

  private var step: ObservationMachine.Step?
  /// What the step still sends, and whether it has read that.
  private var toSend: [[Sent]] = []
  private var isRead = false

  private var sent: [Sent] = []
  private(set) var ending: Refusal?
  private var ends: [(seq: Int64, sentCount: Int)] = []

  init(seed: UInt64, isPaged: Bool) {
    var generator = SeededGenerator(seed: seed)
    self.isPaged = isPaged
    storedCount = Int64.random(in: 0...60, using: &generator)
    isResumed = Bool.random(using: &generator)
    start = isResumed ? Int64.random(in: 0...storedCount, using: &generator) : 0
    announcedSeq = 0
    machine = ObservationMachine(
      ObservePlan([Filter(kinds: [1])], policy: .cacheOnly), after: isResumed ? start : nil, announcedSeq: storedCount,
      sightingEnd: 0, isPaged: isPaged, partByteMaximum: 1 << 20)
    self.generator = generator
    for _ in 0..<storedCount { _ = store() }
    beginStep()
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  // MARK: What happens

  /// Times in which the caller reads, and in which it does not.
  mutating func run() {
    for readsPercent in [0, 0, 5, 60, 100, 100].shuffled(using: &generator) {
      waitingByteCountOfOthers = chance(15) ? ObservationMachine.waitingByteMaximumOfAll - 5_000 : 0
      for count in 0..<400 {
        if chance(readsPercent) { credit += Int.random(in: 1...3, using: &generator) }
        if chance(70) { progress() } else { announceSome() }
        if count % 20 == 0 { checkBounds() }
      }
    }
  }

  private mutating func store() -> Sent? {
    announcedSeq += 1
    guard chance(80) else { return nil }
    let event = Sent(number: announcedSeq, byteCount: Int.random(in: 100...12_000, using: &generator))
    archive.append(event)
    return event
  }

  private mutating func announceSome() {
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      if chance(15) {
        ephemeralCount += 1
        announce(Sent(number: -ephemeralCount, byteCount: 500), seq: nil)
      } else if let event = store() {
        announce(event, seq: event.number)
      }
    }
    guard isDue else { return }
    isDue = false
    perform(machine.allAnnounced())
  }

  private mutating func announce(_ event: Sent, seq: Int64?) {
    let announced = ObservationMachine.Event(seq: seq, relay: nil, byteCount: event.byteCount)
    let all = waitingByteCountOfOthers + machine.waitingByteCount
    var intake = machine.announced(announced, relays: nil, waitingByteCountOfAll: all)
    if intake == .sendNow {
      if sendNow([event]) { return machine.sent(announced) }
      intake = machine.foundNoRoom(for: announced, waitingByteCountOfAll: all)
    }
    switch intake {
    case .queue: queue(event, announced)
    case .wake: perform(.wake)
    case .ignore: break
    case .sendNow, .leaveOut: Issue.record("\(intake)")
    }
  }

  private mutating func queue(_ event: Sent, _ announced: ObservationMachine.Event) {
    guard isPaged else {
      waiting.append([event])
      return perform(machine.queued(announced, byteCount: event.byteCount))
    }
    let isFull = page.reduce(event.byteCount) { $0 + $1.byteCount } > 64 << 10
    if isFull { waiting.append(page) }
    page = (isFull ? [] : page) + [event]
    perform(machine.queued(announced, byteCount: event.byteCount))
    if isFull { perform(machine.pageFilled()) }
  }

  /// The store is to finish.
  mutating func drain() { perform(machine.drained()) }

  private mutating func perform(_ action: ObservationMachine.Action) {
    switch action {
    case .none: break
    case .wake:
      #expect(step == .sleep && !isRead, "a task is woken once")
      isRead = true
    case .awaitAnnouncements:
      #expect(!isDue)
      isDue = true
    case .sendPage:
      if !page.isEmpty { waiting.append(page) }
      page = []
      sendParts()
    case .sendParts: sendParts()
    }
  }

  private mutating func sendParts() {
    while let part = waiting.first {
      guard sendNow(part) else { return perform(machine.foundNoRoom()) }
      waiting.removeFirst()
      machine.tookPart(byteCount: part.reduce(0) { $0 + $1.byteCount })
    }
  }

  private mutating func sendNow(_ part: [Sent]) -> Bool {
    guard credit > 0 else { return false }
    credit -= 1
    sent += part
    return true
  }

  // MARK: Steps

  private mutating func beginStep() {
    let next = machine.stepEnded(announcedSeq: announcedSeq, sightingEnd: 0)
    (step, toSend, isRead) = (next, [], false)
    switch next {
    case .sendStored(let seq): toSend = archive.filter { $0.number <= seq }.reversed().map { [$0] }
    case .sendPart:
      let part = waiting.isEmpty ? page : waiting.removeFirst()
      if part == page { page = [] }
      machine.tookPart(byteCount: part.reduce(0) { $0 + $1.byteCount })
      toSend = [part]
    case .end(let refusal): ending = refusal
    case .read, .tellEnd, .sleep: break
    case .readSightings: Issue.record("it watches no sightings")
    }
  }

  /// Does the next thing that the step is for, if that is possible now.
  private mutating func progress() {
    guard let step, ending == nil else { return }
    if case .read(let seq, let end) = step, !isRead {
      isRead = true
      let last = Int64.random(in: seq + 1...end, using: &generator)
      toSend = archive.filter { $0.number > seq && $0.number <= last }.map { [$0] }
      return machine.read(upTo: last)
    }
    if step == .sleep, !isRead { return }
    if case .tellEnd(let end) = step, ends.isEmpty {
      guard credit > 0 else { return }
      credit -= 1
      return ends.append((end.seq, sent.count))
    }
    let isWanted = machine.isWanted || step == .sendPart
    guard isWanted, let part = toSend.first else {
      if case .sendStored = step { machine.sentStored(isComplete: true, unsearched: nil, leftOutCount: 0) }
      return beginStep()
    }
    if sendNow(part) { toSend.removeFirst() }
  }

  /// Until there is nothing more to do.
  mutating func settle() {
    waitingByteCountOfOthers = 0
    for _ in 0..<100_000 where !isSettled {
      credit = 1
      progress()
    }
    #expect(isSettled)
  }

  private var isSettled: Bool { ending != nil || step == .sleep && !isRead }

  // MARK: What must hold

  private func checkBounds() {
    let parts = waiting + [page]
    #expect(machine.waitingByteCount == parts.joined().reduce(0) { $0 + $1.byteCount })
    #expect(machine.waitingByteCount <= ObservationMachine.waitingByteMaximum)
    #expect(isPaged || waiting.count <= ObservationMachine.waitingMaximum)
  }

  func checkOrder() {
    let seqs = sent.map(\.number).filter { $0 > 0 }
    var wanted = archive.map(\.number).filter { $0 > start }
    if !isResumed { wanted = wanted.filter { $0 <= storedCount }.reversed() + wanted.filter { $0 > storedCount } }
    #expect(seqs == Array(wanted.prefix(seqs.count)))
    let ephemeral = sent.map(\.number).filter { $0 < 0 }
    #expect(ephemeral == ephemeral.sorted(by: >) && Set(ephemeral).count == ephemeral.count)
  }

  func check() {
    checkOrder()
    let seqs = sent.map(\.number).filter { $0 > 0 }
    #expect(seqs.count == archive.count { $0.number > start })
    #expect(waiting.isEmpty && page.isEmpty && machine.waitingByteCount == 0)
    #expect(ends.count == 1)
    guard let end = ends.first else { return }
    let before = sent.prefix(end.sentCount).map(\.number).filter { $0 > 0 }
    #expect(Set(before) == Set(archive.map(\.number).filter { $0 > start && $0 <= end.seq }))
  }
}
