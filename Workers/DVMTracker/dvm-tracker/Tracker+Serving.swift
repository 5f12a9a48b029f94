import Bus
import Contracts
import Cryptography
import EventLoop
import Frames
import JobLedger
import JobTracking
import WorkerLedger
import Logging
import Nostr
import Storage
import WorkerKit

// The methods that callers request. Jobs under way are in memory, ended jobs in the ledger.

extension Tracker {
  /// Jobs of an answer, unless its caller says how many.
  static let listStandard = 100
  /// Most batches that a caller waits for until its word is written.
  private static let patienceBatches = 4

  func serve() {
    worker.serve(JobMethod.submit) { [unowned self] (_, wanted) throws(Refusal) in try await submit(wanted) }
    worker.serve(JobMethod.list, list)
    worker.serve(JobMethod.show) { [unowned self] (_, wanted) throws(Refusal) in try await told(try named(wanted)) }
    worker.serve(JobMethod.follow, follow)
    worker.serve(JobMethod.approve) { [unowned self] (_, wanted) throws(Refusal) in try await approve(wanted) }
    worker.serve(JobMethod.deny) { [unowned self] (_, wanted) throws(Refusal) in try await deny(wanted) }
    worker.serve(JobMethod.cancel) { [unowned self] (_, wanted) throws(Refusal) in try await cancel(wanted) }
    worker.serve(JobMethod.providers, providers)
    worker.serve(JobMethod.status) { [unowned self] (_, _) in status }
  }

  // MARK: Submitting

  private func submit(_ submit: JobSubmit) async throws(Refusal) -> Job {
    if let key = submit.key, let known = jobs.job(keyed: key) { return try await accepted(known) }
    try Self.refuseSecrets(in: submit)
    let account = try await accounts.account(named: submit.account)
    let (isServedHere, host) = try await served(submit)
    // Read again after each pause: a job that was known before it may be forgotten meanwhile.
    while let id = jobs.unknownDependencies(of: submit).first { try await learn(id) }
    guard !worker.isDraining else { throw Self.draining }
    var id = JobID(UInt64.random(in: .min ... .max))
    while jobs.job(named: id.description) != nil { id = JobID(UInt64.random(in: .min ... .max)) }
    let (job, actions) = try jobs.submitted(
      submit, as: id, account: account, isServedHere: isServedHere, host: host, at: now)
    perform(actions)
    return try await accepted(job)
  }

  /// The signer would refuse to sign it, when its submitter has left; an encrypted one it could not look into.
  private static func refuseSecrets(in submit: JobSubmit) throws(Refusal) {
    guard submit.allowSecrets != true else { return }
    var texts: [(String, [String])] = [("output", [submit.output ?? ""]), ("topics", submit.topics ?? [])]
    for (index, input) in (submit.inputs ?? []).enumerated() {
      texts.append(("inputs[\(index)]", [input.data, input.type, input.relay ?? "", input.marker ?? ""]))
    }
    for (index, parameter) in (submit.params ?? []).enumerated() { texts.append(("params[\(index)]", parameter)) }
    for (place, words) in texts {
      guard let secret = words.lazy.compactMap({ SpottedSecret(in: $0) }).first else { continue }
      throw Refusal(
        .badRequest,
        "'\(place)' holds \(secret), and would give it away: no provider was asked; "
          + "to do it all the same: --allow-secrets, or \"allowSecrets\":true", outcome: .notStarted)
    }
  }

  /// Answers with a job when it is on the disk.
  private func accepted(_ id: JobID) async throws(Refusal) -> Job {
    if !jobs.isCommitted(id) { try await ledger.awaitAcceptance(of: id) }
    return try await told(id)
  }

  // MARK: Looking

  static func unknown(_ name: String) -> Refusal {
    Refusal(.noSuchJob, "there is no job \"\(name.prefix(80))\", or it is forgotten", outcome: .notStarted)
  }

  private func named(_ reference: JobReference) throws(Refusal) -> JobID {
    guard let id = jobs.job(named: reference.job) else { throw Self.unknown(reference.job) }
    return id
  }

  private func list(_ request: BusRequest, _ wanted: JobList) async throws(Refusal) -> StoreCount? {
    let limit = min(wanted.limit ?? Self.listStandard, JobLedger.pageMaximum)
    // Only written jobs are listed.
    let ids = try await ledger.read { ledger throws(StorageFault) in
      try await ledger.jobs(in: wanted.states, limit: limit)
    }
    var count = 0
    for id in ids {
      let job: Job
      do throws(Refusal) { job = try await told(id) } catch {
        // It was forgotten meanwhile.
        guard error.code == .noSuchJob else { throw error }
        continue
      }
      try await request.send(job, of: JobMethod.list)
      count += 1
    }
    return StoreCount(count: count)
  }

  private func follow(_ request: BusRequest, _ wanted: JobReference) async throws(Refusal) -> Nothing? {
    let id = try named(wanted)
    guard !worker.isDraining else { throw Self.draining }
    let follower = try followers.add(request, of: id)
    defer { followers.remove(follower, of: id) }
    request.accept()
    // The follower sees the job's end when it is written.
    try await follower.run(until: { $0.state.isFinal && $0.endedAt != nil }) { () throws(Refusal) in
      try await told(id)
    }
    return Nothing()
  }

  // MARK: Deciding

  private func approve(_ wanted: JobReference) async throws(Refusal) -> Job {
    let id = try named(wanted)
    let provider = try provider(wanted)
    let preimage = try wanted.preimage.map { text throws(Refusal) in
      guard let octets = Octets32(text) else {
        throw Refusal(.badRequest, "'preimage' is not 64 lower-case hexadecimal digits", outcome: .notStarted)
      }
      return octets
    }
    let zap = try zapWord(wanted)
    if jobs.isOver(id), preimage != nil || zap?.wallet != nil {
      try await prove(id, provider, preimage, zap)
    } else {
      if preimage == nil, let terms = jobs.zapTerms(approving: id, provider: provider, zap, at: now) {
        // A zap that cannot be carried out is refused before it is written, and the job stays as it was.
        _ = try await receiptRelays(terms)
      }
      perform(try jobs.approve(id, provider: provider, preimage: preimage, zap: zap, at: now))
      _ = try await decided(id)
      if jobs.isZapWanted(id) { await zaps.wait(for: id) }
    }
    return try await decided(id)
  }

  /// Takes what proves a payment of a job that has ended.
  private func prove(_ id: JobID, _ provider: PublicKey?, _ preimage: Octets32?, _ zap: ZapWord?) async throws(Refusal)
  {
    let found = try await ledger.read { ledger throws(StorageFault) in try await ledger.job(id) }
    guard let job = found else { throw Self.unknown(id.description) }
    if let preimage {
      let invoice = zap?.invoice
      perform(
        try jobs.proven(job.order, job.facts, provider: provider, preimage: preimage, invoice: invoice, at: now))
    } else if let wallet = zap?.wallet {
      perform(try jobs.walletNamed(job.order, job.facts, provider: provider, wallet: wallet, at: now))
    }
  }

  /// What is said of a zap; nil when nothing is.
  private func zapWord(_ wanted: JobReference) throws(Refusal) -> ZapWord? {
    guard wanted.zap == true || wanted.wallet != nil || wanted.invoice != nil else { return nil }
    var word = ZapWord()
    if let text = wanted.wallet { word.wallet = try key(text, "wallet") }
    if let text = wanted.invoice {
      do throws(InvoiceFault) { word.invoice = try Invoice(text) } catch {
        throw Refusal(.badRequest, "'invoice': \(error)", outcome: .notStarted)
      }
    }
    return word
  }

  private func deny(_ wanted: JobReference) async throws(Refusal) -> Job {
    let id = try named(wanted)
    perform(try jobs.deny(id, provider: try provider(wanted), at: now))
    return try await decided(id)
  }

  private func cancel(_ wanted: JobReference) async throws(Refusal) -> Job {
    let id = try named(wanted)
    // A job that is cancelled already stays so: the first answer may have been lost.
    let before = try await told(id)
    guard !before.state.isFinal || before.state == .cancelled else {
      throw Refusal(
        .jobOver, "the job has ended already, as \(before.state.rawValue): there is nothing to call off",
        outcome: .notStarted)
    }
    perform { $0.cancelled(id, at: $1) }
    return try await decided(id)
  }

  private func provider(_ reference: JobReference) throws(Refusal) -> PublicKey? {
    try reference.provider.map { text throws(Refusal) in try key(text, "provider") }
  }

  private func key(_ text: String, _ name: String) throws(Refusal) -> PublicKey {
    do throws(EntityFault) { return try PublicKey(spelled: text) } catch {
      throw Refusal(.badRequest, "'\(name)': \(error)", outcome: .notStarted)
    }
  }

  /// Answers with a job when the decision about it is on the disk.
  private func decided(_ id: JobID) async throws(Refusal) -> Job {
    var batches = 0
    while jobs.isPending(id), batches < Self.patienceBatches {
      await ledger.awaitBatch()
      if let fault = ledger.health.fault { throw undecided(fault) }
      batches += 1
    }
    return try await told(id)
  }

  /// The decision is in memory, and is written as soon as the disk has room for it.
  private func undecided(_ fault: StorageFault) -> Refusal {
    let refusal = ledger.health.refusal(fault)
    return Refusal(
      refusal.code, "it is not written down yet, and will be when that is possible: \(refusal.message)",
      outcome: .unknown, retryAfterMilliseconds: refusal.retryAfterMilliseconds)
  }

  // MARK: Providers

  private func providers(_ request: BusRequest, _ wanted: JobProviders) async throws(Refusal) -> StoreCount? {
    var found: [PublicKey: JobProvider] = [:]
    for (provider, history) in jobs.histories { found[provider] = history.told(provider) }
    await addHost(to: &found)
    if wanted.fetches == true { await store.fetchAnnouncements(wanted.kind) }
    for information in try await store.announcements(wanted.kind) {
      var told = found[information.author] ?? JobProvider(provider: information.author.description)
      // The newest comes first.
      if told.announcedAt == nil {
        (told.name, told.about) = (information.details?.name, information.details?.about)
        told.announcedAt = information.createdAt
      }
      told.kinds = Array(Set(told.kinds + information.jobKinds)).sorted()
      found[information.author] = told
    }
    var all = found.values.filter { told in wanted.kind.map(told.kinds.contains) ?? true }
    all.sort { ($0.answered, $0.announcedAt ?? 0, $1.provider) > ($1.answered, $1.announcedAt ?? 0, $0.provider) }
    let chosen = all.prefix(wanted.limit ?? Self.listStandard)
    for provider in chosen { try await request.send(provider, of: JobMethod.providers) }
    return StoreCount(count: chosen.count)
  }

  /// The provider of this machine says itself what it serves, whether it announces that or not.
  private func addHost(to found: inout [PublicKey: JobProvider]) async {
    do throws(Refusal) {
      guard let status = try await servingStatus(), let key = status.provider.flatMap({ PublicKey($0) }) else { return }
      var told = found[key] ?? JobProvider(provider: key.description)
      (told.kinds, told.isHere) = (status.services.map(\.kind), true)
      found[key] = told
    } catch { log.debug("the provider here does not say what it serves", metadata: ["why": "\(error.message)"]) }
  }

  // MARK: Status

  private var status: TrackingStatus {
    var status = TrackingStatus()
    for (state, count) in endedCounts where count > 0 { status.jobs[state.rawValue] = count }
    for (state, count) in jobs.counts { status.jobs[state.rawValue, default: 0] += count }
    status.seq = answers.cursor ?? 0
    status.answers = jobs.answerCount
    status.approvedToday = jobs.approvedToday(at: now)
    status.fault = ledger.health.fault?.description
    status.results = jobs.counters.results
    status.diagnostics = jobs.counters.diagnostics
    for (state, payments) in jobs.counters.payments {
      status.payments[state.rawValue] = JobPayments(count: payments.count, amount: payments.amount)
    }
    let (open, unpaid) = (jobs.openPayments, jobs.unpaidPayments)
    status.openPayments = JobPayments(count: open.count, amount: open.amount)
    status.unpaid = JobPayments(count: unpaid.count, amount: unpaid.amount)
    status.unseen = jobs.unseenCount
    return status
  }
}
