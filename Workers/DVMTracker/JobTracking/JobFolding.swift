internal import Contracts
internal import Cryptography
internal import Nostr

/// Computes a ``JobPicture`` from facts, step by step.
struct JobFolding {
  let order: JobOrder
  var picture = JobPicture()
  /// In the order of their times.
  private let facts: [JobFact]
  /// The answers of each provider that count, by event, each with the time at which it first came.
  var answers: [PublicKey: [EventID: (at: Int64, fact: JobAnswerFact)]] = [:]
  /// When each kind of deadline of a provider last passed.
  var lapses: [PublicKey: [JobPhase: Int64]] = [:]
  var denials: [PublicKey: (at: Int64, isAutomatic: Bool)] = [:]
  /// The approvals for each provider, in the order of time.
  var approvals: [PublicKey: [PaymentIntent]] = [:]
  /// The payment hash by which each provider was paid; the first of several.
  var paidHashes: [PublicKey: Octets32] = [:]
  var zaps = ZapFold()
  var isTotalLapsed = false
  var isWindowLapsed = false
  var isAgreementLapsed = false
  /// The dates of requests, seconds since 1970.
  var requestTimes: [EventID: Int64] = [:]
  /// Payments that were proven after the job's end, and when.
  var lateProofs: [PublicKey: Int64] = [:]
  /// The proofs of payments, by their hashes.
  var proofs: [Octets32: PaymentProof] = [:]
  private var seen: Set<EventID> = []
  private var events: [EventID: (at: Int64, fact: JobAnswerFact)] = [:]

  init(_ order: JobOrder, _ facts: [JobFact]) {
    self.order = order
    self.facts = facts.sorted { $0.at < $1.at }
  }

  mutating func fold() {
    for fact in facts {
      if case .ended(let state, let reason) = fact.what, picture.endedAt == nil {
        (picture.endedAt, picture.state, picture.reason) = (fact.at, state, reason)
      }
    }
    for fact in facts { take(fact) }
    distribute()
    foldAttempts()
    foldZaps()
    foldPairs()
    choose()
    if picture.endedAt == nil {
      conclude()
      if !picture.state.isFinal { findDeadline() }
    }
    takeLateProofs()
    picture.proofs = proofs.values.sorted(by: PaymentProof.isEarlier)
    addUp()
  }

  // MARK: One fact

  private mutating func take(_ fact: JobFact) {
    if let endedAt = picture.endedAt, fact.at > endedAt {
      takeLate(fact)
    } else {
      takeOpen(fact)
    }
  }

  /// Takes a fact from after the job's end: it is shown, and does not change how the job ended.
  private mutating func takeLate(_ fact: JobFact) {
    switch fact.what {
    case .answered(let answer) where seen.insert(answer.event).inserted:
      picture.diagnostics[JobPicture.lateWord, default: 0] += 1
    case .receipted, .walletNamed, .objected: takeZap(fact)
    // What was paid is shown, whatever else was approved.
    case .approved(let intent): approvals[intent.provider, default: []].append(intent)
    case .paid(let provider, let hash, _):
      paidHashes[provider] = paidHashes[provider] ?? hash
      take(PaymentProof(hash: hash, provider: provider, at: fact.at))
      lateProofs[provider] = min(lateProofs[provider] ?? .max, fact.at)
    case .stored, .relayed, .unpublished, .withdrawn: takeOpen(fact)
    default: return
    }
  }

  /// A proof after the job's end does not change which result was taken. But the reason no longer says that its
  /// provider was not paid.
  private mutating func takeLateProofs() {
    for (provider, at) in lateProofs {
      pair(provider) { pair in
        pair.payment = .paid
        pair.paidAt = pair.paidAt ?? at
        pair.owes = false
      }
      if picture.state == .settled, picture.taken?.provider == provider { picture.reason = nil }
    }
  }

  /// Adds up what each provider was paid. A proof that belongs to no approved invoice belongs to a zap, and each zap is
  /// paid once.
  private mutating func addUp() {
    let proven = Dictionary(grouping: picture.proofs, by: \.provider)
    for (provider, pair) in picture.pairs where pair.payment == .paid {
      let approved = approvals[provider] ?? []
      var zaps = approved.filter { $0.zapTarget != nil && picture.zap(for: $0) != nil }[...]
      var amounts: [Int64] = []
      for proof in proven[provider] ?? [] {
        let invoice = approved.last { $0.zapTarget == nil && $0.key == proof.hash }
        guard let paid = invoice ?? zaps.popFirst() else { continue }
        zaps.removeAll { $0.key == paid.key }
        amounts.append(paid.amount)
      }
      // Ledgers from before hashes were kept have no hash of a zap's payment.
      if amounts.isEmpty { amounts = [pair.wantedAmount] }
      self.pair(provider) { pair in
        pair.paidCount = amounts.count
        // Strangers choose the amounts, so the sum stops at the largest number.
        pair.paidAmount = amounts.reduce(0) { sum, amount in
          let (more, isOver) = sum.addingReportingOverflow(amount)
          return isOver ? .max : more
        }
      }
    }
  }

  private mutating func takeOpen(_ fact: JobFact) {
    switch fact.what {
    case .attempted(let number, let providers):
      guard !picture.attempts.contains(where: { $0.number == number }) else { return }
      picture.attempts.append(JobPicture.Attempt(number: number, providers: providers, startedAt: fact.at))
      picture.attempts.sort { $0.number < $1.number }
    case .fed(let feed): picture.feeds[feed.job] = picture.feeds[feed.job] ?? feed
    case .requested(let request):
      guard let index = index(ofAttempt: request.attempt), picture.attempts[index].request == nil else { return }
      picture.attempts[index].request = request
      requestTimes[request.id] = request.createdAt
    case .stored(let id):
      let isLocal = order.isLocal
      change(id) { $0.stored(at: fact.at, isLocal: isLocal) }
    case .relayed(let id, let confirmed, let count): change(id) { $0.relayed(confirmed, of: count, at: fact.at) }
    case .unpublished(let id, let why):
      change(id) { attempt in
        attempt.isUnpublished = true
        attempt.problem = why
      }
    case .undone(let number, let why):
      guard let index = index(ofAttempt: number) else { return }
      picture.attempts[index].isUndone = true
      picture.attempts[index].problem = why
    case .answered(let answer): take(answer, at: fact.at)
    case .approved(let intent):
      approvals[intent.provider, default: []].append(intent)
      pair(intent.provider) { pair in
        pair.intent = intent
        pair.intentAt = fact.at
      }
    case .paid(let provider, let hash, _):
      paidHashes[provider] = paidHashes[provider] ?? hash
      take(PaymentProof(hash: hash, provider: provider, at: fact.at))
      pair(provider) { $0.paidAt = $0.paidAt ?? fact.at }
    case .zapRequested, .unzapped, .walletNamed, .receipted, .objected: takeZap(fact)
    case .denied(let provider, let isAutomatic): denials[provider] = (fact.at, isAutomatic)
    case .lapsed(let phase, let attempt, let provider): lapsed(phase, attempt, provider, at: fact.at)
    case .withdrawn(let id): change(id) { $0.isWithdrawn = true }
    case .ended: return
    }
  }

  private mutating func takeZap(_ fact: JobFact) {
    switch fact.what {
    case .zapRequested(let request): zaps.take(request, at: fact.at)
    case .unzapped(let target, let why): zaps.take(problem: why, of: target, at: fact.at)
    case .walletNamed(let provider, let wallet): zaps.take(wallet: wallet, of: provider, at: fact.at)
    case .receipted(let receipt): zaps.take(receipt, at: fact.at)
    case .objected(let receipt, let objection): zaps.take(objection, to: receipt)
    default: return
    }
  }

  /// Keeps one fact for each event: the decrypted one, else the one as it came.
  private mutating func take(_ answer: JobAnswerFact, at: Int64) {
    seen.insert(answer.event)
    let known = events[answer.event]
    if let known, known.fact.isOpened || !answer.isOpened { return }
    events[answer.event] = (known?.at ?? at, answer)
  }

  /// Gives an answer that counts to its provider, and counts one that does not.
  private mutating func distribute() {
    for (event, said) in events {
      for (word, count) in said.fact.diagnostics { picture.diagnostics[word, default: 0] += count }
      if let objection = said.fact.objection {
        picture.diagnostics[objection.word, default: 0] += 1
      } else {
        answers[said.fact.provider, default: [:]][event] = said
      }
    }
  }

  private mutating func lapsed(_ phase: JobPhase, _ attempt: Int?, _ provider: PublicKey?, at: Int64) {
    switch phase {
    case .total: isTotalLapsed = true
    case .window: isWindowLapsed = true
    case .agreement: isAgreementLapsed = true
    case .publish, .answer:
      guard let attempt, let index = index(ofAttempt: attempt) else { return }
      if phase == .publish {
        picture.attempts[index].isPublishLapsed = true
      } else {
        picture.attempts[index].isAnswerLapsed = true
      }
    case .result, .decision, .delivery:
      if let provider { lapses[provider, default: [:]][phase] = at }
    }
  }

  // MARK: Lookup

  private func index(ofAttempt number: Int) -> Int? { picture.attempts.firstIndex { $0.number == number } }

  private mutating func change(_ request: EventID, _ body: (inout JobPicture.Attempt) -> Void) {
    guard let index = picture.attempts.firstIndex(where: { $0.request?.id == request }) else { return }
    body(&picture.attempts[index])
  }

  mutating func pair(_ provider: PublicKey, _ body: (inout JobPicture.Pair) -> Void) {
    body(&picture.pairs[provider, default: JobPicture.Pair(provider)])
  }
}

extension JobPicture.Attempt {
  mutating func relayed(_ confirmed: Int, of count: Int, at: Int64) {
    self.confirmed = max(self.confirmed, confirmed)
    relays = max(relays ?? 0, count)
    // Without relays, the store here is all there is.
    if confirmed > 0 || count == 0 { visibleAt = min(visibleAt ?? at, at) }
  }

  mutating func stored(at: Int64, isLocal: Bool) {
    isStored = true
    if isLocal { visibleAt = min(visibleAt ?? at, at) }
  }
}
