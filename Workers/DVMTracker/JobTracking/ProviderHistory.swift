public import Contracts
public import Cryptography

/// What this machine has seen of a provider.
public struct ProviderHistory: Sendable, Hashable {
  /// Jobs in which it was asked, or answered.
  public var asked = 0
  /// Those of them to which it has sent a result.
  public var answered = 0
  /// Results whose payment was denied.
  public var unpaid = 0
  /// Payments, made or approved, for which no result came in time.
  public var undelivered = 0
  /// Jobs in which its bill was not in order.
  public var contradictions = 0
  /// How long its last results took, in milliseconds, the oldest first; ``latencyMaximum`` at most.
  public var latencies: [Int64] = []
  /// When it was last seen, milliseconds since 1970.
  public var lastAt: Int64 = 0

  /// Latencies that are kept.
  public static let latencyMaximum = 32
  /// Most providers that are remembered; the one that was seen longest ago is forgotten first.
  public static let providerMaximum = 10_000

  /// An empty history.
  public init() {}

  /// The median of the latencies, in milliseconds.
  public var medianMilliseconds: Int64? {
    latencies.isEmpty ? nil : latencies.sorted()[(latencies.count - 1) / 2]
  }

  /// Adds what a job that has ended has shown.
  mutating func add(_ pair: JobPicture.Pair, of picture: JobPicture, at now: Int64) {
    asked += 1
    lastAt = max(lastAt, now)
    if pair.isUndelivered { undelivered += 1 }
    if let bill = pair.bill, !bill.isForZap, bill.problem != nil { contradictions += 1 }
    guard let result = pair.result else { return }
    answered += 1
    if pair.payment == .denied { unpaid += 1 }
    let start = picture.attempts.first { $0.request?.id == result.request }?.visibleAt
    guard let start, let end = pair.signs?.upperBound, end >= start else { return }
    latencies.append(end - start)
    latencies.removeFirst(max(0, latencies.count - Self.latencyMaximum))
  }

  /// The history as the bus shows it.
  public func told(_ provider: PublicKey, kinds: [UInt16] = []) -> JobProvider {
    var told = JobProvider(provider: provider.description, kinds: kinds)
    told.asked = asked
    told.answered = answered
    told.medianMilliseconds = medianMilliseconds
    told.unpaid = unpaid
    told.undelivered = undelivered
    told.contradictions = contradictions
    return told
  }
}
