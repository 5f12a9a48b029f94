import Clocks
import Nostr
import RelaySubscriptions
import TestSupport
import Testing

@testable import RelaySession

/// What became of each wish, as slowly and plainly as possible.
private struct Model {
  enum Phase: Equatable { case idle, pausing, asked, ended, closing, resting, done, refused }
  struct Entry {
    var wish: SubscriptionSet.Subscription
    var number: Int
    var phase = Phase.idle
    /// When a pause is over at the latest.
    var pauseEnd = Instant(nanoseconds: 0)
    /// The request that the relay has closed behind its EOSE.
    var closed: RequestKey?
  }
  var entries: [String: Entry] = [:]
  var isOpen = false
  var count = 0
}

@Suite("Standing requests, at random") struct StandingRequestPropertyTests {
  private static let startedMaximum = 3
  private static let words = ["rate-limited: x", "error: x", "x", "", "blocked: x", "auth-required: x"]
  private static let wishes: [SubscriptionSet.Subscription] = [.live(1), .live(2), .once(1), .once(2)]

  /// The longest pause of all: the last of `rate-limited`, and half of it by chance.
  private static let pauseMaximum: UInt64 = 4_000 * 3 / 2 + 5_000 * 3 / 2
  /// The longest wait after CLOSED behind EOSE.
  private static let restMaximum: UInt64 = 300_000 * 3 / 2

  @Test(
    "Whatever happens, a wish is asked exactly when there is a connection and room, and nothing forbids it",
    arguments: seeds(60))
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var limits = SubscriptionLimits()
    // Turns and the memory of refusals have their own tests.
    limits.turnMilliseconds = 1 << 40
    limits.retryMemoryMilliseconds = 0
    let bench = WishBench(limits: limits, seed: seed)
    bench.apply { $0.slotsChanged(Self.startedMaximum + 2, at: $1) }
    var model = Model()
    var commits: [(String, RequestKey)] = []
    for _ in 0..<400 {
      step(bench, &model, &commits, &generator)
      for case .commit(let key, let request) in bench.taken() { commits.append((key, request)) }
      check(bench, &model)
    }
    for key in model.entries.keys { bench.drop(key) }
    #expect(bench.underWay.isEmpty && bench.timer == nil && bench.requests.isEmpty)
  }

  private func step(
    _ bench: WishBench, _ model: inout Model, _ commits: inout [(String, RequestKey)],
    _ generator: inout SeededGenerator
  ) {
    let key = String(UnicodeScalar(UInt8(ascii: "a") + UInt8.random(in: 0..<6, using: &generator)))
    let request = bench.underWay.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &generator)
    switch Int.random(in: 0..<12, using: &generator) {
    case 0, 1: wish(key, Self.wishes.randomElement(using: &generator) ?? .live(), bench, &model)
    case 2:
      bench.drop(key)
      model.entries[key] = nil
    case 3:
      bench.open()
      model.isOpen = true
      for (key, entry) in model.entries where entry.phase == .pausing || entry.phase == .refused {
        model.entries[key]?.phase = .idle
      }
    case 4:
      for (key, entry) in model.entries where [.asked, .ended, .resting].contains(entry.phase) {
        model.entries[key]?.phase = .idle
      }
      model.isOpen = false
      bench.close()
    case 5: if let request { _ = bench.deliver(request) }
    case 6, 7: if let request { end(request, bench, &model) }
    case 8, 9:
      if let index = commits.indices.randomElement(using: &generator) {
        commit(commits[index], bench, &model)
      }
    case 10: if let request { close(request, bench, &model, &generator) }
    case 11 where Bool.random(using: &generator):
      bench.apply { [isHeld = Bool.random(using: &generator)] in isHeld ? $0.held(at: $1) : $0.released(at: $1) }
    default: advance(UInt64.random(in: 1...20_000, using: &generator), bench, &model)
    }
  }

  private func wish(_ key: String, _ wish: SubscriptionSet.Subscription, _ bench: WishBench, _ model: inout Model) {
    bench.wish(key, wish)
    if model.entries[key]?.wish == wish { return }
    model.count += 1
    model.entries[key] = Model.Entry(wish: wish, number: model.count)
  }

  private func end(_ request: RequestKey, _ bench: WishBench, _ model: inout Model) {
    guard let key = bench.underWay[request]?.key else { return }
    if model.entries[key]?.phase == .asked { model.entries[key]?.phase = .ended }
    bench.end(request)
  }

  private func commit(_ commit: (String, RequestKey), _ bench: WishBench, _ model: inout Model) {
    let isCurrent = bench.underWay[commit.1]?.key == commit.0
    if isCurrent, model.entries[commit.0]?.wish.isLive == false { model.entries[commit.0]?.phase = .done }
    let isClosed = model.entries[commit.0]?.closed == commit.1
    if isClosed, model.entries[commit.0]?.phase == .closing { model.entries[commit.0]?.phase = .done }
    bench.commit(commit.0, commit.1)
    if isCurrent || model.entries[commit.0]?.phase == .done { #expect(bench.state(commit.0) == .stored) }
  }

  private func close(
    _ request: RequestKey, _ bench: WishBench, _ model: inout Model, _ generator: inout SeededGenerator
  ) {
    guard let key = bench.underWay[request]?.key else { return }
    let text = Self.words.randomElement(using: &generator) ?? ""
    bench.fail(request, .closedByRelay, text)
    if let entry = model.entries[key], entry.phase == .ended, !entry.wish.isLive || !text.contains(":") {
      model.entries[key]?.phase = entry.wish.isLive ? .resting : .closing
      model.entries[key]?.closed = request
      model.entries[key]?.pauseEnd = bench.now.advanced(milliseconds: Self.restMaximum)
      #expect(bench.request(key) == nil, "not again at once")
      return
    }
    // Which of the two is what the tests of words are about; here, that it keeps to what it says.
    if case .refused? = bench.state(key) {
      model.entries[key]?.phase = .refused
    } else {
      model.entries[key]?.phase = .pausing
      model.entries[key]?.pauseEnd = bench.now.advanced(milliseconds: Self.pauseMaximum)
      #expect(bench.request(key) == nil, "not again at once")
    }
  }

  private func advance(_ milliseconds: UInt64, _ bench: WishBench, _ model: inout Model) {
    bench.advance(milliseconds: milliseconds)
    for (key, entry) in model.entries {
      switch entry.phase {
      case .pausing where bench.request(key) != nil || entry.pauseEnd <= bench.now,
        .resting where bench.request(key) != nil || entry.pauseEnd <= bench.now:
        model.entries[key]?.phase = .idle
      case .asked where !entry.wish.isLive:
        if case .refused? = bench.state(key) { model.entries[key]?.phase = .refused }
      default: break
      }
    }
  }

  private func check(_ bench: WishBench, _ model: inout Model) {
    // A pause that is over may have had to wait for room.
    for (key, entry) in model.entries
    where [.idle, .pausing, .resting].contains(entry.phase) && bench.request(key) != nil {
      #expect(model.isOpen, "asked without a connection")
      model.entries[key]?.phase = .asked
    }
    let asked = model.entries.filter { $0.value.phase == .asked || $0.value.phase == .ended }
    #expect(Set(bench.underWay.values.map(\.key)) == Set(asked.keys))
    #expect(bench.underWay.values.allSatisfy { $0.wish == model.entries[$0.key]?.wish })
    for isLive in [true, false] {
      let count = asked.values.count { $0.wish.isLive == isLive }
      #expect(count <= Self.startedMaximum)
      let idle = model.entries.filter { $0.value.phase == .idle && $0.value.wish.isLive == isLive }
      if model.isOpen, count < Self.startedMaximum { #expect(idle.isEmpty, "there is room for \(idle.keys)") }
    }
    let needsTimer = model.entries.values.contains {
      ($0.phase == .pausing || $0.phase == .resting) && $0.pauseEnd > bench.now
    }
    if model.isOpen, needsTimer, asked.count < Self.startedMaximum { #expect(bench.timer != nil) }
    for (key, entry) in model.entries { checkState(bench.state(key), of: key, entry) }
  }

  private func checkState(_ state: SubscriptionSet.State?, of key: String, _ entry: Model.Entry) {
    switch (entry.phase, state) {
    case (.idle, .waiting?), (.pausing, .waiting?), (.asked, .asked?), (.asked, .stored?), (.ended, .asked?),
      (.ended, .stored?), (.closing, .asked?), (.resting, .asked?), (.resting, .stored?), (.resting, .waiting?),
      (.done, .stored?), (.refused, .refused?):
      break
    default: Issue.record("'\(key)' is \(entry.phase), and told as \(String(describing: state))")
    }
  }
}
