import Bus
import Contracts
import EventLoop
import Frames
import LinuxSystem
import Nostr
import OutboxPlan
import Synchronization
import WorkerKit

/// `outbox-planner`: decides which relay is asked and where events go, and holds what is to be published.
@main
enum OutboxPlannerProgram {
  static func main() {
    Worker.main(role: .outboxPlanner, methods: Publishing.methods, profile: profile) { worker throws(Refusal) in
      guard let directory = directory.withLock({ $0 }) else {
        throw Refusal(.failed, "there is no directory for the database: ROOST_STATE is not set, or cannot be used")
      }
      planner = try Planner(worker, directory)
    }
  }

  private static let directory = Mutex<String?>(nil)

  private static func profile(_ environment: [String: String]) -> SandboxProfile {
    if let state = environment["ROOST_STATE"], !state.isEmpty {
      let path = state + "/" + (environment["ROOST_WORKER"] ?? "outbox-planner")
      do throws(SystemFault) {
        try PrivateDirectory.ensure(path)
        directory.withLock { $0 = path }
      } catch {}
    }
    return SandboxProfile(
      readablePaths: SandboxProfile.runtimePaths, writablePaths: directory.withLock { $0.map { [$0] } ?? [] },
      network: .none, maySpawn: false)
  }

  @EventLoopActor private static var planner: Planner?
}

/// Knows the relays that connectors name.
@EventLoopActor
final class Planner: PublishRouting {
  private let worker: Worker
  private var directory = RelayDirectory()
  private var publishing: Publishing?
  private let timer = LoopTimer()
  private var open: Set<RelayURL> = []

  init(_ worker: Worker, _ path: String) throws(Refusal) {
    self.worker = worker
    directory.accountsAre([])
    publishing = try Publishing(worker, directory: path, routes: self)
    worker.onDrain = { [unowned self] in publishing?.drain() }
    worker.onEnd = { [unowned self] in publishing?.end() }
    worker.bus.onRegistry = { [unowned self] _ in look() }
    look()
    publishing?.begin()
  }

  func publishRoute(_ event: Event, named: [RelayURL]?) async -> Result<[RelayChoice], NoRoute> {
    directory.route(event, named: named)
  }

  func publishConnector(of relay: RelayURL) -> String? { directory.connector(of: relay) }

  private func look() {
    EventLoopActor.task { [self] in
      let names = worker.bus.registry.members.filter { $0.role == "relay-connector" }.map(\.name)
      directory.connectorsAre(Set(names))
      for name in names {
        do throws(Refusal) {
          let list = try await worker.bus.request("relay.list", of: name).decoded(as: RelayStates.self)
          directory.connectorReported(name, list.relays, isWhole: true, dialsOthers: true)
          for relay in list.relays where relay.state == "open" {
            guard let url = try? RelayURL(relay.relay), open.insert(url).inserted else { continue }
            publishing?.relayOpened(url)
          }
        } catch {}
      }
      publishing?.connectorsChanged()
      timer.set(afterMilliseconds: 1_000) { [unowned self] in look() }
    }
  }
}
