import Addresses
import Clocks
import Cryptography
import Nostr
import RelaySession
import Testing

/// A session on a bench: virtual time, a shell that only takes notes, and the checks that hold after every step.
final class Bench {
  var session: RelaySession
  var now = Instant(nanoseconds: 1_000_000_000)
  /// Actions since the last ``taken()``, without timers.
  private(set) var actions: [SessionAction] = []
  private(set) var timer: Instant?
  /// Attempts, with their instants.
  private(set) var attempts: [(number: UInt64, at: Instant)] = []
  /// Subscription ids in the order of their REQs.
  private(set) var subscriptions: [String] = []

  static let filters = (try? RawFilters(json: Array(#"{"kinds":[1]}"#.utf8)))!

  init(
    limits: SessionLimits = SessionLimits(), slots: Int? = nil, shownKey: ShownKey = .account, seed: UInt64 = 1
  ) {
    session = RelaySession(
      url: (try? RelayURL("ws://relay.example.com"))!, limits: limits, shownKey: shownKey, seed: seed)
    if let slots { say { $0.subscriptionMaximum = slots } }
    actions = []
  }

  /// The relay's document is read.
  func say(_ body: (inout RelayInformation.Limitation) -> Void) {
    var limitation = RelayInformation.Limitation()
    body(&limitation)
    apply { $0.limitationRead(limitation, at: $1) }
  }

  func apply(_ step: (inout RelaySession, Instant) -> [SessionAction]) {
    for action in step(&session, now) {
      switch action {
      case .setTimer(let due): timer = due
      case .cancelTimer: timer = nil
      case .requestSent: break
      case .connect(let number):
        attempts.append((number, now))
        actions.append(action)
      case .send(let bytes):
        #expect(session.phase == .open, "nothing is sent without a connection")
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix(#"["REQ",""#) { subscriptions.append(String(text.split(separator: "\"")[3])) }
        actions.append(action)
      default: actions.append(action)
      }
    }
  }

  /// Lets time pass, firing the timer whenever it is due.
  func advance(milliseconds: UInt64) {
    let end = now.advanced(milliseconds: milliseconds)
    while let due = timer, due <= end {
      now = max(now, due)
      timer = nil
      apply { $0.timerFired(at: $1) }
      #expect(timer.map { $0 > now } ?? true, "a timer that is due at once would spin")
    }
    now = end
  }

  /// Jumps from timer to timer until an attempt is under way; returns the milliseconds that took.
  func untilAttempt() -> UInt64 {
    let start = now
    while session.phase != .connecting, let timer { advance(milliseconds: timer.milliseconds(since: now) + 1) }
    return attempts.last.map { $0.at.milliseconds(since: start) } ?? 0
  }

  func taken() -> [SessionAction] {
    defer { actions = [] }
    return actions
  }

  // MARK: Short forms

  func connect() {
    apply { $0.openRequested(at: $1) }
    _ = untilAttempt()
    apply { [attempts] in $0.connected(attempt: attempts.last!.number, at: $1) }
    #expect(session.phase == .open)
  }

  func fail(_ message: String = "refused", isNameFailure: Bool = false) {
    let failure = ConnectFailure(message: message, isNameFailure: isNameFailure)
    apply { [attempts] in $0.connectFailed(attempt: attempts.last!.number, failure, at: $1) }
  }

  func request(
    _ key: UInt64, _ mode: RequestMode = .stored, _ kind: RequestClass = .single, milliseconds: UInt64 = 10_000,
    account: PublicKey? = nil
  ) {
    apply {
      let deadline = $1.advanced(milliseconds: milliseconds)
      return $0.requestStarted(RequestKey(key), Self.filters, mode, kind, account: account, deadline: deadline, at: $1)
    }
  }

  func publish(
    _ key: UInt64, event: Int = 0, byteCount: Int = 300, milliseconds: UInt64 = 10_000, account: PublicKey? = nil,
    isProtected: Bool = false
  ) {
    apply {
      let bytes = [UInt8](repeating: 0x20, count: byteCount)
      let deadline = $1.advanced(milliseconds: milliseconds)
      return $0.publishStarted(
        PublishKey(key), event: bytes, id: Self.id(event), account: account, isProtected: isProtected,
        deadline: deadline, at: $1)
    }
  }

  /// The id of whatever ``sign(_:_:)`` signs.
  static let authentication = id(0xA)

  /// The signer answers.
  func sign(_ account: PublicKey, _ challenge: String) {
    apply {
      $0.authenticationSigned(account, challenge: challenge, event: Array("{}".utf8), id: Self.authentication, at: $1)
    }
  }

  /// The id of what ``probe()`` makes.
  static let probeID = id(0xB)

  /// The shell makes the event that asks for a challenge.
  func probe() { apply { $0.probeMade(event: Array(#"{"probe":1}"#.utf8), id: Self.probeID, at: $1) } }

  /// The challenges among actions that the signer is to sign.
  static func challenges(in actions: [SessionAction]) -> [String] {
    actions.compactMap { if case .authenticate(_, let challenge) = $0 { challenge } else { nil } }
  }

  /// The messages that were sent since the last ``taken()``.
  func texts() -> [String] { taken().map(text).filter { !$0.isEmpty } }

  /// Why work failed since then.
  func failures() -> [String] {
    taken().compactMap {
      switch $0 {
      case .failPublish(_, let failure), .failRequest(_, let failure): failure.message
      default: nil
      }
    }
  }

  func receive(_ message: RelayMessage) { apply { $0.received(message, byteCount: 100, at: $1) } }

  static func id(_ number: Int) -> EventID {
    let digits = String(number, radix: 16)
    return EventID(String(repeating: "0", count: 64 - digits.count) + digits)!
  }
}

func text(_ action: SessionAction?) -> String {
  if case .send(let bytes)? = action { return String(decoding: bytes, as: UTF8.self) }
  return ""
}
