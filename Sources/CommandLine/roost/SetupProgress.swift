internal import Bus
internal import Clocks
internal import Contracts
internal import EventLoop
internal import Frames
internal import Rendering
internal import RoostClient

// How far the mirror is with an account that has just come: on a terminal in place, else a line for each change.

extension SetupRun {
  /// How often the mirror is asked, in milliseconds.
  private static let progressMilliseconds: UInt64 = 500
  /// How long the mirror may take to know of the account, or may be away, in milliseconds.
  private static let patienceMilliseconds: UInt64 = 15_000

  /// Shows the progress until everything was fetched once, or until Ctrl-C.
  func showProgress(of account: SignerAccount) async throws(Refusal) {
    let status = try await session.client.request(
      SupervisorMethod.status, StatusRequest(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    guard status.workers.contains(where: { $0.role == Role.mirror.name && $0.state != .stopped }) else {
      session.note("The mirror is switched off, so nothing is fetched by itself: 'roost start mirror'.", .warning)
      return
    }
    let mirror = SetupMirror(account.name)
    try session.onFirstInterrupt { mirror.isInterrupted = true }
    if !session.isJSON { session.display.begin { SetupText.progress(mirror.entries) } }
    var deadline = EventLoop.process.now.advanced(milliseconds: Self.patienceMilliseconds)
    let isLive = !session.isJSON && LiveDisplay.isPossible
    while !mirror.isInterrupted {
      do throws(Refusal) {
        let answer = try await session.client.request(
          MirrorMethod.status, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
        if mirror.take(answer) {
          session.display.changed()
          if session.isJSON {
            await session.output.writeLine(JSONPayload.encode(SetupJSON.Progress(entries: mirror.entries)))
          } else if !isLive {
            await session.output.writeLines(mirror.news.map { SetupText.progressLine($0) })
          }
        }
        if mirror.isComplete { break }
        if !mirror.entries.isEmpty {
          deadline = EventLoop.process.now.advanced(milliseconds: Self.patienceMilliseconds)
        } else if EventLoop.process.now >= deadline {
          throw Refusal(
            .failed, "the mirror does not know of '\(account.name)' yet; 'roost mirror status' shows it")
        }
      } catch {
        // It is started again, and continues where it was.
        guard [.workerDied, .unavailable, .gone, .disconnected].contains(error.code), EventLoop.process.now < deadline
        else {
          session.display.end()
          throw error
        }
      }
      await EventLoopActor.sleep(milliseconds: Self.progressMilliseconds)
    }
    mirror.isInterrupted ? session.display.interrupted() : session.display.end()
    guard !session.isJSON else { return }
    await session.output.writeLines(
      mirror.isInterrupted ? SetupText.continues : SetupText.complete(mirror.entries, session.style))
  }
}

/// What the mirror has said of one account.
@EventLoopActor
final class SetupMirror {
  private(set) var entries: [MirrorStatus.Entry] = []
  /// The entries that are another than before, but for their counts of events.
  private(set) var news: [MirrorStatus.Entry] = []
  var isInterrupted = false

  private let account: String

  init(_ account: String) { self.account = account }

  /// Whether there is something new to show.
  func take(_ status: MirrorStatus) -> Bool {
    let before = entries
    entries = status.entries.filter { $0.account == account }
    news = entries.filter { entry in
      let known = before.first { $0.kind == entry.kind }
      return known?.isFetching != entry.isFetching || known?.end != entry.end
        || known?.completeCount != entry.completeCount
    }
    return entries != before
  }

  /// Whether everything was fetched once.
  var isComplete: Bool {
    let kinds = Set(entries.map(\.kind))
    return kinds.isSuperset(of: [.own, .named]) && entries.allSatisfy { $0.end != nil && !$0.isFetching }
  }
}
