internal import Clocks
internal import EventLoop
public import Frames
public import Logging

extension Worker {
  /// Repeats an action until it reports that it is complete, or the worker must finish. It waits between two attempts:
  /// longer each time, up to a ceiling, and only shortly after an attempt that lasted.
  ///
  /// - Parameters:
  ///   - what: the action's name in the log.
  ///   - ceilingMilliseconds: the longest wait.
  ///   - log: the log for the reason why an attempt ended.
  ///   - attempt: returns true when the action is complete; an error ends only this attempt.
  public func persist(
    _ what: String, ceilingMilliseconds: UInt64, _ log: Logger,
    _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool
  ) {
    // Detached: what lasts is no part of the request that began it, has not its trace, and does not use what is
    // reserved for requests that are being served.
    EventLoopActor.detachedTask { [self] in
      var delay = BackOff(longestMilliseconds: ceilingMilliseconds)
      while !isDraining {
        let began = EventLoop.process.now
        do throws(Refusal) {
          if try await attempt() { return }
        } catch {
          log.debug("\(what) has ended", metadata: ["why": "\(error.message)"])
        }
        delay.lasted(milliseconds: EventLoop.process.now.milliseconds(since: began))
        await EventLoopActor.sleep(milliseconds: delay.next())
      }
    }
  }
}
