public import Contracts
internal import Cryptography
internal import Frames
internal import Nostr

// A job as the bus shows it.

extension Job {
  /// A job as computed from its facts.
  ///
  /// - Parameters:
  ///   - order: the job as it was accepted.
  ///   - picture: what has become of it.
  ///   - unkeptCount: answers and receipts that were not kept.
  public init(_ order: JobOrder, _ picture: JobPicture, unkeptCount: Int = 0) {
    self.init(
      id: order.id.description, key: order.key, account: order.account.description, kind: order.kind,
      state: picture.state, submittedAt: order.submittedAt / 1_000, dependsOn: order.dependencies.map(\.description),
      diagnostics: picture.diagnostics)
    reason = picture.reason
    endedAt = picture.endedAt.map { $0 / 1_000 }
    nextDeadlineAt = picture.deadline.map { ($0.at + 999) / 1_000 }
    if unkeptCount > 0 { diagnostics[JobPicture.notKeptWord, default: 0] += unkeptCount }
    requests = picture.attempts.compactMap { attempt in
      attempt.request.map {
        JobRequestState(
          event: $0.id.description, providers: attempt.providers.map(\.description),
          confirmedRelays: attempt.confirmed, relays: attempt.relays ?? 0, isStored: attempt.isStored)
      }
    }
    providers = picture.pairs.values.sorted { $0.provider < $1.provider }.map { JobProviderState($0, picture) }
    result = picture.taken.map { taken in
      var result = JobResultState(
        event: taken.event.description, provider: taken.provider.description, content: taken.content ?? "",
        createdAt: taken.createdAt)
      if taken.isCut { result.isCut = true }
      return result
    }
  }
}

extension Job {
  /// The job, short enough for a frame as JSON. Texts of providers are cut where necessary, because strangers could
  /// otherwise make a job too long to be sent: first partial results, then the result, then remarks.
  ///
  /// - Parameter byteCountMaximum: how long it may be.
  /// - Returns: a longer one only if everything else in it takes that much.
  public func fitted(byteCountMaximum: Int) -> Job {
    var told = self
    var bytes = JSONPayload.encode(told)
    func shrink(from length: Int?, _ cut: (inout Job, Int) -> Void) {
      var length = length ?? 0
      while bytes.count > byteCountMaximum, length > 0 {
        length /= 2
        cut(&told, length)
        bytes = JSONPayload.encode(told)
      }
    }
    shrink(from: told.providers.compactMap { $0.partial?.utf8.count }.max()) { told, length in
      for index in told.providers.indices {
        told.providers[index].partial = told.providers[index].partial.map { JobAnswerFact.cut($0, length).text }
      }
    }
    shrink(from: told.result?.content.utf8.count) { told, length in
      guard var result = told.result else { return }
      (result.content, result.isCut) = (JobAnswerFact.cut(result.content, length).text, true)
      told.result = result
    }
    shrink(from: told.providers.compactMap { $0.message?.utf8.count }.max()) { told, length in
      for index in told.providers.indices {
        told.providers[index].message = told.providers[index].message.map { JobAnswerFact.cut($0, length).text }
      }
    }
    return told
  }
}

extension JobProviderState {
  init(_ pair: JobPicture.Pair, _ picture: JobPicture) {
    self.init(provider: pair.provider.description, state: pair.state, results: pair.resultCount)
    message = pair.message
    amount = pair.payment == .paid && pair.paidAmount > 0 ? pair.paidAmount : pair.bill?.amount
    if let bill = pair.bill, let problem = bill.problem, !bill.isForZap {
      invoiceProblem = problem
    } else {
      invoice = pair.bill?.invoice
    }
    invoiceProblem = pair.zapProblem.map { "its zap cannot be made: \($0)" } ?? invoiceProblem
    payment = pair.payment
    if let intent = pair.intent, let target = intent.zapTarget {
      zap = JobZapState(target: target, amount: intent.amount, picture.zap(for: intent), pair.receipts)
    }
    partial = pair.partial
    lastSignAt = pair.signs.map { $0.upperBound / 1_000 }
  }
}

extension JobZapState {
  init(target: EventID, amount: Int64, _ zap: ZapRequestFact?, _ receipts: [JobPicture.Receipt]) {
    self.init(target: target.description, amount: amount)
    request = zap.map { String(decoding: $0.json, as: UTF8.self) }
    lnurl = zap?.request?.lnurl
    address = lnurl.flatMap { LightningAddress(lnurl: $0)?.description }
    self.receipts = receipts.map { receipt in
      var told = JobReceiptState(event: receipt.event.description, author: receipt.wallet.description)
      told.proof =
        switch receipt.proof {
        case .preimage: .preimage
        case .wallet: .wallet
        case nil: nil
        }
      return told
    }
  }
}

extension JobTable {
  /// A job in memory as the bus shows it. An invoice that must not be paid at `now`, milliseconds since 1970, has its
  /// problem beside it.
  public func told(_ id: JobID, at now: Int64) -> Job? {
    guard let record = records[id] else { return nil }
    var job = Job(record.order, record.picture, unkeptCount: record.droppedCount)
    guard record.picture.endedAt == nil else { return job }
    for index in job.providers.indices {
      let told = job.providers[index]
      guard let key = PublicKey(told.provider), let pair = record.picture.pairs[key] else { continue }
      if let end = pair.payableUntil, end <= now { job.providers[index].invoiceProblem = JobTable.expiredInvoice }
      guard told.payment == .asked, let problem = problem(with: pair, record, at: now) else { continue }
      job.providers[index].invoiceProblem = problem
    }
    return job
  }
}
