public import Contracts
internal import Cryptography
internal import EventLoop
public import Frames

// Jobs that providers do (NIP-90): the application submits a job once, and may follow it for as long as it likes.
//
// When `submit` returns, dvm-tracker has the job on disk. The job continues whether or not the application follows it,
// and ends with a result or a reason.

extension RoostClient {
  /// How long the acceptance of a job may take, in milliseconds: its request is first signed and perhaps encrypted.
  static let jobMilliseconds: UInt32 = 30_000
  private static let keyByteCount = 16

  /// Submits a job. When this returns, the job is on disk; a repeated call with the same key returns the same job.
  ///
  /// - Parameter wanted: the job. Without a key it gets one here, so that a repeat after a crash of the supervisor does
  ///   not make a second job.
  /// - Throws: `bad-request` for what NIP-90 does not allow, `no-such-account`, `no-such-job`, `full`, `disk-full`,
  ///   `locked`; `unavailable` when no dvm-tracker runs.
  public func submit(_ wanted: JobSubmit) async throws(Refusal) -> Job {
    var wanted = wanted
    if wanted.key == nil { wanted.key = Hexadecimal.text(of: RandomBytes.make(Self.keyByteCount)) }
    return try await job(JobMethod.submit, wanted)
  }

  /// Jobs, the latest first.
  ///
  /// - Parameters:
  ///   - states: only jobs in one of these states; all when nil.
  ///   - limit: the maximum number; default 100.
  public func jobs(in states: [Job.State]? = nil, limit: Int? = nil) async throws(Refusal) -> [Job] {
    try await collect(JobMethod.list, JobList(states: states, limit: limit))
  }

  /// A job by its id, its key, or the id of one of its requests. Refused as `no-such-job`.
  public func job(_ reference: String) async throws(Refusal) -> Job {
    try await job(JobMethod.show, JobReference(job: reference))
  }

  /// Approves the payment of a provider, or proves with a preimage that it was paid.
  @discardableResult
  public func approveJob(
    _ reference: String, provider: String? = nil, preimage: String? = nil
  ) async throws(Refusal) -> Job {
    try await approveJob(JobReference(job: reference, provider: provider, preimage: preimage))
  }

  /// The same with all options: a zap instead of the invoice, the wallet whose receipts are believed, the invoice that
  /// was paid.
  @discardableResult
  public func approveJob(_ reference: JobReference) async throws(Refusal) -> Job {
    try await job(JobMethod.approve, reference)
  }

  /// Denies a provider its payment; the tracker no longer waits for the provider.
  @discardableResult
  public func denyJob(_ reference: String, provider: String? = nil) async throws(Refusal) -> Job {
    try await job(JobMethod.deny, JobReference(job: reference, provider: provider))
  }

  /// Cancels a job. Refused as `job-over` when it has ended in another way.
  @discardableResult
  public func cancelJob(_ reference: String) async throws(Refusal) -> Job {
    try await job(JobMethod.cancel, JobReference(job: reference))
  }

  /// Providers of jobs, as they announced themselves (NIP-89), and what the tracker knows of them.
  public func jobProviders(
    of kind: UInt16? = nil, fetches: Bool = false, limit: Int? = nil
  ) async throws(Refusal) -> [JobProvider] {
    let wanted = JobProviders(kind: kind, fetches: fetches, limit: limit)
    return try await collect(JobMethod.providers, wanted)
  }

  /// The state of a job: immediately, then at each change, until the state is final.
  public nonisolated func progress(ofJob reference: String) -> JobProgress {
    JobProgress(client: self, reference: reference)
  }

  private func job<Arguments>(
    _ method: Method<Arguments, Job>, _ arguments: Arguments
  ) async throws(Refusal) -> Job {
    do throws(Refusal) {
      let options = RequestOptions.idempotent(ttlMilliseconds: Self.jobMilliseconds)
      return try await request(method, arguments, options: options)
    } catch {
      throw explainedJob(error)
    }
  }

  private func collect<Arguments, Part>(
    _ method: Stream<Arguments, Part, StoreCount>, _ arguments: Arguments
  ) async throws(Refusal) -> [Part] {
    do throws(Refusal) {
      let options = RequestOptions.idempotent(ttlMilliseconds: Self.jobMilliseconds)
      return try await stream(method, arguments, options: options).collect()
    } catch {
      throw explainedJob(error)
    }
  }

  /// Explains a refusal that means that no tracker is configured.
  func explainedJob(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .dvmTracker, "which looks after jobs")
  }
}

/// The states of a job over time. Made by ``RoostClient/progress(ofJob:)``.
///
/// Several changes between two reads are returned as one. It ends with a final state, or when its task is cancelled;
/// with a `Refusal` `no-such-job` when there is no such job. It waits for a tracker or a supervisor that is away.
public struct JobProgress: AsyncSequence, Sendable {
  /// The job.
  public typealias Element = Job
  /// The reason of an early end.
  public typealias Failure = Refusal

  let client: RoostClient
  let reference: String

  /// Starts an iteration; the first call of `next` sends the request.
  public func makeAsyncIterator() -> Iterator {
    let wanted = JobReference(job: reference)
    return Iterator(
      reader: FollowReader(client, isFinal: \.state.isFinal, explain: { $0.explainedJob($1) }) {
        (client) async throws(Refusal) in
        try await client.stream(JobMethod.follow, wanted)
      })
  }

  /// One iteration.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<Job>

    /// The job when it has changed; nil after a final state, or when the task is cancelled. Only one reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Job? {
      try await reader.next()
    }
  }
}
