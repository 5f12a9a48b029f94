import Clocks
import Cryptography
import Nostr
import Testing

@testable import RelaySession

/// Reconciliations at one relay, through the session.
@Suite("A reconciliation at a relay (NIP-77)")
struct ReconciliationSessionTests {
  private let bench = Bench()
  private static let filter = Filter(kinds: [1])

  private func open(_ key: UInt64 = 1, account: PublicKey? = nil) {
    bench.apply {
      $0.reconciliationStarted(
        RequestKey(key), Self.filter, message: [0x61, 0, 0, 2, 0], account: account, at: $1)
    }
  }

  private func go(on key: UInt64 = 1, _ message: [UInt8] = [0x61]) {
    bench.apply { $0.reconciliationContinued(RequestKey(key), message: message, at: $1) }
  }

  /// The id of the last NEG-OPEN among these messages.
  private func name(_ texts: [String]) -> String {
    let opening = texts.last { $0.hasPrefix(#"["NEG-OPEN""#) } ?? ""
    return opening.split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
  }

  /// Opens one, and has the relay answer once.
  private func opened() -> String {
    bench.connect()
    _ = bench.taken()
    open()
    let name = name(bench.texts())
    bench.receive(.reconciliation(subscription: name, message: [0x61, 1]))
    return name
  }

  private func failure(_ actions: [SessionAction]) -> WorkFailure? {
    actions.compactMap { if case .failRequest(_, let failure) = $0 { failure } else { nil } }.first
  }

  @Test("opens, takes turns with the relay, and is closed by the caller")
  func course() {
    bench.connect()
    _ = bench.taken()
    open()
    let texts = bench.texts()
    let name = name(texts)
    #expect(texts == [#"["NEG-OPEN","\#(name)",{"kinds":[1]},"6100000200"]"#])
    #expect(bench.session.subscriptionCount == 1)
    bench.receive(.reconciliation(subscription: name, message: [0x61, 1]))
    #expect(bench.taken() == [.passReconciliation(RequestKey(1), message: [0x61, 1])])
    go(on: 1, [0x61, 2])
    #expect(bench.texts() == [#"["NEG-MSG","\#(name)","6102"]"#])
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    #expect(bench.texts() == [#"["NEG-CLOSE","\#(name)"]"#])
    #expect(bench.session.subscriptionCount == 0)
    bench.receive(.reconciliation(subscription: name, message: [0x61]))
    #expect(bench.taken().isEmpty && bench.session.counters.lateMessages == 1)
  }

  @Test("takes a place of backfill, and waits for one")
  func place() {
    let bench = Bench(slots: 3)
    bench.connect()
    bench.request(1, .stored, .backfill)
    bench.apply { $0.reconciliationStarted(RequestKey(2), Self.filter, message: [0x61], at: $1) }
    #expect(bench.session.subscriptionCount == 1 && bench.session.queuedCount == 1)
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    #expect(bench.session.subscriptionCount == 1 && bench.session.queuedCount == 0)
  }

  @Test("ends after 15 s of the relay's silence, however long the caller takes for its own turn")
  func silence() {
    let name = opened()
    _ = bench.taken()
    bench.advance(milliseconds: 120_000)
    #expect(bench.taken().isEmpty)
    go()
    bench.advance(milliseconds: 14_000)
    bench.receive(.reconciliation(subscription: name, message: [0x61]))
    bench.advance(milliseconds: 30_000)
    go()
    _ = bench.taken()
    bench.advance(milliseconds: 14_999)
    #expect(bench.taken().isEmpty)
    bench.advance(milliseconds: 2)
    let actions = bench.taken()
    #expect(text(actions.first) == #"["NEG-CLOSE","\#(name)"]"#)
    #expect(failure(actions)?.code == .timedOut)
    #expect(bench.session.requestCount == 0)
  }

  @Test("ends with the relay's NEG-ERR, its word and its maximum, and learns nothing from a window that is too big")
  func refusal() {
    let name = opened()
    _ = bench.taken()
    let reason = RelayReason("blocked: this query is too big")
    bench.receive(.reconciliationRefused(subscription: name, reason: reason, recordCountMaximum: 5_000))
    let failure = failure(bench.taken())
    #expect(failure?.code == .closedByRelay && failure?.reason == reason && failure?.recordCountMaximum == 5_000)
    #expect(bench.session.policy == RelayPolicy())
    bench.receive(.reconciliationRefused(subscription: name, reason: reason, recordCountMaximum: nil))
    #expect(bench.taken().isEmpty, "it ends once")
  }

  @Test("ends with CLOSED too, which relays without NIP-77 send")
  func closed() {
    bench.connect()
    _ = bench.taken()
    open()
    bench.receive(.closed(subscription: name(bench.texts()), reason: RelayReason("unsupported: what")))
    #expect(failure(bench.taken())?.code == .closedByRelay)
  }

  @Test(
    "ends as unsupported with a NOTICE that reads like an answer",
    arguments: [
      "ERROR: bad msg: negentropy disabled", "unknown message type NEG-OPEN", "could not parse command",
      "too many concurrent NEG requests", "invalid: unrecognized message",
    ])
  func notice(words: String) {
    bench.connect()
    open()
    _ = bench.taken()
    bench.receive(.notice(RelayReason(words)))
    #expect(failure(bench.taken())?.code == .noReconciliation)
    #expect(bench.session.subscriptionCount == 0)
  }

  @Test("goes on after another NOTICE, and after any once the relay has answered")
  func otherNotices() {
    bench.connect()
    open()
    _ = bench.taken()
    bench.receive(.notice(RelayReason("welcome to this relay")))
    #expect(failure(bench.taken()) == nil)
    bench.apply { $0.requestCancelled(RequestKey(1), at: $1) }
    _ = opened()
    bench.receive(.notice(RelayReason("bad msg: something else")))
    #expect(failure(bench.taken()) == nil)
  }

  @Test("does not mix with a REQ: their ids are separate, and events belong to REQs only")
  func separate() {
    let name = opened()
    bench.request(2)
    _ = bench.taken()
    bench.receive(.event(subscription: name, event: 0..<10))
    bench.receive(.endOfStoredEvents(subscription: name, completeness: .unstated))
    bench.receive(.reconciliation(subscription: bench.subscriptions.last ?? "", message: [0x61]))
    #expect(bench.taken().isEmpty)
    #expect(bench.session.counters.lateMessages == 3)
  }

  @Test("counts a message out of turn as one for nothing")
  func outOfTurn() {
    let name = opened()
    _ = bench.taken()
    bench.receive(.reconciliation(subscription: name, message: [0x61]))
    #expect(bench.taken().isEmpty && bench.session.counters.lateMessages == 1)
  }

  @Test("fails with the connection, and with a message that is longer than the relay takes")
  func ends() {
    _ = opened()
    bench.say { $0.messageByteCountMaximum = 1_024 }
    _ = bench.taken()
    go(on: 1, [UInt8](repeating: 0x61, count: 1_000))
    #expect(failure(bench.taken())?.code == .tooLarge)
    open(2)
    _ = bench.taken()
    bench.apply { $0.disconnected(reason: "gone", at: $1) }
    #expect(failure(bench.taken())?.code == .disconnected)
    #expect(bench.session.requestCount == 0)
  }

  @Test("authenticates when the relay asks for it, and opens once more")
  func authentication() throws {
    let account = SecretKey.generate().publicKey
    bench.connect()
    bench.receive(.authentication(challenge: "c"))
    _ = bench.taken()
    open(1, account: account)
    let first = name(bench.texts())
    bench.receive(
      .reconciliationRefused(subscription: first, reason: RelayReason("auth-required: who"), recordCountMaximum: nil))
    #expect(Bench.challenges(in: bench.taken()) == ["c"])
    bench.advance(milliseconds: 4_000)
    bench.sign(account, "c")
    _ = bench.taken()
    bench.receive(.ok(id: Bench.authentication, isAccepted: true, reason: RelayReason("")))
    let second = name(bench.texts())
    #expect(!second.isEmpty && second != first)
    bench.receive(.reconciliation(subscription: second, message: [0x61]))
    #expect(bench.taken() == [.passReconciliation(RequestKey(1), message: [0x61])])
  }
}
