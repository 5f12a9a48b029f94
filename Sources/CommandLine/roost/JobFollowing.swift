internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering
internal import Wording

/// Reports the progress of a job on standard error until it has ended or the wait is over; then prints its result on
/// standard output. With `--json` each change is a line on standard output.
@EventLoopActor
final class JobFollowing {
  private let session: CommandSession
  private let patience: Timeout?
  private var news = JobNews()
  private var absence = JobAbsence()
  private let lookTimer = LoopTimer()

  /// How often to check whether the tracker is there.
  private static let lookMilliseconds: UInt64 = 1_000

  /// - Parameter patience: how long to wait for the job's end; nil: without limit.
  init(_ session: CommandSession, patience: Timeout?) {
    self.session = session
    self.patience = patience
  }

  /// Follows a job from now on.
  func follow(_ job: Job) async throws(Refusal) -> ExitStatus {
    try session.onInterrupt(.interrupted) { [session] in
      session.display.interrupted()
      session.note("The job continues: roost job watch \(job.id)")
    }
    if !session.isJSON {
      session.note("job \(job.id), for \(JobText.owner(job))")
      look()
    }
    let watch = EventLoopActor.task { [self] () -> Result<Job, Refusal> in
      var seen = job
      do throws(Refusal) {
        for try await change in session.client.progress(ofJob: job.id) {
          await tell(change)
          seen = change
        }
      } catch { return .failure(error) }
      return .success(seen)
    }
    let timer = LoopTimer()
    if let patience { timer.set(afterMilliseconds: UInt64(patience.milliseconds)) { watch.cancel() } }
    defer {
      timer.cancel()
      lookTimer.cancel()
    }
    let last = try await watch.value.get()
    return try await end(last)
  }

  /// Checks whether a tracker is there to report progress. Not with `--json`.
  private func look() {
    var presence = JobAbsence.Presence.supervisorAway
    if let registry = session.client.registry {
      let isReady = registry.members.contains { $0.role == Role.dvmTracker.name && $0.isReady }
      presence = isReady ? .here : .trackerAway
    }
    if let text = absence.looked(presence) { session.note(text) }
    lookTimer.set(afterMilliseconds: Self.lookMilliseconds) { [weak self] in self?.look() }
  }

  private func tell(_ job: Job) async {
    if session.isJSON { return await session.output.writeLine(JSONPayload.encode(job)) }
    for line in news.lines(job, Terminal.style(of: STDERR_FILENO)) { session.display.tell(line) }
  }

  private func end(_ job: Job) async throws(Refusal) -> ExitStatus {
    if !session.isJSON, let result = job.result { try await show(result, of: job) }
    switch job.state {
    case .settled:
      if !session.isJSON { session.note("The job is settled\(job.reason.map { ": \(VisibleText.make($0))" } ?? "").") }
      return .done
    case .delivered where job.result != nil:
      if !session.isJSON { session.note("Its provider wants to be paid: roost job show \(job.id)") }
      return .done
    case .failed, .cancelled, .expired:
      if !session.isJSON, job.result == nil {
        session.note("The job \(JobText.standing(job.state))\(job.reason.map { ": \($0)" } ?? "").", .bad)
      }
      return job.state == .expired ? .timedOut : .failed
    default:
      let why = job.reason.map { ": \(VisibleText.make($0))" } ?? ""
      if !session.isJSON {
        session.note("It \(JobText.standing(job.state))\(why); it continues: roost job watch \(job.id)")
      }
      return .timedOut
    }
  }

  // MARK: Results

  /// Prints the events that a result lists, if they are stored here; prints any other result as it came.
  private func show(_ result: JobResultState, of job: Job) async throws(Refusal) {
    guard let references = Self.references(in: result.content), !references.isEmpty else {
      return await session.output.writeLines(JobText.content(result.content, lineMaximum: .max))
    }
    let shown = references.prefix(Self.eventMaximum)
    let found = try await session.client.events(shown.compactMap { $0 })
    let names = ProfileNames(session.client)
    for event in found {
      let name = await names.name(of: event.pubkey)
      await session.output.writeLines(EventText.block(event, name: name, session.style))
    }
    let missing = references.count - found.count
    guard missing > 0 else { return }
    session.note("\(Amount.count(missing, "more result")) not shown: roost job show \(job.id) --result")
  }

  /// The maximum number of a result's events that are printed.
  private static let eventMaximum = 200

  /// The events that a list of `e` tags names; nil if the content is not a list of tags. An entry that names no event
  /// is nil.
  private static func references(in content: String) -> [EventID?]? {
    // `try?`: content that is not such JSON is a result of another form.
    guard let tags = try? JSONPayload.decode([[String]].self, from: content.utf8) else { return nil }
    guard tags.allSatisfy({ ["e", "a", "p"].contains($0.first) }) else { return nil }
    return tags.map { $0.count > 1 && $0[0] == "e" ? EventID($0[1]) : nil }
  }
}
