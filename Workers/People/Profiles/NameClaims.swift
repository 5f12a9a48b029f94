public import Clocks
public import Contracts
public import Cryptography

/// What servers have said of claims to names (NIP-05), for as long as it counts.
public struct NameClaims: Sendable {
  /// How long a key counts that a server gave, in milliseconds: a day.
  public static let keyMilliseconds: UInt64 = 86_400_000
  /// How long a failure counts, in milliseconds: an hour.
  public static let failureMilliseconds: UInt64 = 3_600_000
  /// The most names; those asked for longest ago are forgotten first.
  public static let countMaximum = 4_096

  /// What a server said of a name.
  public enum Finding: Hashable, Sendable {
    /// The name leads to this key.
    case key(PublicKey)
    /// It leads to none: the reason.
    case unknown(String)
    /// The server was not reached: the reason.
    case unreachable(String)
  }

  private struct Known: Sendable {
    let finding: Finding
    let at: Instant
    let wall: Int64
  }

  private var known: [String: Known] = [:]
  private let countMaximum: Int

  /// Nothing is known.
  public init(countMaximum: Int = Self.countMaximum) { self.countMaximum = max(1, countMaximum) }

  /// The number of names.
  public var count: Int { known.count }

  /// A server has answered, or not.
  ///
  /// - Parameters:
  ///   - name: the name, in its one spelling.
  ///   - finding: what is known now.
  ///   - now: the moment.
  ///   - wall: the same in seconds since 1970.
  public mutating func found(_ name: String, _ finding: Finding, at now: Instant, wall: Int64) {
    if known[name] == nil, known.count >= countMaximum {
      // A quarter goes at once, so that this is seldom.
      let old = known.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }.prefix(max(1, countMaximum / 4))
      for (name, _) in old { known[name] = nil }
    }
    known[name] = Known(finding: finding, at: now, wall: wall)
  }

  /// What is known of a claim.
  ///
  /// - Parameters:
  ///   - name: the name, in its one spelling.
  ///   - key: who claims it.
  ///   - now: the moment.
  /// - Returns: nil when the server is to be asked.
  public func claim(_ name: String, by key: PublicKey, at now: Instant) -> NameClaim? {
    guard let known = known[name] else { return nil }
    var (verdict, other, reason): (ClaimVerdict, PublicKey?, String?) = (.verified, nil, nil)
    var milliseconds = Self.failureMilliseconds
    switch known.finding {
    case .key(let found):
      milliseconds = Self.keyMilliseconds
      if found != key { (verdict, other) = (.another, found) }
    case .unknown(let why): (verdict, reason) = (.unknown, why)
    case .unreachable(let why): (verdict, reason) = (.unreachable, why)
    }
    guard now.milliseconds(since: known.at) < milliseconds else { return nil }
    var claim = NameClaim(name: name, pubkey: key.description, verdict: verdict, checkedAt: known.wall)
    (claim.otherPubkey, claim.reason) = (other?.description, reason)
    return claim
  }
}
