internal import Clocks
internal import EventArchive
internal import Nostr

// Which relays' signatures are checked.
//
// The gate checks every signature, unless the configuration says that a sample of a relay's events will do. Then the
// share that is checked falls with the number of events found good, never below a floor. After one forgery the gate
// checks every event of that relay, and the archive checks those that it took unchecked.
//
// A sample bets that a relay which was honest a thousand times stays so for the next event. The cost of a lost bet is
// bounded: an unchecked event may only add to what is stored. Events that remove others (replaceable and addressable
// ones, deletions, requests to vanish) are always checked, and so are ephemeral ones, which cannot be taken back. So
// when forgeries are removed, the archive is as if they had never come; only observers have seen them. Ids are always
// checked, and so are own events.
//
// Rejected: a sample by author, because a forger chooses the author; and a fixed share, because then the first forgery
// of a new relay is as likely to pass as the last.

/// How the events of sampled relays are checked.
public struct SamplingSettings: Hashable, Sendable {
  /// The share of events checked to begin with, 0 to 1.
  public var rate: Double
  /// The share below which it never falls, 0 to 1.
  public var floor: Double

  /// A rate and a floor.
  public init(rate: Double = 1, floor: Double = 0.1) {
    self.rate = rate
    self.floor = floor
  }

  /// The share of the next event, after so many that were good: half the rate after ``halfCount``, a tenth after nine
  /// times as many.
  func share(afterValid count: UInt64) -> Double {
    max(floor, rate * Double(Self.halfCount) / Double(Self.halfCount + count))
  }

  /// Good signatures after which half as many are checked.
  static let halfCount: UInt64 = 100
}

/// What is known of a relay's events.
public struct RelayConduct: Hashable, Sendable {
  /// The relay's number.
  public let relay: Int64
  /// Signatures checked and found good.
  public var valid: UInt64 = 0
  /// Events that are not what an author signed.
  public var forged: UInt64 = 0
  /// Events whose signatures were not checked.
  public var unchecked: UInt64 = 0
  /// Whether it was to be sampled, and is not, because it sent a forgery.
  public var isDistrusted = false
}

/// Which signatures are checked, and what relays have sent. A value without I/O.
public struct RelayTrust: Sendable {
  private var conducts: [Int64: RelayConduct] = [:]
  private var sampled: Set<Int64> = []
  private var settings = SamplingSettings()
  private var random: SeededGenerator

  /// The first number of forgeries at which a relay is reported; then at each tenfold.
  static let firstReport: UInt64 = 10

  /// Every signature is checked.
  ///
  /// - Parameters:
  ///   - seed: of the choice which events are checked. Relays must not know it.
  ///   - distrusted: relays that have sent forgeries while they were sampled.
  public init(seed: UInt64, distrusted: [Int64] = []) {
    random = SeededGenerator(seed: seed)
    for relay in distrusted {
      conducts[relay] = RelayConduct(relay: relay)
      conducts[relay]?.isDistrusted = true
    }
  }

  /// From now on a sample of these relays' events is checked.
  public mutating func sample(_ relays: Set<Int64>, _ settings: SamplingSettings) {
    sampled = relays
    self.settings = settings
  }

  /// Whether the next event's signature is checked; nil for an event that no relay sent.
  mutating func checksNext(of relay: Int64?) -> Bool {
    guard let relay, sampled.contains(relay) else { return true }
    let conduct = conducts[relay] ?? RelayConduct(relay: relay)
    guard !conduct.isDistrusted, conduct.forged == 0 else { return true }
    return Double.random(in: 0..<1, using: &random) < settings.share(afterValid: conduct.valid)
  }

  /// An event was checked.
  mutating func found(_ event: GateJob.Finding, of relay: Int64?) -> [TrustReport] {
    guard let relay else { return [] }
    var conduct = conducts[relay] ?? RelayConduct(relay: relay)
    var reports: [TrustReport] = []
    switch event {
    case .known: return []
    case .valid(let event):
      if event.isSignatureChecked { conduct.valid += 1 } else { conduct.unchecked += 1 }
    case .invalid(let fault):
      switch fault {
      case .wrongID, .badPublicKey, .badSignature: conduct.forged += 1
      default: return []
      }
      if sampled.contains(relay), !conduct.isDistrusted {
        conduct.isDistrusted = true
        reports.append(.distrusted(relay))
      }
      if Self.isReported(conduct.forged) { reports.append(.forgeries(relay, conduct.forged)) }
    }
    conducts[relay] = conduct
    return reports
  }

  private static func isReported(_ count: UInt64) -> Bool {
    var threshold = firstReport
    while threshold < count { threshold *= 10 }
    return threshold == count
  }

  /// The relays that sent most forgeries, or are distrusted, the worst first.
  public func worst(_ count: Int) -> [RelayConduct] {
    let bad = conducts.values.filter { $0.forged > 0 || $0.isDistrusted }
    return Array(bad.sorted { ($1.forged, $0.relay) < ($0.forged, $1.relay) }.prefix(count))
  }

  /// What is known of a relay.
  public func conduct(of relay: Int64) -> RelayConduct? { conducts[relay] }
}

/// What the operator should know of a relay.
public enum TrustReport: Hashable, Sendable {
  /// It was sampled, and has sent a forgery: its unchecked events are to be checked.
  case distrusted(Int64)
  /// It has sent so many forgeries.
  case forgeries(Int64, UInt64)
}
