public import Bus
internal import Clocks
public import Contracts
public import EventLoop
public import Frames

/// The answer to a request, part by part, across lost connections where a repeat does no harm.
///
/// Only one reader at a time. An answer that is released before its end is cancelled, and so is one whose reading task
/// is cancelled.
@EventLoopActor
public final class RoostAnswer {
  /// The method's name.
  public let method: String
  /// The trace of the request and of all that workers do because of it: ``RoostClient/logs(trace:worker:lines:)`` shows
  /// what they log of it. The one of its options; else of ``RoostClient/traced(_:_:)``, of the settings, or a new one.
  public let trace: RequestTrace

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
    trace = options.trace ?? BusTrace.current ?? client.settings.trace ?? .random()
    repeatsLeft = client.settings.repeatMaximum
    deadline =
      options.ttlMilliseconds == 0
      ? nil : EventLoop.process.now.advanced(milliseconds: UInt64(options.ttlMilliseconds))
  }

  isolated deinit {
    current?.answer.abandon(Refusal(.cancelled, "no caller reads this answer any longer", outcome: .unknown))
    uncount()
  }

  /// Called when the worker reports progress; the payload is the method's own.
  public var onProgress: (@EventLoopActor (BusPayload) -> Void)? {
    didSet { current?.answer.onProgress = onProgress }
  }

  /// The next part; nil after the last one. The terminal answer's own payload counts as a part unless it is empty.
  ///
  /// - Throws: the refusal that ended the request; `cancelled` after ``cancel()``.
  public func next() async throws(Refusal) -> BusPayload? { try await nextPart()?.payload }

  /// Like ``next()``, for a caller that must distinguish the terminal answer's payload from the parts before it.
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

  /// Cancels the request. Parts that have arrived can still be read; then ``next()`` throws `cancelled`, unless the
  /// answer was faster.
  public func cancel() {
    isCancelled = true
    current?.answer.cancel()
  }

  private static func take(from answer: BusAnswer) async -> Result<BusAnswer.Part?, Refusal> {
    do throws(Refusal) { return .success(try await answer.nextPart()) } catch { return .failure(error) }
  }

  // MARK: Requests

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

  /// Sends the request on the present connection or the next one. If a connection ends before the request is written,
  /// nothing is lost, so every request may use the next connection.
  private func askOnce(ttlMilliseconds: UInt32) async throws(Refusal) {
    let patience = client.patienceEnd()
    var ttl = ttlMilliseconds
    while true {
      let session = try await client.liveSession(until: min(patience, deadline ?? patience))
      do throws(Refusal) {
        let answer = try await session.bus.ask(
          method, of: options.worker, payload, ttlMilliseconds: ttl, atMostOnce: options.atMostOnce,
          trace: trace)
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
        // The first attempt may have run, whatever happened to this one.
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

/// The answer to a `Stream`, part by part, across lost connections as ``RoostAnswer`` says.
@EventLoopActor
public struct RoostStream<Part: Payload, Answer: Payload> {
  /// One item of the answer.
  public enum Item: Sendable {
    /// A part.
    case part(Part)
    /// The terminal answer; nothing comes after it.
    case end(Answer)
  }

  /// The answer as payloads: to cancel it, or to watch its progress.
  public let answer: RoostAnswer

  init(_ answer: RoostAnswer) { self.answer = answer }

  /// The next item; nil after the end, and also when a terminal answer without a payload ends it.
  ///
  /// - Throws: the refusal that ended the request, or `bad-payload` for an item that cannot be read.
  public func next() async throws(Refusal) -> Item? {
    guard let part = try await answer.nextPart() else { return nil }
    return part.isLast
      ? .end(try part.payload.read(of: answer.method)) : .part(try part.payload.read(of: answer.method))
  }

  /// The next part; nil after the last one, whatever the terminal answer holds.
  public func nextPart() async throws(Refusal) -> Part? {
    if case .part(let part)? = try await next() { part } else { nil }
  }

  /// All parts.
  public func collect() async throws(Refusal) -> [Part] {
    var parts: [Part] = []
    while let part = try await nextPart() { parts.append(part) }
    return parts
  }
}
