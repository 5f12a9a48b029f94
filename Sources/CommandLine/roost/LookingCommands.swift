internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import RoostClient
internal import Rendering
internal import Wording

/// `roost status`
struct Status: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(abstract: "Shows the workers at a glance.")
  @Flag(help: "Show the sandbox each worker achieved.")
  var sandbox = false
  @Flag(help: "Also show each worker's own share of memory (slower).")
  var memory = false
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let (status, sending) = try await Self.answer(StatusRequest(memory: memory ? true : nil), in: session)
    await session.print(
      StatusJSON(status, sending: sending),
      sandbox
        ? SandboxTable.lines(status, session.style) : StatusTable.lines(status, sending: sending, session.style))
    return .done
  }

  /// The supervisor's answer, and whether events can be sent.
  @EventLoopActor
  static func answer(
    _ request: StatusRequest, in session: CommandSession
  ) async throws(Refusal) -> (status: SupervisorStatus, sending: SendingState?) {
    let status = try await session.client.request(
      SupervisorMethod.status, request, options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    return (status, await sending(in: session))
  }

  /// How long the planner may take: the supervisor's answer must not wait for a worker that is stuck.
  private static let plannerTimeout = Timeout(milliseconds: 1_000)

  /// Whether events can be sent; nil if no planner answers in time.
  @EventLoopActor
  private static func sending(in session: CommandSession) async -> SendingState? {
    guard session.isReady(.outboxPlanner) else { return nil }
    let options = RequestOptions.idempotent(ttlMilliseconds: plannerTimeout.milliseconds)
    // `try?`: the rest of the status is shown without it.
    return (try? await session.client.request(PlanMethod.status, NoArguments(), options: options))?.sending
  }
}

/// `roost why`
struct Why: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(abstract: "Explains the state of a worker.")
  @OptionGroup var name: WorkerName
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let request = WhyRequest(worker: name.worker)
    try await session.show(SupervisorMethod.why, request, isIdempotent: true) { (result, style) in
      WhyText.lines(result, style)
    }
    return .done
  }
}

/// `roost doctor`
struct Doctor: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Checks that all is as it should be, and says what to do where it is not.",
    discussion: "Exit code 1 when a check fails, 3 when no supervisor answers.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    do throws(Refusal) { try await session.client.connect() } catch {
      let check = DoctorResult.Check(name: "supervisor", isGood: false, text: error.message)
      let result = DoctorResult(checks: [check])
      await session.print(result, DoctorText.lines(result, session.style))
      return ExitStatus(error)
    }
    let result = try await Self.result(in: session)
    await session.print(result, DoctorText.lines(result, session.style))
    return result.checks.allSatisfy(\.isGood) ? .done : .failed
  }
}

extension Doctor {
  /// The checks of the supervisor and of the workers.
  @EventLoopActor
  static func result(in session: CommandSession) async throws(Refusal) -> DoctorResult {
    var result = try await session.client.request(
      SupervisorMethod.doctor, NoArguments(),
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    // The supervisor holds no key and reads no key file, so the other workers are asked too.
    let now = WallClock.seconds
    result.checks += await keyChecks(session)
    result.checks += await checks(StoreMethod.status, "events", "the event store", session, StoreText.checks)
    result.checks += await checks(LocalRelayMethod.status, "local relay", "the local relay", session) {
      LocalRelayCheckText.checks($0) + OutsiderText.checks($0)
    }
    result.checks += await checks(PlanMethod.relays, "relay", "the planner", session) {
      RelayRemarkText.checks($0.relays.compactMap(\.state), now: now)
    }
    result.checks += await checks(PlanMethod.status, "publishing", "the planner", session) {
      PlanCheckText.checks($0, now: now)
    }
    result.checks += await checks(JobMethod.status, "jobs", "the job tracker", session, JobCheckText.checks)
    result.checks += await checks(PushMethod.status, "push", "the push relay", session, PushCheckText.checks)
    return result
  }

  /// The signer's report on its key files; empty if no signer is ready.
  @EventLoopActor
  private static func keyChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard session.isReady(.signer) else { return [] }
    do throws(Refusal) { return AccountText.checks(try await session.accounts()) } catch {
      return [DoctorResult.Check(name: "keys", isGood: false, text: "the signer cannot tell: \(error.message)")]
    }
  }

  /// A worker's report on itself; empty if it is not configured or not ready.
  @EventLoopActor
  private static func checks<Status>(
    _ method: Method<NoArguments, Status>, _ name: String, _ worker: String, _ session: CommandSession,
    _ read: (Status) -> [DoctorResult.Check]
  ) async -> [DoctorResult.Check] {
    guard session.isReady(method.declaration.server) else { return [] }
    do throws(Refusal) {
      return read(
        try await session.client.request(
          method, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds)))
    } catch {
      return [DoctorResult.Check(name: name, isGood: false, text: "\(worker) cannot tell: \(error.message)")]
    }
  }
}

extension CommandSession {
  /// Whether a worker of a role is ready.
  func isReady(_ role: Role) -> Bool {
    client.registry?.members.contains { $0.role == role.name && $0.isReady } ?? false
  }
}

/// `roost version`
struct Version: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(abstract: "Prints the version of this program.")
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    var version = RoostVersion.text
    var `protocol` = FrameHeader.version
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let answer = Answer()
    await session.print(answer, ["roost \(answer.version), speaks RBP/\(answer.protocol)"])
    return .done
  }
}
