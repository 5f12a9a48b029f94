public import Clocks

// Whose fault it is when a platform says that a token is none.
//
// A token that is refused while others go through is dead. When all are refused, the relay asks in the wrong place (the
// sandbox's tokens at the production host, another project's tokens), and believing it would empty the table of
// devices in a minute. So a refusal alone condemns nobody:
//
//     ok   BAD   ok            pruned: others went through before and after, within a minute each
//     ok   …   BAD   …   ok    counted; pruned at the third time, when others went through after each of them
//     BAD BAD BAD BAD BAD      five tokens, none went through between: nobody is pruned, and nothing is counted, until
//                              a push goes through again
//
// Whether everybody's pushes are held for it is another question, since anybody can register tokens that are none and
// wake himself. Once a push has gone through, five refusals hold nothing then. What strangers cannot make, or not for
// long, does:
//
//     everyKnown   five tokens that a push went through to before are refused, none going through between: the provider
//                  is held, for longer and longer
//     everyNew     nothing has gone through since the beginning, and five tokens were refused: one push at a time, a
//                  second between them, first to who was not refused, until one goes through. A stranger who is the
//                  first after a start can do that too, and no more than that, and only so long; and where a push
//                  went through before the start with the same settings, not even that (`EarlierSuccess`).
//
// Rejected: a share of all tokens that may be refused. It needs to know all tokens, and one developer's phone that goes
// through would condemn everybody else's. Age of a registration in place of a push that went through: strangers have
// time. To write down which tokens one went through to, for the next process: a row written for each push.

/// Tokens of one platform that were refused and are not condemned.
public struct SuspectTokens: Sendable {
  /// Tokens refused in a row, none going through between them, after which nobody is condemned; and of tokens that a
  /// push went through to before, those that mean it is us.
  public static let runMaximum = 5
  /// Refusals of one token, others going through after each, that condemn it.
  public static let refusalMaximum = 3
  /// How near others must go through for one refusal to be enough, in milliseconds.
  public static let nearMilliseconds: UInt64 = 60_000
  /// Tokens whose refusals are counted; those of others only count while they are near.
  public static let countedMaximum = 4_096
  /// Tokens that are remembered because a push went through to them; others are as if none had.
  public static let knownMaximum = 65_536

  /// What refusals so far say of us. It only becomes worse, until a push goes through.
  public enum Standing: Int, Hashable, Sendable {
    /// Nothing.
    case sound
    /// Nothing has ever gone through: it is us, most likely.
    case everyNew
    /// It is us: tokens that were good are refused.
    case everyKnown
  }

  /// What follows from one refusal.
  public struct Refusal: Hashable, Sendable {
    /// What is to be thought of us by now.
    public let standing: Standing
    /// Whether this refusal has made it so: somebody is to be told.
    public let isNews: Bool
    /// Whether a push went through to this token before.
    public let isKnown: Bool
  }

  private struct Suspicion: Sendable {
    let device: PushDevice
    let at: Instant
    let isAfterSuccess: Bool
  }

  /// Since something last went through, one for each device; less than ``runMaximum``.
  private var run: [Suspicion] = []
  /// Whether the run was so long that nobody is condemned at its end.
  private var isRunLong = false
  private var refusalCounts: [Int64: Int] = [:]
  private var lastSuccess: Instant?
  /// By device, the hash of the token that a push went through to.
  private var known: [Int64: Int] = [:]
  /// Of those, the ones that were refused since something last went through.
  private var refusedKnown: Set<Int64> = []
  /// What is to be thought of us.
  public private(set) var standing = Standing.sound

  /// Nobody is suspect.
  public init() {}

  /// A token was refused.
  ///
  /// - Parameters:
  ///   - device: as it was when the push was made.
  ///   - instant: now.
  ///   - isProved: whether it is to be believed that something went through before the beginning.
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
    // Refused again and again with nothing going through between is refused once.
    if before == nil, refusalCounts[device.number] != nil || refusalCounts.count < Self.countedMaximum {
      refusalCounts[device.number, default: 0] += 1
    }
    guard run.count >= Self.runMaximum else { return }
    isRunLong = true
    run = []
    refusalCounts = [:]
  }

  /// A push went through.
  ///
  /// - Parameters:
  ///   - device: as it was when the push was made.
  ///   - instant: now.
  /// - Returns: the devices that are condemned by it.
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

  /// A device has another token now, or is none any more.
  public mutating func forget(_ device: Int64) {
    refusalCounts[device] = nil
    known[device] = nil
    refusedKnown.remove(device)
    run.removeAll { $0.device.number == device }
  }
}
