internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Rendering
internal import RoostClient

/// `roost` alone
struct Overview: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    abstract: "Shows in a few lines how Roost is, or how to start it. 'roost' alone does the same.",
    discussion: "Exit code 1 when something needs attention, 3 when no supervisor answers.")
  @OptionGroup var general: GeneralOptions

  private struct Answer: Encodable {
    let status: StatusJSON
    let checks: [DoctorResult.Check]
    let addresses: [String]
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    do throws(Refusal) { try await session.client.connect() } catch {
      guard error.code == .noSupervisor, !session.isJSON else { throw error }
      await session.output.writeLines(OverviewText.absent(session.style))
      return ExitStatus(error)
    }
    let (status, sending) = try await Status.answer(StatusRequest(), in: session)
    let result = try await Doctor.result(in: session)
    let addresses = session.isReady(.localRelay) ? await session.clientAddresses() : []
    await session.print(
      Answer(status: StatusJSON(status, sending: sending), checks: result.checks, addresses: addresses),
      OverviewText.lines(status, sending: sending, result, addresses: addresses, session.style))
    return result.checks.allSatisfy(\.isGood) ? .done : .failed
  }
}

extension CommandSession {
  /// Where clients find the local relay; empty if it does not run.
  func clientAddresses() async -> [String] {
    do throws(Refusal) {
      return try await client.request(
        LocalRelayMethod.status, NoArguments(), options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds)
      ).addresses
    } catch {
      // A Roost without one is meant so.
      if error.reason == .notConfigured { return [] }
      note("The local relay does not answer: \(error.message)", .warning)
      return []
    }
  }
}
