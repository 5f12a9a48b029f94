import Addresses
import Clocks
import Cryptography
import PushAdmission
import PushDelivery
import TestSupport
import Testing

@Suite("Room for wakes") struct WakeAdmissionTests {
  private let start: Int64 = 1_760_000_000
  private let bob = owner(200_000)

  private func admission(_ change: (inout AdmissionLimits) -> Void = { _ in }) -> WakeAdmission {
    var limits = AdmissionLimits()
    change(&limits)
    return WakeAdmission(limits: limits, hashKey: (1, 2), now: start)
  }

  @Test("The eleventh wake of a minute and the 101st of an hour wait as told, and then pass (case 30)")
  func sender() throws {
    var admission = admission { $0.recipientPerHour = 60_000 }
    var now = start
    for number in 0..<10 {
      #expect(admission.admit(wake(1, to: number), now: now) == .admitted)
    }
    let minute = try #require(limited(admission.admit(wake(1, to: 10), now: now)))
    #expect(minute.scope == .senderMinute && (1...70).contains(minute.seconds))
    var sent = 10
    while sent < 100 {
      now += 7
      if admission.admit(wake(1, to: sent), now: now) == .admitted { sent += 1 }
    }
    now += 70
    let hour = try #require(limited(admission.admit(wake(1, to: 100), now: now)))
    #expect(hour.scope == .senderHour && (1...4_200).contains(hour.seconds))
    #expect(limited(admission.admit(wake(1, to: 100), now: now + Int64(hour.seconds) - 1)) != nil)
    #expect(admission.admit(wake(1, to: 100), now: now + Int64(hour.seconds)) == .admitted)
  }

  @Test("Strangers cannot take what is the contacts', and hear nothing of it (case 31)")
  func reserve() {
    var admission = admission()
    var admitted = 0
    for number in 0..<40 {
      let verdict = admission.admit(WakeAsk(sender: owner(number), recipient: bob, charge: .stranger), now: start)
      if verdict == .admitted { admitted += 1 } else { #expect(dropped(verdict) == .strangers) }
    }
    #expect(admitted == 20)
    for number in 0..<80 {
      let ask = WakeAsk(sender: owner(1_000 + number), recipient: bob, charge: .contact)
      #expect(admission.admit(ask, now: start) == .admitted)
    }
    let last = admission.admit(WakeAsk(sender: owner(3_000), recipient: bob, charge: .contact), now: start)
    #expect(limited(last)?.scope == .recipient)
    let other = admission.admit(WakeAsk(sender: owner(3_001), recipient: owner(9), charge: .stranger), now: start)
    #expect(other == .admitted)
  }

  @Test("One sender alone cannot use up a recipient, contact or not")
  func pair() {
    var admission = admission {
      $0.senderPerMinute = 1_000
      $0.senderPerHour = 1_000
    }
    let contacts = (0..<70).map { _ in
      admission.admit(WakeAsk(sender: owner(1), recipient: bob, charge: .contact), now: start)
    }
    #expect(contacts.filter { $0 == .admitted }.count == 60 && limited(contacts.last)?.scope == .pair)
    let strangers = (0..<15).map { _ in
      admission.admit(WakeAsk(sender: owner(2), recipient: bob, charge: .stranger), now: start)
    }
    #expect(strangers.filter { $0 == .admitted }.count == 10 && dropped(strangers.last) == .pair)
  }

  @Test("A wake that joins another costs the recipient nothing, and the sender what any costs")
  func coalesced() {
    var admission = admission()
    for number in 0..<500 {
      let ask = WakeAsk(sender: owner(number), recipient: bob, charge: .nothing)
      #expect(admission.admit(ask, now: start) == .admitted)
    }
    let verdict = admission.admit(WakeAsk(sender: owner(9_999), recipient: bob, charge: .stranger), now: start)
    #expect(verdict == .admitted)
    for _ in 0..<10 {
      _ = admission.admit(WakeAsk(sender: owner(7), recipient: bob, charge: .nothing), now: start + 70)
    }
    let eleventh = admission.admit(WakeAsk(sender: owner(7), recipient: bob, charge: .nothing), now: start + 70)
    #expect(limited(eleventh)?.scope == .senderMinute)
  }

  @Test("What a stranger may send is spent alike whether his wake is dropped or not")
  func droppedSpends() {
    var admission = admission()
    for number in 0..<20 {
      _ = admission.admit(WakeAsk(sender: owner(100 + number), recipient: bob, charge: .stranger), now: start)
    }
    var quiet = admission
    let full = (0..<12).map { _ in
      limited(admission.admit(WakeAsk(sender: owner(1), recipient: bob, charge: .stranger), now: start)) != nil
    }
    let empty = (0..<12).map { _ in
      limited(quiet.admit(WakeAsk(sender: owner(1), recipient: owner(5), charge: .stranger), now: start)) != nil
    }
    #expect(full == empty && full == Array(repeating: false, count: 10) + [true, true])
  }

  @Test("A contact who may not know of a full recipient has spent as at an empty one, and hears of his own limit alone")
  func untoldSpends() {
    var admission = admission { $0.recipientPerHour = 3 }
    for number in 0..<3 { _ = admission.admit(wake(100 + number, to: 1), now: start) }
    func verdicts(_ recipient: Int) -> [String] {
      (0..<12).map { _ in
        var ask = wake(1, to: recipient)
        ask.isTold = false
        return limited(admission.admit(ask, now: start)).map { "\($0)" } ?? "queued"
      }
    }
    let full = verdicts(1)
    #expect(full.prefix(10).allSatisfy { $0 == "queued" } && full.suffix(2).allSatisfy { $0.contains("senderMinute") })
    // A stranger who may know hears of it, and has spent nothing.
    for _ in 0..<20 {
      let ask = WakeAsk(sender: owner(2), recipient: owner(50_001), charge: .stranger, isTold: true)
      #expect(limited(admission.admit(ask, now: start))?.scope == .recipient)
    }
  }

  @Test("An owner writes lists sixty times an hour and a network 240 times, also after a start")
  func changes() throws {
    var admission = admission()
    let address = try #require(IPAddress("192.0.2.1"))
    for _ in 0..<60 { #expect(admission.admit(changeBy: bob, from: nil, now: start) == .admitted) }
    #expect(limited(admission.admit(changeBy: bob, from: address, now: start))?.scope == .changes)
    for number in 0..<240 {
      #expect(admission.admit(changeBy: owner(number), from: address, now: start) == .admitted)
    }
    var next = WakeAdmission(snapshot: admission.snapshot(), hashKey: (3, 4), now: start, isClean: true)
    #expect(limited(next.admit(changeBy: owner(500), from: address, now: start))?.scope == .addressChanges)
    #expect(limited(next.admit(changeBy: bob, from: nil, now: start))?.scope == .changes)
    // Registrations are counted apart.
    #expect(next.admit(registrationBy: bob, from: address, now: start) == .admitted)
  }

  @Test("A thousand keys in one IPv6 network are one network, a thousand networks are a thousand (case 32)")
  func addresses() throws {
    var admission = admission()
    var admitted = 0
    for number in 0..<1_000 {
      let address = try #require(IPAddress("2001:db8::\(String(number + 1, radix: 16))"))
      let verdict = admission.admit(requestFrom: address, now: start)
      if verdict == .admitted { admitted += 1 } else { #expect(limited(verdict)?.scope == .address) }
    }
    #expect(admitted == 600)
    for number in 0..<1_000 {
      let address = try #require(IPAddress("10.\(number / 250).\(number % 250).1"))
      #expect(admission.admit(requestFrom: address, now: start) == .admitted)
    }
  }

  @Test("The relay as a whole takes so many requests a minute, and what it refuses makes no entries")
  func global() throws {
    var admission = admission { $0.globalPerMinute = 100 }
    for number in 0..<300 {
      let address = try #require(IPAddress("10.0.\(number / 250).\(number % 250)"))
      let verdict = admission.admit(requestFrom: address, now: start)
      #expect((verdict == .admitted) == (number < 100))
    }
    #expect(admission.keyCount == 100)
    #expect(limited(admission.admit(requestFrom: nil, now: start + 1))?.scope == .global)
  }

  @Test("A device is registered thirty times an hour, and a network has room for more than one device")
  func registrations() throws {
    var admission = admission()
    let address = try #require(IPAddress("192.0.2.1"))
    for number in 0..<30 {
      #expect(admission.admit(registrationBy: bob, from: number < 10 ? address : nil, now: start) == .admitted)
    }
    #expect(limited(admission.admit(registrationBy: bob, from: address, now: start))?.scope == .registrations)
    let others = (0..<120).map { admission.admit(registrationBy: owner($0), from: address, now: start) }
    #expect(others.filter { $0 == .admitted }.count == 110)
    #expect(limited(others.last)?.scope == .addressRegistrations)
  }

  /// As many as an unoptimised program does in some seconds; a million are woken by `Benchmarks/push.py --crowd`.
  @Test("Three hundred thousand recipients leave what there is room for (case 36)")
  func bounded() {
    var admission = admission {
      $0.keyMaximum = 2_000
      $0.globalPerMinute = 60_000
    }
    for number in 0..<300_000 {
      let ask = WakeAsk(sender: nil, recipient: owner(number), charge: .stranger)
      _ = admission.admit(ask, now: start + Int64(number / 100))
    }
    #expect(admission.keyCount <= 8 * 2_000 && admission.snapshot().count < 3_000_000)
  }

  @Test("Who obeys the wait passes, whatever was asked before and whichever limit it was", arguments: seeds(10))
  func obeyed(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var admission = admission {
      $0.globalPerMinute = 60
      $0.addressPerMinute = 20
    }
    var now = start
    for _ in 0..<500 {
      now += Int64.random(in: 0...12, using: &generator)
      var ask = wake(Int.random(in: 0..<4, using: &generator), to: Int.random(in: 0..<3, using: &generator))
      ask.charge = WakeAsk.Charge.allCases.randomElement(using: &generator) ?? .contact
      ask.isTold = Bool.random(using: &generator)
      ask.pushCount = Int.random(in: 1...3, using: &generator)
      guard let (seconds, _) = limited(admission.admit(ask, now: now)) else { continue }
      #expect((1...4_200).contains(seconds))
      var later = admission
      #expect(limited(later.admit(ask, now: now + Int64(seconds))) == nil)
    }
  }

  // MARK: Clocks

  @Test(
    "A clock that jumps an hour either way locks nobody out for longer than the window (case 53)", arguments: seeds(10))
  func jumps(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var admission = admission()
    var wall = start
    for _ in 0..<1_000 {
      wall += [3_600, -3_600, 0, 0, 0, 1, 5, 30].randomElement(using: &generator) ?? 0
      let ask = wake(Int.random(in: 0..<2, using: &generator), to: 1)
      guard let (seconds, _) = limited(admission.admit(ask, now: wall)) else { continue }
      #expect((1...4_200).contains(seconds))
      var later = admission
      #expect(limited(later.admit(ask, now: wall + Int64(seconds))) == nil)
    }
  }

  @Test("A clock that is set back gives nobody a fresh budget")
  func setBack() {
    var admission = admission()
    for number in 0..<10 { _ = admission.admit(wake(1, to: number), now: start) }
    #expect(limited(admission.admit(wake(1, to: 11), now: start - 3_600)) != nil)
    #expect(limited(admission.admit(wake(1, to: 11), now: start - 3_600 + 70)) == nil)
  }

  // MARK: Keeping

  @Test("After a clean end everything goes on as it was", arguments: seeds(5))
  func clean(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var first = admission()
    var now = start
    func random() -> WakeAsk {
      var ask = wake(Int.random(in: 0..<6, using: &generator), to: Int.random(in: 0..<3, using: &generator))
      ask.charge = WakeAsk.Charge.allCases.randomElement(using: &generator) ?? .contact
      ask.isTold = Bool.random(using: &generator)
      return ask
    }
    for _ in 0..<500 {
      now += Int64.random(in: 0...5, using: &generator)
      _ = first.admit(random(), now: now)
    }
    var second = WakeAdmission(snapshot: first.snapshot(), hashKey: (8, 9), now: now, isClean: true)
    for _ in 0..<500 {
      now += Int64.random(in: 0...5, using: &generator)
      let ask = random()
      #expect(first.admit(ask, now: now) == second.admit(ask, now: now))
    }
  }

  @Test("A snapshot of an earlier version, without the tables that came later, is believed")
  func earlier() {
    var first = admission()
    for number in 0..<10 { _ = first.admit(wake(1, to: number), now: start) }
    let emptyTable = 12
    let content = Array(first.snapshot().dropLast(Octets32.byteCount + 2 * emptyTable))
    let snapshot = content + SHA256.hash(content).bytes
    var second = WakeAdmission(snapshot: snapshot, hashKey: (8, 9), now: start, isClean: true)
    #expect(limited(second.admit(wake(1, to: 11), now: start))?.scope == .senderMinute)
    let verdicts = (0..<10).map { second.admit(wake(2, to: $0), now: start) }
    #expect(verdicts.allSatisfy { $0 == .admitted })
  }

  @Test("After a crash everybody has spent at least half, known or not, and it comes back with time")
  func unclean() {
    for snapshot in [admission().snapshot(), [], Array("PUSHLIM2".utf8)] {
      var admission = WakeAdmission(snapshot: snapshot, hashKey: (1, 2), now: start, isClean: snapshot.isEmpty)
      let verdicts = (0..<7).map { admission.admit(wake(1, to: $0), now: start) }
      #expect(verdicts.filter { $0 == .admitted }.count == 5 && limited(verdicts.last)?.scope == .senderMinute)
      let later = (0..<11).map { admission.admit(wake(2, to: 100 + $0), now: start + 4_200) }
      #expect(later.filter { $0 == .admitted }.count == 10)
    }
  }

  @Test("After a crash a stranger has half of what strangers have, and not less than nothing")
  func uncleanStranger() {
    var admission = WakeAdmission(snapshot: admission().snapshot(), hashKey: (1, 2), now: start, isClean: false)
    let ask = WakeAsk(sender: owner(1), recipient: owner(2), charge: .stranger)
    #expect(admission.admit(ask, now: start) == .admitted)
  }

  @Test("A snapshot with a byte changed or cut is not believed, and does no harm", arguments: seeds(5))
  func broken(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var admission = admission()
    for number in 0..<10 { _ = admission.admit(wake(1, to: number), now: start) }
    let snapshot = admission.snapshot()
    for _ in 0..<50 {
      var bytes = snapshot
      if Bool.random(using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      } else {
        bytes.removeLast(Int.random(in: 1...bytes.count, using: &generator))
      }
      var read = WakeAdmission(snapshot: bytes, hashKey: (1, 2), now: start, isClean: true)
      let verdicts = (0..<7).map { read.admit(wake(3, to: $0), now: start) }
      #expect(verdicts.filter { $0 == .admitted }.count == 5)
    }
  }

  private func wake(_ sender: Int, to recipient: Int) -> WakeAsk {
    WakeAsk(sender: owner(sender), recipient: owner(50_000 + recipient), charge: .contact)
  }
}

private func owner(_ number: Int) -> PushOwner {
  PushOwner(.pubky, SHA256.hash(Array("owner \(number)".utf8)))
}

private func limited(_ verdict: AdmissionVerdict?) -> (seconds: Int, scope: AdmissionScope)? {
  guard case .limited(let seconds, let scope)? = verdict else { return nil }
  return (seconds, scope)
}

private func dropped(_ verdict: AdmissionVerdict?) -> AdmissionScope? {
  guard case .dropped(let scope, let seconds)? = verdict, seconds >= 1 else { return nil }
  return scope
}
