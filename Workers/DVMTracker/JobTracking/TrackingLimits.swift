public import Contracts

/// What the tracker may hold, and how long each phase of a job lasts unless its submitter says otherwise.
public struct TrackingLimits: Sendable, Hashable {
  /// Jobs under way; one more is refused (`full`).
  public var openMaximum = 10_000
  /// Providers of one job, those who were named and those who came; what others say is counted and not kept.
  public var providerMaximum = 64
  /// Feedback kept of one provider of a job; the oldest goes when there is one more. What asks for money stays.
  public var feedbackMaximum = 32
  /// Results kept of one provider of a job: what comes beyond is counted and not kept.
  public var resultMaximum = 8
  /// Answers kept that came after a job had ended; what comes beyond is counted and not kept.
  public var lateMaximum = 16
  /// Receipts kept of a job that prove a payment; so many of those that hold a request of ours and prove nothing, of
  /// which one that nothing is wrong with displaces one that something is; and so many of those that hold none. What
  /// comes beyond is counted and not kept.
  public var receiptMaximum = 16
  /// How long, in milliseconds, the receipt of a zap that was approved is looked for when its job has ended.
  public var lateReceiptMilliseconds: Int64 = 3_600_000
  /// Bytes that all answers of a job may take; what comes beyond is counted and not kept, but for the first result of a
  /// provider.
  public var answerByteCountMaximum = 16 << 20
  /// Bytes of a result's content that are kept; a longer one is cut, and whoever needs it whole has its event's id.
  public var resultByteCountMaximum = 512 << 10
  /// Bytes of a part or sample that are kept; the rest is cut.
  public var partialByteCountMaximum = 16 << 10
  /// Bytes of a provider's remark that are kept; the rest is cut.
  public var remarkByteCountMaximum = 1_024
  /// Facts of one transaction; what is more waits for the next.
  public var batchFactMaximum = 4_000
  /// How many seqs of the store may be looked at before that is written down by itself.
  public var cursorStride: Int64 = 1_000
  /// How deep jobs may wait for jobs.
  public var chainDepthMaximum = 64

  /// First wait after something that others could not do, in milliseconds; it doubles.
  public var retryBaseMilliseconds: Int64 = 250
  /// The longest.
  public var retryCeilingMilliseconds: Int64 = 10_000

  /// How long, in milliseconds, what a cancelled job has asked waits for its locked account before it is tried all the
  /// same whether that can be taken back.
  public var unlockMilliseconds: Int64 = 3_600_000
  /// How long, in milliseconds, it is tried to take it back. Then it is left where it is.
  public var withdrawalMilliseconds: Int64 = 7 * 86_400_000
  /// Cancelled jobs whose requests are still to be taken back that do not count as under way; those beyond do.
  public var withdrawingMaximum = 10_000

  /// How long each phase may last, in seconds.
  public var deadlines = PhaseSeconds()
  /// Most millisatoshi in 24 hours, all jobs together.
  public var dayMaximum: Int64 = 1_000_000
  /// Most millisatoshi for one provider in 24 hours.
  public var providerDayMaximum: Int64 = 250_000

  /// The limits above.
  public init() {}
}

/// Seconds that each phase of a job may last.
public struct PhaseSeconds: Sendable, Hashable {
  /// Until a relay, or the store here, has a request.
  public var publish: Int64 = 600
  /// From there to the first sign of a provider.
  public var answer: Int64 = 120
  /// From a provider's last sign to its result.
  public var result: Int64 = 600
  /// For a decision about a payment that is asked for.
  public var decision: Int64 = 3_600
  /// From a payment to the result.
  public var delivery: Int64 = 600
  /// For all of it.
  public var total: Int64 = 7 * 86_400

  /// The usual ones.
  public init() {}

  /// What somebody has said, and these where nothing was.
  public func merged(_ said: JobDeadlines?) -> PhaseSeconds {
    guard let said else { return self }
    var merged = self
    merged.publish = said.publish ?? publish
    merged.answer = said.answer ?? answer
    merged.result = said.result ?? result
    merged.decision = said.decision ?? decision
    merged.delivery = said.delivery ?? delivery
    merged.total = said.total ?? total
    return merged
  }

  /// As they are written down.
  public var said: JobDeadlines {
    var said = JobDeadlines()
    (said.publish, said.answer, said.result) = (publish, answer, result)
    (said.decision, said.delivery, said.total) = (decision, delivery, total)
    return said
  }
}

/// A stretch of a job that has a deadline.
public enum JobPhase: UInt8, Sendable, Hashable, CaseIterable {
  /// Until a request can be seen.
  case publish = 0
  /// Until a provider says anything.
  case answer = 1
  /// Until a provider that works on it has a result.
  case result = 2
  /// Until somebody decides about a payment.
  case decision = 3
  /// From a payment to the result, or from an approval to the proof of the payment.
  case delivery = 4
  /// All of it.
  case total = 5
  /// While offers are collected.
  case window = 6
  /// Until enough providers agree.
  case agreement = 7
}
