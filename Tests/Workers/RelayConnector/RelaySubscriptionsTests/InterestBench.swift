import Clocks
import Cryptography
import Nostr
import RelaySubscriptions
import Testing

@testable import RelaySession

/// A `SubscriptionSet` and what a shell knows of it: which requests are under way, when the timer is due, what was
/// told. What no shell could bear is an issue at once.
final class WishBench {
  private(set) var requests: SubscriptionSet
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var underWay: [RequestKey: (key: String, wish: SubscriptionSet.Subscription)] = [:]
  private(set) var timer: Instant?
  /// What was commanded since the last ``taken()``.
  private var actions: [SubscriptionSet.Action] = []
  private var used: Set<RequestKey> = []
  /// Started, and not sent yet.
  private var started: [RequestKey] = []
  /// Whether the session sends what is started at once.
  var sendsAtOnce = true
  private var told: [String: SubscriptionSet.State] = [:]

  init(limits: SubscriptionLimits = SubscriptionLimits(), seed: UInt64 = 1) {
    requests = SubscriptionSet(limits: limits, seed: seed)
  }

  func apply(_ input: (inout SubscriptionSet, Instant) -> [SubscriptionSet.Action]) {
    let fresh = input(&requests, now)
    actions += fresh
    for action in fresh {
      switch action {
      case .start(let request, let key, let wish):
        #expect(request.rawValue >= SubscriptionSet.firstRequestKey, "below are the shell's own")
        #expect(used.insert(request).inserted, "\(request) was used before")
        #expect(!underWay.values.contains { $0.key == key }, "'\(key)' is asked twice at a time")
        underWay[request] = (key, wish)
        started.append(request)
      case .cancel(let request):
        #expect(underWay.removeValue(forKey: request) != nil, "\(request) is cancelled, and not under way")
      case .commit(let key, let request): #expect(underWay[request]?.key == key)
      case .setTimer(let instant):
        #expect(instant > now, "a timer in the past")
        #expect(instant != timer, "a timer that is set already")
        timer = instant
      case .cancelTimer:
        #expect(timer != nil, "there is no timer to cancel")
        timer = nil
      case .changed: break
      }
    }
    checkTold(fresh)
    while sendsAtOnce, let request = started.first { send(request) }
  }

  /// The session sends a request.
  func send(_ request: RequestKey) {
    started.removeAll { $0 == request }
    apply { $0.sent(request, at: $1) }
  }

  /// Whoever follows has each state as it is.
  private func checkTold(_ fresh: [SubscriptionSet.Action]) {
    let states = requests.wishes.keys.reduce(into: [:]) { $0[$1] = requests.report($1)?.state }
    for (key, state) in states where told[key] != state {
      #expect(fresh.contains(.changed(key)), "'\(key)' is \(state), and nobody was told")
    }
    told = states
  }

  // MARK: Inputs

  func wish(_ key: String, _ wish: SubscriptionSet.Subscription = .live()) { apply { $0.wish(key, wish, at: $1) } }
  func drop(_ key: String) { apply { $0.drop(key, at: $1) } }
  func open() { apply { $0.opened(at: $1) } }

  /// The connection ends, as a session tells it: work that was sent fails first.
  func close(_ why: String = "gone") {
    for request in underWay.keys.sorted(by: { $0.rawValue < $1.rawValue }) { fail(request, .disconnected) }
    apply { $0.closed(why: why, at: $1) }
  }

  func deliver(_ request: RequestKey) -> String? { requests.delivered(request, at: now) }
  func end(_ request: RequestKey) { apply { $0.endedStored(request, at: $1) } }
  func commit(_ key: String, _ request: RequestKey) { apply { $0.committed(key, request, at: $1) } }

  func fail(_ request: RequestKey, _ code: WorkFailure.Code, _ text: String = "") {
    underWay[request] = nil
    let reason = code == .closedByRelay ? RelayReason(text) : nil
    apply { $0.failed(request, WorkFailure(code, text, reason: reason), at: $1) }
  }

  /// Time passes; the timer fires when it is due.
  func advance(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    while let due = timer, due <= end {
      now = due
      timer = nil
      apply { $0.timerFired(at: $1) }
    }
    now = end
  }

  // MARK: Looks

  /// What was commanded since the last time, without what a shell of tests has done already.
  func taken() -> [SubscriptionSet.Action] {
    defer { actions = [] }
    return actions.filter {
      switch $0 {
      case .start, .cancel, .commit: true
      case .changed, .setTimer, .cancelTimer: false
      }
    }
  }

  /// The request of a wish that is under way.
  func request(_ key: String) -> RequestKey? { underWay.first { $0.value.key == key }?.key }
  func state(_ key: String) -> SubscriptionSet.State? { requests.report(key)?.state }
}

extension SubscriptionSet.Subscription {
  static func live(_ kind: UInt16 = 1, account: PublicKey? = nil) -> Self {
    make(kind, isLive: true, account: account)
  }
  /// Live, for so many ids.
  static func ids(_ count: Int) -> Self {
    let wish = make(1, isLive: true)
    return Self(filters: wish.filters, isLive: true, account: nil, idCount: count)
  }
  static func once(_ kind: UInt16 = 1) -> Self { make(kind, isLive: false) }

  private static func make(_ kind: UInt16, isLive: Bool, account: PublicKey? = nil) -> Self {
    guard let filters = try? RawFilters(json: Array("{\"kinds\":[\(kind)]}".utf8)) else {
      preconditionFailure("a filter of one kind is one")
    }
    return Self(filters: filters, isLive: isLive, account: account)
  }
}

extension RequestKey {
  /// The number of the nth request of a machine, from 0.
  static func nth(_ number: UInt64) -> RequestKey { RequestKey(SubscriptionSet.firstRequestKey + number) }
}
