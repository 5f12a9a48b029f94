import Bus
import ClientSession
import Contracts
import EventLoop
import Frames
import LinuxSystem
import StatusPages
import WebSocket

// What the status page and Prometheus are told: the workers are asked at each look, all at once, and whoever has not
// answered in a moment is shown as one that does not. Looks that come while one is under way share it, so that nobody
// floods the house by looking at it.

/// Asks the house how it is.
@EventLoopActor
final class StatusCollector {
  private unowned let relay: LocalRelay
  private var running: Task<RoostSnapshot, Never>?

  /// How long a worker has for its answer.
  private static let answerMilliseconds: UInt32 = 2_000

  init(_ relay: LocalRelay) { self.relay = relay }

  /// How the house is now.
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
    async let supervisor = ask("supervisor.status", StatusRequest(), as: SupervisorStatus.self)
    async let store = askRole(.eventStore, "store.status", as: StoreStatus.self)
    async let plan = askRole(.outboxPlanner, "plan.status", as: PlanStatus.self)
    async let jobs = askRole(.dvmTracker, "job.status", as: TrackingStatus.self)
    async let serving = askRole(.dvmProvider, "dvm.status", as: ServingStatus.self)
    async let keys = askRole(.signer, "signer.accounts", as: SignerAccounts.self)
    async let push = askRole(.pushRelay, "push.status", as: PushStatus.self)
    async let connectors = askConnectors()
    snapshot.supervisor = await supervisor
    snapshot.store = await store
    snapshot.plan = await plan
    snapshot.jobs = await jobs
    snapshot.serving = await serving
    snapshot.keys = await keys
    snapshot.push = await push
    snapshot.connectors = await connectors
    snapshot.local = relay.status
    snapshot.waitingOrigins = relay.waitingOrigins
    return snapshot
  }

  private func askConnectors() async -> [RoostSnapshot.Connector] {
    let names = relay.bus.registry.members.filter { $0.role == Role.relayConnector.name }.map(\.name).sorted()
    let tasks = names.map { name in
      EventLoopActor.task { [self] in await ask("relay.list", of: name, NoArguments(), as: RelayStates.self) }
    }
    var connectors: [RoostSnapshot.Connector] = []
    for (name, task) in zip(names, tasks) {
      connectors.append(RoostSnapshot.Connector(name: name, relays: await task.value))
    }
    return connectors
  }

  private func askRole<Value: Decodable & Sendable>(
    _ role: Role, _ method: String, as type: Value.Type
  ) async -> Told<Value> {
    guard relay.bus.registry.members.contains(where: { $0.role == role.name }) else { return .absent }
    return await ask(method, NoArguments(), as: type)
  }

  private func ask<Value: Decodable & Sendable>(
    _ method: String, of worker: String? = nil, _ arguments: some Encodable & Sendable, as type: Value.Type
  ) async -> Told<Value> {
    do throws(Refusal) {
      let payload = BusPayload(json: arguments)
      let answer = try await relay.bus.request(method, of: worker, payload, ttlMilliseconds: Self.answerMilliseconds)
      return .told(try answer.decoded(as: type))
    } catch {
      return .silent(error.message)
    }
  }
}

extension LocalRelay {
  /// Answers with the status page.
  func respondPage(_ responder: HTTPResponder) {
    EventLoopActor.task { [self] in
      let html = StatusPage.html(await look.snapshot())
      let fields = StatusPage.fields.map { HTTPField($0.name, $0.value) }
      responder.respond(HTTPAnswer(status: 200, fields: fields, body: Array(html.utf8)))
    }
  }

  /// Answers with the figures for Prometheus.
  func respondMetrics(_ responder: HTTPResponder) {
    EventLoopActor.task { [self] in
      let text = Metrics.text(await look.snapshot())
      let fields = [HTTPField("Content-Type", Metrics.contentType), HTTPField("Cache-Control", "no-store")]
      responder.respond(HTTPAnswer(status: 200, fields: fields, body: Array(text.utf8)))
    }
  }

  /// Origins of pages that are connected and may do nothing yet, each once.
  var waitingOrigins: [String] {
    let origins = clients.values.compactMap { client in
      client.session.isAdmitted(environment) ? nil : client.identity.origin.flatMap { Origin($0) }
    }
    return Set(origins).sorted().map(\.text)
  }
}
