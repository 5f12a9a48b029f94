import Bus
import Contracts
import EventLoop
import Frames
import JobTracking
import Logging
import Nostr
import WorkerKit

// The topics that the tracker subscribes to: how far publications are, and which accounts there are.

extension Tracker {
  func subscribe() {
    persist("the subscription") { [self] () async throws(Refusal) in
      try await bus.subscribe(PlanTopic.published)
      return true
    }
    persist("the subscription to accounts") { [self] () async throws(Refusal) in
      try await bus.subscribe(SignerTopic.changes)
      accounts.learn()
      return true
    }
    publications.begin()
  }

  func received(_ event: BusEvent) {
    defer { event.acknowledge() }
    do throws(Refusal) {
      if let changes = try event.value(of: SignerTopic.changes) { accounts.received(changes) }
      if let publication = try event.value(of: PlanTopic.published) { take(publication) }
    } catch {
      if event.name == SignerTopic.changes.name { accounts.forget() }
      log.error("\(event.name) cannot be read", metadata: ["why": "\(error.message)"])
    }
  }

  /// Messages of a topic were missed.
  func missed(_ topic: String) {
    if topic == SignerTopic.changes.name { accounts.forget() } else { publications.ask() }
  }

  func take(_ publication: Publication) {
    guard let request = EventID(publication.id), let job = jobs.job(named: publication.id),
      jobs.requestJSON(job, request) != nil
    else { return }
    note(publication, job, request)
  }

  func registryChanged(_ registry: Registry) {
    guard !worker.isDraining else { return }
    accounts.registryChanged(registry)
    publications.registryChanged(registry)
  }
}
