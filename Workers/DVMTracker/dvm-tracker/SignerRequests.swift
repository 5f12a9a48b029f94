import Bus
import Clocks
import Contracts
import EventLoop
import Frames

/// Asks the signer, and comes again in turn where it has had too many questions.
///
/// The signer does so much a second for each role and refuses the rest with the time to wait. A burst of jobs is no
/// fault of theirs: who is refused goes to the end of a line in which everybody waits for the next free place.
@EventLoopActor
final class SignerRequests {
  private let bus: BusConnection
  /// The next free place in the line; behind the present while there is no line.
  private var nextPlace: Instant
  /// Between two places.
  private var spacing: UInt64 = 0

  /// Longest in the line. Who is still refused then hears it.
  private static let lineMilliseconds: UInt64 = 20_000

  init(_ bus: BusConnection) {
    self.bus = bus
    nextPlace = EventLoop.process.now
  }

  /// Asks for something of the signer's.
  ///
  /// - Parameters:
  ///   - ttl: how long the signer has for it, once it takes the question.
  ///   - isAhead: whether it does not stand in the line: somebody waits for the answer before anything can be done.
  /// - Throws: what the signer refuses with; `rate-limited` only after ``lineMilliseconds``.
  func ask<Arguments, Answer>(
    _ method: Method<Arguments, Answer>, _ arguments: Arguments, ttlMilliseconds ttl: UInt32, isAhead: Bool = false
  ) async throws(Refusal) -> Answer {
    let end = EventLoop.process.now.advanced(milliseconds: Self.lineMilliseconds)
    while true {
      if !isAhead { await awaitTurn() }
      do throws(Refusal) { return try await bus.request(method, arguments, ttlMilliseconds: ttl) } catch {
        guard error.code == .rateLimited, EventLoop.process.now < end else { throw error }
        spacing = UInt64(max(1, error.retryAfterMilliseconds ?? 50))
        if isAhead {
          await EventLoopActor.sleep(milliseconds: spacing)
          continue
        }
        nextPlace = max(nextPlace, EventLoop.process.now.advanced(milliseconds: spacing))
      }
    }
  }

  private func awaitTurn() async {
    let now = EventLoop.process.now
    guard nextPlace > now else { return }
    let wait = nextPlace.milliseconds(since: now)
    nextPlace = nextPlace.advanced(milliseconds: spacing)
    await EventLoopActor.sleep(milliseconds: wait)
  }
}
