public import Contracts
public import Cryptography

/// What this machine has seen of a provider.
public struct ProviderHistory: Sendable, Hashable {
  /// Requests addressed to it, or answered by it.
  public var asked = 0
  /// Those that it has answered with a result.
  public var answered = 0
  /// Its results that were not paid.
  public var unpaid = 0
  /// Payments for which no result came.
  public var undelivered = 0
  /// Jobs in which its bill was one that nobody could approve.
  public var contradictions = 0
  /// How long its last results took, in milliseconds, the oldest first; ``latencyMaximum`` at most.
  public var latencies: [Int64] = []
  /// When anything was seen last, milliseconds since 1970.
  public var lastAt: Int64 = 0

  /// Latencies that are kept.
  public static let latencyMaximum = 32
  /// Providers that are remembered; whoever was seen longest ago is forgotten first.
  public static let providerMaximum = 10_000

  /// Nothing.
  public init() {}

  /// Half of its results came faster, in milliseconds.
  public var medianMilliseconds: Int64? {
    latencies.isEmpty ? nil : latencies.sorted()[(latencies.count - 1) / 2]
  }

  /// Adds what a job has shown that has ended.
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

  /// As it is told.
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
