import Bus
import Contracts
import Frames
import LinuxSystem
import Logging
import OutboxRouting

// The observes and the accounts, as the topics report them.

extension Planner {
  func subscribe() {
    persist("the subscription") { [self] () async throws(Refusal) in
      try await bus.subscribe(StoreTopic.observes)
      try await bus.subscribe(SignerTopic.changes)
      return true
    }
  }

  func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { accountsAre(changes.accounts) }
    } catch {
      log.error("the signer's accounts cannot be read", metadata: ["why": "\(error.message)"])
    }
    do throws(Refusal) {
      if let changes = try event.value(of: StoreTopic.observes) { observes.received(changes) }
    } catch {
      log.error("a change of what is observed cannot be read", metadata: ["why": "\(error.message)"])
      observes.list()
    }
  }

  func observesChanged(_ changed: [ActiveObserve], removed: [String]) {
    for key in removed { end(key) }
    for observe in changed {
      if let wish = Interest(observe) {
        begin(wish, trace: observe.trace.flatMap { RequestTrace($0) })
      } else {
        end(observe.key)
      }
    }
    followers.changed(Set(changed.map(\.key) + removed))
    update()
  }
}
