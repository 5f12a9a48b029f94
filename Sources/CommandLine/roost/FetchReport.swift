internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import Nostr
internal import RoostClient
internal import Rendering

/// Reports how far each relay is with an observation, until each has sent its stored events.
///
///     terminal                       a line for each relay, in place, and one sentence at the end
///     terminal, output into a pipe   as below: the pipe's reader may write to the same terminal
///     no terminal                    a line, once, for each relay that refuses or cannot be reached
///     --json                         nothing; with --progress an object a line among the events
///
/// Only the objects go to standard output; everything else goes to standard error.
@EventLoopActor
final class FetchReport {
  private let session: CommandSession
  private let writesObjects: Bool
  private let isLive: Bool
  private var latest: ObserveProgress?
  private var news = FetchNews()
  private let quiet = LoopTimer()
  private var summary: [String] = []
  private var delays = 0

  /// When a relay is done, its last events may still be on their way to the reader. The summary appears when nothing
  /// was shown for this long, in milliseconds.
  private static let quietMilliseconds: UInt64 = 200
  /// The maximum number of events that may delay the summary; after that it appears among them.
  private static let delayMaximum = 1_000

  private struct Line: Encodable { let progress: ObserveProgress }

  init(_ session: CommandSession, writesObjects: Bool) {
    self.session = session
    self.writesObjects = writesObjects
    isLive = !session.isJSON && LiveDisplay.isPossible && !Terminal.isPipe(STDOUT_FILENO)
  }

  /// Begins; runs beside the observation of the same filters.
  func begin(_ filters: [Filter], _ options: ObserveOptions) {
    guard options.policy != .cacheOnly, writesObjects || !session.isJSON else { return }
    if isLive {
      session.display.begin { [weak self] in
        guard let latest = self?.latest else { return [] }
        return FetchText.lines(latest, columns: LiveDisplay.columns)
      }
    }
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        for try await progress in session.client.fetchProgress(of: filters, options: options) {
          await take(progress)
          if progress.isObserved, progress.isComplete { break }
        }
      } catch {
        // Stored events, and those that other observers fetch, are still shown.
        if isLive { session.note("-- \(error.message)", .warning) }
      }
      session.display.end()
    }
  }

  /// An event was shown.
  func shown() {
    guard !summary.isEmpty, delays < Self.delayMaximum else { return }
    delays += 1
    tellSoon()
  }

  private func tellSoon() {
    quiet.set(afterMilliseconds: Self.quietMilliseconds) { [self] in
      for line in summary { session.note(line) }
      summary = []
    }
  }

  private func take(_ progress: ObserveProgress) async {
    // The planner may learn of an observation a little after the first question about it.
    guard progress.isObserved else { return }
    latest = progress
    if writesObjects {
      await session.output.writeLine(JSONPayload.encode(Line(progress: progress)))
    } else if isLive {
      session.display.changed()
      guard progress.isComplete else { return }
      session.display.end()
      summary = FetchText.summary(progress, Terminal.style(of: STDERR_FILENO))
      tellSoon()
    } else {
      for line in news.lines(progress) { session.note("-- \(line)", .warning) }
    }
  }
}
