internal import Contracts
internal import Cryptography
internal import Nostr

// What each provider has said, and what was decided about it. What concerns one provider does not affect another.

extension JobFolding {
  /// An attempt that a provider has answered is visible, whatever relays say.
  mutating func foldAttempts() {
    var firstSigns: [EventID: Int64] = [:]
    for said in answers.values.flatMap(\.values) {
      firstSigns[said.fact.request] = min(firstSigns[said.fact.request] ?? .max, said.at)
    }
    for index in picture.attempts.indices {
      guard let id = picture.attempts[index].request?.id, let sign = firstSigns[id] else { continue }
      picture.attempts[index].visibleAt = min(picture.attempts[index].visibleAt ?? sign, sign)
    }
  }

  mutating func foldPairs() {
    for attempt in picture.attempts {
      for provider in attempt.providers { pair(provider) { _ in } }
    }
    for provider in answers.keys { pair(provider) { _ in } }
    for provider in Array(picture.pairs.keys) {
      let said = answers[provider].map { Array($0.values) } ?? []
      var pair = picture.pairs[provider] ?? JobPicture.Pair(provider)
      listen(said, &pair)
      judgePayment(said, &pair)
      judgeSilence(&pair)
      picture.pairs[provider] = pair
    }
  }

  private func listen(_ said: [(at: Int64, fact: JobAnswerFact)], _ pair: inout JobPicture.Pair) {
    guard let first = said.map(\.at).min(), let last = said.map(\.at).max() else { return }
    pair.signs = first...last
    let results = said.map(\.fact).filter { $0.isResult && $0.sealed == nil }
    pair.resultCount = results.count
    pair.result = results.max(by: JobAnswerFact.isOlder)
    let feedback = said.map(\.fact).filter { !$0.isResult }
    let newest = feedback.max(by: JobAnswerFact.isOlder)
    // What was said before a result does not describe the result.
    let isOver = newest.flatMap { said in pair.result.map { JobAnswerFact.isOlder(said, $0) } } ?? false
    pair.message = isOver ? nil : newest?.remark
    pair.partial =
      feedback.filter { $0.status != .error && $0.content?.isEmpty == false }.max(by: JobAnswerFact.isOlder)?.content
    if !isOver, pair.message == nil, let newest, newest.status == .error || newest.status == .paymentRequired {
      pair.message = newest.content.map { JobAnswerFact.cut($0, TrackingLimits().remarkByteCountMaximum).text }
    }
    pair.state =
      switch newest?.status {
      case _ where pair.result != nil: .delivered
      case .partial: .partial
      case .paymentRequired: .paymentRequired
      case .error: .error
      case .processing, .success, nil: .processing
      }
  }

  // MARK: Money

  private func judgePayment(_ said: [(at: Int64, fact: JobAnswerFact)], _ pair: inout JobPicture.Pair) {
    let (provider, paidHash) = (pair.provider, paidHashes[pair.provider])
    if let paid = approvals[provider]?.last(where: { $0.key == paidHash }) { pair.intent = paid }
    let isRenewed = Self.isRenewed(said, pair.intent)
    let (deniedAt, why) = denial(of: pair)
    let isApproved = !isRenewed && pair.intentAt.map { $0 > deniedAt } == true
    let stands = isApproved || pair.paidAt != nil || paidHash != nil
    let asked = Self.asking(said, stands ? pair.intent : nil)
    pair.bill = asked?.fact.bill
    pair.billAt = asked?.at
    pair.billedBy = asked?.fact.event
    pair.excess = JobTable.intent(pair, isAutomatic: false).flatMap { order.excess($0.amount) }
    pair.wasDenied = denials[provider].map { !$0.isAutomatic && $0.at > pair.intentAt ?? .min } ?? false
    let wants = wants(pair, asked?.fact)
    pair.billAt = pair.billAt ?? (wants ? pair.signs?.upperBound : nil)
    // If the approved invoice has expired and another one was shown, a denial from before that approval does not apply
    // to the new one.
    let isDenied =
      deniedAt > (isRenewed ? pair.intentAt ?? .min : .min) && !isNewQuestion(asked, pair, said, behind: deniedAt)
    if pair.paidAt != nil {
      pair.payment = .paid
    } else if isApproved {
      pair.payment = .approved
    } else if isDenied, asked != nil || wants {
      pair.payment = .denied
      if let why { pair.zapProblem = why }
    } else if wants {
      pair.payment = .asked
    }
    judgeDebt(wants, &pair)
  }

  /// What follows from the state of the payment.
  private func judgeDebt(_ wants: Bool, _ pair: inout JobPicture.Pair) {
    pair.isBarren = order.providers.isEmpty && pair.isUnpayable && pair.state == .paymentRequired
    pair.owes = wants && (pair.payment == .asked || pair.payment == .approved)
    if pair.payment == .denied, pair.result == nil { pair.isSpent = true }
  }

  /// When paying a provider was last denied, or the deadline for the decision passed; and why, if the reason is that
  /// its zap cannot be made.
  private func denial(of pair: JobPicture.Pair) -> (at: Int64, why: String?) {
    let at = max(denials[pair.provider]?.at ?? .min, lapses[pair.provider]?[.decision] ?? .min)
    guard let target = pair.intent?.zapTarget, let problem = zaps.problems[target], problem.at >= at else {
      return (at, nil)
    }
    return (problem.at, problem.why)
  }

  /// Whether a bill came after a denial, can be approved, and was not shown before the denial: a denial covers what was
  /// known at its time.
  private func isNewQuestion(
    _ asked: (at: Int64, fact: JobAnswerFact)?, _ pair: JobPicture.Pair, _ said: [(at: Int64, fact: JobAnswerFact)],
    behind deniedAt: Int64
  ) -> Bool {
    guard let asked, asked.at > deniedAt, let bill = asked.fact.bill, !pair.isBeyondApproval else { return false }
    return !said.contains { $0.at <= deniedAt && $0.fact.bill.map(bill.isSame) == true }
  }

  /// The last answer that asks for money. One that was approved or paid goes before the others.
  private static func asking(
    _ said: [(at: Int64, fact: JobAnswerFact)], _ intent: PaymentIntent?
  ) -> (at: Int64, fact: JobAnswerFact)? {
    let asking = said.filter { $0.fact.bill != nil }
    let approved = asking.filter { intent?.pays($0.fact) == true }
    return (approved.isEmpty ? asking : approved).max { JobAnswerFact.isOlder($0.fact, $1.fact) }
  }

  /// Whether an approved invoice had expired when its provider showed another one. An invoice with the same payment
  /// hash is not another one.
  private static func isRenewed(_ said: [(at: Int64, fact: JobAnswerFact)], _ intent: PaymentIntent?) -> Bool {
    guard let intent, intent.zapTarget == nil, let shown = said.first(where: { intent.pays($0.fact) })?.fact,
      let expiresAt = shown.bill?.expiresAt
    else { return false }
    return said.contains { at, fact in
      guard let bill = fact.bill, bill.isInOrder, bill.paymentHash != intent.key else { return false }
      return at / 1_000 >= expiresAt && JobAnswerFact.isOlder(shown, fact)
    }
  }

  /// Whether a provider waits for money. A provider that sends a result after a bill, and asks for nothing with it,
  /// considers itself paid.
  private func wants(_ pair: JobPicture.Pair, _ asked: JobAnswerFact?) -> Bool {
    guard let asked else { return pair.state == .paymentRequired && pair.result == nil }
    guard let result = pair.result else { return true }
    return !JobAnswerFact.isOlder(asked, result)
  }

  // MARK: Silence

  private func judgeSilence(_ pair: inout JobPicture.Pair) {
    guard pair.result == nil else {
      // Approved, and no proof of payment in time: nothing more is awaited.
      if pair.payment == .approved, let lapse = lapses[pair.provider]?[.delivery], lapse > (pair.intentAt ?? .max) {
        pair.owes = false
      }
      return
    }
    if pair.state == .error {
      pair.isSpent = true
      return
    }
    let last = pair.signs?.upperBound ?? .min
    // A provider that is asked again is awaited again; what it said before is not a sign of that.
    let asked = picture.attempts.last { $0.providers.contains(pair.provider) }
    let since = max(last, asked?.startedAt ?? .min)
    let delivery = lapses[pair.provider]?[.delivery] ?? .min
    let quiet = max(lapses[pair.provider]?[.result] ?? .min, delivery)
    let isUnheard = asked.map { last < $0.startedAt && ($0.isAnswerLapsed || $0.isPublishLapsed) } ?? false
    guard quiet > since || isUnheard else {
      pair.isAskedAgain = since > max(last, quiet) && pair.signs != nil && pair.payment == nil
      if pair.isAskedAgain { pair.state = .asked }
      return
    }
    pair.state = .silent
    pair.isSpent = true
    pair.isUndelivered = delivery > last && (pair.payment == .paid || pair.payment == .approved)
  }
}
