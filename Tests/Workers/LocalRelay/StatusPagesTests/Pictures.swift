import Contracts

@testable import StatusPages

/// A Roost in which all is well.
func makeSnapshot() -> RoostSnapshot {
  var snapshot = RoostSnapshot(version: "1.2.3")
  var workers = ["event-store", "outbox-planner", "relay-connector", "local-relay"].map {
    WorkerStatus(name: $0, role: $0, state: "ready")
  }
  workers[0].residentBytes = 30 << 20
  workers[0].generation = 2
  workers[0].sinceMilliseconds = 61_005
  workers[0].restartLimit = 5
  snapshot.supervisor = .told(
    SupervisorStatus(
      version: "1.2.3", pid: 7, uptimeMilliseconds: 3_723_004, configuration: "supervisor.conf", socket: "roost.sock",
      residentBytes: 20 << 20, keptBytes: 12, counters: ["frames-in": 5, "answered": 3], deadLetters: 0,
      workers: workers, clients: []))
  var store = StoreStatus()
  store.events = 1_234_567
  store.usedBytes = 3 << 30
  store.waiting = [0, 2, 40]
  store.verified = 99
  snapshot.store = .told(store)
  var plan = PlanStatus()
  plan.publications = ["optimistic": 1, "partial": 2, "confirmed": 30, "failed": 4]
  snapshot.plan = .told(plan)
  snapshot.jobs = .told(makeJobs())
  var push = PushStatus()
  var apple = PushStatus.Platform(name: "ios", state: "ready", reason: "TopicDisallowed")
  (apple.delivered, apple.expired) = (3, 2)
  push.platforms = [apple]
  push.ended = ["delivered": 3]
  snapshot.push = .told(push)
  var full = MirrorStatus.Relay(relay: "wss://relay.example", since: 0, comparedAt: 1_700_000_000)
  full.state = .stored
  var copies = CopyStatus(
    account: "alice", events: 31_204, copies: [0, 4, 200, 31_000], wanted: 3,
    relays: [CopyStatus.Relay(relay: "wss://relay.example", open: 204, refused: 2, left: 1)], repaired: 17)
  copies.endedAt = 1_700_000_000
  snapshot.mirror = .told(
    MirrorStatus(
      entries: [
        MirrorStatus.Entry(
          account: "alice", kind: .own, events: 31_204, isFetching: false,
          relays: [full, MirrorStatus.Relay(relay: "wss://dead.example")])
      ], copies: [copies]))
  snapshot.serving = .told(makeServing())
  var open = RelayStates.Relay(relay: "wss://relay.example", state: "open")
  open.latencyMilliseconds = 42
  open.openMilliseconds = 1_500
  open.events = 8
  snapshot.connectors = [.init(name: "relay-connector", relays: .told(RelayStates(relays: [open])))]
  snapshot.local.addresses = ["ws://127.0.0.1:4869"]
  snapshot.local.connections = 3
  snapshot.local.taken = 11
  return snapshot
}

extension RoostSnapshot {
  /// Changes what the supervisor says of the first worker, the event store.
  mutating func changeWorker(_ change: (inout WorkerStatus) -> Void) {
    guard case .told(var status) = supervisor else { return }
    change(&status.workers[0])
    supervisor = .told(status)
  }
}

/// Jobs of which nothing waits for anybody.
func makeJobs() -> TrackingStatus {
  var jobs = TrackingStatus()
  jobs.jobs = ["published": 2, "processing": 1, "settled": 40, "failed": 3]
  jobs.answers = 90
  jobs.results = 41
  jobs.diagnostics = ["in-clear": 2, "after-the-end": 5]
  jobs.payments = ["asked": JobPayments(count: 7, amount: 9_000), "paid": JobPayments(count: 6, amount: 8_000)]
  jobs.approvedToday = 5_000
  return jobs
}

/// A provider with one service.
func makeServing() -> ServingStatus {
  var serving = ServingStatus()
  serving.provider = String(repeating: "a", count: 64)
  var search = ServingStatus.Service(kind: 5_302, program: "search")
  search.running = 1
  search.taken = 14
  search.answered = 12
  search.failed = 1
  serving.services = [search]
  serving.waiting = 4
  serving.unpaid = 2
  serving.passedOver = 9
  return serving
}
