public import Bus
internal import Clocks
public import EventLoop
public import Frames

/// The answer to a request, part by part, across lost connections as far as that does no harm.
///
/// One reader at a time. An answer that is released before its end is given up, and so is one whose reading task is
/// cancelled.
@EventLoopActor
public final class RoostAnswer {
  /// The method asked.
  public let method: String

  private let payload: BusPayload
  private let options: RequestOptions
  private let client: RoostClient
  private let deadline: Instant?
  private let timer = LoopTimer()
  // The session is kept beside the answer: a bus answer refers to its connection.
  private var current: (session: LiveSession, answer: BusAnswer)?
  private var hasParts = false
  private var repeatsLeft: Int
  private var isCounted = false
  private var isCancelled = false

  init(method: String, payload: BusPayload, options: RequestOptions, client: RoostClient) {
    self.method = method
    self.payload = payload
    self.options = options
    self.client = client
    repeatsLeft = client.settings.repeatMaximum
    deadline =
      options.ttlMilliseconds == 0
      ? nil : EventLoop.process.now.advanced(milliseconds: UInt64(options.ttlMilliseconds))
  }

  isolated deinit {
    current?.answer.abandon(Refusal(.cancelled, "nobody reads this answer any more", outcome: .unknown))
    uncount()
  }

  /// Called when the worker says it moves; the payload is the method's own.
  public var onProgress: (@EventLoopActor (BusPayload) -> Void)? {
    didSet { current?.answer.onProgress = onProgress }
  }

  /// The next part; nil after the last. The terminal answer's own payload counts as a part unless it is empty.
  ///
  /// - Throws: the refusal that ended the request; `cancelled` after ``cancel()``.
  public func next() async throws(Refusal) -> BusPayload? { try await nextPart()?.payload }

  /// The same as ``next()``, for whoever must tell the terminal answer's payload from the parts before it.
  public func nextPart() async throws(Refusal) -> BusAnswer.Part? {
    while let current {
      let result = await withTaskCancellationHandler {
        await Self.take(from: current.answer)
      } onCancel: {
        EventLoopActor.task { self.cancel() }
      }
      switch result {
      case .success(let part):
        if let part, !part.isLast {
          hasParts = true
        } else {
          finish()
        }
        if part?.isLast == true { self.current = nil }
        return part
      case .failure(let refusal):
        guard current.session.isLoss(refusal), !isCancelled else {
          finish()
          throw refusal
        }
        try await askAgain(after: refusal)
      }
    }
    return nil
  }

  /// Gives the request up. What has arrived can still be taken; then ``next()`` throws `cancelled`, unless the answer
  /// was quicker.
  public func cancel() {
    isCancelled = true
    current?.answer.cancel()
  }

  private static func take(from answer: BusAnswer) async -> Result<BusAnswer.Part?, Refusal> {
    do throws(Refusal) { return .success(try await answer.nextPart()) } catch { return .failure(error) }
  }

  // MARK: Asking

  func ask() async throws(Refusal) {
    isCounted = true
    client.requestCount += 1
    do throws(Refusal) { try await askOnce(ttlMilliseconds: options.ttlMilliseconds) } catch {
      finish()
      throw error
    }
    if let deadline {
      timer.set(at: deadline.advanced(milliseconds: client.settings.answerGraceMilliseconds)) { [weak self] in
        self?.deadlinePassed()
      }
    }
  }

  /// Asks on the present connection or the next. A connection that ends before the request is written loses nothing, so
  /// every request may move on to the next one.
  private func askOnce(ttlMilliseconds: UInt32) async throws(Refusal) {
    let patience = client.patienceEnd()
    var ttl = ttlMilliseconds
    while true {
      let session = try await client.liveSession(until: min(patience, deadline ?? patience))
      do throws(Refusal) {
        let answer = try await session.bus.ask(
          method, of: options.worker, payload, ttlMilliseconds: ttl, atMostOnce: options.atMostOnce)
        answer.onProgress = onProgress
        current = (session, answer)
        if isCancelled { answer.cancel() }
        return
      } catch {
        guard session.isLoss(error) else { throw error }
        guard let left = RequestFate.remainingTTL(until: deadline, now: EventLoop.process.now) else {
          throw Refusal(.expired, "the time to live ran out before it could be asked", outcome: .notStarted)
        }
        ttl = left
      }
    }
  }

  private func askAgain(after loss: Refusal) async throws(Refusal) {
    let fate = RequestFate.afterLoss(
      loss, isIdempotent: options.isIdempotent, hasParts: hasParts, repeatsLeft: repeatsLeft, deadline: deadline,
      now: EventLoop.process.now)
    current = nil
    switch fate {
    case .fail(let refusal):
      finish()
      throw refusal
    case .askAgain(let ttl):
      repeatsLeft -= 1
      do throws(Refusal) { try await askOnce(ttlMilliseconds: ttl) } catch {
        finish()
        var refusal = error
        // The first try may have run, whatever became of this one.
        refusal.outcome = .unknown
        throw refusal
      }
    }
  }

  private func deadlinePassed() {
    let span = Amount.duration(milliseconds: UInt64(options.ttlMilliseconds))
    current?.answer.abandon(
      Refusal(
        .expired, "no answer to \(method) came within \(span), nor the supervisor's own", outcome: .unknown))
  }

  private func finish() {
    timer.cancel()
    uncount()
  }

  private func uncount() {
    if isCounted { client.requestCount -= 1 }
    isCounted = false
  }
}
