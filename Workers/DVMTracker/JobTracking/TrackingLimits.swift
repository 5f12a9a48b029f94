public import Contracts

/// How much the tracker may hold, and how long each phase of a job lasts unless its submitter says otherwise.
public struct TrackingLimits: Sendable, Hashable {
  /// Jobs under way; one more is refused (`full`).
  public var openMaximum = 10_000
  /// Providers of one job, named ones and others together; what further ones send is counted and not kept.
  public var providerMaximum = 64
  /// Feedback kept of one provider of a job; if there is more, the oldest goes. Feedback that asks for money stays.
  public var feedbackMaximum = 32
  /// Results kept of one provider of a job; further ones are counted and not kept.
  public var resultMaximum = 8
  /// Answers kept that came after a job's end; further ones are counted and not kept.
  public var lateMaximum = 16
  /// Receipts kept of a job that prove a payment. The same number is kept of receipts that contain a request of ours
  /// and prove nothing, where one that nothing is wrong with displaces one with an error. The same number is kept of
  /// receipts without a request of ours. Further ones are counted and not kept.
  public var receiptMaximum = 16
  /// How long the receipt of an approved zap is awaited after its job's end, in milliseconds.
  public var lateReceiptMilliseconds: Int64 = 3_600_000
  /// Bytes that all answers of a job may take. Further ones are counted and not kept, except the first result and the
  /// first bill of each provider.
  public var answerByteCountMaximum = 16 << 20
  /// Bytes of a result's content that are kept; a longer one is cut. The whole result can be found by its event's id.
  public var resultByteCountMaximum = 512 << 10
  /// Bytes of a partial result that are kept; the rest is cut.
  public var partialByteCountMaximum = 16 << 10
  /// Bytes of a provider's remark that are kept; the rest is cut.
  public var remarkByteCountMaximum = 1_024
  /// Most facts of one transaction; more wait for the next one.
  public var batchFactMaximum = 4_000
  /// How many seqs of the store are looked at before the cursor is written alone.
  public var cursorStride: Int64 = 1_000
  /// Most jobs in a chain of jobs that wait for each other.
  public var chainDepthMaximum = 64

  /// The first wait after a task that failed, in milliseconds; it doubles with each failure.
  public var retryBaseMilliseconds: Int64 = 250
  /// The longest of these waits.
  public var retryCeilingMilliseconds: Int64 = 10_000

  /// How long the deletion of a cancelled job's request waits for its locked account, in milliseconds, before it is
  /// tried again without an unlock.
  public var unlockMilliseconds: Int64 = 3_600_000
  /// How long that deletion is tried, in milliseconds. Then the request stays where it is.
  public var withdrawalMilliseconds: Int64 = 7 * 86_400_000
  /// Most cancelled jobs with requests to delete that do not count as under way; further ones do.
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
  /// Until a relay, or the store here, has the request.
  public var publish: Int64 = 600
  /// From then to the first sign of a provider.
  public var answer: Int64 = 120
  /// From a provider's last sign to its result.
  public var result: Int64 = 600
  /// For the decision about a bill.
  public var decision: Int64 = 3_600
  /// From a payment to the result.
  public var delivery: Int64 = 600
  /// For the whole job.
  public var total: Int64 = 7 * 86_400

  /// The defaults.
  public init() {}

  /// The times that a submitter has given, and these for the others.
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

  /// As they are recorded.
  public var said: JobDeadlines {
    var said = JobDeadlines()
    (said.publish, said.answer, said.result) = (publish, answer, result)
    (said.decision, said.delivery, said.total) = (decision, delivery, total)
    return said
  }
}

/// A phase of a job that has a deadline.
public enum JobPhase: UInt8, Sendable, Hashable, CaseIterable {
  /// Until providers can see the request.
  case publish = 0
  /// Until a provider sends anything.
  case answer = 1
  /// Until a provider that works on it has a result.
  case result = 2
  /// Until a payment is approved or denied.
  case decision = 3
  /// From a payment to the result, or from an approval to the proof of the payment.
  case delivery = 4
  /// The whole job.
  case total = 5
  /// While offers are collected.
  case window = 6
  /// Until enough providers agree.
  case agreement = 7
}
