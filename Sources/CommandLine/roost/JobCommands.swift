internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import Glibc
internal import LinuxSystem
internal import RoostClient
internal import Rendering

/// `roost job`
struct JobCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "job",
    abstract: "Has work done by data vending machines (NIP-90), and follows it.",
    discussion: """
      An accepted job continues whether it is watched or not, and ends with a result or a reason. JOB is what 'roost \
      job submit' printed, the --key it was given, or the id of one of its request events.
      """,
    subcommands: [
      JobSubmitCommand.self, JobListCommand.self, JobShow.self, JobWatch.self, JobApprove.self, JobDeny.self,
      JobCancel.self, JobProvidersCommand.self,
    ], defaultSubcommand: JobListCommand.self)
}

/// A job that was submitted.
struct JobArgument: ParsableArguments, Sendable {
  @Argument(help: ArgumentHelp("The job: its id, its key, or the id of a request event.", valueName: "job"))
  var job: String
}

/// A provider that requests a payment.
struct JobProviderOption: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("The provider it is about, where several ask: npub1… or name@domain.", valueName: "key"))
  var provider: String?
}

extension CommandSession {
  /// Prints a job.
  func print(_ job: Job) async { await print(job, JobText.lines(job, now: WallClock.seconds, style)) }

  /// A job in its present state.
  func shown(_ reference: String) async throws(Refusal) -> Job {
    try await waiting(for: JobMethod.show.declaration) { () async throws(Refusal) in try await client.job(reference) }
  }
}

/// `roost job list`
struct JobListCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists jobs, the latest first; with --json one a line.")
  @Flag(name: .customLong("open"), help: "Only what is not at its end yet.")
  var isOpen = false
  @Option(
    help: ArgumentHelp("Only in this state, such as payment-required or settled; several times.", valueName: "state"))
  var state: [String] = []
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 20
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if limit < 1 { throw ValidationError("The limit is at least 1.") }
    if isOpen, !state.isEmpty { throw ValidationError("Give --open or --state, not both.") }
    for word in state where Job.State(rawValue: word) == nil {
      let known = Job.State.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("'\(word)' is no state: \(known).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var states = isOpen ? Job.State.allCases.filter { !$0.isFinal } : state.compactMap(Job.State.init)
    if states.isEmpty { states = Job.State.allCases }
    let (wanted, most) = (states, limit)
    let found = try await session.waiting(for: JobMethod.list.declaration) { () async throws(Refusal) in
      try await session.client.jobs(in: wanted, limit: most)
    }
    if session.isJSON {
      for job in found { await session.output.writeLine(JSONPayload.encode(job)) }
    } else {
      await session.output.writeLines(JobText.lines(found, now: WallClock.seconds, session.style))
    }
    return .done
  }
}

/// `roost job show`
struct JobShow: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows a job, its requests and providers; --result: what came of it, as it came; --zap: what to pay by.")
  @OptionGroup var job: JobArgument
  @Flag(help: "Print the result and nothing else, byte by byte.")
  var result = false
  @Flag(help: "Print the request for its zap and nothing else, byte by byte: what the provider's wallet is sent.")
  var zap = false
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if result, zap { throw ValidationError("Give --result or --zap, not both.") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let job = try await session.shown(job.job)
    if zap { return try await show(zapOf: job, in: session) }
    guard result else {
      await session.print(job)
      return .done
    }
    guard let result = job.result else {
      let why = job.reason.map { ": \($0)" } ?? ""
      throw Refusal(.failed, "job \(job.id) has no result: it \(JobText.standing(job.state))\(why)")
    }
    await session.output.writeText(result.content)
    return .done
  }

  private func show(zapOf job: Job, in session: CommandSession) async throws(Refusal) -> ExitStatus {
    let requests = job.providers.compactMap { $0.payment == .approved ? $0.zap?.request : nil }
    guard let request = requests.first else {
      throw Refusal(.failed, "job \(job.id) has no zap to be paid: it \(JobText.standing(job.state))")
    }
    guard requests.count == 1 else {
      throw Refusal(.failed, "job \(job.id) has \(requests.count) zaps to be paid: see --json")
    }
    await session.output.writeLine(Array(request.utf8))
    return .done
  }
}

/// `roost job watch`
struct JobWatch: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Tells how a job is doing until it ends, and prints its result.")
  @OptionGroup var job: JobArgument
  @Option(
    help: ArgumentHelp("How long to wait for its end: 30s, 10m; else as long as it takes.", valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout: Timeout?
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let first = try await session.shown(job.job)
    return try await JobFollowing(session, patience: timeout).follow(first)
  }
}

/// `roost job approve`
struct JobApprove: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve",
    abstract: "Lets a provider be paid, and shows the invoice; with --preimage: it was paid, and this is the proof.",
    discussion: """
      A provider that shows no invoice is paid by a zap (NIP-57): the request for it is signed and shown. The payer \
      sends it to the provider's wallet, which answers with an invoice; its receipt comes by itself, and is believed when \
      it shows the preimage, or is by the --wallet that the provider's lnurl page names (nostrPubkey).
      """)
  @OptionGroup var job: JobArgument
  @OptionGroup var provider: JobProviderOption
  @Option(help: ArgumentHelp("What the wallet showed for the payment: 64 hexadecimal digits.", valueName: "digits"))
  var preimage: String?
  @Flag(help: "Pay by a zap, though there is an invoice.")
  var zap = false
  @Option(
    help: ArgumentHelp("Who writes the receipts of its wallet: npub1… or name@domain (NIP-05).", valueName: "key"))
  var wallet: String?
  @Option(help: ArgumentHelp("With --preimage: the invoice that its wallet made for the zap.", valueName: "invoice"))
  var invoice: String?
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if invoice != nil, preimage == nil { throw ValidationError("--invoice goes with --preimage.") }
    if let preimage, preimage.utf8.count != 64 || !preimage.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
      let isInvoice = preimage.lowercased().hasPrefix("lnbc")
      let what = isInvoice ? "this is the invoice" : "these are \(preimage.count) characters"
      throw ValidationError("A preimage is 64 hexadecimal digits, which the wallet shows when it has paid; \(what).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let provider = try await session.withoutName(provider.provider)
    var wanted = JobReference(job: job.job, provider: provider, preimage: preimage?.lowercased())
    (wanted.wallet, wanted.invoice) = (try await session.withoutName(wallet), invoice)
    if zap { wanted.zap = true }
    let asked = wanted
    let approved = try await session.waiting(for: JobMethod.approve.declaration) { () async throws(Refusal) in
      try await session.client.approveJob(asked)
    }
    await session.print(approved)
    return .done
  }
}

/// `roost job deny`
struct JobDeny: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny", abstract: "Denies a provider its payment, and no longer waits for it.")
  @OptionGroup var job: JobArgument
  @OptionGroup var provider: JobProviderOption
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let provider = try await session.withoutName(provider.provider)
    let denied = try await session.waiting(for: JobMethod.deny.declaration) { () async throws(Refusal) in
      try await session.client.denyJob(job.job, provider: provider)
    }
    await session.print(denied)
    return .done
  }
}

/// `roost job cancel`
struct JobCancel: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Calls a job off: its requests are deleted where they went, and nothing is paid.")
  @OptionGroup var job: JobArgument
  @OptionGroup var general: GeneralOptions

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let cancelled = try await session.waiting(for: JobMethod.cancel.declaration) { () async throws(Refusal) in
      try await session.client.cancelJob(job.job)
    }
    await session.print(cancelled)
    return .done
  }
}

/// `roost job providers`
struct JobProvidersCommand: LoopCommand {
  static let isReading = true
  static let configuration = CommandConfiguration(
    commandName: "providers", abstract: "Lists who serves jobs, as announced (NIP-89), and how that went here.")
  @Option(
    help: ArgumentHelp("Only those that serve this kind of request.", valueName: "number"),
    transform: KindArgument.read)
  var kind: UInt16?
  @Flag(help: "Ask relays as well.")
  var fetch = false
  @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
  var limit = 50
  @OptionGroup var general: GeneralOptions

  /// The maximum number of announcements that the tracker reads for one answer.
  private static let limitMaximum = 1_000

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    guard (1...Self.limitMaximum).contains(limit) else {
      throw ValidationError("The limit is 1 to \(Self.limitMaximum).")
    }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    let found = try await session.waiting(for: JobMethod.providers.declaration) { () async throws(Refusal) in
      try await session.client.jobProviders(of: kind, fetches: fetch, limit: limit)
    }
    if session.isJSON {
      for provider in found { await session.output.writeLine(JSONPayload.encode(provider)) }
    } else {
      await session.output.writeLines(JobProviderText.lines(found, session.style))
    }
    return .done
  }
}
