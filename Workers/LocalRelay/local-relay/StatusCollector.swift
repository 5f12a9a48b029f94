import Bus
import ClientSession
import Contracts
import EventLoop
import Frames
import LinuxSystem
import StatusPages
import WebSocket

// Collects the data for the status page and Prometheus. Each collection requests the status of all workers at once; a
// worker that does not answer in time is shown as silent. Requests for the page during a collection share it, so that
// they cannot flood the workers.

/// Collects the status of all workers.
@EventLoopActor
final class StatusCollector {
  private unowned let relay: LocalRelay
  private var running: Task<RoostSnapshot, Never>?

  /// How long a worker has for its answer.
  private static let answerMilliseconds: UInt32 = 2_000

  init(_ relay: LocalRelay) { self.relay = relay }

  /// The present status of all workers.
  func snapshot() async -> RoostSnapshot {
    if let running { return await running.value }
    let task = EventLoopActor.task { [self] in await look() }
    running = task
    let snapshot = await task.value
    running = nil
    return snapshot
  }

  private func look() async -> RoostSnapshot {
    var snapshot = RoostSnapshot(version: RoostVersion.text)
    snapshot.at = WallClock.seconds
    async let supervisor = ask(SupervisorMethod.status, StatusRequest())
    async let store = askRole(StoreMethod.status)
    async let plan = askRole(PlanMethod.status)
    async let jobs = askRole(JobMethod.status)
    async let serving = askRole(ProviderMethod.status)
    async let keys = askRole(SignerMethod.accounts)
    async let push = askRole(PushMethod.status)
    async let mirror = askRole(MirrorMethod.status)
    async let connectors = askConnectors()
    snapshot.supervisor = await supervisor
    snapshot.store = await store
    snapshot.plan = await plan
    snapshot.jobs = await jobs
    snapshot.serving = await serving
    snapshot.keys = await keys
    snapshot.push = await push
    snapshot.mirror = await mirror
    snapshot.connectors = await connectors
    snapshot.local = relay.status
    snapshot.eventLatency = relay.desk.latency
    snapshot.queryLatency = relay.questions.latency
    snapshot.startedAtMilliseconds = relay.startedAtMilliseconds
    snapshot.waitingOrigins = relay.waitingOrigins
    return snapshot
  }

  /// The latest publications that no relay took; empty without any, or when the planner does not answer.
  func failedPublications(_ plan: Told<PlanStatus>) async -> [Publication] {
    guard (plan.value?.publications[Publication.State.failed.rawValue] ?? 0) > 0 else { return [] }
    let wanted = PlanPublications(states: [.failed], limit: RoostSnapshot.failedMaximum)
    var found: [Publication] = []
    do throws(Refusal) {
      let answer = try await relay.bus.ask(
        PlanMethod.publications, wanted, ttlMilliseconds: Self.answerMilliseconds)
      while let publication = try await answer.nextPart() { found.append(publication) }
    } catch {
      // The page shows their number all the same.
    }
    return found
  }

  private func askConnectors() async -> [RoostSnapshot.Connector] {
    let names = relay.bus.registry.members.filter { $0.role == Role.relayConnector.name }.map(\.name).sorted()
    let tasks = names.map { name in
      EventLoopActor.task { [self] in await ask(RelayMethod.list, of: name, NoArguments()) }
    }
    var connectors: [RoostSnapshot.Connector] = []
    for (name, task) in zip(names, tasks) {
      connectors.append(RoostSnapshot.Connector(name: name, relays: await task.value))
    }
    return connectors
  }

  private func askRole<Value>(_ method: Method<NoArguments, Value>) async -> Told<Value> {
    let role = method.declaration.server.name
    guard relay.bus.registry.members.contains(where: { $0.role == role }) else { return .absent }
    return await ask(method, NoArguments())
  }

  private func ask<Arguments, Value>(
    _ method: Method<Arguments, Value>, of worker: String? = nil, _ arguments: Arguments
  ) async -> Told<Value> {
    do throws(Refusal) {
      return .told(
        try await relay.bus.request(method, of: worker, arguments, ttlMilliseconds: Self.answerMilliseconds))
    } catch {
      return .silent(error.message)
    }
  }
}

extension LocalRelay {
  /// Answers with the status page.
  func respondPage(_ responder: HTTPResponder) {
    EventLoopActor.task { [self] in
      var snapshot = await look.snapshot()
      snapshot.failedPublications = await look.failedPublications(snapshot.plan)
      let html = StatusPage.html(snapshot, figures.charts)
      let fields = StatusPage.fields.map { HTTPField($0.name, $0.value) }
      responder.respond(HTTPAnswer(status: 200, fields: fields, body: Array(html.utf8)))
    }
  }

  /// Answers with the metrics for Prometheus.
  func respondMetrics(_ form: Metrics.Form, _ responder: HTTPResponder) {
    EventLoopActor.task { [self] in
      let text = Metrics.text(await look.snapshot(), form)
      let fields = [
        HTTPField("Content-Type", form.contentType), HTTPField("Vary", "Accept"),
        HTTPField("Cache-Control", "no-store"),
      ]
      responder.respond(HTTPAnswer(status: 200, fields: fields, body: Array(text.utf8)))
    }
  }

  /// Origins of connected pages that are not admitted yet, each once.
  var waitingOrigins: [String] {
    let origins = clients.values.compactMap { client in
      client.session.isAdmitted(environment) ? nil : client.identity.origin.flatMap { Origin($0) }
    }
    return Set(origins).sorted().map(\.text)
  }
}
