import Addresses
import Clocks
import Nostr
import RelaySubscriptions
import Testing

@testable import RelaySession

/// A set over a real session, and a relay that answers each REQ after a while.
private final class SetAndSession {
  private(set) var session: RelaySession
  private(set) var set = SubscriptionSet(seed: 1)
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  /// REQs that the relay has not answered, with the time of their arrival.
  var unanswered: [(name: String, at: Instant)] = []
  private(set) var requestCount = 0
  private var sessionTimer: Instant?
  private var setTimer: Instant?

  init() throws {
    session = RelaySession(url: try RelayURL("ws://relay.example.com"), seed: 1)
    perform(session.openRequested(at: now))
  }

  /// The connection ends, whatever was open.
  func cut() {
    guard session.phase == .open else { return }
    unanswered = []
    perform(session.disconnected(reason: "cut", at: now))
    perform(set.closed(why: "cut", at: now))
  }

  func wish(_ key: String, _ wish: SubscriptionSet.Subscription) { perform(set.wish(key, wish, at: now)) }
  func receive(_ message: RelayMessage) { perform(session.received(message, byteCount: 10, at: now)) }

  private func perform(_ actions: [SessionAction]) {
    for action in actions {
      switch action {
      case .connect(let attempt):
        perform(session.connected(attempt: attempt, at: now))
        perform(set.opened(at: now))
      case .setTimer(let due): sessionTimer = due
      case .cancelTimer: sessionTimer = nil
      case .send(let bytes):
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasPrefix(#"["REQ""#) else { continue }
        unanswered.append((String(text.split(separator: "\"")[3]), now))
        requestCount += 1
      case .requestSent(let key): perform(set.sent(key, at: now))
      case .endStoredEvents(let key, _, _): perform(set.endedStored(key, at: now))
      case .failRequest(let key, let failure): perform(set.failed(key, failure, at: now))
      case .reportPolicy: perform(set.slotsChanged(session.policy.subscriptions.value, at: now))
      default: break
      }
    }
  }

  private func perform(_ actions: [SubscriptionSet.Action]) {
    for action in actions {
      switch action {
      case .start(let key, _, let wish):
        let kind: RequestClass = wish.isLive ? .live : .single
        let never = Instant(nanoseconds: .max)
        perform(session.requestStarted(key, wish.filters, .live, kind, deadline: never, at: now))
      case .cancel(let key): perform(session.requestCancelled(key, at: now))
      case .commit(let key, let request): perform(set.committed(key, request, at: now))
      case .setTimer(let due): setTimer = due
      case .cancelTimer: setTimer = nil
      case .changed: break
      }
    }
  }

  /// Lets time pass in steps of 100 ms; the relay answers each REQ after `delay` milliseconds.
  func run(seconds: Int, delay: UInt64) {
    for _ in 0..<(seconds * 10) {
      now = now.advanced(milliseconds: 100)
      while let first = unanswered.first, first.at.advanced(milliseconds: delay) <= now {
        unanswered.removeFirst()
        receive(.endOfStoredEvents(subscription: first.name, completeness: .unstated))
      }
      if let due = setTimer, due <= now {
        setTimer = nil
        perform(set.timerFired(at: now))
      }
      if let due = sessionTimer, due <= now {
        sessionTimer = nil
        perform(session.timerFired(at: now))
      }
    }
  }
}

@Suite("A set over a session") struct SetAndSessionTests {
  @Test("Scenario 15: a relay that flaps ten times leaves no subscription taken, and everything is answered at last")
  func flapping() throws {
    let both = try SetAndSession()
    for number in 0..<30 { both.wish("l\(number)", .live(UInt16(number))) }
    for number in 0..<15 { both.wish("o\(number)", .once(UInt16(number))) }
    for _ in 0..<10 {
      both.run(seconds: 3, delay: 1_000)
      both.cut()
    }
    both.run(seconds: 400, delay: 200)
    #expect((0..<15).allSatisfy { both.set.report("o\($0)")?.state == .stored })
    #expect((0..<30).allSatisfy { both.set.report("l\($0)")?.state == .stored })
    #expect(both.session.subscriptionCount == 18 && both.session.queuedCount == 0)
  }

  @Test("Single events beside as many live interests as there is room for all have their answer")
  func singles() throws {
    let both = try SetAndSession()
    for number in 0..<19 { both.wish("l\(number)", .live(UInt16(number))) }
    for number in 0..<15 { both.wish("o\(number)", .once(UInt16(number))) }
    both.run(seconds: 600, delay: 5_000)
    let states = (0..<15).map { both.set.report("o\($0)")?.state }
    #expect(states.allSatisfy { $0 == .stored }, "\(states)")
  }

  @Test("Live interests that a relay refuses by NOTICE alone are sent again in their turn, within the bound")
  func refusedByNotice() throws {
    let both = try SetAndSession()
    for number in 0..<10 { both.wish("l\(number)", .live(UInt16(number))) }
    both.unanswered.removeLast(5)
    for _ in 0..<5 { both.receive(.notice(RelayReason("too many subscriptions"))) }
    let before = both.requestCount
    both.run(seconds: 600, delay: 100)
    #expect(both.session.policy.subscriptions.value == 5 && both.session.subscriptionCount <= 5)
    #expect(both.requestCount > before && both.requestCount < before + 100)
    #expect((0..<10).allSatisfy { both.set.report("l\($0)")?.state == .stored })
  }

  @Test("A single event that was refused for want of a subscription gets one, though live interests hold them all")
  func refusedSingle() throws {
    let both = try SetAndSession()
    for number in 0..<5 { both.wish("l\(number)", .live(UInt16(number))) }
    both.run(seconds: 1, delay: 100)
    both.wish("o", .once())
    let name = both.unanswered.removeLast().name
    both.receive(.closed(subscription: name, reason: RelayReason("error: too many subscriptions")))
    both.run(seconds: 120, delay: 100)
    #expect(both.set.report("o")?.state == .stored)
  }
}
