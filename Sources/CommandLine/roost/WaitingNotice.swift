internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import Rendering
internal import Wording

/// Tells the user, once, that the worker of a call is not running, if no answer comes. Messages are kept for such a
/// worker, so without this notice a call to a held worker would look like one that hangs.
@EventLoopActor
final class WaitingNotice {
  private let client: RoostClient
  private let method: String
  private let worker: String?
  /// Roles that the worker which serves the method needs for it.
  private let needs: [String]
  /// Text before the reason; the whole text if all workers are ready.
  private let otherwise: String?
  private let timer = LoopTimer()
  private var isOver = false

  /// How long an answer may take before the notice looks for the reason.
  private static let delayMilliseconds: UInt64 = 2_000
  /// How long roostd may take to report the workers' states.
  private static let lookMilliseconds: UInt32 = 5_000

  /// Begins to wait for an answer to `method`, from `worker` alone if it is named.
  init(
    _ client: RoostClient, method: String, worker: String?, needing needs: [String] = [], otherwise: String? = nil
  ) {
    self.client = client
    self.needs = needs
    self.otherwise = otherwise
    self.method = method
    self.worker = worker
    timer.set(afterMilliseconds: Self.delayMilliseconds) { [weak self] in
      EventLoopActor.task { await self?.look() }
    }
  }

  /// An answer came.
  func end() {
    isOver = true
    timer.cancel()
  }

  private func look() async {
    guard let role = client.registry?.methods[method]?.role else { return }
    do throws(Refusal) {
      let status = try await client.request(
        SupervisorMethod.status, StatusRequest(), options: .idempotent(ttlMilliseconds: Self.lookMilliseconds))
      let able = status.workers.filter { $0.role == role && (worker == nil || $0.name == worker) }
      let reason =
        WaitingText.sentence(able)
        ?? needs.lazy.compactMap { role in WaitingText.need(status.workers.filter { $0.role == role }) }.first
      let sentence = [otherwise, reason].compactMap(\.self).joined(separator: ": ")
      guard !isOver, !sentence.isEmpty else { return }
      let line = "roost: \(VisibleText.make(sentence))\n"
      _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    } catch {
      // The call itself reports what is wrong with the supervisor.
    }
  }
}

extension CommandSession {
  /// Runs a call that waits for an answer to `method`; after two seconds a note tells the user what it waits for. With
  /// `--json` there is no note: programs have a time limit of their own.
  func waiting<Value>(
    for method: MethodDeclaration, needing needs: [String] = [], otherwise: String? = nil,
    _ body: () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    let notice =
      isJSON ? nil : WaitingNotice(client, method: method.name, worker: nil, needing: needs, otherwise: otherwise)
    defer { notice?.end() }
    return try await body()
  }

  /// The same for a command that reads from the event store, and tries again while the store is away. The command ends
  /// the notice when something comes. Nil with `--json`.
  func storeNotice() -> WaitingNotice? {
    isJSON ? nil : WaitingNotice(client, method: StoreMethod.query.name, worker: nil, needing: [Role.eventStore.name])
  }
}
