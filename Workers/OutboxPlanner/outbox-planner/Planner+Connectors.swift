import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Logging
import OutboxRouting
import WorkerKit

// Connectors: what they report, and what they are sent. One `relay.follow` each, which begins again whenever it ends,
// for as long as the registry has the worker.

extension Planner {
  func follow(_ name: String) {
    connectors.followBegan(name)
    persist("relay.follow of \(name)") { [self] () async throws(Refusal) in
      guard bus.registry.members.contains(where: { $0.name == name }) else {
        connectors.left(name)
        return true
      }
      defer {
        wishes.followEnded(of: name)
        connectors.fellSilent(name)
      }
      let answer = try await bus.ask(RelayMethod.follow, of: name, NoArguments())
      while let report = try await answer.nextPart() { reported(name, report) }
      return false
    }
  }

  private func reported(_ name: String, _ report: RelayReport) {
    let opened = connectors.reported(name, report)
    directory.connectorReported(name, report.relays, isWhole: report.isWhole, dialsOthers: report.dialsOthers)
    wishes.reported(name, report, at: now)
    for relay in opened { publishing?.relayOpened(relay) }
    update()
  }

  /// Sends a connector what it does not have, one message after the other.
  func deliver(to name: String) {
    guard !connectors.isDelivering(to: name), let first = wishes.nextDesire(for: name) else { return }
    connectors.deliveryBegan(to: name)
    EventLoopActor.task { [self] in
      var delay = BackOff(longestMilliseconds: Self.retryMillisecondsMaximum)
      var next: RelayDesire? = first
      while let desire = next, !isDraining {
        do throws(Refusal) {
          _ = try await bus.request(RelayMethod.desire, of: name, desire)
          wishes.desireTaken(by: name, version: desire.version)
          delay.reset()
        } catch {
          wishes.desireFailed(at: name, version: desire.version)
          // Changes of a state that it does not have are nobody's mistake: it is new, and is sent all.
          if error.code != .noSuchVersion {
            log.warning("\(name) does not take what is wished", metadata: ["why": "\(error.message)"])
            await EventLoopActor.sleep(milliseconds: delay.next())
          }
        }
        next = wishes.nextDesire(for: name)
      }
      connectors.deliveryEnded(to: name)
    }
  }
}
