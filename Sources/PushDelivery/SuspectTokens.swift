public import Clocks

// Whose fault it is when a platform says that a token is none.
//
// A token that is refused while others go through is dead. When all are refused, the relay asks in the wrong place (the
// sandbox's tokens at the production host, another project's tokens), and believing it would empty the table of
// devices in a minute. So a refusal alone condemns nobody:
//
//     ok   BAD   ok            pruned: others went through before and after, within a minute each
//     ok   …   BAD   …   ok    counted; pruned at the third time, when others went through after each of them
//     BAD BAD BAD BAD BAD      five tokens, none went through between: the provider is held and somebody is told;
//                              nobody is pruned, and nothing is counted until a push goes through again
//
// Rejected: a share of all tokens that may be refused. It needs to know all tokens, and one developer's phone that goes
// through would condemn everybody else's.

/// Tokens of one provider that were refused and are not condemned.
public struct SuspectTokens: Sendable {
  /// Tokens refused in a row, none going through between them, that mean it is us.
  public static let runMaximum = 5
  /// Refusals of one token, others going through after each, that condemn it.
  public static let refusalMaximum = 3
  /// How near others must go through for one refusal to be enough, in milliseconds.
  public static let nearMilliseconds: UInt64 = 60_000
  /// Tokens whose refusals are counted; those of others only count while they are near.
  public static let countedMaximum = 4_096

  private struct Suspicion: Sendable {
    let device: PushDevice
    let at: Instant
    let isAfterSuccess: Bool
  }

  /// Since something last went through, one for each device.
  private var run: [Suspicion] = []
  private var refusalCounts: [Int64: Int] = [:]
  private var lastSuccess: Instant?
  /// Whether it is us, as far as is known.
  public private(set) var isEveryTokenRefused = false

  /// Nobody is suspect.
  public init() {}

  /// A token was refused.
  ///
  /// - Returns: whether this is the one that makes it us: the provider is to be held, and somebody told.
  public mutating func refused(_ device: PushDevice, at instant: Instant) -> Bool {
    if isEveryTokenRefused { return false }
    let isNear = lastSuccess.map { instant.milliseconds(since: $0) <= Self.nearMilliseconds } ?? false
    let before = run.first { $0.device.number == device.number }
    run.removeAll { $0.device.number == device.number }
    run.append(
      Suspicion(device: device, at: instant, isAfterSuccess: isNear || (before?.isAfterSuccess ?? false)))
    // Refused again and again with nothing going through between is refused once.
    if before == nil, refusalCounts[device.number] != nil || refusalCounts.count < Self.countedMaximum {
      refusalCounts[device.number, default: 0] += 1
    }
    guard run.count >= Self.runMaximum else { return false }
    isEveryTokenRefused = true
    run = []
    refusalCounts = [:]
    return true
  }

  /// A push went through, or was refused for what has nothing to do with tokens of ours in general.
  ///
  /// - Returns: the devices that are condemned by it.
  public mutating func wentThrough(_ device: Int64, at instant: Instant) -> [PushDevice] {
    lastSuccess = instant
    isEveryTokenRefused = false
    forget(device)
    if run.isEmpty { return [] }
    let condemned = run.filter { suspicion in
      let isNear = instant.milliseconds(since: suspicion.at) <= Self.nearMilliseconds
      return suspicion.isAfterSuccess && isNear
        || refusalCounts[suspicion.device.number, default: 0] >= Self.refusalMaximum
    }.map(\.device)
    run = []
    for device in condemned { refusalCounts[device.number] = nil }
    return condemned
  }

  /// A device has another token now, or is none any more.
  public mutating func forget(_ device: Int64) {
    refusalCounts[device] = nil
    run.removeAll { $0.device.number == device }
  }
}
