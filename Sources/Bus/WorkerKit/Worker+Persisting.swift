internal import Clocks
internal import EventLoop
public import Frames
public import Logging

extension Worker {
  /// Does something again and again until it says that it is over, or the worker is told to finish. Between two
  /// attempts it waits: longer each time, up to a ceiling, and shortly after one that lasted.
  ///
  /// - Parameters:
  ///   - what: its name in the log.
  ///   - ceilingMilliseconds: the longest wait.
  ///   - log: where it is told why an attempt has ended.
  ///   - attempt: gives true when it is over; what it throws ends this attempt only.
  public func persist(
    _ what: String, ceilingMilliseconds: UInt64, _ log: Logger,
    _ attempt: @escaping @EventLoopActor () async throws(Refusal) -> Bool
  ) {
    EventLoopActor.task { [self] in
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
