internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import RoostClient
internal import RoostOutput

/// `roost push`
struct PushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Looks after the push relay: its platforms, its devices, its keys.",
    discussion: """
      Tokens are shown by no command.

        roost push stats
        roost push devices npub1…
        roost push send npub1… noise_connect
      """,
    subcommands: [PushStats.self, PushDeviceList.self, PushSendCommand.self, PushRekey.self],
    defaultSubcommand: PushStats.self)
}

/// `roost push stats`
struct PushStats: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Shows the platforms, what is on its way, and what became of wakes.")
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.requirePushRelay()
    try await session.show("push.status", NoArguments(), isIdempotent: true) { (status: PushStatus, style) in
      PushText.status(status, now: Int64(time(nil)), style)
    }
    return .done
  }
}

/// `roost push devices`
struct PushDeviceList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists the devices, of one key or of all; with --json one a line.")
  @Argument(help: "Only this key's: z-base-32, hexadecimal or npub.")
  var owner: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 100
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard (1...10_000).contains(limit) else { throw ValidationError("--limit goes from 1 to 10000.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.requirePushRelay()
    var rows: [PushDeviceRow] = []
    let answer = try await session.client.stream(
      "push.devices", json: PushDevices(owner: owner, limit: limit), options: RequestOptions(isIdempotent: true))
    while let part = try await answer.nextPart() {
      if !part.isLast { rows.append(try part.payload.decoded(as: PushDeviceRow.self)) }
    }
    if session.isJSON {
      for row in rows { await session.output.writeLine(JSONPayload.encode(row)) }
    } else {
      await session.output.writeLines(PushText.devices(rows, now: Int64(time(nil)), session.style))
    }
    return .done
  }
}

/// `roost push send`
struct PushSendCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Wakes the devices of a key, past all limits: to try whether it works.")
  @Argument(help: "Whose devices: z-base-32, hexadecimal or npub.")
  var owner: String
  @Argument(help: "The wake's type.")
  var type = "noise_connect"
  @Flag(help: "Do not wait for what the platforms say.")
  var noWait = false
  @OptionGroup var general: GeneralOptions

  /// How long the platforms have: less than what is waited for the answer.
  private static let waitMilliseconds = 8_000

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.requirePushRelay()
    let request = PushSend(owner: owner, type: type, waitMilliseconds: noWait ? nil : Self.waitMilliseconds)
    let sent = try await session.show("push.send", request) { (sent: PushSent, style) in PushText.sent(sent, style) }
    return sent.outcomes?.contains { $0.state == "refused" } == true ? .failed : .done
  }
}

/// `roost push rekey`
struct PushRekey: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey", abstract: "Encrypts all tokens under the newest key of the key ring.",
    discussion: """
      Put a new line on top of the key ring, name:base64-of-32-bytes, and type this: the ring is read anew. Once 'roost \
      push stats' says that nothing is left under older keys, their lines can go.
      """)
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.requirePushRelay()
    try await session.show("push.rekey", NoArguments(), isIdempotent: true) { (rekeyed: PushRekeyed, style) in
      PushText.rekeyed(rekeyed, style)
    }
    return .done
  }
}

extension CommandSession {
  /// Why a push relay that is configured does not answer: its state, and what it said last.
  private func absence(of worker: WorkerStatus) async throws(Refusal) -> String {
    let result = try await client.request(
      SupervisorMethod.why, BusPayload(json: WhyRequest(worker: worker.name)), as: WhyResult.self,
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    return PushText.absence(result)
  }

  /// The hub would only say that nobody serves the method: who looks for a push relay wants to know how to have one.
  fileprivate func requirePushRelay() async throws(Refusal) {
    try await client.connect()
    let member = client.registry?.members.first { $0.role == Role.pushRelay.name }
    if member?.isReady == true { return }
    // A worker that has failed is no member any more, and one that waits for its next start answers nothing.
    let status = try await client.request(
      SupervisorMethod.status, BusPayload(json: StatusRequest()), as: SupervisorStatus.self,
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    if let worker = status.workers.first(where: { $0.role == Role.pushRelay.name }) {
      throw Refusal(.unavailable, try await absence(of: worker), outcome: .notStarted)
    }
    throw Refusal(
      .unavailable,
      "there is no push relay: set enabled = true in [worker.push-relay] of supervisor.conf, then 'make run' again",
      outcome: .notStarted)
  }
}
