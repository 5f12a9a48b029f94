import Cryptography
import PushDelivery
@testable import PushLedger
import Storage
import TestSupport
import Testing

@Suite("Wakes in the push ledger")
struct WakeTests {
  private let bench: LedgerBench
  private let alice = LedgerBench.alice
  private let bob = LedgerBench.bob
  private let carol = LedgerBench.carol

  init() throws {
    bench = try LedgerBench()
    try bench.register(alice, "one", LedgerBench.token(1))
  }

  @Test("Case 5: one wake for two devices is one row, and one id")
  func twoDevices() async throws {
    try bench.register(alice, "two", LedgerBench.token(2), capabilities: ["wake"])
    try bench.register(alice, "other", LedgerBench.token(3), capabilities: ["payment_received"])
    let standing = Standing()
    var wake = bench.wake(bob, alice)
    wake.decide = standing.deciding(WakeRuling(.queued, isQueued: true, isTold: false))
    #expect(try bench.run(.wake(wake)) == .queued(id: wake.wake.id))
    #expect(standing.seen == [WakeStanding(deviceCount: 2, verifiedCount: 2, contact: nil, policy: nil)])
    var expected = wake.wake
    expected.number = 1
    #expect(try await bench.openWakes() == [OpenWake(wake: expected, settledDevices: [])])
  }

  @Test("A wake in the queue says whether the recipient has allowed its sender, or is he")
  func contacts() async throws {
    let contacts = ContactsCommand(
      message: bench.message(alice, at: 1), contacts: [bob: .allowed, carol: .blocked], policy: nil,
      keepUntil: LedgerBench.now + LedgerBench.month)
    try bench.run(.contacts(contacts))
    for sender in [bob, carol, LedgerBench.owner(30), alice] {
      var wake = bench.wake(sender, alice)
      wake.decide = { _ in WakeRuling(.queued, isQueued: true, isTold: false) }
      try bench.run(.wake(wake))
    }
    #expect(try await bench.openWakes().map(\.wake.isOfContact) == [true, false, false, true])
  }

  @Test("Case 27: a wake that comes again is answered as it was, and is in the queue once")
  func replay() async throws {
    let wake = bench.wake(bob, alice)
    let answer = try bench.run(.wake(wake))
    var again = wake
    again.wake.id = RandomBytes.make(16)
    #expect(try bench.run(.wake(again)) == answer)
    // Signed anew by a client that heard nothing.
    again.message = bench.message(bob, at: 3)
    #expect(try bench.run(.wake(again)) == answer)
    #expect(try bench.ledger.writeNow([.wake(again), .wake(wake)]) == [answer, answer])
    #expect(try await bench.openWakes().count == 1)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.repeatedMessages] == 4)
  }

  @Test("Case 28: after a kill the same message still does nothing")
  func replayAfterKill() async throws {
    let wake = bench.wake(bob, alice)
    let registration = bench.registration(carol, "phone", LedgerBench.token(9))
    let answers = try bench.ledger.writeNow([.wake(wake), .register(registration)])
    try bench.run(.unregister(bench.removal(carol, .device("phone"), at: 1)))
    let after = try bench.killed("killed")
    #expect(try after.writeNow([.wake(wake), .register(registration)]) == answers)
    #expect(try await after.openWakes(after: 0, limit: 10).count == 1)
    #expect(try await after.devices(of: carol, now: LedgerBench.now).isEmpty)
  }

  @Test("Case 29: the same nonce with another body is refused, with another sender it is another wake")
  func nonces() async throws {
    let nonce = RandomBytes.make(16)
    try bench.run(.wake(bench.wake(bob, alice, nonce: nonce)))
    #expect(try bench.run(.wake(bench.wake(bob, alice, nonce: nonce, body: "other"))) == .nonceReused)
    let others = bench.wake(carol, alice, nonce: nonce, body: "other")
    #expect(try bench.run(.wake(others)) == .queued(id: others.wake.id))
    #expect(try await bench.openWakes().count == 2)
    // Once it is forgotten it may be used again.
    try bench.run(.sweep(now: (LedgerBench.now + SignedMessage.memorySeconds) * 1_000, limit: 100))
    let later = bench.wake(bob, alice, at: 601, nonce: nonce, body: "other")
    #expect(try bench.run(.wake(later)) == .queued(id: later.wake.id))
  }

  @Test("A nonce is known for as long as any message with it can come again")
  func nonceOfTwoMessages() async throws {
    var wake = bench.wake(bob, alice)
    let answer = try bench.run(.wake(wake))
    wake.message = bench.message(bob, at: 300)
    #expect(try bench.run(.wake(wake)) == answer)
    // The first message cannot come any more, the second can.
    try bench.run(.sweep(now: (LedgerBench.now + SignedMessage.memorySeconds + 299) * 1_000, limit: 100))
    wake.wake.id = RandomBytes.make(16)
    #expect(try bench.run(.wake(wake)) == answer)
    try bench.run(.sweep(now: (LedgerBench.now + SignedMessage.memorySeconds + 300) * 1_000, limit: 100))
    #expect(try bench.count("nonce") == 0)
  }

  @Test("Whoever is told to wait leaves no trace, and may come again with the same message")
  func limited() async throws {
    var wake = bench.wake(bob, alice)
    let decide = wake.decide
    for isOwn in [false, true] {
      wake.decide = { _ in
        WakeRuling(.limited(retryAfterSeconds: 7, isOwnLimit: isOwn), isQueued: true, isTold: false)
      }
      #expect(try bench.run(.wake(wake)) == .limited(retryAfterSeconds: 7, isOwnLimit: isOwn))
    }
    #expect(try await bench.openWakes().isEmpty)
    wake.decide = decide
    #expect(try bench.run(.wake(wake)) == .queued(id: wake.wake.id))
  }

  @Test("A wake to nobody leaves the same rows as one to somebody, the queue's too, and is brought nowhere (case 33)")
  func strangers() async throws {
    func rows() throws -> [Int64] {
      try ["replay", "nonce", "status", "wake"].map { try bench.count($0) }
    }
    let wakes = [bench.wake(bob, alice), bench.wake(bob, carol)]
    #expect(try bench.run(.wake(wakes[0])) == .queued(id: wakes[0].wake.id))
    let known = try rows()
    #expect(try bench.run(.wake(wakes[1])) == .queued(id: wakes[1].wake.id))
    let unknown = zip(try rows(), known).map { $0 - $1 }
    // The registration of the test's beginning is a message, too.
    #expect(known == [1, 1, 1, 1])
    #expect(unknown == [0, 1, 1, 1])
    let open = try await bench.openWakes()
    #expect(open.map(\.isDropped) == [false, true])
    try bench.run(.settle(open.map { WakeSettlement(wake: $0.wake.number, devices: [], end: .dropped) }))
    #expect(try bench.count("wake") == 0)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.droppedWakes] == 1)
    for wake in wakes {
      #expect(try await bench.ledger.progress(ofWake: wake.wake.id, sender: bob, now: LedgerBench.now) == .queued)
    }
  }

  @Test("A sender learns how a wake ended only if he may, and of another's nothing")
  func progress() async throws {
    let contacts = ContactsCommand(
      message: bench.message(alice), contacts: [bob: .allowed], policy: "contacts", keepUntil: LedgerBench.now + 60)
    #expect(try bench.run(.contacts(contacts)) == .contactsKept)
    let (friends, strangers) = (bench.wake(bob, alice), bench.wake(carol, alice))
    try bench.run(.wake(friends))
    try bench.run(.wake(strangers))
    for open in try await bench.openWakes() {
      try bench.run(.settle([WakeSettlement(wake: open.wake.number, devices: [], end: .delivered)]))
    }
    let ledger = bench.ledger
    let now = LedgerBench.now
    #expect(try await ledger.progress(ofWake: friends.wake.id, sender: bob, now: now) == .ended(.delivered))
    #expect(try await ledger.progress(ofWake: strangers.wake.id, sender: carol, now: now) == .queued)
    #expect(try await ledger.progress(ofWake: friends.wake.id, sender: carol, now: now) == nil)
    let end = now + 60 + PushLedger.statusSeconds
    #expect(try await ledger.progress(ofWake: friends.wake.id, sender: bob, now: end) == nil)
    try bench.run(.sweep(now: end * 1_000, limit: 100))
    #expect(try bench.count("status") == 0)
    #expect(try bench.count("nonce") == 0)
  }

  @Test("A blocked sender who is told how wakes end finds his sent, as others find theirs")
  func disguise() async throws {
    var wakes: [WakeCommand] = []
    for (isTold, isDisguised) in [(true, true), (true, false), (false, true)] {
      var wake = bench.wake(carol, alice)
      wake.decide = { _ in WakeRuling(.queued, isQueued: false, isTold: isTold, isDisguised: isDisguised) }
      wakes.append(wake)
      #expect(try bench.run(.wake(wake)) == .queued(id: wake.wake.id))
    }
    let states = { [self] in
      var found: [WakeProgress?] = []
      for wake in wakes {
        found.append(try await bench.ledger.progress(ofWake: wake.wake.id, sender: carol, now: LedgerBench.now))
      }
      return found
    }
    #expect(try await states() == [.queued, .queued, .queued])
    for open in try await bench.openWakes() {
      try bench.run(.settle([WakeSettlement(wake: open.wake.number, devices: [], end: .dropped)]))
    }
    #expect(try await states() == [.ended(.delivered), .ended(.dropped), .queued])
  }

  @Test(
    "Case 51: after a kill at any step no wake is lost, none gets another id, and a device that has it is done with")
  func kills() async throws {
    try bench.register(alice, "two", LedgerBench.token(2))
    let numbers = try await bench.devices(alice).map(\.number)
    let wake = bench.wake(bob, alice)

    let before = try bench.killed("before")
    #expect(try await before.openWakes(after: 0, limit: 10).isEmpty)

    try bench.run(.wake(wake))
    let accepted = try await bench.killed("accepted").openWakes(after: 0, limit: 10)
    #expect(accepted.map(\.wake.id) == [wake.wake.id])

    let number = accepted[0].wake.number
    let half = WakeSettlement(wake: number, devices: [numbers[0]])
    try bench.run(.settle([half, half]))
    let halfway = try await bench.killed("half").openWakes(after: 0, limit: 10)
    #expect(halfway.map(\.wake) == accepted.map(\.wake))
    #expect(halfway.map(\.settledDevices) == [[numbers[0]]])

    let end = WakeSettlement(wake: number, devices: [numbers[1]], end: .delivered)
    try bench.run(.settle([end]))
    let ended = try bench.killed("ended")
    #expect(try await ended.openWakes(after: 0, limit: 10).isEmpty)
    // Who died before hearing that it was settled settles it again.
    #expect(try ended.writeNow([.settle([end, half])]) == [.done])
    #expect(try await ended.statistics(now: LedgerBench.now).totals[.deliveredWakes] == 1)
  }

  @Test("A wake that is worthless leaves the queue by the sweep, and is counted once")
  func expiry() async throws {
    let wake = bench.wake(bob, alice)
    try bench.run(.wake(wake))
    let number = try await bench.openWakes()[0].wake.number
    try bench.run(.sweep(now: wake.wake.expiresAt - 1, limit: 10))
    #expect(try await bench.openWakes().count == 1)
    let answer = try bench.run(.sweep(now: wake.wake.expiresAt, limit: 1))
    guard case .swept(let sweep) = answer else { throw Unexpected(answer: answer) }
    #expect(sweep.expiredWakes == 1 && sweep.isMore)
    try bench.run(.settle([WakeSettlement(wake: number, devices: [], end: .delivered)]))
    let figures = try await bench.ledger.statistics(now: LedgerBench.now)
    #expect(figures.totals[.expiredWakes] == 1 && figures.totals[.deliveredWakes] == 0)
    #expect(figures.queuedWakes == 0)
    #expect(try bench.miscounted().isEmpty)
  }

  @Test("This machine's own wakes are told apart by their nonce, and are followed by nobody")
  func own() async throws {
    var wake = bench.wake(bob, alice)
    wake.wake.sender = nil
    wake.message = nil
    #expect(try bench.run(.wake(wake)) == .queued(id: wake.wake.id))
    #expect(try bench.run(.wake(wake)) == .queued(id: wake.wake.id))
    #expect(try await bench.openWakes().map(\.wake.sender) == [nil])
    #expect(try bench.count("status") == 0)
  }

  @Test("A table that is full answers 'unavailable', to wakes to nobody as well, and has room again after a sweep")
  func full() async throws {
    // Bounds are counted, so a counter is as good as the rows.
    for (counter, value) in [("rows.wake", 1_000_000), ("bytes.wake", 512 << 20), ("rows.nonce", 200_000)] {
      try bench.setCounter(counter, Int64(value))
      for recipient in [alice, carol] {
        #expect(try bench.run(.wake(bench.wake(bob, recipient))) == .unavailable)
      }
      try bench.setCounter(counter, 0)
    }
    try bench.setCounter("rows.device", 1_000_000)
    let registration = bench.registration(bob, "phone", LedgerBench.token(5))
    #expect(try bench.run(.register(registration)) == .unavailable)
    try bench.reopen()
    #expect(try bench.run(.register(registration)) != .unavailable)
  }

  @Test("A relay that lets more through has room for more, so its memory of messages is not full within the hour")
  func roomForMore() async throws {
    try bench.ledger.close()
    // What 500 wakes a second leave behind while messages and states are kept.
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring, requestsPerMinute: 30_000)
    for (counter, value) in [("rows.nonce", 450_000), ("rows.status", 1_830_000)] {
      try bench.setCounter(counter, Int64(value))
    }
    #expect(try bench.run(.wake(bench.wake(bob, alice))) != .unavailable)
    try bench.setCounter("rows.nonce", 900_000)
    #expect(try bench.run(.wake(bench.wake(bob, alice))) == .unavailable)
    // No setting makes the file grow without end.
    try bench.ledger.close()
    bench.ledger = try PushLedger(path: bench.path, keyRing: bench.ring, requestsPerMinute: .max)
    try bench.setCounter("rows.nonce", 20_000_000)
    #expect(try bench.run(.wake(bench.wake(bob, alice))) == .unavailable)
  }
}
