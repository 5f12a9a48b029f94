internal import ArgumentParser
internal import Bus
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import RoostClient
internal import Rendering

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
    try await session.askPushRelay(PushMethod.status.declaration) { () async throws(Refusal) in
      try await session.show(PushMethod.status, NoArguments(), timeout: .pushRelay, isIdempotent: true) {
        (status, style) in PushText.status(status, now: WallClock.seconds, style)
      }
    }
    return .done
  }
}

/// `roost push devices`
struct PushDeviceList: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists the devices, of one key or of all; with --json one a line.")
  @Argument(help: "Only this key's: z-base-32, hexadecimal, npub or name@domain (NIP-05).")
  var owner: String?
  @Option(help: ArgumentHelp("At most so many.", valueName: "count"))
  var limit = 100
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard (1...10_000).contains(limit) else { throw ValidationError("--limit goes from 1 to 10000.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let options = RequestOptions.idempotent(ttlMilliseconds: Timeout.pushRelay.milliseconds)
    try await session.client.connect()
    let owner = try await session.withoutName(owner)
    let rows = try await session.askPushRelay(PushMethod.devices.declaration) { () async throws(Refusal) in
      try await session.client.stream(
        PushMethod.devices, PushDevices(owner: owner, limit: limit), options: options
      ).collect()
    }
    if session.isJSON {
      for row in rows { await session.output.writeLine(JSONPayload.encode(row)) }
    } else {
      await session.output.writeLines(PushText.devices(rows, of: owner, now: WallClock.seconds, session.style))
    }
    return .done
  }
}

/// `roost push send`
struct PushSendCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Wakes the devices of a key, past all limits: to try whether it works.")
  @Argument(help: "Whose devices: z-base-32, hexadecimal, npub or name@domain (NIP-05).")
  var owner: String
  @Argument(help: "The wake's type.")
  var type = "noise_connect"
  @Flag(help: "Do not wait for what the platforms say.")
  var noWait = false
  @OptionGroup var general: GeneralOptions

  /// How long the platforms have: less than the wait for the answer.
  private static let waitMilliseconds = 8_000

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let owner = try await session.withoutName(owner)
    let request = PushSend(owner: owner, type: type, waitMilliseconds: noWait ? nil : Self.waitMilliseconds)
    let sent = try await session.askPushRelay(PushMethod.send.declaration) { () async throws(Refusal) in
      try await session.show(PushMethod.send, request, timeout: .pushRelay) { (sent, style) in
        PushText.sent(sent, style)
      }
    }
    return sent.outcomes?.contains { $0.state == "refused" } == true ? .failed : .done
  }
}

/// `roost push rekey`
struct PushRekey: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "rekey", abstract: "Encrypts all tokens under the newest key of the key ring.",
    discussion: """
      Put a new line on top of the key ring, name:base64-of-32-bytes, and type this: the ring is read again. Once 'roost \
      push stats' says that nothing is left under older keys, their lines can go.
      """)
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.askPushRelay(PushMethod.rekey.declaration) { () async throws(Refusal) in
      try await session.show(PushMethod.rekey, NoArguments(), timeout: .pushRelay, isIdempotent: true) {
        (rekeyed, style) in PushText.rekeyed(rekeyed, style)
      }
    }
    return .done
  }
}

extension Timeout {
  /// How long to wait for a push relay that is starting or held, and for its answer.
  fileprivate static let pushRelay = Timeout(milliseconds: 30_000)
}

extension CommandSession {
  /// Sends a request to the push relay, and waits for one that is starting; a note says what is waited for. If no push
  /// relay is expected, or it has failed during the wait, the refusal contains its last message: the hub would only say
  /// that no worker serves the method.
  @discardableResult
  fileprivate func askPushRelay<Value>(
    _ method: MethodDeclaration, _ body: () async throws(Refusal) -> Value
  ) async throws(Refusal) -> Value {
    try await client.connect()
    if let absence = try await pushAbsence(afterWaiting: false) { throw absence }
    do throws(Refusal) { return try await waiting(for: method, body) } catch {
      guard error.code == .unavailable || error.code == .expired, error.outcome == .notStarted,
        let absence = try await pushAbsence(afterWaiting: true)
      else { throw error }
      throw Refusal(error.code, absence.message, outcome: .notStarted)
    }
  }

  /// Why it is useless to wait for a push relay; nil if one is ready or starting.
  ///
  /// - Parameter afterWaiting: whether the wait is over.
  private func pushAbsence(afterWaiting: Bool) async throws(Refusal) -> Refusal? {
    let member = client.registry?.members.first { $0.role == Role.pushRelay.name }
    if member?.isReady == true { return nil }
    // A worker that has failed is no longer a member.
    let status = try await client.request(
      SupervisorMethod.status, StatusRequest(),
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    guard let worker = status.workers.first(where: { $0.role == Role.pushRelay.name }) else {
      return Refusal(
        .unavailable,
        "there is no push relay: set enabled = true in [worker.push-relay] of supervisor.conf, then 'make run' again",
        outcome: .notStarted)
    }
    let result = try await client.request(
      SupervisorMethod.why, WhyRequest(worker: worker.name),
      options: .idempotent(ttlMilliseconds: Timeout.reading.milliseconds))
    guard PushText.isAbsent(result, afterWaiting: afterWaiting) else { return nil }
    return Refusal(.unavailable, PushText.absence(result), outcome: .notStarted)
  }
}
