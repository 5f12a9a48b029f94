internal import Addresses
public import Contracts
public import Cryptography
internal import Frames
public import Nostr

/// A job as it was accepted. It never changes.
public struct JobOrder: Sendable, Hashable {
  /// The job's id.
  public let id: JobID
  /// The account whose job it is.
  public let account: PublicKey
  /// When it was accepted, milliseconds since 1970.
  public let submittedAt: Int64
  /// What the submitter asked for, with everything filled in that was left open: the key, the reach (never `auto`),
  /// turns, payment, deadlines; providers as 64 digits; inputs that are jobs here by their ``JobID``.
  public let submit: JobSubmit
  /// The providers that are asked, in order; empty: any provider.
  public let providers: [PublicKey]
  /// How long each phase may last.
  public let deadlines: PhaseSeconds

  /// An order whose `submit` is complete; nil if it is not.
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
  /// Whether inputs and parameters are encrypted.
  public var isEncrypted: Bool { (submit.encryption ?? .none) != .none }
  /// How payments are decided.
  public var paymentMode: JobSubmit.Payment.Mode { submit.payment?.mode ?? .ask }
  /// Most millisatoshi for this job; nil: as much as callers approve.
  public var payableMaximum: Int64? { submit.payment?.jobMaximum ?? submit.bid }
  /// Whether the job's own rule may pay a provider without a caller's approval. It may if the provider's result is
  /// taken. Before that it may if the provider was named, or if the job collects offers, since its submitter then wants
  /// to pay strangers. It does not pay a provider after a caller has denied it a payment.
  func isPaidUnasked(_ pair: JobPicture.Pair, _ picture: JobPicture) -> Bool {
    guard !pair.wasDenied else { return false }
    return picture.taken?.provider == pair.provider || providers.contains(pair.provider) || windowSeconds > 0
  }
  /// Why an amount is more than the job allows, even with an approval; nil if it is not.
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

  /// How often a silent provider is asked again.
  public var retries: Int { submit.retries ?? 0 }

  /// The providers that the first request of each round addresses: one after another, or all at once.
  public var rounds: [[PublicKey]] {
    submit.turns == .oneByOne && !providers.isEmpty ? providers.map { [$0] } : [providers]
  }

  /// Attempts of one round, including the first. Attempts are numbered by rounds: those of the second round begin with
  /// this number, even if the first round did not use all of its own.
  public var roundAttempts: Int { retries + 1 }

  /// What a request says.
  ///
  /// - Parameters:
  ///   - providers: the providers that it addresses.
  ///   - feeds: the results of other jobs, as inputs.
  /// - Returns: nil if an input is still missing.
  public func terms(for providers: [PublicKey], feeds: [JobID: JobFeed]) -> JobTerms? {
    var inputs: [JobInput] = []
    for input in submit.inputs ?? [] {
      var (data, type) = (input.data, input.type)
      if type == "job", let other = JobID(data) {
        guard let feed = feeds[other] else { return nil }
        (data, type) = (feed.data, feed.isText ? "text" : "job")
      }
      // `try?`: the relay is a hint, so one whose address cannot be read is left out.
      let relay = input.relay.flatMap { $0.isEmpty ? nil : try? RelayURL($0) }
      inputs.append(JobInput(data, type: type, relay: relay, marker: input.marker))
    }
    // `try?`: they could be read when the job was submitted.
    let relays = (submit.relays ?? []).compactMap { try? RelayURL($0) }.map { ForeignRelayURL($0) }
    let parameters = (submit.params ?? []).map { JobParameter($0[0], Array($0.dropFirst())) }
    let output = submit.output.flatMap { $0.isEmpty ? nil : $0 }
    return JobTerms(
      kind: kind, inputs: inputs, parameters: parameters, output: output, bidMillisatoshis: submit.bid,
      relays: relays, providers: providers, topics: submit.topics ?? [], isEncrypted: isEncrypted)
  }
}

/// The result of another job, as an input.
public struct JobFeed: Sendable, Hashable {
  /// The other job.
  public var job: JobID
  /// The id of its request, or the result itself.
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
