import Clocks
import Contracts
import Cryptography
import Frames
import Nostr
import PublishQueue
import Testing

@Suite("The publish queue")
struct QueueTests {
  static let alpha = "wss://alpha.example"
  static let beta = "wss://beta.example"

  @Test("goes from optimistic over partial to confirmed, and is forgotten when that is written down")
  func confirmed() {
    let bench = Bench()
    let id = bench.publish(Self.alpha, Self.beta)
    #expect(bench.told(id)?.state == .optimistic && bench.inFlight.count == 2)
    #expect(bench.queue.isRecorded(id), "that it is on its way is written nowhere")
    bench.settle(SendingKey(id: id, relay: Self.alpha), .taken(""))
    #expect(bench.told(id)?.state == .partial && bench.target(id, Self.alpha)?.confirmedAt == bench.moment.time)
    #expect(!bench.queue.isRecorded(id))
    bench.settle(SendingKey(id: id, relay: Self.beta), .taken("duplicate: have it"))
    #expect(bench.told(id)?.state == .confirmed && bench.queue.count == 1)
    bench.write()
    #expect(bench.queue.count == 0 && bench.ledger[id]?.state == .confirmed)
  }

  @Test("sends to one relay in the order of acceptance, no more at a time than the bound, and lanes take turns")
  func orderAndBounds() {
    var limits = PublishLimits()
    limits.inFlightMaximum = 20
    let bench = Bench(limits: limits)
    let ids = (0..<60).map { _ in bench.publish(Self.alpha) }
    #expect(bench.order(at: Self.alpha) == Array(ids[..<16]))
    let later = (0..<30).map { _ in bench.publish(Self.beta) }
    #expect(bench.order(at: Self.beta) == Array(later[..<4]), "the bound of all together")
    while let key = bench.inFlight.keys.min(by: { $0.id < $1.id }) { bench.settle(key, .taken("")) }
    #expect(bench.order(at: Self.alpha) == ids && bench.order(at: Self.beta) == later)
    let firsts = bench.sendings[20..<40].map(\.key.relay)
    #expect(firsts.contains(Self.alpha) && firsts.contains(Self.beta))
  }

  @Test(
    "takes each class of answer for what it is",
    arguments: [
      (true, "", "taken"), (true, "duplicate: have this event", "taken"), (false, "duplicate: exists", "taken"),
      (false, "rate-limited: slow down", "limited"), (false, "auth-required: who are you", "unauthorized"),
      (false, "error: database", "failing"), (false, "", "rejected"), (false, "no prefix at all", "rejected"),
      (false, "shadow-banned: ask later", "rejected"), (false, "restricted: not yours", "refused"),
      (false, "blocked: no", "refused"), (false, "invalid: bad", "refused"), (false, "pow: 28 bits", "refused"),
      (false, "mute: nobody", "refused"), (false, "deleted: it was", "refused"),
      (false, "replaced: have newer event", "refused"), (false, "unsupported: kind", "refused"),
    ])
  func answers(isAccepted: Bool, message: String, kind: String) {
    let answer = RelayPublishResult(relay: Self.alpha, id: "", isAccepted: isAccepted, message: message)
    #expect("\(SendOutcome(answer))".hasPrefix(kind))
  }

  @Test("never sends to this house's own relay again")
  func ownRelay() {
    #expect(SendOutcome(Refusal("out-of-bounds", "it has 9 tags", outcome: .notStarted)) == .refused("it has 9 tags"))
    #expect(SendOutcome(Refusal(.ownRelay, "that is us", outcome: .notStarted)) == .refused("that is us"))
  }

  @Test("gives a relay that fails up after some attempts, each longer apart, and keeps its words")
  func rejected() {
    let bench = Bench()
    let id = bench.publish(Self.alpha, Self.beta)
    bench.settle(SendingKey(id: id, relay: Self.beta), .taken(""))
    var count = 0
    while let key = bench.inFlight.keys.first {
      count += 1
      bench.settle(key, .rejected("not today"))
      bench.advance(milliseconds: 400_000)
    }
    #expect(count == bench.limits.rejectionMaximum)
    let target = bench.target(id, Self.alpha)
    #expect(target?.state == .failed && target?.message == "not today" && target?.attempts == count)
    #expect(bench.told(id)?.state == .confirmed, "at least one has it, and the other was given up")
  }

  @Test("bears with a relay that says it has failed for hours, slower and slower, and gives it up in the end")
  func failing() {
    let bench = Bench()
    let id = bench.publish(Self.alpha)
    let start = bench.now
    var longest: UInt64 = 0
    while let key = bench.inFlight.keys.first {
      bench.settle(key, .failing("error: no room"))
      guard let due = bench.timer, bench.told(id)?.state == .optimistic else { break }
      longest = max(longest, due.milliseconds(since: bench.now))
      bench.advance(milliseconds: due.milliseconds(since: bench.now))
      if bench.sendings.count == 10 {
        #expect(bench.now.milliseconds(since: start) > 120_000, "a minute without room costs no event")
      }
    }
    #expect(bench.target(id, Self.alpha)?.state == .failed && bench.sendings.count == bench.limits.failureMaximum)
    #expect(bench.now.milliseconds(since: start) > 3 * 3_600_000 && longest <= bench.limits.ceilingMilliseconds)
  }

  @Test("no longer says of what is tried again that it was called off")
  func retryingCancelled() {
    let bench = Bench()
    let id = bench.publish(Self.alpha)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .unreachable("down", afterMilliseconds: nil))
    bench.apply { $0.cancelled(id, at: $1) }
    #expect(bench.target(id, Self.alpha)?.message == "called off")
    bench.apply { $0.retried(id, expiresAt: $1.time + 60, at: $1) }
    #expect(bench.target(id, Self.alpha).map { $0.state != .cancelled && $0.message == nil } == true)
  }

  @Test("counts what was accepted before a moment and waits for relays, and names those, most first")
  func overdue() {
    let bench = Bench()
    let (first, second) = (bench.publish(Self.alpha, Self.beta), bench.publish(Self.beta))
    bench.settle(SendingKey(id: first, relay: Self.alpha), .unreachable("down", afterMilliseconds: nil))
    let later = (bench.queue[second]?.acceptedAt ?? 0) + 1
    let overdue = bench.queue.overdue(acceptedBefore: later)
    #expect(overdue.count == 2 && overdue.relays == [Self.beta, Self.alpha])
    #expect(bench.queue.overdue(acceptedBefore: later - 1).count == 0)
  }

  @Test("sends what waited for a locked account when that is open, and nothing of another's")
  func accountsOpened() {
    let bench = Bench()
    let alice = SecretKey.generate().publicKey
    let bob = SecretKey.generate().publicKey
    let id = bench.publish([Self.alpha], account: alice)
    let other = bench.publish([Self.beta], account: bob)
    for _ in 0..<12 {
      for key in bench.inFlight.keys { bench.settle(key, .locked("the account is locked")) }
      #expect(bench.inFlight.isEmpty)
      bench.advance(milliseconds: 900_000)
    }
    for key in bench.inFlight.keys { bench.settle(key, .locked("the account is locked")) }
    bench.apply { $0.accountsOpened([alice], at: $1) }
    #expect(bench.inFlight.keys.map(\.id) == [id])
    bench.settle(SendingKey(id: id, relay: Self.alpha), .taken(""))
    bench.apply { $0.cancelled(other, at: $1) }
    bench.apply { $0.accountsOpened([alice, bob], at: $1) }
    #expect(bench.inFlight.isEmpty && bench.target(other, Self.beta)?.state == .cancelled)
  }

  @Test("tries a relay that cannot be reached with one event, whatever number wait for it, and at once when it is open")
  func unreachable() {
    let bench = Bench()
    for _ in 0..<40 { bench.publish(Self.alpha) }
    for key in bench.inFlight.keys { bench.settle(key, .unreachable("nobody there", afterMilliseconds: nil)) }
    bench.advance(milliseconds: 24 * 3_600_000)
    let probes = bench.sendings.count - 16
    #expect(probes == 1 && bench.inFlight.count == 1, "it waits for the probe's end")
    var last = bench.now
    for _ in 0..<60 {
      guard let key = bench.inFlight.keys.first else { break }
      bench.settle(key, .unreachable("nobody there", afterMilliseconds: nil))
      #expect(bench.inFlight.isEmpty)
      let due = bench.timer
      #expect(due.map { $0.milliseconds(since: bench.now) <= 900_000 } == true)
      bench.advance(milliseconds: 900_001)
      last = bench.now
    }
    #expect(bench.inFlight.count == 1 && last == bench.now)
    bench.settle(bench.inFlight.keys.first!, .unreachable("nobody there", afterMilliseconds: 800_000))
    let waiting = bench.queue.ids.compactMap { bench.queue.publication($0, at: bench.moment) }
    #expect(waiting.allSatisfy { $0.targets[0].message == "nobody there" && $0.targets[0].nextAttemptAt != nil })
    bench.apply { $0.relayOpened(Self.alpha, at: $1) }
    #expect(bench.inFlight.count == 1, "carefully at first")
    while let key = bench.inFlight.keys.first { bench.settle(key, .taken("")) }
    bench.write()
    #expect(bench.queue.count == 0)
  }

  @Test("does not take a relay's opening for leave to go on too fast")
  func limited() {
    let bench = Bench()
    let id = bench.publish(Self.alpha)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .limited("rate-limited: slow down"))
    bench.apply { $0.relayOpened(Self.alpha, at: $1) }
    #expect(bench.inFlight.isEmpty && bench.target(id, Self.alpha)?.nextAttemptAt != nil)
    bench.advance(milliseconds: 2_001)
    #expect(bench.inFlight.count == 1)
  }

  @Test("does not count an attempt that never left, and makes it up when a connector comes")
  func absent() {
    let bench = Bench()
    let id = bench.publish(Self.alpha)
    for _ in 0..<30 {
      bench.settle(SendingKey(id: id, relay: Self.alpha), .absent("no connector"))
      bench.apply { $0.connectorsChanged(at: $1) }
    }
    #expect(bench.target(id, Self.alpha)?.attempts == 1 && bench.inFlight.count == 1)
  }

  @Test("gives up what is not taken in time, and still counts an OK that comes late")
  func expiry() {
    let bench = Bench()
    let id = bench.publish([Self.alpha, Self.beta], lifetime: 60)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .unreachable("down", afterMilliseconds: 200_000))
    bench.advance(milliseconds: 59_000)
    #expect(bench.told(id)?.state == .optimistic)
    bench.advance(milliseconds: 1_001)
    #expect(bench.told(id)?.state == .failed)
    #expect(bench.target(id, Self.alpha)?.message == "not taken before its time was over: down")
    bench.write()
    #expect(bench.queue.count == 1, "one is still on its way")
    bench.settle(SendingKey(id: id, relay: Self.beta), .taken(""))
    bench.write()
    #expect(bench.ledger[id]?.state == .confirmed && bench.queue.count == 0)
  }

  @Test("calls off what is open; what was sent and is taken all the same counts as taken")
  func cancelling() {
    let bench = Bench()
    let id = bench.publish(Self.alpha, Self.beta)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .failing("error: full"))
    bench.apply { $0.cancelled(id, at: $1) }
    #expect(bench.told(id)?.state == .cancelled)
    bench.advance(milliseconds: 3_600_000)
    bench.settle(SendingKey(id: id, relay: Self.beta), .taken(""))
    #expect(bench.told(id)?.state == .confirmed && bench.target(id, Self.alpha)?.state == .cancelled)
    #expect(bench.sendings.count == 2)
  }

  @Test("tries again when told to: what failed anew, what waits now, what has it never")
  func retrying() {
    let bench = Bench()
    let gamma = "wss://gamma.example"
    let id = bench.publish(Self.alpha, Self.beta, gamma)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .refused("blocked: no"))
    bench.settle(SendingKey(id: id, relay: Self.beta), .unreachable("down", afterMilliseconds: nil))
    bench.settle(SendingKey(id: id, relay: gamma), .taken(""))
    bench.apply { $0.retried(id, expiresAt: $1.time + 60, at: $1) }
    #expect(Set(bench.inFlight.keys.map(\.relay)) == [Self.alpha, Self.beta])
    #expect(bench.target(id, Self.alpha)?.attempts == 2)
  }

  @Test("sends what waited for a locked account as soon as it is unlocked, and nothing else")
  func unlocking() {
    let bench = Bench()
    let (alice, bob) = (SecretKey.generate().publicKey, SecretKey.generate().publicKey)
    let (hers, his, hersToo) = (
      bench.publish([Self.alpha], account: alice), bench.publish([Self.beta], account: bob),
      bench.publish([Self.beta], account: alice)
    )
    bench.settle(SendingKey(id: hers, relay: Self.alpha), .locked("alice is locked"))
    bench.settle(SendingKey(id: his, relay: Self.beta), .locked("bob is locked"))
    bench.settle(SendingKey(id: hersToo, relay: Self.beta), .rejected("error: no"))
    #expect(bench.inFlight.isEmpty)
    bench.apply { $0.accountsOpened([alice], at: $1) }
    #expect(Array(bench.inFlight.keys) == [SendingKey(id: hers, relay: Self.alpha)])
    #expect(bench.target(his, Self.beta)?.nextAttemptAt != nil && bench.target(hersToo, Self.beta)?.attempts == 1)
    bench.settle(SendingKey(id: hers, relay: Self.alpha), .rejected("error: no"))
    bench.apply { $0.accountsOpened([alice], at: $1) }
    #expect(bench.inFlight.isEmpty, "it waits for another reason now")
  }

  @Test("a clock that was set between two processes ends nothing sooner than by that much, and stops no retry")
  func clockSet() {
    for jump in [Int64(-3_600), 3_600] {
      let bench = Bench()
      let id = bench.publish([Self.alpha], lifetime: 2 * 3_600)
      bench.settle(SendingKey(id: id, relay: Self.alpha), .failing("error: no"))
      bench.write()
      bench.offset += jump
      bench.restart()
      bench.advance(milliseconds: 60_000)
      #expect(bench.inFlight.count == 1 && bench.target(id, Self.alpha)?.attempts == 2)
      bench.advance(milliseconds: UInt64(jump > 0 ? 3_500 : 7_000) * 1_000)
      #expect(bench.told(id)?.state == .optimistic)
      bench.advance(milliseconds: 300_000)
      #expect(bench.told(id)?.state == .failed)
    }
  }

  @Test("adds relays to a publication, and asks none of the others again")
  func adding() {
    let bench = Bench()
    let id = bench.publish(Self.beta)
    bench.settle(SendingKey(id: id, relay: Self.beta), .taken(""))
    let added = [Self.alpha, Self.beta].map {
      QueuedTarget(
        PublicationTarget(relay: $0, state: .pending, why: "named"), manner: SendingManner(isForeign: false))
    }
    bench.apply { $0.targetsAdded(added, to: id, expiresAt: $1.time + 60, at: $1) }
    #expect(bench.inFlight.keys.map(\.relay) == [Self.alpha] && bench.told(id)?.state == .partial)
    bench.settle(SendingKey(id: id, relay: Self.alpha), .taken(""))
    #expect(bench.told(id)?.state == .confirmed)
  }

  @Test("does not gather the ends of what is long over")
  func wakes() {
    let bench = Bench()
    for _ in 0..<20_000 {
      let id = bench.publish(Self.alpha)
      bench.settle(SendingKey(id: id, relay: Self.alpha), .taken(""))
      bench.write()
    }
    #expect(bench.queue.count == 0 && bench.queue.waitingCount <= 5_000)
  }
}
