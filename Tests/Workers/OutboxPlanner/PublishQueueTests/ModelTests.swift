import Clocks
import Contracts
import Nostr
import PublishQueue
import TestSupport
import Testing

// The queue against an obvious model of one target: what its outcomes so far come to. The model knows no lines, waits
// or bounds; the bench checks those. Restarts lose what is not written down, on both sides.

@Suite("The publish queue against a model")
struct ModelTests {
  /// What the outcomes at one relay come to.
  struct Model: Equatable {
    var state = PublicationTarget.State.pending
    var attempts = 0
    var refusals = 0

    mutating func settled(_ outcome: SendOutcome, _ limits: PublishLimits) {
      // One that never left is taken back, unless it was over by then.
      if case .absent = outcome, state == .pending {} else { attempts += 1 }
      if case .taken = outcome { state = .confirmed }
      guard state == .pending else { return }
      switch outcome {
      case .refused: state = .failed
      case .failing: refuse(limits.failureMaximum)
      case .rejected: refuse(limits.rejectionMaximum)
      case .unauthorized: refuse(limits.authorizationMaximum)
      default: break
      }
    }

    private mutating func refuse(_ maximum: Int) {
      refusals += 1
      if refusals >= maximum { state = .failed }
    }
  }

  @Test(
    "agrees, through random outcomes, orders, clocks and restarts, and everything comes to an end", arguments: seeds(30)
  )
  func agrees(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var limits = PublishLimits()
    limits.inFlightMaximum = Int.random(in: 1...40, using: &random)
    limits.relayInFlightMaximum = Int.random(in: 1...16, using: &random)
    var play = Play(Bench(limits: limits, seed: seed), random)
    for _ in 0..<400 { play.step() }
    play.end()
  }

  struct Play {
    let bench: Bench
    var random: SeededGenerator
    let relays = (0..<5).map { "wss://relay\($0).example" }
    var models: [SendingKey: Model] = [:]
    var written: [SendingKey: Model] = [:]

    init(_ bench: Bench, _ random: SeededGenerator) {
      self.bench = bench
      self.random = random
    }

    mutating func step() {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<5: publish()
      case 5..<12: settleSome()
      case 12..<14: bench.advance(milliseconds: UInt64.random(in: 0...120_000, using: &random))
      case 14..<16: writeSome()
      case 16: bench.apply { [relay = relays.randomElement(using: &random)!] in $0.relayOpened(relay, at: $1) }
      case 17: tryAgain()
      case 18: cancel()
      default: restart()
      }
      compare()
    }

    private mutating func publish() {
      let chosen = relays.filter { _ in Bool.random(using: &random) }
      guard !chosen.isEmpty else { return }
      let id = bench.publish(chosen, lifetime: 30 * 24 * 3_600)
      for relay in chosen { models[SendingKey(id: id, relay: relay)] = Model() }
      // Acceptance is a commit.
      for relay in chosen { written[SendingKey(id: id, relay: relay)] = Model() }
    }

    private mutating func settleSome() {
      let keys = bench.inFlight.keys.sorted { ($0.id, $0.relay) < ($1.id, $1.relay) }
      for key in keys where Bool.random(using: &random) { settle(key, outcome()) }
    }

    private mutating func settle(_ key: SendingKey, _ outcome: SendOutcome) {
      models[key]?.settled(outcome, bench.limits)
      bench.settle(key, outcome)
    }

    private mutating func outcome() -> SendOutcome {
      switch Int.random(in: 0..<13, using: &random) {
      case 0..<3: .taken("")
      case 3: .refused("blocked: no")
      case 4: .rejected("no")
      case 5: .unauthorized("auth-required: who")
      case 6: .locked("locked")
      case 7: .limited("rate-limited: slow")
      case 8: .unreachable("down", afterMilliseconds: Bool.random(using: &random) ? 1_000 : nil)
      case 9: .absent("no connector")
      case 10: .failing("error: no")
      default: .unsettled("disconnected")
      }
    }

    private mutating func writeSome() {
      let share = Bool.random(using: &random)
      var ids: Set<EventID> = []
      for id in bench.unwritten.sorted() where share || Bool.random(using: &random) { ids.insert(id) }
      bench.write { ids.contains($0) }
      for (key, model) in models where ids.contains(key.id) {
        written[key] = model
        // What is under way is counted when it begins.
        if bench.inFlight[key] != nil { written[key]?.attempts += 1 }
      }
    }

    private mutating func tryAgain() {
      guard let id = bench.queue.ids.sorted().randomElement(using: &random) else { return }
      bench.apply { $0.retried(id, expiresAt: $1.time + 30 * 24 * 3_600, at: $1) }
      for (key, model) in models where key.id == id && model.state != .confirmed {
        models[key]?.state = .pending
        models[key]?.refusals = 0
      }
    }

    private mutating func cancel() {
      guard let id = bench.queue.ids.sorted().randomElement(using: &random) else { return }
      bench.apply { $0.cancelled(id, at: $1) }
      for (key, model) in models where key.id == id && model.state == .pending { models[key]?.state = .cancelled }
    }

    private mutating func restart() {
      bench.offset += Int64.random(in: -3_600...3_600, using: &random)
      bench.restart(seed: random.next())
      models = written
    }

    /// Every relay is well again: all that was not refused is taken.
    mutating func end() {
      for _ in 0..<10_000 {
        while let key = bench.inFlight.keys.first { settle(key, .taken("")) }
        guard let timer = bench.timer, bench.queue.ids.contains(where: { bench.told($0)?.state.isFinal == false })
        else {
          break
        }
        bench.advance(milliseconds: timer.milliseconds(since: bench.now) + 1)
      }
      compare()
      bench.write()
      #expect(bench.queue.count == 0 && bench.inFlight.isEmpty, "nothing is left")
      #expect(bench.ledger.values.allSatisfy { $0.state.isFinal })
    }

    private func compare() {
      for (key, model) in models {
        let target = bench.queue[key.id]?.target(key) ?? bench.ledger[key.id]?.target(key)
        guard let target else {
          Issue.record("\(key) is lost")
          continue
        }
        let isSent = bench.inFlight[key] != nil
        let state = target.progress.state == .sent ? PublicationTarget.State.pending : target.progress.state
        #expect(state == model.state && target.refusals == model.refusals, "\(target) is not \(model)")
        #expect(target.progress.attempts == model.attempts + (isSent ? 1 : 0))
      }
    }
  }
}

extension QueuedPublication {
  func target(_ key: SendingKey) -> QueuedTarget? { targets.first { $0.relay == key.relay } }
}
