import Contracts
import Frames
import Nostr
import NostrContracts
import Observations
import Testing

/// One observation, whose archive and whose caller are the test.
@Suite("An observation")
struct ObservationMachineTests {
  private typealias Event = ObservationMachine.Event

  private static let cancelled = Refusal(.cancelled, "cancelled by the caller", outcome: .done)
  private static let replaced = Refusal(.replaced, "observed again under the same id", outcome: .done)
  private static let drained = Refusal(
    .unavailable, "the event store is stopping; observe again after the last seq received", outcome: .done,
    retryAfterMilliseconds: 500)
  private static let unreadable = Refusal(.unavailable, "the database cannot be read", outcome: .done)

  private static let partByteMaximum = 1 << 21

  /// One that begins when everything up to seq 10 has been announced.
  private static func new(
    after seq: Int64? = nil, policy: ObservePolicy = .cacheOnly, relays: [String] = [], isPaged: Bool = false
  ) -> ObservationMachine {
    let plan = ObservePlan(
      [Filter(kinds: [1])], policy: policy, relays: relays, isExclusive: !relays.isEmpty, recipients: nil)
    return ObservationMachine(
      plan, after: seq, announcedSeq: 10, sightingEnd: 0, isPaged: isPaged, partByteMaximum: partByteMaximum)
  }

  /// One that sleeps, and has been sent everything up to seq 10.
  private static func asleep(
    policy: ObservePolicy = .cacheOnly, relays: [String] = [], isPaged: Bool = false
  ) -> ObservationMachine {
    var machine = new(after: 10, policy: policy, relays: relays, isPaged: isPaged)
    #expect(machine.next() == .tellEnd(StoredEnd(seq: 10)))
    #expect(machine.next() == .sleep)
    return machine
  }

  /// One that sends a part to a caller without room: the event 11.
  private static func sending(isPaged: Bool = false) -> ObservationMachine {
    var machine = asleep(isPaged: isPaged)
    machine.queue(11)
    if isPaged { #expect(machine.foundNoRoom() == .wake) }
    #expect(machine.next(announced: 11) == .sendPart)
    machine.tookPart(byteCount: 100)
    return machine
  }

  // MARK: To the end of the stored events

  @Test("Stored events come first, then their end, then it sleeps")
  func stored() {
    var machine = Self.new()
    #expect(machine.next() == .sendStored(upTo: 10))
    machine.sentStored(isComplete: true, unsearched: nil, leftOutCount: 0)
    #expect(machine.next() == .tellEnd(StoredEnd(seq: 10, isComplete: true)))
    #expect(machine.next() == .sleep)
  }

  @Test("The end says what is known of completeness: nothing when seqs were not searched, or an event did not fit")
  func completeness() {
    func end(_ isComplete: Bool?, unsearched: Int64? = nil, leftOut: Int = 0) -> ObservationMachine.Step {
      var machine = Self.new()
      _ = machine.next()
      machine.sentStored(isComplete: isComplete, unsearched: unsearched, leftOutCount: leftOut)
      return machine.next()
    }
    #expect(end(false) == .tellEnd(StoredEnd(seq: 10, isComplete: false)))
    #expect(end(nil) == .tellEnd(StoredEnd(seq: 10)))
    #expect(end(true, unsearched: 3) == .tellEnd(StoredEnd(seq: 10, unsearched: 3)))
    #expect(end(true, leftOut: 1) == .tellEnd(StoredEnd(seq: 10)))
  }

  @Test("A resumed observation reads on after its seq, block after block, up to what was announced when it began")
  func resumed() {
    var machine = Self.new(after: 3)
    #expect(machine.next() == .read(after: 3, upTo: 10))
    machine.read(upTo: 7)
    #expect(machine.next(announced: 12) == .read(after: 7, upTo: 10))
    machine.read(upTo: 10)
    #expect(machine.next(announced: 12) == .tellEnd(StoredEnd(seq: 10)))
    #expect(machine.next(announced: 12) == .read(after: 10, upTo: 12))
  }

  @Test("Without stored events, or with nothing after the caller's seq, the end comes at once")
  func nothingStored() {
    var network = Self.new(policy: .networkOnly)
    #expect(network.next() == .tellEnd(StoredEnd(seq: 10)))
    var resumed = Self.new(after: 10)
    #expect(resumed.next() == .tellEnd(StoredEnd(seq: 10)))
    #expect(resumed.next() == .sleep)
  }

  @Test("What is announced while stored events are sent is left to the archive, and read before the end")
  func announcedMeanwhile() {
    var machine = Self.new()
    _ = machine.next()
    #expect(machine.announce(11) == .ignore)
    machine.sentStored(isComplete: true, unsearched: nil, leftOutCount: 0)
    #expect(machine.next(announced: 11) == .read(after: 10, upTo: 11))
    #expect(machine.announce(12) == .ignore)
    machine.read(upTo: 11)
    #expect(machine.next(announced: 12) == .tellEnd(StoredEnd(seq: 11, isComplete: true)))
    #expect(machine.announce(13) == .ignore)
    #expect(machine.next(announced: 13) == .read(after: 11, upTo: 13))
    #expect(machine.announce(14) == .ignore)
    machine.read(upTo: 13)
    #expect(machine.next(announced: 14) == .read(after: 13, upTo: 14))
    machine.read(upTo: 14)
    #expect(machine.next(announced: 14) == .sleep)
    #expect(machine.announce(15) == .sendNow)
  }

  // MARK: Live

  @Test("An event is sent at once while it sleeps, and no event twice")
  func sentAtOnce() {
    var machine = Self.asleep()
    #expect(machine.announce(10) == .ignore)
    #expect(machine.announce(11) == .sendNow)
    machine.sent(Event(seq: 11))
    #expect(machine.announce(11) == .ignore)
    #expect(machine.announce(12) == .sendNow)
    #expect(machine.waitingByteCount == 0)
  }

  @Test("An event for which the caller has no room waits, and wakes the task once; what follows waits behind it")
  func waits() {
    var machine = Self.asleep()
    #expect(machine.announce(11) == .sendNow)
    #expect(machine.foundNoRoom(for: Event(seq: 11), waitingByteCountOfAll: 0) == .queue)
    #expect(machine.queued(Event(seq: 11), byteCount: 90) == .wake)
    #expect(machine.announce(12) == .queue)
    #expect(machine.queued(Event(seq: 12), byteCount: 100) == .none)
    #expect(machine.waitingByteCount == 190)
    #expect(machine.next(announced: 12) == .sendPart)
    machine.tookPart(byteCount: 90)
    #expect(machine.next(announced: 12) == .sendPart)
    machine.tookPart(byteCount: 100)
    #expect(machine.next(announced: 12) == .sleep)
    #expect(machine.announce(13) == .sendNow)
  }

  @Test("Events that the filters do not match are not read from the archive")
  func unmatched() {
    var machine = Self.sending()
    #expect(machine.next(announced: 15) == .sleep)
    #expect(machine.announce(16) == .sendNow)
  }

  @Test("While a part is sent, an event waits although no other does")
  func waitsBehindTheStep() {
    var machine = Self.sending()
    #expect(machine.waitingByteCount == 0)
    #expect(machine.announce(12) == .queue)
    #expect(machine.queued(Event(seq: 12), byteCount: 100) == .none)
  }

  @Test("An event that no frame can carry is left out, and is not read later")
  func leftOut() {
    var machine = Self.asleep()
    #expect(machine.announce(11, byteCount: Self.partByteMaximum) == .sendNow)
    #expect(machine.announce(11, byteCount: Self.partByteMaximum + 1) == .leaveOut)
    #expect(machine.announce(11) == .ignore)
    #expect(machine.announce(nil, byteCount: Self.partByteMaximum + 1) == .leaveOut)
    #expect(machine.announce(12) == .sendNow)
    var behind = Self.new(after: 3)
    _ = behind.next()
    #expect(behind.announce(11, byteCount: Self.partByteMaximum + 1) == .ignore)
  }

  // MARK: Bounds

  @Test("256 events wait; the next is left to the archive, and read when these are sent")
  func countBound() {
    var machine = Self.sending()
    for seq in 12..<Int64(12 + ObservationMachine.waitingMaximum) { machine.queue(seq) }
    #expect(machine.announce(nil) == .ignore, "an ephemeral event is lost, and is no reason to read")
    machine.tookPart(byteCount: 100)
    machine.queue(268)
    #expect(machine.announce(269) == .ignore)
    machine.tookPart(byteCount: 100)
    #expect(machine.announce(270) == .ignore, "there is room, and 269 comes first")
    for _ in 1..<ObservationMachine.waitingMaximum {
      #expect(machine.next(announced: 270) == .sendPart)
      machine.tookPart(byteCount: 100)
    }
    #expect(machine.next(announced: 270) == .read(after: 268, upTo: 270))
    machine.read(upTo: 270)
    #expect(machine.next(announced: 270) == .sleep)
    #expect(machine.announce(271) == .sendNow)
  }

  @Test("One MiB waits, and not a byte more", arguments: [false, true])
  func byteBound(isPaged: Bool) {
    let most = ObservationMachine.waitingByteMaximum
    var machine = Self.sending(isPaged: isPaged)
    machine.queue(12, byteCount: most - 100)
    #expect(machine.announce(nil, byteCount: 101) == .ignore)
    machine.queue(13, byteCount: 100)
    #expect(machine.announce(14, byteCount: 1) == .ignore)
    #expect(machine.next(announced: 14) == .sendPart)
    machine.tookPart(byteCount: most)
    #expect(machine.next(announced: 14) == .read(after: 13, upTo: 14))
  }

  @Test("What all observers have waiting is bounded, too")
  func boundOfAll() {
    let most = ObservationMachine.waitingByteMaximumOfAll
    var machine = Self.sending()
    #expect(machine.announce(12, waitingOfAll: most - 100) == .queue)
    #expect(machine.announce(12, byteCount: 101, waitingOfAll: most - 100) == .ignore)
    #expect(machine.next(announced: 12) == .read(after: 11, upTo: 12))
  }

  @Test("An event that may not wait wakes the task, which reads it from the archive")
  func wakesToRead() {
    var machine = Self.asleep()
    #expect(machine.announce(11) == .sendNow)
    let most = ObservationMachine.waitingByteMaximumOfAll
    #expect(machine.foundNoRoom(for: Event(seq: 11), waitingByteCountOfAll: most) == .wake)
    #expect(machine.announce(12) == .ignore)
    #expect(machine.announce(nil) == .sendNow, "an ephemeral event waits for nothing")
    #expect(machine.next(announced: 12) == .read(after: 10, upTo: 12))
  }

  @Test("While it is behind, ephemeral events wait, and come before what is read next")
  func ephemeralWhileBehind() {
    var machine = Self.new(after: 3)
    #expect(machine.next() == .read(after: 3, upTo: 10))
    machine.queue(nil)
    machine.read(upTo: 10)
    #expect(machine.next(announced: 11) == .tellEnd(StoredEnd(seq: 10)))
    #expect(machine.next(announced: 11) == .sendPart)
    machine.tookPart(byteCount: 100)
    #expect(machine.next(announced: 11) == .read(after: 10, upTo: 11))
    machine.queue(nil)
    machine.read(upTo: 11)
    #expect(machine.next(announced: 11) == .sendPart, "it has read all: from here events wait in their order")
    machine.tookPart(byteCount: 100)
    machine.queue(12)
    #expect(machine.next(announced: 12) == .sendPart)
    machine.tookPart(byteCount: 100)
    #expect(machine.next(announced: 12) == .sleep)
  }

  @Test("After the end of the stored events, what is announced is read until the archive has no more")
  func behindAfterTheEnd() {
    var machine = Self.new(after: 10)
    #expect(machine.next() == .tellEnd(StoredEnd(seq: 10)))
    machine.queue(nil)
    #expect(machine.next() == .sendPart)
    machine.tookPart(byteCount: 100)
    #expect(machine.announce(11) == .ignore)
    #expect(machine.next(announced: 11) == .read(after: 10, upTo: 11))
  }

  // MARK: Pages

  @Test("A page is sent when all is announced, and the shell is asked for that once")
  func page() {
    var machine = Self.asleep(isPaged: true)
    #expect(machine.announce(11) == .queue)
    #expect(machine.queued(Event(seq: 11), byteCount: 100) == .awaitAnnouncements)
    #expect(machine.announce(12) == .queue)
    #expect(machine.queued(Event(seq: 12), byteCount: 100) == .none)
    #expect(machine.allAnnounced() == .sendPage)
    machine.tookPart(byteCount: 200)
    #expect(machine.announce(13) == .queue)
    #expect(machine.queued(Event(seq: 13), byteCount: 100) == .awaitAnnouncements)
    #expect(machine.allAnnounced() == .sendPage)
    #expect(machine.foundNoRoom() == .wake)
    #expect(machine.foundNoRoom() == .none)
    #expect(machine.next(announced: 13) == .sendPart)
  }

  @Test("A full page is sent without waiting for the rest, unless a step is under way")
  func fullPage() {
    var machine = Self.asleep(isPaged: true)
    machine.queue(11)
    #expect(machine.pageFilled() == .sendParts)
    var busy = Self.sending(isPaged: true)
    busy.queue(12)
    #expect(busy.pageFilled() == .none)
    #expect(busy.allAnnounced() == .none)
    #expect(busy.next(announced: 12) == .sendPart)
  }

  @Test("Of a page only bytes are bounded")
  func pageHasNoCount() {
    var machine = Self.asleep(isPaged: true)
    for seq in 11...Int64(11 + 2 * ObservationMachine.waitingMaximum) { machine.queue(seq) }
    #expect(machine.waitingByteCount == (2 * ObservationMachine.waitingMaximum + 1) * 100)
  }

  // MARK: Sightings

  @Test("Under network-only only events of relays count, of stored ones too, each once")
  func sightings() throws {
    var machine = Self.asleep(policy: .networkOnly)
    #expect(machine.announce(11, relay: nil) == .ignore)
    #expect(machine.announce(11, relay: 1) == .sendNow)
    machine.sent(Event(seq: 11))
    #expect(machine.sighted() == .wake)
    #expect(machine.sighted() == .none)
    #expect(machine.next(announced: 11, sightings: 3) == .readSightings(from: 0))
    machine.queue(12, relay: 1)
    let page = [
      Sighting(seq: 4, relay: 1, isNew: false), Sighting(seq: 4, relay: 2, isNew: true),
      Sighting(seq: 2, relay: 1, isNew: false),
    ]
    #expect(try machine.tookSightings(page, relays: nil) == [4, 2])
    #expect(machine.next(announced: 12, sightings: 4) == .sendPart)
    machine.tookPart(byteCount: 100)
    #expect(machine.next(announced: 12, sightings: 4) == .readSightings(from: 3))
    #expect(try machine.tookSightings([page[0]], relays: nil).isEmpty)
    #expect(machine.next(announced: 12, sightings: 4) == .sleep)
  }

  @Test("Where only some relays count, so does a stored event that such a relay sends for the first time")
  func exclusiveSightings() throws {
    var machine = Self.asleep(relays: ["wss://a"])
    #expect(machine.announce(11, relay: 2, of: [1]) == .ignore)
    #expect(machine.announce(11, relay: nil, of: [1]) == .ignore)
    #expect(machine.announce(11, relay: 1, of: []) == .ignore)
    #expect(machine.announce(11, relay: 1, of: [1]) == .sendNow)
    machine.sent(Event(seq: 11))
    _ = machine.sighted()
    #expect(machine.next(announced: 11, sightings: 3) == .readSightings(from: 0))
    let page = [
      Sighting(seq: 4, relay: 1, isNew: false), Sighting(seq: 5, relay: 2, isNew: true),
      Sighting(seq: 6, relay: 1, isNew: true),
    ]
    #expect(try machine.tookSightings(page, relays: [1]) == [6])
  }

  @Test("Events that are behind come before sightings; without such a policy sightings are not looked at")
  func sightingsLast() {
    var machine = Self.new(after: 10, policy: .networkOnly)
    _ = machine.next()
    #expect(machine.next(announced: 11, sightings: 1) == .read(after: 10, upTo: 11))
    machine.read(upTo: 11)
    #expect(machine.next(announced: 11, sightings: 1) == .readSightings(from: 0))
    var other = Self.new(after: 10)
    _ = other.next()
    #expect(other.next(sightings: 1) == .sleep)
  }

  @Test("The answer ends when the log has dropped sightings that were not looked at")
  func droppedSightings() {
    var machine = Self.asleep(policy: .networkOnly)
    _ = machine.sighted()
    _ = machine.next(sightings: 1)
    do throws(Refusal) {
      _ = try machine.tookSightings(nil, relays: nil)
      Issue.record("sightings were missed")
    } catch {
      #expect(error.code == .missed)
      #expect(machine.stepFailed(error) == .end(error))
    }
  }

  @Test("Beyond 4,096 the sent sightings are forgotten")
  func forgottenSightings() throws {
    func isRepeated(after count: Int) throws -> Bool {
      var machine = Self.asleep(policy: .networkOnly)
      _ = machine.sighted()
      _ = machine.next(sightings: 1)
      let page = (1...Int64(count)).map { Sighting(seq: $0, relay: 1, isNew: true) }
      #expect(try machine.tookSightings(page, relays: nil).count == count)
      return try machine.tookSightings([page[0]], relays: nil) == [1]
    }
    #expect(try !isRepeated(after: ObservationMachine.sightedMaximum))
    #expect(try isRepeated(after: ObservationMachine.sightedMaximum + 1))
  }

  // MARK: The end

  @Test("A caller that cancels, one that observes again, and a store that stops end the sleep and the answer")
  func ends() {
    let ends: [(Refusal, (inout ObservationMachine) -> ObservationMachine.Action)] = [
      (Self.cancelled, { $0.cancelled() }), (Self.replaced, { $0.replaced() }), (Self.drained, { $0.drained() }),
    ]
    for (refusal, end) in ends {
      var machine = Self.asleep()
      #expect(machine.isWanted)
      #expect(end(&machine) == .wake)
      #expect(!machine.isWanted)
      #expect(machine.drained() == .none, "the first reason counts")
      #expect(machine.next() == .end(refusal))
      #expect(machine.announce(11) == .ignore)
      #expect(machine.allAnnounced() == .none && machine.sighted() == .none)
    }
  }

  @Test("An end comes before whatever would be next, in each step")
  func endsInAStep() {
    var stored = Self.new()
    _ = stored.next()
    var read = Self.new(after: 3)
    _ = read.next()
    var told = Self.new(after: 10)
    _ = told.next()
    var behind = told
    _ = behind.next(announced: 11)
    var sightings = Self.new(after: 10, policy: .networkOnly)
    _ = sightings.next()
    _ = sightings.next(sightings: 1)
    for before in [Self.new(), stored, read, told, behind, sightings, Self.sending()] {
      var machine = before
      #expect(machine.cancelled() == .none)
      #expect(machine.next(announced: 12, sightings: 2) == .end(Self.cancelled))
    }
  }

  @Test("An answer that was ended during a read counts that read, and is not told the end of the stored events")
  func endsWhileReading() {
    var machine = Self.new(after: 3)
    _ = machine.next()
    #expect(machine.drained() == .none)
    machine.read(upTo: 10)
    #expect(!machine.isWanted)
    #expect(machine.next() == .end(Self.drained))
  }

  @Test("A step that fails ends the answer, for the reason that was there before, if there was one")
  func fails() {
    var failed = Self.sending()
    #expect(failed.stepFailed(Self.unreadable) == .end(Self.unreadable))
    #expect(failed.announce(12) == .ignore)
    var cancelled = Self.sending()
    _ = cancelled.cancelled()
    #expect(cancelled.stepFailed(Self.unreadable) == .end(Self.cancelled))
  }
}

extension ObservationMachine.Event {
  fileprivate init(seq: Int64?) { self.init(seq: seq, relay: nil, byteCount: 100) }
}

extension ObservationMachine {
  fileprivate mutating func next(announced seq: Int64 = 10, sightings: UInt64 = 0) -> Step {
    stepEnded(announcedSeq: seq, sightingEnd: sightings)
  }

  fileprivate mutating func announce(
    _ seq: Int64?, relay: Int64? = nil, of relays: Set<Int64>? = nil, byteCount: Int = 100, waitingOfAll: Int = 0
  ) -> Intake {
    announced(
      Event(seq: seq, relay: relay, byteCount: byteCount), relays: relays, waitingByteCountOfAll: waitingOfAll)
  }

  /// An event is announced that is not sent at once.
  fileprivate mutating func queue(_ seq: Int64?, relay: Int64? = nil, byteCount: Int = 100) {
    let event = Event(seq: seq, relay: relay, byteCount: byteCount)
    var intake = announced(event, relays: nil, waitingByteCountOfAll: 0)
    if intake == .sendNow { intake = foundNoRoom(for: event, waitingByteCountOfAll: 0) }
    #expect(intake == .queue)
    _ = queued(event, byteCount: byteCount)
  }
}
