import Addresses
import Clocks
import Cryptography
import Nostr
import RelaySubscriptions
import Testing

@testable import RelaySession

@Suite("The reconciliation with one relay")
struct ReconciliationTests {
  private typealias Action = Reconciliation.Action

  private static func machine(
    since: Int64 = 0, until: Int64 = 1_000, messageBytes: Int = 131_072, eventLimit: Int = 5_000,
    limits: Reconciliation.Limits = Reconciliation.Limits()
  ) -> Reconciliation {
    Reconciliation(
      Filter(kinds: [1]), since: since, until: until, messageBytes: messageBytes, eventLimit: eventLimit,
      limits: limits)
  }

  private static func ids(_ range: Range<Int>) -> [EventID] {
    range.map { EventID(SHA256.hash(Array("\($0)".utf8))) }
  }

  private static func refusal(_ text: String, maximum: Int? = nil) -> WorkFailure {
    WorkFailure(.closedByRelay, "the relay: \(text)", reason: RelayReason(text), recordCountMaximum: maximum)
  }

  /// The windows that are begun by these actions.
  private static func windows(_ actions: [Action]) -> [ClosedRange<Int64>] {
    actions.compactMap {
      guard case .begin(let filter, _) = $0, let since = filter.since, let until = filter.until else { return nil }
      return since...until
    }
  }

  private static func fetches(_ actions: [Action]) -> [(number: Int, ids: [EventID])] {
    actions.compactMap { if case .fetch(let number, let filter) = $0 { (number, filter.ids ?? []) } else { nil } }
  }

  private static func end(_ actions: [Action]) -> Reconciliation.End? {
    actions.compactMap { if case .finish(let end) = $0 { end } else { nil } }.first
  }

  /// Begins, opens, and has the relay answer once.
  private static func begin(_ machine: inout Reconciliation) {
    _ = machine.started()
    _ = machine.storeBegan(message: [0x61])
    _ = machine.relayAnswered([0x61])
  }

  /// One window, at the end of which the store lacks these ids.
  private static func conclude(_ machine: inout Reconciliation, needed: [EventID]) -> [Action] {
    begin(&machine)
    let actions = machine.storeAnswered(message: [], needed: needed, isOver: true)
    return actions + machine.storeEnded(common: 7)
  }

  @Test("carries messages between the store and the relay, and fetches what the store lacks")
  func course() {
    var machine = Self.machine()
    var window = Filter(kinds: [1])
    (window.since, window.until) = (0, 1_000)
    #expect(machine.started() == [.begin(window, messageByteMaximum: 60_000)])
    #expect(machine.storeBegan(message: [1]) == [.open(window, message: [1])])
    #expect(machine.relayAnswered([2]) == [.pass([2])])
    let ids = Self.ids(0..<3)
    #expect(machine.storeAnswered(message: [3], needed: [ids[0]], isOver: false) == [.send([3])])
    #expect(machine.relayAnswered([4]) == [.pass([4])])
    #expect(machine.storeAnswered(message: [], needed: ids, isOver: true) == [.close])
    #expect(machine.storeEnded(common: 9) == [.fetch(1, Filter(ids: ids, limit: 3))])
    for id in ids {
      let isNew = machine.fetched(1, id, byteCount: 100)
      #expect(isNew)
    }
    #expect(machine.fetchEnded(1) == [.finish(.complete)])
    let counts = machine.counts
    #expect(counts.windows == 1 && counts.common == 9 && counts.needed == 3 && counts.fetched == 3)
    #expect(counts.unavailable == 0 && counts.receivedBytes == 304 && counts.sentBytes > 200)
  }

  @Test("counts what the store lacks, and fetches nothing, if that is asked for")
  func countsOnly() {
    var machine = Reconciliation(
      Filter(kinds: [1]), since: 0, until: 1_000, messageBytes: 1 << 17, eventLimit: 500, countsOnly: true)
    let actions = Self.conclude(&machine, needed: Self.ids(0..<600))
    #expect(Self.fetches(actions).isEmpty && Self.end(actions) == .complete)
    #expect(machine.counts.common == 7 && machine.counts.needed == 600 && machine.counts.fetched == 0)
  }

  @Test("takes the store's end in any order with its last answer")
  func earlyEnd() {
    var machine = Self.machine()
    Self.begin(&machine)
    let early = machine.storeEnded(common: 5)
    #expect(early.isEmpty)
    #expect(machine.storeAnswered(message: [], needed: [], isOver: true) == [.close, .finish(.complete)])
    #expect(machine.counts.common == 5)
  }

  @Test("with a window without a second, or a filter without an event, asks nothing")
  func nothing() {
    var machine = Self.machine(since: 5, until: 4)
    #expect(machine.started() == [.finish(.complete)])
  }

  // MARK: Windows

  @Test(
    "cuts a window in halves when the relay says that it is too big, the newer half first",
    arguments: [
      ("blocked: this query is too big", nil), ("blocked: no", 500), ("RESULTS_TOO_BIG", 500_000),
      ("error: too many records", nil), ("rate-limited: too many negentropy items", nil),
    ] as [(String, Int?)])
  func halves(text: String, maximum: Int?) {
    var machine = Self.machine()
    _ = machine.started()
    _ = machine.storeBegan(message: [0x61])
    let actions = machine.relayRefused(Self.refusal(text, maximum: maximum))
    #expect(actions.first == .cancelStore && Self.windows(actions) == [501...1_000])
    _ = machine.storeBegan(message: [0x61])
    _ = machine.relayAnswered([0x61])
    #expect(machine.storeAnswered(message: [], needed: [], isOver: true) == [.close])
    #expect(Self.windows(machine.storeEnded(common: 0)) == [0...500])
  }

  @Test("cuts a window that reaches to the beginning of time before the first events, and counts that not")
  func firstCut() {
    var limits = Reconciliation.Limits()
    limits.depthMaximum = 1
    var machine = Self.machine(until: 1_800_000_000, limits: limits)
    _ = machine.started()
    var windows: [ClosedRange<Int64>] = []
    for _ in 0..<2 { windows += Self.windows(machine.storeRefused(.tooMany)) }
    #expect(windows == [1_577_836_800...1_800_000_000, 1_688_918_401...1_800_000_000])
  }

  @Test("does not cut for what is about the rate or the number of requests")
  func noHalves() {
    for text in ["rate-limited: too many requests", "error: too many concurrent NEG requests", "auth-required: who"] {
      var machine = Self.machine()
      _ = machine.started()
      _ = machine.storeBegan(message: [0x61])
      #expect(Self.end(machine.relayRefused(Self.refusal(text, maximum: 5))) != nil, "\(text)")
    }
  }

  @Test("cuts a window in halves when the store has too many events in it")
  func storeHalves() {
    var machine = Self.machine()
    _ = machine.started()
    #expect(Self.windows(machine.storeRefused(.tooMany)) == [501...1_000])
  }

  @Test("cuts at most 12 times in depth, and covers each second once whatever is refused", arguments: [3, 40, 700])
  func depth(width: Int64) {
    var machine = Self.machine(since: 0, until: 99_999)
    var actions = machine.started()
    var covered: [ClosedRange<Int64>] = []
    while let window = Self.windows(actions).first {
      _ = machine.storeBegan(message: [0x61])
      if window.upperBound - window.lowerBound >= width {
        actions = machine.relayRefused(Self.refusal("blocked: too many", maximum: 1))
        continue
      }
      covered.append(window)
      _ = machine.relayAnswered([0x61])
      _ = machine.storeAnswered(message: [], needed: [], isOver: true)
      actions = machine.storeEnded(common: 0)
    }
    // 100,000 seconds, halved 12 times, are 24 or 25.
    guard width > 25 else {
      guard case .failed(_, isAboutRelay: true)? = Self.end(actions) else {
        Issue.record("\(actions)")
        return
      }
      #expect(actions.contains(.cancelStore) && !actions.contains(.close))
      return
    }
    #expect(Self.end(actions) == .complete)
    let order = covered.sorted { $0.lowerBound < $1.lowerBound }
    #expect(order.first?.lowerBound == 0 && order.last?.upperBound == 99_999)
    #expect(zip(order, order.dropFirst()).allSatisfy { $0.upperBound + 1 == $1.lowerBound })
  }

  // MARK: Fetching

  @Test("asks for at most 500 ids at a time, in at most 4 REQs, as soon as there are so many")
  func batches() {
    var machine = Self.machine()
    Self.begin(&machine)
    let ids = Self.ids(0..<3_200)
    var open = Self.fetches(machine.storeAnswered(message: [9], needed: ids, isOver: false))
    #expect(open.map(\.ids.count) == [500, 500, 500, 500])
    var asked = open.flatMap(\.ids)
    _ = machine.relayAnswered([0x61])
    _ = machine.storeAnswered(message: [], needed: [], isOver: true)
    #expect(Self.fetches(machine.storeEnded(common: 0)).isEmpty)
    var end: Reconciliation.End?
    while let batch = open.first {
      open.removeFirst()
      for id in batch.ids { _ = machine.fetched(batch.number, id, byteCount: 1) }
      let actions = machine.fetchEnded(batch.number)
      open += Self.fetches(actions)
      asked += Self.fetches(actions).flatMap(\.ids)
      #expect(open.count <= 4)
      end = Self.end(actions) ?? end
    }
    #expect(asked == ids && end == .complete && machine.counts.fetched == 3_200)
  }

  @Test("fits REQs and the store's messages to what the relay takes")
  func bounds() {
    var machine = Self.machine(messageBytes: 16_384, eventLimit: 100)
    guard case .begin(_, let maximum)? = machine.started().first else {
      Issue.record("nothing begins")
      return
    }
    #expect(maximum < 8_192 && maximum > 8_000)
    var small = Self.machine(messageBytes: 10_000)
    let fetches = Self.fetches(Self.conclude(&small, needed: Self.ids(0..<400)))
    #expect(fetches.map(\.ids.count) == [147, 147, 106])
    for fetch in fetches {
      let filter = Filter(ids: fetch.ids, limit: fetch.ids.count)
      #expect(filter.json.count + 40 < 10_000)
    }
    var none = Self.machine(messageBytes: 4_096)
    guard case .unsupported? = Self.end(none.started()) else {
      Issue.record("too small a relay")
      return
    }
    var capped = Self.machine(eventLimit: 100)
    #expect(Self.fetches(Self.conclude(&capped, needed: Self.ids(0..<150))).map(\.ids.count) == [100, 50])
  }

  @Test("asks once for an id that no relay has, and counts it as unavailable")
  func unavailable() {
    var machine = Self.machine()
    let ids = Self.ids(0..<10)
    let batch = Self.fetches(Self.conclude(&machine, needed: ids))
    #expect(batch.count == 1)
    let stranger = Self.ids(77..<78)[0]
    let taken = [ids[3], ids[3], stranger].map { machine.fetched(1, $0, byteCount: 1) }
    #expect(taken == [true, false, false], "each counts once, and only if it was asked for")
    #expect(machine.fetchEnded(1) == [.finish(.complete)])
    #expect(machine.counts.fetched == 1 && machine.counts.unavailable == 9)
  }

  @Test("asks once for an id that the relay names again and again")
  func namedAgain() {
    var machine = Self.machine()
    Self.begin(&machine)
    let ids = Self.ids(0..<5)
    for _ in 0..<3 {
      _ = machine.storeAnswered(message: [1], needed: ids, isOver: false)
      _ = machine.relayAnswered([0x61])
    }
    _ = machine.storeAnswered(message: [], needed: ids, isOver: true)
    #expect(Self.fetches(machine.storeEnded(common: 0)).map(\.ids) == [ids])
    #expect(machine.counts.needed == 5)
  }

  @Test("asks again for what a relay's own cap cut off, in batches of that size")
  func cap() {
    var machine = Self.machine()
    let ids = Self.ids(0..<450)
    var open = Self.fetches(Self.conclude(&machine, needed: ids))
    var end: Reconciliation.End?
    var count = 0
    while let batch = open.first {
      open.removeFirst()
      count += 1
      for id in batch.ids.prefix(100) { _ = machine.fetched(batch.number, id, byteCount: 1) }
      let actions = machine.fetchEnded(batch.number)
      open += Self.fetches(actions)
      end = Self.end(actions) ?? end
    }
    #expect(end == .complete && machine.counts.fetched == 450 && machine.counts.unavailable == 0)
    #expect(count == 5)
  }

  @Test("makes a REQ smaller that is too large for the relay")
  func tooLarge() {
    var machine = Self.machine()
    _ = Self.conclude(&machine, needed: Self.ids(0..<400))
    let failure = WorkFailure(.tooLarge, "too large")
    #expect(Self.fetches(machine.fetchFailed(1, failure)).map(\.ids.count) == [200, 200])
  }

  @Test("waits with its REQs while other work has all places, and goes on when one of its own is free")
  func noPlace() {
    var machine = Self.machine()
    Self.begin(&machine)
    let ids = Self.ids(0..<500)
    #expect(Self.fetches(machine.storeAnswered(message: [1], needed: ids, isOver: false)).count == 1)
    #expect(machine.fetchFailed(1, WorkFailure(.noSlot, "no place")).isEmpty)
    #expect(machine.relayAnswered([0x61]) == [.pass([0x61])])
    let actions = machine.storeAnswered(message: [], needed: [], isOver: true)
    #expect(actions.first == .close && Self.fetches(actions).count == 1)
    _ = machine.storeEnded(common: 0)
    let last = machine.fetchFailed(2, WorkFailure(.noSlot, "no place"))
    guard case .failed(_, isAboutRelay: false)? = Self.end(last) else {
      Issue.record("nothing would go on")
      return
    }
  }

  // MARK: Ends

  @Test("ends as unsupported at a NOTICE, a refusal, a silence or a hang-up before the first answer")
  func unsupported() {
    let failures = [
      WorkFailure(.noReconciliation, "notice"), Self.refusal("blocked: not for you"), Self.refusal("error: what"),
      WorkFailure(.timedOut, "silent"), WorkFailure(.disconnected, "gone"),
    ]
    for failure in failures {
      var machine = Self.machine()
      _ = machine.started()
      _ = machine.storeBegan(message: [0x61])
      let actions = machine.relayRefused(failure)
      #expect(actions == [.cancelStore, .finish(.unsupported(failure.message))])
    }
  }

  @Test("ends as failed after the first answer, and at a message that the store cannot read")
  func failed() {
    var machine = Self.machine()
    Self.begin(&machine)
    _ = machine.storeAnswered(message: [1], needed: Self.ids(0..<600), isOver: false)
    let silent = machine.relayRefused(WorkFailure(.timedOut, "silent"))
    #expect(silent == [.cancelStore, .cancelFetch(1), .finish(.failed("silent", isAboutRelay: true))])
    var other = Self.machine()
    Self.begin(&other)
    let actions = other.storeRefused(.unreadable("it ends"))
    #expect(actions == [.close, .cancelStore, .finish(.failed("the relay's message: it ends", isAboutRelay: true))])
    var third = Self.machine()
    Self.begin(&third)
    let lost = third.storeRefused(.other("away"))
    #expect(lost == [.close, .finish(.failed("the store: away", isAboutRelay: false))])
  }

  @Test("ends when more is missing than pages would bring as well")
  func tooMuchMissing() {
    var limits = Reconciliation.Limits()
    limits.neededMaximum = 100
    var machine = Self.machine(limits: limits)
    Self.begin(&machine)
    let actions = machine.storeAnswered(message: [1], needed: Self.ids(0..<101), isOver: false)
    guard case .failed(_, isAboutRelay: false)? = Self.end(actions) else {
      Issue.record("\(actions)")
      return
    }
    #expect(actions.prefix(2) == [.close, .cancelStore])
  }

  @Test("ends once, whatever comes behind the end")
  func once() {
    var machine = Self.machine()
    Self.begin(&machine)
    #expect(machine.cancelled() == [.close, .cancelStore, .finish(.cancelled)])
    #expect(
      machine.cancelled().isEmpty && machine.relayAnswered([1]).isEmpty && machine.storeBegan(message: []).isEmpty)
    #expect(machine.storeAnswered(message: [], needed: Self.ids(0..<2), isOver: true).isEmpty)
    #expect(machine.storeEnded(common: 1).isEmpty && machine.storeRefused(.tooMany).isEmpty)
    #expect(machine.relayRefused(Self.refusal("x")).isEmpty && machine.fetchEnded(1).isEmpty)
    #expect(machine.fetchFailed(1, Self.refusal("x")).isEmpty)
  }

  // MARK: Memory

  @Test("A relay where it failed is remembered for an hour, and a few thousand relays are not")
  func memory() throws {
    var memory = ReconcileMemory()
    let relay = try RelayURL("ws://relay.example.com")
    let now = Instant(nanoseconds: 5)
    memory.ended(.failed("away", isAboutRelay: false), at: relay, now: now)
    memory.ended(.cancelled, at: relay, now: now)
    #expect(memory.reason(at: relay, now: now) == nil)
    memory.ended(.unsupported("notice"), at: relay, now: now)
    #expect(memory.reason(at: relay, now: now.advanced(milliseconds: 3_599_999)) == "notice")
    #expect(memory.reason(at: relay, now: now.advanced(milliseconds: 3_600_000)) == nil)
    memory.ended(.complete, at: relay, now: now)
    #expect(memory.reason(at: relay, now: now) == nil)
    memory.ended(.failed("mutilated", isAboutRelay: true), at: relay, now: now)
    for number in 0..<ReconcileMemory.relayMaximum {
      memory.ended(
        .unsupported("x"), at: try RelayURL("ws://relay\(number).example.com"), now: now.advanced(milliseconds: 1))
    }
    #expect(memory.reason(at: relay, now: now) == nil)
    memory.ended(.unsupported("notice"), at: relay, now: now.advanced(milliseconds: 2))
    memory.forget(relay)
    #expect(memory.reason(at: relay, now: now.advanced(milliseconds: 2)) == nil)
  }
}
