import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Logging
import Nostr
import OutboxRouting
import WorkerKit

// The connectors: their reports, and the messages to them. There is one `relay.follow` for each connector, which
// restarts whenever it ends, while the registry has the worker.

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
    for relay in report.relays { noteReach(of: relay) }
    wishes.reported(name, report, at: now)
    for relay in opened { publishing?.relayOpened(relay) }
    update()
  }

  /// A relay that cannot be reached makes room for another one.
  private func noteReach(of relay: RelayStates.Relay) {
    guard let url = try? RelayURL(relay.relay) else { return }  // Our connectors report canonical URLs.
    let isLeft = relay.state == .quarantined || relay.state == .waiting && relay.waitsForBudget != true
    directory.relayForged(url, count: relay.forgedEvents ?? 0, at: WallClock.seconds)
    if relay.state == .open {
      let latency = relay.storedMilliseconds.map { Int(clamping: $0 + (relay.connectMilliseconds ?? 0)) }
      directory.relayReached(url, latencyMilliseconds: latency, at: WallClock.seconds)
    } else if isLeft, relay.connections == 0 || relay.failuresInRow ?? 0 > 1 {
      directory.relayFailed(url, at: WallClock.seconds)
    }
  }

  /// Sends a connector the subscriptions that it lacks, one message after the other.
  func deliver(to name: String) {
    guard !connectors.isDelivering(to: name), let first = nextDesire(for: name) else { return }
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
          // `no-such-version` is no fault: the connector is new, and the next message has all subscriptions.
          if error.code != .noSuchVersion {
            log.warning("\(name) does not take what is wished", metadata: ["why": "\(error.message)"])
            await EventLoopActor.sleep(milliseconds: delay.next())
          }
        }
        next = nextDesire(for: name)
      }
      connectors.deliveryEnded(to: name)
    }
  }

  /// The next message for a connector, with the traces of the requests that its subscriptions are for.
  private func nextDesire(for name: String) -> RelayDesire? {
    guard var desire = wishes.nextDesire(for: name) else { return nil }
    for index in desire.changed.indices {
      let keys = wishes.interests(ofRequest: desire.changed[index].key)
      desire.changed[index].trace = keys.lazy.compactMap { self.traces[$0] }.first?.description
    }
    return desire
  }
}
