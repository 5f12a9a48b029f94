public import Clocks
public import Contracts
public import Cryptography
public import Frames

// What the signer decides, without secret keys, files or a clock: whether a use (a request of a caller) is allowed,
// which account it means, how long it waits for a passphrase, and what the audit records.
//
//     received ─► rules ─► rate ─► account, its rules ─┬─ unlocked ─► perform ─► finished
//                                                      └─ locked ─► hold ─┬─ unlocked ─► perform ─► finished
//                                                                         └─ cancelled, too late, or the account was
//                                                                            removed ─► refuse
//
// An account is `locked` or `unlocked`: `unlocked(_:)` and `locked(_:)` change that. Only an account whose key is
// encrypted is ever locked, unless it is left (`left(_:isForgetting:)`): then it is locked too, and its uses are
// refused at once, because no passphrase is expected. So are the uses of an account of which only the public key is
// here: it is locked until its secret key comes (`gainedKey(_:)`). A use that a rule, the rate or the account forbids
// is refused at that step. Each use has exactly one audit line: at its refusal, or when the shell reports that it is
// finished.

/// The signer's decisions.
public struct SignerMachine: Sendable {
  /// A request's number, given by the shell. It is no cryptographic key.
  public struct Key: Hashable, Sendable {
    /// The number.
    public var number: UInt64
    /// A number.
    public init(_ number: UInt64) { self.number = number }
  }

  /// The part of an account that decisions need.
  public struct Account: Hashable, Sendable {
    /// Unique.
    public var name: String
    /// Unique.
    public var publicKey: PublicKey
    /// Whether its key needs a passphrase before it can be used, or is left.
    public var isLocked: Bool
    /// Whether it is left: nothing is done for it.
    public var isLeft: Bool
    /// Whether it is left and to be forgotten: role `people` may remove its key.
    public var isForgetting: Bool
    /// Whether only its public key is here: it is locked for good, and no passphrase is waited for.
    public var isReadOnly: Bool

    /// An account.
    public init(
      name: String, publicKey: PublicKey, isLocked: Bool, isLeft: Bool = false, isForgetting: Bool = false,
      isReadOnly: Bool = false
    ) {
      self.name = name
      self.publicKey = publicKey
      self.isReadOnly = isReadOnly
      self.isLocked = isLocked || isLeft || isReadOnly
      self.isLeft = isLeft
      self.isForgetting = isForgetting
    }
  }

  /// What the shell must do, in this order.
  public enum Action: Hashable, Sendable {
    /// Perform the request, with this account if it needs one; then call ``SignerMachine/finished(_:refusal:)``.
    case perform(Key, account: String?)
    /// Answer the request with this refusal.
    case refuse(Key, Refusal)
    /// Keep the request: it waits for a passphrase. Acknowledge it, so that the hub knows that it takes long.
    case hold(Key)
    /// Write this audit line.
    case audit(AuditLine)
    /// Call ``SignerMachine/timerFired(at:)`` at this instant instead of an earlier one; nil: cancel the timer.
    case setTimer(Instant?)
  }

  struct Waiting {
    var key: Key
    var use: SignerUse
    var account: String
    var deadline: Instant
  }

  /// The present rules.
  public var policy: SigningPolicy
  /// Keys whose files exist but cannot be used. They are no accounts: a request that names one is refused with the
  /// reason. While there is such a key, a request must name its account even if there is only one, because the key may
  /// be a second account after the next start.
  public var refusedKeys: [SignerRefusedKey] = []
  /// The accounts by name.
  public internal(set) var accounts: [String: Account] = [:]
  /// The name of the account that is meant where none is named; nil when none was chosen.
  public internal(set) var used: String?
  private var limits = RateLimits()
  var waiting: [Waiting] = []
  private var inHand: [Key: (use: SignerUse, account: String?)] = [:]
  /// The name of the connector that authenticates at each relay, by the relay's URL.
  private var speakers: [String: String] = [:]
  private var timer: Instant?

  /// The maximum number of accounts.
  public static let accountMaximum = 256
  /// The maximum number of requests that wait for passphrases; a further one is refused as `locked` at once.
  public static let waitingMaximum = 256
  /// The maximum number of bytes of waiting requests, with the same effect.
  public static let waitingByteCountMaximum = 8 << 20
  /// How long a request without a time to live waits.
  public static let waitingMilliseconds: UInt64 = 30_000
  /// The longest wait of any request.
  public static let waitingMillisecondsMaximum: UInt64 = 600_000
  /// The maximum number of relays whose connector is remembered; at a further relay no connector may authenticate.
  public static let speakerMaximum = 4_096

  /// A machine without accounts.
  public init(policy: SigningPolicy) { self.policy = policy }

  /// The number of waiting requests.
  public var waitingCount: Int { waiting.count }

  // MARK: Requests

  /// A request has arrived.
  public mutating func received(_ key: Key, _ use: SignerUse, at now: Instant) -> [Action] {
    if let refusal = policy.refusal(of: use) { return refuse(key, use, nil, refusal) }
    if let milliseconds = limits.take(use, at: now) {
      return refuse(
        key, use, nil,
        Refusal(
          .rateLimited, "too many \(use.method.name) for the role \(use.caller.role)", outcome: .notStarted,
          retryAfterMilliseconds: milliseconds))
    }
    guard use.method.needsKey else { return perform(key, use, nil) }
    if let refusal = speakerRefusal(use) { return refuse(key, use, nil, refusal) }
    let account: Account
    do throws(Refusal) { account = try resolve(use.account, candidates: use.candidates) } catch {
      return refuse(key, use, nil, error)
    }
    if let refusal = policy.refusal(of: use, as: account) { return refuse(key, use, account.name, refusal) }
    guard account.isLocked else { return perform(key, use, account.name) }
    if account.isLeft { return refuse(key, use, account.name, Self.leftRefusal(account.name)) }
    if account.isReadOnly { return refuse(key, use, account.name, Self.readOnlyRefusal(account.name)) }
    // Its caller hears of the unlocking by `signer.changes`; runs would fill the room of the requests that people made.
    if use.method == .open { return refuse(key, use, account.name, Self.lockedRefusal(account.name)) }
    return hold(key, use, account.name, at: now)
  }

  /// The shell has performed a request, or could not: then with the code of its refusal.
  public mutating func finished(_ key: Key, refusal: RefusalCode? = nil) -> [Action] {
    guard let use = inHand.removeValue(forKey: key) else { return [] }
    return [.audit(AuditLine(use: use.use, account: use.account, result: refusal?.rawValue ?? "done"))]
  }

  /// The caller has cancelled a request. One that is being performed already continues.
  public mutating func cancelled(_ key: Key) -> [Action] {
    guard let index = waiting.firstIndex(where: { $0.key == key }) else { return [] }
    let gone = waiting.remove(at: index)
    let refusal = Refusal(.cancelled, "cancelled by the caller", outcome: .notStarted)
    return refuse(key, gone.use, gone.account, refusal) + timerActions()
  }

  /// The timer of ``Action/setTimer(_:)`` has fired.
  public mutating func timerFired(at now: Instant) -> [Action] {
    timer = nil
    return dismiss { $0.deadline <= now } + timerActions()
  }

  /// The signer drains: all waiting requests are refused.
  public mutating func draining() -> [Action] { dismiss { _ in true } + timerActions() }

  // MARK: Parts

  private mutating func perform(_ key: Key, _ use: SignerUse, _ account: String?) -> [Action] {
    inHand[key] = (use, account)
    return [.perform(key, account: account)]
  }

  func refuse(_ key: Key, _ use: SignerUse, _ account: String?, _ refusal: Refusal) -> [Action] {
    [
      .refuse(key, refusal),
      .audit(AuditLine(use: use, account: account, result: refusal.code.rawValue)),
    ]
  }

  private mutating func hold(_ key: Key, _ use: SignerUse, _ account: String, at now: Instant) -> [Action] {
    let bytes = waiting.reduce(use.byteCount) { $0 + $1.use.byteCount }
    guard waiting.count < Self.waitingMaximum, bytes <= Self.waitingByteCountMaximum else {
      let refusal = Refusal(
        .locked, "\(Self.lockedText(account)), and \(waiting.count) requests wait for a passphrase already",
        outcome: .notStarted)
      return refuse(key, use, account, refusal)
    }
    let ttl = UInt64(use.ttlMilliseconds)
    // A little less than the caller waits: then the caller gets the reason as its answer, and not only a timeout.
    let patience = ttl == 0 ? Self.waitingMilliseconds : max(1, ttl - ttl / 10)
    let deadline = now.advanced(milliseconds: min(patience, Self.waitingMillisecondsMaximum))
    waiting.append(Waiting(key: key, use: use, account: account, deadline: deadline))
    return [.hold(key)] + timerActions()
  }

  mutating func release(_ account: String) -> [Action] {
    let ready = waiting.filter { $0.account == account }
    waiting.removeAll { $0.account == account }
    return ready.flatMap { perform($0.key, $0.use, account) } + timerActions()
  }

  mutating func dismiss(_ isOver: (Waiting) -> Bool) -> [Action] {
    let over = waiting.filter(isOver)
    waiting.removeAll(where: isOver)
    return over.flatMap { item in
      refuse(item.key, item.use, item.account, Self.lockedRefusal(item.account))
    }
  }

  mutating func timerActions() -> [Action] {
    let next = waiting.map(\.deadline).min()
    guard next != timer else { return [] }
    timer = next
    return [.setTimer(next)]
  }

  static func leftRefusal(_ account: String) -> Refusal {
    Refusal(
      .locked, "the account \(account) is left; 'roost account use \(account)' brings it back", outcome: .notStarted)
  }

  /// Why nothing can be done that needs the secret key of an account.
  public static func readOnlyRefusal(_ account: String) -> Refusal {
    Refusal(
      .locked,
      "there is no key of \(account) here, only its public key; 'roost key import \(account)' takes it",
      outcome: .notStarted)
  }

  /// Why nothing is done for a locked account.
  public static func lockedRefusal(_ account: String) -> Refusal {
    Refusal(.locked, lockedText(account), outcome: .notStarted)
  }

  private static func lockedText(_ account: String) -> String {
    "the account \(account) is locked; 'roost key unlock \(account)' opens it"
  }

  // MARK: Relays

  /// The connectors have changed; these are their names. Another connector may take a relay whose connector has left.
  public mutating func connectorsChanged(_ names: Set<String>) {
    speakers = speakers.filter { names.contains($0.value) }
  }

  /// A relay belongs to the first connector that authenticates there, as long as this connector is on the bus. Returns
  /// why another one may not.
  private mutating func speakerRefusal(_ use: SignerUse) -> Refusal? {
    guard use.method == .authenticate, let relay = use.relay else { return nil }
    if let speaker = speakers[relay] {
      guard speaker != use.caller.name else { return nil }
      return Refusal(.forbidden, "\(relay) is a relay of \(speaker), not of \(use.caller.name)", outcome: .notStarted)
    }
    guard speakers.count < Self.speakerMaximum else {
      return Refusal(.full, "\(speakers.count) relays are known already", outcome: .notStarted)
    }
    speakers[relay] = use.caller.name
    return nil
  }
}
