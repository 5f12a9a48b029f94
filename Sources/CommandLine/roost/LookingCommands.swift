internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
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
    let request = StatusRequest(memory: memory ? true : nil)
    try await session.show(SupervisorMethod.status, request, isIdempotent: true) { (status: SupervisorStatus, style) in
      sandbox ? SandboxTable.lines(status, style) : StatusTable.lines(status, style)
    }
    return .done
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
    try await session.show(SupervisorMethod.why, request, isIdempotent: true) { (result: WhyResult, style) in
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
    var result = try await session.client.request(
      SupervisorMethod.doctor, BusPayload(json: NoArguments()), as: DoctorResult.self,
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    // The supervisor holds no key and looks at no key file; who does is asked beside it.
    result.checks += await keyChecks(session)
    result.checks += await storeChecks(session)
    result.checks += await localChecks(session)
    result.checks += await relayChecks(session)
    result.checks += await planChecks(session)
    result.checks += await jobChecks(session)
    result.checks += await pushChecks(session)
    await session.print(result, DoctorText.lines(result, session.style))
    return result.checks.allSatisfy(\.isGood) ? .done : .failed
  }
}

extension Doctor {
  /// What the signer has to say about its key files; nothing when there is no signer, or none that answers requests
  /// now.
  @EventLoopActor
  private func keyChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("signer.accounts", session) else { return [] }
    do throws(Refusal) { return AccountText.checks(try await session.accounts()) } catch {
      return [DoctorResult.Check(name: "keys", isGood: false, text: "the signer cannot tell: \(error.message)")]
    }
  }

  /// What the event store has to say about its database.
  @EventLoopActor
  private func storeChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("store.status", session) else { return [] }
    do throws(Refusal) {
      let status = try await session.client.request(
        "store.status", BusPayload(json: NoArguments()), as: StoreStatus.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return StoreText.checks(status)
    } catch {
      return [DoctorResult.Check(name: "events", isGood: false, text: "the event store cannot tell: \(error.message)")]
    }
  }

  /// What the local relay has to say about its clients, and which other users of the machine it has kept out.
  @EventLoopActor
  private func localChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("local.status", session) else { return [] }
    do throws(Refusal) {
      let status = try await session.client.request(
        "local.status", BusPayload(json: NoArguments()), as: LocalRelayStatus.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return LocalRelayCheckText.checks(status) + OutsiderText.checks(status)
    } catch {
      let text = "the local relay cannot tell: \(error.message)"
      return [DoctorResult.Check(name: "local relay", isGood: false, text: text)]
    }
  }

  /// What relays have to say, as the planner has it of all connectors.
  @EventLoopActor
  private func relayChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("plan.relays", session) else { return [] }
    do throws(Refusal) {
      let list = try await session.client.request(
        "plan.relays", BusPayload(json: NoArguments()), as: PlanRelayList.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return RelayRemarkText.checks(list.relays.compactMap(\.state), now: Int64(time(nil)))
    } catch {
      return [DoctorResult.Check(name: "relay", isGood: false, text: "the planner cannot tell: \(error.message)")]
    }
  }

  /// What the planner has to say about what is published.
  @EventLoopActor
  private func planChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("plan.status", session) else { return [] }
    do throws(Refusal) {
      let status = try await session.client.request(
        "plan.status", BusPayload(json: NoArguments()), as: PlanStatus.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return PlanCheckText.checks(status, now: Int64(time(nil)))
    } catch {
      return [DoctorResult.Check(name: "publishing", isGood: false, text: "the planner cannot tell: \(error.message)")]
    }
  }

  /// What the job tracker has to say about its jobs.
  @EventLoopActor
  private func jobChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("job.status", session) else { return [] }
    do throws(Refusal) {
      let status = try await session.client.request(
        "job.status", BusPayload(json: NoArguments()), as: TrackingStatus.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return JobCheckText.checks(status)
    } catch {
      return [DoctorResult.Check(name: "jobs", isGood: false, text: "the job tracker cannot tell: \(error.message)")]
    }
  }

  /// What the push relay has to say about its platforms.
  @EventLoopActor
  private func pushChecks(_ session: CommandSession) async -> [DoctorResult.Check] {
    guard isReady("push.status", session) else { return [] }
    do throws(Refusal) {
      let status = try await session.client.request(
        "push.status", BusPayload(json: NoArguments()), as: PushStatus.self,
        options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
      return PushCheckText.checks(status)
    } catch {
      return [DoctorResult.Check(name: "push", isGood: false, text: "the push relay cannot tell: \(error.message)")]
    }
  }

  /// Whether there is somebody who answers a method now.
  @EventLoopActor
  private func isReady(_ method: String, _ session: CommandSession) -> Bool {
    guard let registry = session.client.registry, let role = registry.methods[method]?.role else { return false }
    return registry.members.contains { $0.role == role && $0.isReady }
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
