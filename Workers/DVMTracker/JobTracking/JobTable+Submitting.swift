internal import Addresses
public import Contracts
public import Cryptography
public import Frames
internal import Nostr

// From a submission to a complete order; and the cancellation of a job.

extension JobTable {
  /// Submits a job. It is accepted when it is on disk; the same key again gives the same job.
  ///
  /// - Parameters:
  ///   - submit: what the submitter asks for; it has no `JobSubmit.objection`.
  ///   - id: a random id that no job has.
  ///   - account: the account whose job it is.
  ///   - isServedHere: whether the provider of this machine serves this kind.
  ///   - host: the key of that provider, if known: a job that stays here and names no other provider is for it.
  ///   - now: milliseconds since 1970.
  /// - Returns: the job, which may not be on disk yet, and the actions.
  /// - Throws: `bad-request`, `no-such-job`, `full`.
  public mutating func submitted(
    _ submit: JobSubmit, as id: JobID, account: PublicKey, isServedHere: Bool, host: PublicKey? = nil,
    at now: Int64
  ) throws(Refusal) -> (job: JobID, actions: [JobAction]) {
    // Outcomes that were learned for a job that is refused, or is there already, are not kept.
    defer { outcomes = outcomes.filter { dependents[$0.key] != nil } }
    if let key = submit.key, let known = keys[key] { return (known, finish(at: now)) }
    precondition(records[id] == nil, "a new job has a name that no other has")
    let openCount = records.count - min(withdrawing.count, limits.withdrawingMaximum)
    guard openCount < limits.openMaximum else {
      throw Refusal(
        .full, "\(openCount) jobs are under way already", outcome: .notStarted,
        retryAfterMilliseconds: 5_000)
    }
    let whole = try completed(submit, id, isServedHere, host)
    guard let order = JobOrder(id: id, account: account, submittedAt: now, submit: whole) else {
      preconditionFailure("a completed job makes an order")
    }
    try checkTerms(order)
    try checkDependencies(order)
    records[id] = JobRecord(order, [], isCommitted: false)
    keys.add(id, keyed: order.key)
    for other in order.dependencies { dependents[other, default: []].insert(id) }
    queued.accepted.append(order)
    // The last write may have failed; a new job is a reason to try again now.
    writeDue = nil
    return (id, finish(at: now))
  }

  /// Jobs that inputs of `submit` name and that are not in memory. Pass the outcome of each to ``learned(_:_:_:)``
  /// before submitting.
  public func unknownDependencies(of submit: JobSubmit) -> [JobID] {
    (submit.inputs ?? []).compactMap { input in
      guard input.type == "job", let id = job(named: input.data) else { return nil }
      return records[id] == nil && outcomes[id] == nil ? id : nil
    }
  }

  // MARK: Completing

  private func completed(
    _ submit: JobSubmit, _ id: JobID, _ isServedHere: Bool, _ host: PublicKey?
  ) throws(Refusal) -> JobSubmit {
    var whole = submit
    whole.key = submit.key ?? id.description
    var seen: Set<PublicKey> = []
    var providers: [PublicKey] = []
    for text in submit.providers ?? [] {
      do throws(EntityFault) {
        let key = try PublicKey(spelled: text)
        if seen.insert(key).inserted { providers.append(key) }
      } catch { throw Self.bad("'providers' has \"\(text.prefix(80))\": \(error)") }
    }
    let isForNobodyElse = providers.isEmpty || providers == host.map { [$0] }
    let isForHere = isServedHere && isForNobodyElse && submit.relays?.isEmpty != false
    if submit.reach == nil || submit.reach == .auto { whole.reach = isForHere ? .local : .relays }
    if isForHere, whole.reach == .local, let host, submit.choice?.agreement ?? 1 == 1 {
      // No other provider is meant. If several must agree, other providers here may answer as well.
      providers = [host]
    }
    whole.providers = providers.map(\.description)
    whole.turns = try turns(submit, providers.count)
    if whole.encryption == JobSubmit.Encryption.none { whole.encryption = nil }
    whole.relays = try submit.relays.map { texts throws(Refusal) in try Self.canonical(texts) }
    whole.deadlines = limits.deadlines.merged(submit.deadlines).said
    whole.payment = try payment(submit)
    whole.inputs = try submit.inputs.map { inputs throws(Refusal) in
      try inputs.map { input throws(Refusal) in try resolved(input, of: id, key: submit.key) }
    }
    if let agreement = submit.choice?.agreement, agreement > 1, !providers.isEmpty, agreement > providers.count {
      throw Self.bad("'choice.agreement' is \(agreement), and \(providers.count) providers are asked")
    }
    return whole
  }

  private func turns(_ submit: JobSubmit, _ count: Int) throws(Refusal) -> JobSubmit.Turns {
    guard let encryption = submit.encryption, encryption != .none else { return submit.turns ?? .all }
    guard count > 0 else {
      throw Self.bad(
        "an encrypted job needs --provider ('providers'), where the one of this machine does not do it: "
          + "each is asked by a request that it alone can read")
    }
    if submit.turns == .all, count > 1 {
      throw Self.bad("an encrypted request is for one provider, so several are asked one by one: leave 'turns' out")
    }
    return .oneByOne
  }

  private func payment(_ submit: JobSubmit) throws(Refusal) -> JobSubmit.Payment {
    var payment = submit.payment ?? JobSubmit.Payment()
    payment.mode = payment.mode ?? .ask
    payment.jobMaximum = payment.jobMaximum ?? submit.bid
    if payment.mode == .auto, payment.jobMaximum == nil {
      throw Self.bad("'payment.mode' is \"auto\", which needs 'payment.jobMaximum' or 'bid'")
    }
    return payment
  }

  private static func canonical(_ relays: [String]) throws(Refusal) -> [String] {
    var urls: [String] = []
    for text in relays {
      do throws(RelayURLFault) { urls.append(try RelayURL(text).text) } catch { throw bad("'relays': \(error)") }
    }
    return urls
  }

  private func resolved(
    _ input: JobInputArgument, of id: JobID, key: String?
  ) throws(Refusal) -> JobInputArgument {
    guard input.type == "job" else { return input }
    if input.data == key || input.data == id.description { throw Self.bad("a job cannot wait for its own result") }
    var found = input
    if let other = job(named: input.data) {
      found.data = other.description
      return found
    }
    // Another customer's request: the provider that does the job finds its result.
    guard EventID(input.data) != nil else {
      throw Refusal(
        .noSuchJob, "an input names the job \"\(input.data.prefix(80))\", which is not here", outcome: .notStarted)
    }
    return found
  }

  // MARK: Checking

  /// Has the codec check the first request, with placeholders for the results that it waits for.
  private func checkTerms(_ order: JobOrder) throws(Refusal) {
    var feeds: [JobID: JobFeed] = [:]
    for other in order.dependencies {
      feeds[other] = JobFeed(job: other, data: String(repeating: "0", count: 64), isText: false)
    }
    guard let terms = order.terms(for: order.rounds[0], feeds: feeds) else {
      preconditionFailure("with all feeds there are terms")
    }
    do throws(JobDraftFault) {
      if order.isEncrypted {
        _ = try terms.secretTags()
      } else {
        _ = try terms.template(by: order.account, createdAt: order.submittedAt / 1_000, ciphertext: nil)
      }
    } catch { throw Self.bad("\(error)") }
  }

  private func checkDependencies(_ order: JobOrder) throws(Refusal) {
    for other in order.dependencies {
      let isSecret = records[other]?.order.isEncrypted ?? outcomes[other]?.feed?.isText ?? false
      let isPublic = !order.isEncrypted && !order.isLocal
      if isSecret, isPublic {
        throw Self.bad(
          "an input is the result of \(other), which is encrypted or stays here, and this job is open to all: "
            + "say 'encryption' or \"reach\":\"local\"")
      }
    }
    var depth = 1
    var level = Set(order.dependencies)
    while !level.isEmpty {
      guard !level.contains(order.id) else { throw Self.bad("jobs cannot wait for each other in a circle") }
      depth += 1
      guard depth <= limits.chainDepthMaximum else {
        throw Self.bad("jobs wait for jobs at most \(limits.chainDepthMaximum) deep")
      }
      level = Set(level.flatMap { records[$0]?.picture.state == .waiting ? records[$0]?.order.dependencies ?? [] : [] })
    }
  }

  static func bad(_ message: String) -> Refusal { Refusal(.badRequest, message, outcome: .notStarted) }

  // MARK: Cancelling

  /// Cancels a job: it asks and pays for nothing from now on, and its requests are deleted. A job that has ended stays
  /// as it is.
  public mutating func cancelled(_ id: JobID, at now: Int64) -> [JobAction] {
    guard let record = records[id], record.picture.endedAt == nil, !record.picture.state.isFinal else {
      return finish(at: now)
    }
    note(id, .ended(.cancelled, "it was called off"), at: now)
    return finish(at: now)
  }
}
