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

  private func prove(_ owner: PushOwner, _ code: String, at: Int64 = 1) throws -> LedgerAnswer {
    try bench.run(.prove(owner: owner, deviceID: "mine", code: code, now: LedgerBench.now + at))
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
    #expect(try prove(bob, "0123456789abcdef0123456789abcdef") == .challengeFailed)
    #expect(try prove(alice, challenge.code) == .challengeFailed)
    guard case .registered(let proved) = try prove(bob, challenge.code) else { throw Unexpected(answer: .done) }
    #expect(proved.isVerified && proved.relayID == second.relayID)
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

  @Test("A code proves nothing about another token, after its time, or after too many wrong ones")
  func limits() async throws {
    try bench.register(alice, "tablet", LedgerBench.token(2))
    let code = try #require(try bench.register(bob, "mine", token, at: 1).challenge?.code)
    try bench.register(bob, "mine", LedgerBench.token(2), at: 2)
    #expect(try prove(bob, code, at: 3) == .challengeFailed)
    try bench.register(bob, "mine", token, at: 4)
    #expect(try prove(bob, code, at: 1 + PushLedger.challengeSeconds) == .challengeFailed)
    for _ in 0..<PushLedger.challengeAttemptMaximum { #expect(try prove(bob, "wrong") == .challengeFailed) }
    #expect(try prove(bob, code) == .challengeFailed)
    #expect(try await bench.devices(alice).count == 2)
  }

  @Test("A token is asked once a minute, under however many keys")
  func pause() throws {
    #expect(try bench.register(bob, "mine", token, at: 1).challenge != nil)
    #expect(try bench.register(carol, "mine", token, at: 30).challenge == nil)
    func again(_ at: Int64) throws -> LedgerAnswer {
      try bench.run(.challenge(owner: carol, deviceID: "mine", now: LedgerBench.now + at))
    }
    #expect(try again(60) == .challenge(nil))
    guard case .challenge(let challenge?) = try again(61) else { throw Unexpected(answer: .challenge(nil)) }
    #expect(challenge.token == token)
    #expect(try bench.run(.challenge(owner: alice, deviceID: "phone", now: LedgerBench.now + 200)) == .challenge(nil))
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
