import Cryptography
import PushDelivery
import PushLedger
import TestSupport
import Testing

@Suite("Tokens that were another's")
struct ChallengeTests {
  private let bench: LedgerBench
  private let alice = LedgerBench.alice
  private let bob = LedgerBench.bob
  private let carol = LedgerBench.carol
  private let token = LedgerBench.token(1)

  init() throws {
    bench = try LedgerBench()
    try bench.register(alice, "phone", token)
  }

  /// Registers again with a code.
  private func prove(_ owner: PushOwner, _ code: String, at: Int64 = 1) throws -> PushRegistration {
    var registration = bench.registration(owner, "mine", token, at: at)
    registration.challenge = code
    let answer = try bench.run(.register(registration))
    guard case .registered(let registration) = answer else { throw Unexpected(answer: answer) }
    return registration
  }

  /// Whether a code is taken.
  private func isTaken(_ owner: PushOwner, _ code: String, at: Int64 = 1, token: PushToken? = nil) throws -> Bool {
    var registration = bench.registration(owner, "mine", token ?? self.token, at: at)
    registration.challenge = code
    return try bench.run(.register(registration)) != .challengeFailed
  }

  @Test("Case 34: the first owner keeps a token until the second has proved that it is his, and then it moves")
  func squatting() async throws {
    let second = try bench.register(bob, "mine", token, at: 1)
    let challenge = try #require(second.challenge)
    #expect(!second.isVerified && challenge.token == token && challenge.code.utf8.count == 32)
    #expect(try await bench.devices(alice).map(\.isVerified) == [true])
    #expect(try await bench.devices(bob).map(\.isVerified) == [false])
    // The first one's renewals change nothing about that.
    #expect(try bench.register(alice, "phone", token, at: 2).isVerified)
    #expect(try !isTaken(bob, "0123456789abcdef0123456789abcdef"))
    #expect(try !isTaken(carol, challenge.code))
    let proved = try prove(bob, challenge.code)
    #expect(proved.isVerified && proved.relayID == second.relayID && proved.challenge == nil)
    #expect(try await bench.devices(alice).isEmpty)
    #expect(try await bench.devices(bob).map(\.isVerified) == [true])
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.movedTokens] == 1)
  }

  @Test("A registration that brings the code proves it, and nothing more is sent")
  func provingByRegistration() async throws {
    let code = try #require(try bench.register(bob, "mine", token, at: 1).challenge?.code)
    var registration = bench.registration(bob, "mine", token, at: 5)
    registration.challenge = code
    guard case .registered(let proved) = try bench.run(.register(registration)) else {
      throw Unexpected(answer: .done)
    }
    #expect(proved.isVerified && proved.challenge == nil)
    #expect(try await bench.devices(alice).isEmpty)
  }

  @Test("A registration that brings a wrong code is told so, however often it comes, and sends nothing")
  func wrongCode() async throws {
    try bench.register(bob, "mine", token, at: 1)
    var registration = bench.registration(bob, "mine", token, at: 100)
    registration.challenge = "0123456789abcdef0123456789abcdef"
    for _ in 0..<2 { #expect(try bench.run(.register(registration)) == .challengeFailed) }
    #expect(try bench.count("challenge") == 1)
    #expect(try await bench.devices(bob).map(\.isVerified) == [false])
    #expect(try await bench.devices(alice).map(\.isVerified) == [true])
  }

  @Test("The right code under another name, or none, proves nothing and costs nothing: under its own it still does")
  func wrongName() async throws {
    let code = try #require(try bench.register(bob, "mine", token, at: 1).challenge?.code)
    let before = try await bench.devices(bob)
    for number in 0...PushLedger.challengeAttemptMaximum {
      var registration = bench.registration(bob, number.isMultiple(of: 2) ? nil : "yours", token, at: 2)
      registration.challenge = code
      #expect(try bench.run(.register(registration)) == .challengeFailed)
    }
    #expect(try await bench.devices(bob) == before)
    #expect(try prove(bob, code, at: 3).isVerified)
    #expect(try await bench.devices(bob).map(\.isVerified) == [true])
    #expect(try await bench.devices(alice).isEmpty)
  }

  @Test("A wrong code leaves the device that it comes with as it was, and takes no other's place")
  func nothingWritten() async throws {
    let own = LedgerBench.token(100)
    try bench.register(bob, "mine", own)
    for number in 1..<PushLedger.deviceMaximum { try bench.register(bob, "\(number)", LedgerBench.token(100 + number)) }
    let before = try await bench.devices(bob)
    for name in ["mine", "new"] {
      var registration = bench.registration(bob, name, token, at: 1)
      registration.challenge = "0123456789abcdef0123456789abcdef"
      registration.policy = "contacts"
      registration.rules = [1]
      #expect(try bench.run(.register(registration)) == .challengeFailed)
    }
    #expect(try await bench.devices(bob) == before && before.count == PushLedger.deviceMaximum)
    #expect(try await bench.ledger.contacts(of: bob).policy == nil)
    #expect(try await bench.ledger.rules(of: bob) == nil)
    #expect(try bench.count("challenge") == 0 && bench.miscounted().isEmpty)
    #expect(try await bench.ledger.statistics(now: LedgerBench.now).totals[.evictedDevices] == 0)
  }

  @Test("A code proves nothing about another token, after its time, or after too many wrong ones")
  func limits() async throws {
    try bench.register(alice, "tablet", LedgerBench.token(2))
    let code = try #require(try bench.register(bob, "mine", token, at: 1).challenge?.code)
    #expect(try !isTaken(bob, code, at: 2, token: LedgerBench.token(2)))
    try bench.register(bob, "mine", token, at: 4)
    #expect(try !isTaken(bob, code, at: 1 + PushLedger.challengeSeconds))
    let late = 1 + PushLedger.challengeSeconds
    let next = try #require(try bench.register(carol, "mine", token, at: late + 100).challenge?.code)
    for _ in 0..<PushLedger.challengeAttemptMaximum { #expect(try !isTaken(carol, "wrong", at: late + 101)) }
    #expect(try !isTaken(carol, next, at: late + 102))
    #expect(try await bench.devices(alice).count == 2)
  }

  @Test("A token is asked once a minute under however many keys, and each who claims it has a minute of his own")
  func pause() throws {
    func sendAt(_ owner: PushOwner, at: Int64) throws -> Int64? {
      try bench.register(owner, "mine", token, at: at).challenge.map { $0.sendAt - LedgerBench.now }
    }
    let other = LedgerBench.owner(10)
    #expect(try sendAt(bob, at: 1) == 1)
    #expect(try sendAt(carol, at: 30) == 61 && sendAt(other, at: 31) == 121)
    // Who asks again has been asked, or is next.
    for at in [Int64(40), 59] { for owner in [bob, carol, other] { #expect(try sendAt(owner, at: at) == nil) } }
    #expect(try sendAt(bob, at: 62) == 181)
    #expect(try sendAt(carol, at: 130) == 241)
  }

  @Test("However often others claim a token, whoever does has a challenge within minutes, and none comes too soon")
  func fairness() throws {
    let step: Int64 = 7
    var sent: [Int64] = []
    for number in 0..<40 {
      // Each a new key, so that all but the last three have lost their claim, and their minute with it.
      let owner = LedgerBench.owner(UInt8(100 + number))
      let now = Int64(number) * step
      let challenge = try #require(try bench.register(owner, "mine", token, at: now).challenge)
      let wait = challenge.sendAt - LedgerBench.now - now
      #expect((0...PushLedger.challengeWaitMaximum).contains(wait), "\(number): \(wait) s")
      #expect(challenge.expiresAt == challenge.sendAt + PushLedger.challengeSeconds)
      if wait < 3 * step { sent.append(challenge.sendAt) }
    }
    #expect(sent.count > 2 && zip(sent, sent.dropFirst()).allSatisfy { $1 - $0 >= PushLedger.challengePauseSeconds })
  }

  @Test("A clock that was set back keeps nobody from being asked")
  func setBack() throws {
    #expect(try bench.register(bob, "mine", token, at: 3_600).challenge != nil)
    let early = try bench.register(carol, "mine", token, at: 1).challenge
    #expect(early?.sendAt == LedgerBench.now + 1)
  }

  @Test("Of many who claim one token without a proof the oldest leave, and never its owner")
  func claimants() async throws {
    for number in 10..<20 {
      try bench.register(LedgerBench.owner(UInt8(number)), "mine", token, at: Int64(number))
    }
    #expect(try bench.count("device") == Int64(PushLedger.ownersOfTokenMaximum))
    #expect(try await bench.devices(alice).count == 1)
    #expect(try await bench.devices(LedgerBench.owner(19)).count == 1)
  }

  @Test("A token whose owner has given it up, or whose time is over, is the next one's at once")
  func givenUp() throws {
    try bench.run(.unregister(bench.removal(alice, .device("phone"), at: 1)))
    #expect(try bench.register(bob, "mine", token, at: 2).isVerified)
    #expect(try bench.register(carol, "mine", token, at: LedgerBench.month + 3).isVerified)
  }
}
