public import Contracts
internal import Cryptography
internal import EventLoop
public import Frames

// Jobs of others' (NIP-90): handed over once, and followed for as long as somebody likes.
//
// What is returned means that dvm-tracker has the job on disk. It goes on whether anybody looks or not, and ends with a
// result or a reason.

extension RoostClient {
  /// How long it may take until a job is accepted, in milliseconds: its request is signed and perhaps encrypted first.
  static let jobMilliseconds: UInt32 = 30_000
  private static let keyByteCount = 16

  /// Submits a job. When this returns it is on disk; asking again with the same key gives the same job.
  ///
  /// - Parameter wanted: the job; without a key of the caller's it is given one, so that a supervisor that dies
  ///   meanwhile does not make two of it.
  /// - Throws: `bad-request` for what NIP-90 does not allow, `no-such-account`, `no-such-job`, `full`,
  ///   `disk-full`, `locked`; `unavailable` when no dvm-tracker is there.
  public func submit(_ wanted: JobSubmit) async throws(Refusal) -> Job {
    var wanted = wanted
    if wanted.key == nil { wanted.key = Hexadecimal.text(of: RandomBytes.make(Self.keyByteCount)) }
    return try await job(JobMethod.submit, wanted)
  }

  /// Jobs, the latest first.
  ///
  /// - Parameters:
  ///   - states: in one of these; in any when nil.
  ///   - limit: how many at most; 100 unless said.
  public func jobs(in states: [Job.State]? = nil, limit: Int? = nil) async throws(Refusal) -> [Job] {
    try await collect(JobMethod.list, JobList(states: states, limit: limit))
  }

  /// A job by its id, its key, or the id of one of its requests. Refused as `no-such-job`.
  public func job(_ reference: String) async throws(Refusal) -> Job {
    try await job(JobMethod.show, JobReference(job: reference))
  }

  /// Lets a provider be paid, or proves with a preimage that it was.
  @discardableResult
  public func approveJob(
    _ reference: String, provider: String? = nil, preimage: String? = nil
  ) async throws(Refusal) -> Job {
    try await approveJob(JobReference(job: reference, provider: provider, preimage: preimage))
  }

  /// The same with all that can be said of it: a zap in place of the invoice, the wallet whose receipts are believed,
  /// the invoice that was paid.
  @discardableResult
  public func approveJob(_ reference: JobReference) async throws(Refusal) -> Job {
    try await job(JobMethod.approve, reference)
  }

  /// Denies a provider its payment, and no longer waits for it.
  @discardableResult
  public func denyJob(_ reference: String, provider: String? = nil) async throws(Refusal) -> Job {
    try await job(JobMethod.deny, JobReference(job: reference, provider: provider))
  }

  /// Calls a job off. Refused as `job-over` when it has ended otherwise.
  @discardableResult
  public func cancelJob(_ reference: String) async throws(Refusal) -> Job {
    try await job(JobMethod.cancel, JobReference(job: reference))
  }

  /// Providers of jobs, as they announce themselves (NIP-89), and what is known of them here.
  public func jobProviders(
    of kind: UInt16? = nil, fetches: Bool = false, limit: Int? = nil
  ) async throws(Refusal) -> [JobProvider] {
    let wanted = JobProviders(kind: kind, fetches: fetches, limit: limit)
    return try await collect(JobMethod.providers, wanted)
  }

  /// How a job is doing: as it is at once, then at each change, until its state is final.
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

  /// Says that no tracker is configured, if that is what is wrong.
  func explainedJob(_ refusal: Refusal) -> Refusal {
    explained(refusal, without: .dvmTracker, "which looks after jobs")
  }
}

/// How a job is doing, again and again. Made by ``RoostClient/progress(ofJob:)``.
///
/// Changes that come while nobody reads are given as one. It ends with a final state, or when its task is cancelled;
/// with a `Refusal` `no-such-job` when there is none. A tracker or a supervisor that is away is waited for.
public struct JobProgress: AsyncSequence, Sendable {
  /// The job.
  public typealias Element = Job
  /// Why it ended.
  public typealias Failure = Refusal

  let client: RoostClient
  let reference: String

  /// Begins; the tracker is asked when the first item is.
  public func makeAsyncIterator() -> Iterator {
    let wanted = JobReference(job: reference)
    return Iterator(
      reader: FollowReader(client, isFinal: \.state.isFinal, explain: { $0.explainedJob($1) }) {
        (client) async throws(Refusal) in
        try await client.stream(JobMethod.follow, wanted)
      })
  }

  /// One reading under way.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: FollowReader<Job>

    /// The job when it has changed; nil after a final state, or when the task is cancelled. One reader at a time.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Job? {
      try await reader.next()
    }
  }
}
