internal import ArgumentParser
internal import Contracts
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// `roost job submit`
struct JobSubmitCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Submits a job; with --wait tells how it is doing, and prints its result.",
    discussion: """
      Without --provider any provider may answer. A kind that the provider on this machine serves stays on this machine, \
      unless --publish or --relay says otherwise or another provider is named.

      It belongs to the account that --as names, else to the only account; without an account, to this machine.

      Nothing is paid before 'roost job approve', unless --pay auto says so, within its bounds.

        roost job submit --kind 5302 --param search=nostr --wait
        roost job submit --kind 5050 --input 'text=Why is the sky blue?' --provider npub1… --encrypt auto --wait
        roost job submit --kind 5001 --input job=0123456789abcdef --bid 50sat
      """)
  @Option(
    help: ArgumentHelp("The kind of the request, 5000 to 5999.", valueName: "number"), transform: KindArgument.read)
  var kind: UInt16
  @Option(
    help: ArgumentHelp(
      "What is to be worked on: text=…, url=…, event=ID or job=JOB, or a JSON list of data, type, relay and marker; several times.",
      valueName: "input"))
  var input: [String] = []
  @Option(help: ArgumentHelp("NAME=VALUE, or a JSON list of a name and its values; several times.", valueName: "param"))
  var param: [String] = []
  @Option(help: ArgumentHelp("The MIME type wanted of the result.", valueName: "type"))
  var output: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Most to be paid: 50sat, 500msat.", valueName: "amount"))
  var bid: String?
  @Option(help: ArgumentHelp("Who is asked: npub1… or name@domain (NIP-05); several times.", valueName: "key"))
  var provider: [String] = []
  @Flag(help: "Ask one provider after another, instead of all at once.")
  var oneByOne = false
  @Option(
    help: ArgumentHelp("How often a provider that falls silent gets a new request; else never.", valueName: "number"))
  var retries: Int?
  @Option(help: ArgumentHelp("A word by which providers find it; several times.", valueName: "word"))
  var topic: [String] = []
  @Option(help: ArgumentHelp("Where the answers are to be published; several times.", valueName: "url"))
  var relay: [String] = []
  @Option(help: ArgumentHelp("Keep inputs and parameters from others: auto, nip44 or nip04.", valueName: "form"))
  var encrypt: String?
  @Flag(name: .customLong("local"), help: "Keep the request on this machine.")
  var isLocal = false
  @Flag(name: .customLong("publish"), help: "Send the request to relays, also where the provider here could do it.")
  var isPublished = false
  @Option(help: ArgumentHelp("Who decides about payments: ask (you), never, auto.", valueName: "mode"))
  var pay: String?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Most to be paid by --pay auto; else the bid.", valueName: "amount"))
  var payMaximum: String?
  @Option(help: ArgumentHelp("How long providers may take to answer: 30s, 5m.", valueName: "time"))
  var answerWithin: String?
  @Option(help: ArgumentHelp("How long until the result has to be there: 10m, 1h.", valueName: "time"))
  var resultWithin: String?
  @Option(help: ArgumentHelp("Your own name for it: the same again is the same job.", valueName: "text"))
  var key: String?
  @Option(name: .customLong("as"), help: ArgumentHelp("Whose job it is.", valueName: "account"))
  var account = AccountWord.unnamed
  @Flag(help: "Submit it with nsec1… or ncryptsec1… in it: its providers have the key then.")
  var allowSecrets = false
  @Flag(help: "Wait for its end, and print the result.")
  var wait = false
  @Option(
    help: ArgumentHelp("How long to --wait: 30s, 10m; else as long as it takes.", valueName: "time"),
    transform: Timeout.init(reading:))
  var timeout: Timeout?
  @OptionGroup var general: GeneralOptions

  func validate() throws {
    guard !UnknownOptions.areSought else { return }
    if isLocal, isPublished { throw ValidationError("Give --local or --publish, not both.") }
    if isLocal, !relay.isEmpty {
      throw ValidationError("Give --local or --relay, not both: what stays on this machine is at no relay.")
    }
    if output?.isEmpty == true {
      throw ValidationError("--output is a MIME type such as text/plain; this one is empty.")
    }
    if timeout != nil, !wait { throw ValidationError("--timeout goes with --wait.") }
    if payMaximum != nil, pay != JobSubmit.Payment.Mode.auto.rawValue {
      throw ValidationError("--pay-maximum goes with --pay auto: what else is paid you approve yourself.")
    }
    if oneByOne, provider.isEmpty { throw ValidationError("--one-by-one goes with --provider: whom to ask in turn.") }
    if topic.contains("") { throw ValidationError("A topic is a word; one is empty.") }
    for text in [account.name] + provider where text?.lowercased().hasPrefix("nsec1") == true {
      throw ValidationError(secretAsArgument)
    }
    do throws(Refusal) {
      if let problem = try submission(provider.map(KeyArgument.masked)).problem {
        throw Refusal(.badRequest, problem, outcome: .notStarted)
      }
    } catch { throw ValidationError("\(error.message).") }
  }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    var providers: [String] = []
    for text in provider { providers.append(try await session.withoutName(text)) }
    let wanted = try submission(providers)
    let job = try await session.waiting(for: JobMethod.submit.declaration) { () async throws(Refusal) in
      try await session.client.submit(wanted)
    }
    if account.name == nil, !session.isJSON, job.accountName == Role.dvmTracker.name { session.note(Self.nobodysWords) }
    guard wait else {
      await session.print(job)
      if !session.isJSON, !job.state.isFinal { session.note("\(JobText.outlook(job)): roost job watch \(job.id)") }
      return .done
    }
    return try await JobFollowing(session, patience: timeout).follow(job)
  }

  /// The note about a job without an account, while no account exists that it could have.
  private static let nobodysWords =
    "No person has an account here, only workers have, so it is for the tracker's own, \(Role.dvmTracker.name). From "
    + "the first 'roost key generate' on jobs are for that account; --as chooses."

  private func submission(_ provider: [String]) throws(Refusal) -> JobSubmit {
    var job = JobSubmit(kind: kind)
    (job.key, job.account, job.output) = (key, account.name, output)
    if !input.isEmpty { job.inputs = try input.map { text throws(Refusal) in try JobWords.input(text) } }
    if !param.isEmpty { job.params = try param.map { text throws(Refusal) in try JobWords.parameter(text) } }
    job.bid = try bid.map { text throws(Refusal) in try JobWords.millisatoshi(text) }
    if !provider.isEmpty { job.providers = try provider.map { text throws(Refusal) in try JobWords.provider(text) } }
    if oneByOne { job.turns = .oneByOne }
    job.retries = retries
    if !topic.isEmpty { job.topics = topic }
    if !relay.isEmpty { job.relays = relay }
    job.encryption = try JobWords.choice(encrypt, "--encrypt", among: JobSubmit.Encryption.allCases)
    if allowSecrets { job.allowSecrets = true }
    if isLocal { job.reach = .local }
    if isPublished { job.reach = .relays }
    if pay != nil || payMaximum != nil {
      job.payment = JobSubmit.Payment(
        mode: try JobWords.choice(pay, "--pay", among: JobSubmit.Payment.Mode.allCases),
        jobMaximum: try payMaximum.map { text throws(Refusal) in try JobWords.millisatoshi(text) })
    }
    if answerWithin != nil || resultWithin != nil {
      var deadlines = JobDeadlines()
      deadlines.answer = try answerWithin.map { text throws(Refusal) in try JobWords.seconds(text) }
      deadlines.result = try resultWithin.map { text throws(Refusal) in try JobWords.seconds(text) }
      job.deadlines = deadlines
    }
    return job
  }
}
