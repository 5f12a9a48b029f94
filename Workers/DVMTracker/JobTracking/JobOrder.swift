internal import Addresses
public import Contracts
public import Cryptography
internal import Frames
public import Nostr

/// What was asked for when a job was accepted. It never changes.
public struct JobOrder: Sendable, Hashable {
  /// The job's name.
  public let id: JobID
  /// Whose it is.
  public let account: PublicKey
  /// When it was accepted, milliseconds since 1970.
  public let submittedAt: Int64
  /// What its submitter said, with everything filled in that was left open: the key, the reach (never `auto`), turns,
  /// payment, deadlines; providers as 64 digits; inputs that are jobs here by their ``JobID``.
  public let submit: JobSubmit
  /// Who is asked, in order; nobody: whoever likes.
  public let providers: [PublicKey]
  /// How long each phase may last.
  public let deadlines: PhaseSeconds

  /// An order whose `submit` is complete; nil when it is not.
  public init?(id: JobID, account: PublicKey, submittedAt: Int64, submit: JobSubmit) {
    guard submit.key != nil, let turns = submit.turns, submit.payment?.mode != nil, let reach = submit.reach,
      reach != .auto, let said = submit.deadlines
    else { return nil }
    let named = submit.providers ?? []
    let keys = named.compactMap { PublicKey($0) }
    guard keys.count == named.count else { return nil }
    if let encryption = submit.encryption, encryption != .none {
      guard !keys.isEmpty, turns == .oneByOne else { return nil }
    }
    self.id = id
    self.account = account
    self.submittedAt = submittedAt
    self.submit = submit
    providers = keys
    deadlines = PhaseSeconds().merged(said)
  }

  /// The submitter's name for it.
  public var key: String { submit.key ?? id.description }
  /// The kind of its requests.
  public var kind: UInt16 { submit.kind }
  /// Whether its requests stay in the store of this machine.
  public var isLocal: Bool { submit.reach == .local }
  /// Whether inputs and parameters are kept from others.
  public var isEncrypted: Bool { (submit.encryption ?? .none) != .none }
  /// Who decides about payments.
  public var paymentMode: JobSubmit.Payment.Mode { submit.payment?.mode ?? .ask }
  /// Most millisatoshi for this job; nil: as much as somebody approves.
  public var payableMaximum: Int64? { submit.payment?.jobMaximum ?? submit.bid }
  /// Whether a provider may be paid by the job's own rule, and nobody is asked: for a result that is taken; before it
  /// whoever was named, and of strangers only where offers are collected, because then that is what was wished for.
  /// Whom somebody has denied a payment is not paid another one by rule.
  func isPaidUnasked(_ pair: JobPicture.Pair, _ picture: JobPicture) -> Bool {
    guard !pair.wasDenied else { return false }
    return picture.taken?.provider == pair.provider || providers.contains(pair.provider) || windowSeconds > 0
  }
  /// Why an amount is more than the job allows, whoever would approve it; nil when it is not.
  func excess(_ amount: Int64) -> String? {
    if let bid = submit.bid, amount > bid {
      return "\(Amount.satoshis(amount)) are above the bid of \(Amount.satoshis(bid))"
    }
    guard let maximum = submit.payment?.jobMaximum, amount > maximum else { return nil }
    return "\(Amount.satoshis(amount)) are above the \(Amount.satoshis(maximum)) that the job may cost"
  }
  /// Seconds for which offers are collected.
  public var windowSeconds: Int64 { submit.choice?.window ?? 0 }
  /// How many providers must have given the same result.
  public var agreement: Int { submit.choice?.agreement ?? 1 }
  /// The jobs here whose results it needs, each once, in the order of its inputs.
  public var dependencies: [JobID] {
    var seen: Set<JobID> = []
    let named = (submit.inputs ?? []).compactMap { $0.type == "job" ? JobID($0.data) : nil }
    return named.filter { seen.insert($0).inserted }
  }

  /// How often a provider that has fallen silent is asked once more.
  public var retries: Int { submit.retries ?? 0 }

  /// Whom the first request to each addresses: one after another, or all at once.
  public var rounds: [[PublicKey]] {
    submit.turns == .oneByOne && !providers.isEmpty ? providers.map { [$0] } : [providers]
  }

  /// Attempts of one round, the first one among them. Attempts are numbered by rounds: those of the second begin with
  /// this number, whether the first has used all of its own or not.
  public var roundAttempts: Int { retries + 1 }

  /// What a request says.
  ///
  /// - Parameters:
  ///   - providers: whom it addresses.
  ///   - feeds: what the results of other jobs have come to.
  /// - Returns: nil when an input is still waited for.
  public func terms(for providers: [PublicKey], feeds: [JobID: JobFeed]) -> JobTerms? {
    var inputs: [JobInput] = []
    for input in submit.inputs ?? [] {
      var (data, type) = (input.data, input.type)
      if type == "job", let other = JobID(data) {
        guard let feed = feeds[other] else { return nil }
        (data, type) = (feed.data, feed.isText ? "text" : "job")
      }
      // What is no relay's address is left out: it is a hint.
      let relay = input.relay.flatMap { $0.isEmpty ? nil : try? RelayURL($0) }
      inputs.append(JobInput(data, type: type, relay: relay, marker: input.marker))
    }
    // `try?`: they were read when it was submitted.
    let relays = (submit.relays ?? []).compactMap { try? RelayURL($0) }.map { ForeignRelayURL($0) }
    let parameters = (submit.params ?? []).map { JobParameter($0[0], Array($0.dropFirst())) }
    let output = submit.output.flatMap { $0.isEmpty ? nil : $0 }
    return JobTerms(
      kind: kind, inputs: inputs, parameters: parameters, output: output, bidMillisatoshis: submit.bid,
      relays: relays, providers: providers, topics: submit.topics ?? [], isEncrypted: isEncrypted)
  }
}

/// What the result of another job has become as an input.
public struct JobFeed: Sendable, Hashable {
  /// The other job.
  public var job: JobID
  /// The id of its request, or its result itself.
  public var data: String
  /// Whether it is the result itself.
  public var isText: Bool

  /// An input that is there.
  public init(job: JobID, data: String, isText: Bool) {
    self.job = job
    self.data = data
    self.isText = isText
  }
}
