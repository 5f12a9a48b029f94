import Clocks
import PushDelivery
import TestSupport
import Testing

@Suite("Credentials")
struct CredentialTests {
  let minute: UInt64 = 60_000

  func minted() -> AppleCredential {
    var credential = AppleCredential(keyID: "KEY", kept: nil, at: moment(0))
    #expect(credential.wanted(at: moment(0).instant) == .mint)
    #expect(credential.wanted(at: moment(0).instant) == .minting)
    #expect(credential.made("one", at: moment(0)).serial == 1)
    return credential
  }

  @Test("11: one token for a thousand pushes, a new one after 50 minutes, the same after a restart")
  func age() throws {
    var credential = minted()
    for push in 0..<1_000 {
      #expect(credential.wanted(at: moment(UInt64(push) * 2_000).instant) == .token("one", serial: 1))
    }
    var next = AppleCredential(keyID: "KEY", kept: credential.kept, at: moment(49 * minute))
    #expect(next.wanted(at: moment(49 * minute).instant) == .token("one", serial: 1))
    #expect(next.wanted(at: moment(50 * minute).instant) == .mint)
    // While it is made, the old one still serves.
    #expect(next.wanted(at: moment(51 * minute).instant) == .token("one", serial: 1))
    #expect(next.wanted(at: moment(60 * minute).instant) == .minting)
    #expect(next.made("two", at: moment(60 * minute)).serial == 2)
    var other = AppleCredential(keyID: "OTHER", kept: next.kept, at: moment(61 * minute))
    #expect(other.wanted(at: moment(61 * minute).instant) == .mint)
  }

  @Test("11: a process that starts when the token is due uses the next one only, unless none may be made")
  func dueAtStart() {
    var credential = minted()
    let late = moment(51 * minute)
    var next = AppleCredential(keyID: "KEY", kept: credential.kept, at: late)
    #expect(next.wanted(at: late.instant) == .mint)
    #expect(next.wanted(at: late.instant) == .minting)
    let forbidden = credential.updatedTooOften(at: moment(45 * minute))
    var other = AppleCredential(keyID: "KEY", kept: forbidden, at: late)
    #expect(other.wanted(at: late.instant) == .token("one", serial: 1))
  }

  @Test("44: a burst of a hundred refusals makes exactly one new token")
  func burst() {
    var credential = minted()
    var mints = 0
    for _ in 0..<100 {
      credential.refused(serial: 1, at: moment(21 * minute).instant)
      if credential.wanted(at: moment(21 * minute).instant) == .mint {
        mints += 1
        _ = credential.made("two", at: moment(21 * minute))
      }
    }
    #expect(mints == 1 && credential.wanted(at: moment(22 * minute).instant) == .token("two", serial: 2))
  }

  @Test("44: none is made within 20 minutes of the last, whatever is refused, and after a crash loop neither")
  func spacing() {
    var credential = minted()
    for restart in 0..<19 {
      let now = moment(UInt64(restart) * minute)
      credential = AppleCredential(keyID: "KEY", kept: credential.kept, at: now)
      credential.refused(serial: 1, at: now.instant)
      #expect(credential.wanted(at: now.instant) == .wait(milliseconds: (20 - UInt64(restart)) * minute))
    }
    #expect(credential.wanted(at: moment(20 * minute).instant) == .mint)
    credential.mintingFailed()
    #expect(credential.wanted(at: moment(20 * minute).instant) == .mint)
  }

  @Test("44: TooManyProviderTokenUpdates makes none, and forbids one for 20 minutes")
  func tooOften() {
    var credential = minted()
    let kept = credential.updatedTooOften(at: moment(45 * minute))
    #expect(credential.wanted(at: moment(51 * minute).instant) == .token("one", serial: 1))
    #expect(credential.wanted(at: moment(61 * minute).instant) == .wait(milliseconds: 4 * minute))
    var next = AppleCredential(keyID: "KEY", kept: kept, at: moment(62 * minute))
    #expect(next.wanted(at: moment(62 * minute).instant) == .wait(milliseconds: 3 * minute))
    #expect(next.wanted(at: moment(65 * minute).instant) == .mint)
  }

  @Test(
    "44: a token is used when it is written down, and not if another was forbidden until then",
    arguments: [true, false])
  func forbiddenMeanwhile(isWritten: Bool) {
    var credential = minted()
    let (late, later) = (moment(51 * minute), moment(51 * minute + 1))
    #expect(credential.wanted(at: late.instant) == .mint)
    #expect(credential.minted("two", at: late).serial == 2)
    #expect(credential.wanted(at: late.instant) == .token("one", serial: 1))
    // Written now, it would stand behind the new token in the ledger's queue, and over it.
    #expect(credential.updatedTooOften(at: later) == nil)
    let kept = isWritten ? credential.written() : credential.mintingFailed()
    #expect(kept?.serial == 1 && kept?.forbiddenUntil == later.unixSeconds + 20 * 60)
    #expect(credential.wanted(at: later.instant) == .token("one", serial: 1))
    #expect(credential.wanted(at: moment(62 * minute).instant) == .wait(milliseconds: 9 * minute + 1))
    let next = AppleCredential(keyID: "KEY", kept: kept, at: later)
    #expect(next.kept?.token == "one")
  }

  @Test(
    "a clock that was set makes no token sooner than that, and no wait longer",
    arguments: [-3_600, 3_600, Int64.min, .max])
  func clocks(seconds: Int64) {
    let kept = AppleCredential.Kept(
      keyID: "KEY", token: "one", mintedAt: seconds.magnitude < 10_000 ? beginning / 1_000 + seconds : seconds,
      serial: 1, forbiddenUntil: .max)
    var credential = AppleCredential(keyID: "KEY", kept: kept, at: moment(0))
    _ = credential.wanted(at: moment(0).instant)
    credential.refused(serial: 1, at: moment(0).instant)
    #expect(credential.wanted(at: moment(20 * minute).instant) == .mint)
  }

  @Test("44: a token that is refused while none may be made is a fault of the provider, for as long as it is refused")
  func stuck() {
    var credential = minted()
    let early = moment(5 * minute).instant
    #expect(
      credential.refused(serial: 1, "InvalidProviderToken", at: early) == .providerFault("InvalidProviderToken"))
    // A probe carries the same one: Apple counts tokens, not refusals.
    #expect(credential.wanted(at: early) == .token("one", serial: 1) && credential.complaint == "InvalidProviderToken")
    #expect(credential.wanted(at: moment(20 * minute).instant) == .mint)
    #expect(credential.wanted(at: moment(20 * minute).instant) == .minting)
    _ = credential.minted("two", at: moment(20 * minute))
    #expect(credential.written() == nil && credential.complaint == nil)
    // Those that were under way with the old one go again with the new.
    #expect(
      credential.refused(serial: 1, "InvalidProviderToken", at: moment(20 * minute).instant)
        == .renewCredential("InvalidProviderToken"))
    // A clock that is wrong: the next is refused as well.
    #expect(credential.refused(serial: 2, at: moment(21 * minute).instant) == .providerFault("ExpiredProviderToken"))
    #expect(credential.wanted(at: moment(21 * minute).instant) == .wait(milliseconds: 19 * minute))
    #expect(credential.complaint == "ExpiredProviderToken")
  }

  @Test("44: a token that was called invalid and goes through is good until its time")
  func recovered() {
    var credential = minted()
    credential.refused(serial: 1, "InvalidProviderToken", at: moment(minute).instant)
    credential.accepted(serial: 1)
    #expect(credential.complaint == nil)
    #expect(credential.wanted(at: moment(49 * minute).instant) == .token("one", serial: 1))
  }

  @Test("12: one exchange for a thousand pushes, and the next 60 seconds before the end")
  func google() {
    var credential = GoogleCredential()
    #expect(credential.wanted(at: moment(0).instant) == .ask)
    #expect(credential.wanted(at: moment(0).instant) == .asking)
    credential.granted("a", expiresInSeconds: 3_600, at: moment(0).instant)
    for push in 0..<1_000 {
      #expect(credential.wanted(at: moment(UInt64(push) * 3_539).instant) == .token("a", serial: 1))
    }
    #expect(credential.wanted(at: moment(3_540_000).instant) == .tokenAndAsk("a", serial: 1))
    #expect(credential.wanted(at: moment(3_541_000).instant) == .token("a", serial: 1))
    #expect(credential.wanted(at: moment(3_600_000).instant) == .asking)
  }

  @Test(
    "49: a lifetime that is absent, nothing or huge is a sane one",
    arguments: [
      (nil, 540), (0, 5), (-5, 5), (30, 5), (60, 5), (65, 5), (70, 10), (.max, 3_540), (3_600, 3_540),
    ] as [(Int64?, UInt64)])
  func lifetimes(said: Int64?, seconds: UInt64) {
    var credential = GoogleCredential()
    _ = credential.wanted(at: moment(0).instant)
    credential.granted("a", expiresInSeconds: said, at: moment(0).instant)
    #expect(credential.wanted(at: moment(seconds * 1_000 - 1).instant) == .token("a", serial: 1))
    #expect(credential.wanted(at: moment(seconds * 1_000).instant) == .tokenAndAsk("a", serial: 1))
  }

  @Test("49: tokens that end at once are not asked for at every push", arguments: [Int64.min, 0, 1, 30, 61])
  func brief(said: Int64) {
    var credential = GoogleCredential()
    var asked: [UInt64] = []
    for push in 0..<6_000 {
      let now = UInt64(push) * 100
      switch credential.wanted(at: moment(now).instant) {
      case .ask, .tokenAndAsk:
        asked.append(now)
        credential.granted("a", expiresInSeconds: said, at: moment(now).instant)
        credential.accepted(serial: UInt64(asked.count))
      case .token(_, let serial): if said < 5, push.isMultiple(of: 7) { credential.refused(serial: serial) }
      default: break
      }
    }
    // Ten minutes: one in five seconds while they are taken, and where they are refused one in thirty.
    #expect(asked.count <= 120 && asked.count >= 20, "\(asked.count)")
    if said < 5 { #expect(asked.count <= 22, "\(asked.count)") }
  }

  @Test("49: a hundred refusals ask once; what is refused at once is not asked for again at once")
  func refusals() {
    var credential = GoogleCredential()
    _ = credential.wanted(at: moment(0).instant)
    credential.granted("a", expiresInSeconds: 3_600, at: moment(0).instant)
    for _ in 0..<100 { credential.refused(serial: 1) }
    #expect(credential.wanted(at: moment(40_000).instant) == .ask)
    credential.granted("b", expiresInSeconds: 3_600, at: moment(40_000).instant)
    credential.refused(serial: 1)
    #expect(credential.wanted(at: moment(40_000).instant) == .token("b", serial: 2))
    credential.refused(serial: 2)
    #expect(credential.wanted(at: moment(40_001).instant) == .wait(until: moment(70_000).instant))
    #expect(credential.wanted(at: moment(70_000).instant) == .ask)
  }

  @Test("49: a token that was good and is revoked is replaced at once, and the next not so soon")
  func revoked() {
    var credential = GoogleCredential()
    _ = credential.wanted(at: moment(0).instant)
    credential.granted("a", expiresInSeconds: 3_600, at: moment(0).instant)
    credential.accepted(serial: 1)
    credential.refused(serial: 1)
    #expect(credential.wanted(at: moment(1).instant) == .ask)
    credential.granted("b", expiresInSeconds: 3_600, at: moment(2).instant)
    credential.accepted(serial: 1)
    credential.accepted(serial: 2)
    credential.refused(serial: 2)
    #expect(credential.wanted(at: moment(3).instant) == .wait(until: moment(30_002).instant))
  }

  @Test("49: requests for a token that fail are further and further apart")
  func failures() {
    var generator = SeededGenerator(seed: 1)
    var credential = GoogleCredential()
    var now: UInt64 = 0
    var asked = 0
    while now < 600_000 {
      if credential.wanted(at: moment(now).instant) == .ask {
        asked += 1
        credential.failed(at: moment(now).instant, using: &generator)
      }
      now += 100
    }
    #expect((10...30).contains(asked))
  }
}

extension AppleCredential {
  /// A token was made and written down.
  fileprivate mutating func made(_ token: String, at moment: PushMoment) -> Kept {
    let kept = minted(token, at: moment)
    #expect(written() == nil)
    return kept
  }
}
