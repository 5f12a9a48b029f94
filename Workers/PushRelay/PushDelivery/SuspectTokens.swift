public import Clocks

// Decides whether the token or the relay is at fault when a platform says that a token is invalid.
//
// A token that is refused while pushes to other tokens succeed is dead. When all tokens are refused, the relay sends to
// the wrong place (sandbox tokens to the production host, another project's tokens), and believing the platform would
// empty the table of devices in a minute. So a refusal alone condemns no token:
//
//     ok   BAD   ok            pruned: other pushes succeeded before and after, within a minute each
//     ok   …   BAD   …   ok    counted; pruned at the third refusal, when other pushes succeeded after each of them
//     BAD BAD BAD BAD BAD      five tokens without a success between: no token is pruned and nothing is counted, until
//                              a push succeeds again
//
// Whether such refusals hold back all pushes is another question, because anyone can register invalid tokens and wake
// their own devices. Once a push has succeeded, five refusals hold nothing back. Only these do, because strangers
// cannot cause them, or not for long:
//
//     everyKnown   five tokens with an earlier success are refused, without a success between: the provider is held,
//                  for longer and longer
//     everyNew     no push has succeeded since the start, and five tokens were refused: one push at a time, with a
//                  second between, first to devices that were not refused, until one succeeds. A stranger who is the
//                  first after a start can cause this too, but not more, and only until then; and not even this where a
//                  push succeeded before the start with the same settings (`EarlierSuccess`).
//
// Rejected: a maximum share of all tokens that may be refused. It needs to know all tokens, and one developer's phone
// with a success would condemn all other tokens. The age of a registration instead of a push that succeeded: strangers
// have time. Writing down which tokens had a success, for the next process: a write for each push.

/// Tokens of one platform that were refused and are not condemned.
public struct SuspectTokens: Sendable {
  /// The number of tokens refused in a row, without a success between, after which no token is condemned; and the
  /// number of tokens with an earlier success whose refusal means that the relay is at fault.
  public static let runMaximum = 5
  /// The number of refusals of one token, each followed by a success of another, that condemns it.
  public static let refusalMaximum = 3
  /// One refusal is enough if other pushes succeeded at most this long before and after it, in milliseconds.
  public static let nearMilliseconds: UInt64 = 60_000
  /// The maximum number of tokens whose refusals are counted. Further ones are condemned only by near successes.
  public static let countedMaximum = 4_096
  /// The maximum number of tokens that are remembered for a success; further ones count as without a success.
  public static let knownMaximum = 65_536

  /// What the refusals so far mean for the relay. It only becomes worse, until a push succeeds.
  public enum Standing: Int, Hashable, Sendable {
    /// No fault of the relay.
    case sound
    /// No push has ever succeeded: probably the relay is at fault.
    case everyNew
    /// The relay is at fault: tokens that were good are refused.
    case everyKnown
  }

  /// The result of one refusal.
  public struct Refusal: Hashable, Sendable {
    /// The standing after it.
    public let standing: Standing
    /// Whether this refusal changed the standing: a person must be notified.
    public let isNews: Bool
    /// Whether a push to this token succeeded before.
    public let isKnown: Bool
  }

  private struct Suspicion: Sendable {
    let device: PushDevice
    let at: Instant
    let isAfterSuccess: Bool
  }

  /// The refusals since the last success, one for each device; fewer than ``runMaximum``.
  private var run: [Suspicion] = []
  /// Whether the run was so long that no token is condemned at its end.
  private var isRunLong = false
  private var refusalCounts: [Int64: Int] = [:]
  private var lastSuccess: Instant?
  /// By device, the hash of the token with a success.
  private var known: [Int64: Int] = [:]
  /// The known devices that were refused since the last success.
  private var refusedKnown: Set<Int64> = []
  /// What the refusals mean for the relay.
  public private(set) var standing = Standing.sound

  /// No suspect tokens.
  public init() {}

  /// A token was refused.
  ///
  /// - Parameters:
  ///   - device: the device at the time of the push.
  ///   - instant: now.
  ///   - isProved: whether a success before the start is believed.
  public mutating func refused(_ device: PushDevice, at instant: Instant, isProved: Bool = false) -> Refusal {
    let isKnown = known[device.number] == device.token.hashValue
    let before = standing
    suspect(device, at: instant)
    if isKnown, refusedKnown.count < Self.runMaximum { refusedKnown.insert(device.number) }
    if refusedKnown.count >= Self.runMaximum {
      standing = .everyKnown
    } else if standing == .sound, lastSuccess == nil, isRunLong, !isProved {
      standing = .everyNew
    }
    return Refusal(standing: standing, isNews: standing != before, isKnown: isKnown)
  }

  private mutating func suspect(_ device: PushDevice, at instant: Instant) {
    if isRunLong { return }
    let isNear = lastSuccess.map { instant.milliseconds(since: $0) <= Self.nearMilliseconds } ?? false
    let before = run.first { $0.device.number == device.number }
    run.removeAll { $0.device.number == device.number }
    run.append(
      Suspicion(device: device, at: instant, isAfterSuccess: isNear || (before?.isAfterSuccess ?? false)))
    // Repeated refusals of one token without a success between count as one.
    if before == nil, refusalCounts[device.number] != nil || refusalCounts.count < Self.countedMaximum {
      refusalCounts[device.number, default: 0] += 1
    }
    guard run.count >= Self.runMaximum else { return }
    isRunLong = true
    run = []
    refusalCounts = [:]
  }

  /// A push succeeded.
  ///
  /// - Parameters:
  ///   - device: the device at the time of the push.
  ///   - instant: now.
  /// - Returns: the devices that are condemned now.
  public mutating func wentThrough(_ device: PushDevice, at instant: Instant) -> [PushDevice] {
    forget(device.number)
    if known.count < Self.knownMaximum { known[device.number] = device.token.hashValue }
    lastSuccess = instant
    standing = .sound
    isRunLong = false
    refusedKnown = []
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

  /// A device has another token now, or was removed.
  public mutating func forget(_ device: Int64) {
    refusalCounts[device] = nil
    known[device] = nil
    refusedKnown.remove(device)
    run.removeAll { $0.device.number == device }
  }
}
