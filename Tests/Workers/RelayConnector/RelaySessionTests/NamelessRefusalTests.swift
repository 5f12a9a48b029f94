import Clocks
import Nostr
import RelaySession
import Testing

/// Refusals with an empty id, as nostr-relay sends them.
@Suite struct NamelessRefusalTests {
  private let bench = Bench()

  init() { bench.connect() }

  private func refuse(_ text: String = "invalid: signature") {
    bench.receive(.ok(id: nil, isAccepted: false, reason: RelayReason(text)))
  }

  private func answer(_ event: Int, isAccepted: Bool = true) {
    bench.receive(.ok(id: Bench.id(event), isAccepted: isAccepted, reason: RelayReason("")))
  }

  /// The answers since the last ones, by the keys of their publishes.
  private func answers() -> [UInt64: String] {
    var answers: [UInt64: String] = [:]
    for case .answer(let key, let isAccepted, let reason) in bench.taken() {
      answers[key.rawValue] = isAccepted ? "taken" : reason.text
    }
    return answers
  }

  @Test("It means the one event that has no answer, and an acceptance without an id means none")
  func single() {
    bench.publish(1, event: 1)
    bench.receive(.ok(id: nil, isAccepted: true, reason: RelayReason("")))
    #expect(answers().isEmpty)
    refuse()
    #expect(answers() == [1: "invalid: signature"])
    refuse()
    #expect(answers().isEmpty && bench.session.counters.strayMessages == 2)
    bench.publish(2, event: 2)
    #expect(answers().isEmpty, "what was sent behind it is not meant")
    #expect(bench.session.publishCount == 1)
  }

  @Test("Among several events it waits until the others have their answers", arguments: [[1, 2, 3], [3, 1, 2]])
  func amongOthers(_ order: [Int]) {
    for event in 1...4 { bench.publish(UInt64(event), event: event) }
    refuse()
    #expect(answers().isEmpty, "four events could be meant")
    for event in order.dropLast() { answer(event) }
    bench.publish(5, event: 5)
    #expect(answers().count == 2)
    answer(order[2])
    #expect(answers() == [UInt64(order[2]): "taken", 4: "invalid: signature"])
    #expect(bench.session.publishCount == 1, "what was sent behind the refusal waits for its own answer")
  }

  @Test("As many refusals as events without an answer mean all of them, in the order in which those were sent")
  func several() {
    for event in 1...3 { bench.publish(UInt64(event), event: event) }
    refuse("invalid: a")
    refuse("invalid: b")
    answer(2)
    #expect(answers() == [1: "invalid: a", 2: "taken", 3: "invalid: b"])
  }

  @Test("One that came early is not laid on what was sent later, whatever comes behind it")
  func early() {
    bench.publish(1, event: 1)
    bench.publish(2, event: 2)
    refuse("invalid: early")
    bench.publish(3, event: 3)
    bench.publish(4, event: 4)
    refuse("invalid: late")
    answer(3)
    #expect(answers() == [3: "taken"])
    answer(1)
    #expect(answers() == [1: "taken", 2: "invalid: early", 4: "invalid: late"])
  }

  @Test("It is not laid on an event when one given up before could be meant, until that is answered as well")
  func givenUp() {
    bench.publish(1, event: 1, milliseconds: 100)
    bench.advance(milliseconds: 100)
    bench.publish(2, event: 2)
    refuse("invalid: a")
    #expect(answers().isEmpty && bench.session.publishCount == 1)
    refuse("invalid: b")
    #expect(answers() == [2: "invalid: b"])

    bench.publish(3, event: 3, milliseconds: 100)
    bench.advance(milliseconds: 100)
    bench.publish(4, event: 4)
    refuse()
    answer(3)
    #expect(answers() == [4: "invalid: signature"], "the late answer had a name")
  }

  @Test("Once more events were given up than are remembered nothing is guessed, until there is a new connection")
  func uncountable() {
    var limits = SessionLimits()
    limits.abandonedEventMaximum = 1
    let bench = Bench(limits: limits)
    bench.connect()
    for event in 1...2 { bench.publish(UInt64(event), event: event, milliseconds: 100) }
    bench.advance(milliseconds: 100)
    bench.publish(3, event: 3)
    _ = bench.taken()
    for _ in 0..<5 { bench.receive(.ok(id: nil, isAccepted: false, reason: RelayReason(""))) }
    #expect(bench.taken().isEmpty && bench.session.publishCount == 1)
    bench.apply { $0.disconnected(reason: "reset by peer", at: $1) }
    bench.connect()
    bench.publish(4, event: 4)
    _ = bench.taken()
    bench.receive(.ok(id: nil, isAccepted: false, reason: RelayReason("")))
    #expect(bench.taken() == [.answer(PublishKey(4), isAccepted: false, reason: RelayReason(""))])
  }

  @Test("However events are answered, each publish ends as its event did, and none is left", arguments: 0..<20)
  func anyOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // The relay checks events in any order, and names those that it takes only.
    var sent: [Int] = []
    var taken: Set<Int> = []
    var ends: [UInt64: String] = [:]
    for event in 1...60 {
      bench.publish(UInt64(event), event: event)
      sent.append(event)
      while let number = sent.randomElement(using: &random), sent.count > 5 || (event == 60 && !sent.isEmpty) {
        sent.removeAll { $0 == number }
        if number.isMultiple(of: 3) {
          refuse()
        } else {
          answer(number)
          taken.insert(number)
        }
        ends.merge(answers()) { _, _ in "twice" }
      }
    }
    for event in 1...60 { #expect(ends[UInt64(event)] == (taken.contains(event) ? "taken" : "invalid: signature")) }
    #expect(bench.session.publishCount == 0)
  }
}
