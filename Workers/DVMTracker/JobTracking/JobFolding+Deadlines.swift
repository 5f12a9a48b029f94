internal import Contracts
internal import Cryptography
internal import Nostr

// The next deadline. Every state that is not final has one, at least that of the whole job.

extension JobFolding {
  mutating func findDeadline() {
    var found: [JobPicture.Deadline] = [
      deadline(.total, from: order.submittedAt, order.deadlines.total)
    ]
    if let attempt = picture.attempts.last { found += deadlines(of: attempt) }
    for pair in picture.pairs.values { found += deadlines(of: pair) }
    if order.windowSeconds > 0, !isWindowLapsed, let seen = picture.attempts.compactMap(\.visibleAt).min() {
      found.append(deadline(.window, from: seen, order.windowSeconds))
    }
    if order.agreement > 1, picture.taken == nil, !isAgreementLapsed {
      let last = picture.pairs.values.filter { $0.result != nil }.compactMap(\.signs?.upperBound).max()
      if let last { found.append(deadline(.agreement, from: last, order.deadlines.result)) }
    }
    // Of several at one instant always the same one, whatever the order of the dictionary.
    picture.deadline = found.min { left, right in
      if left.at != right.at { return left.at < right.at }
      if left.phase != right.phase { return left.phase.rawValue < right.phase.rawValue }
      return (left.provider?.description ?? "") < (right.provider?.description ?? "")
    }
  }

  private func deadline(
    _ phase: JobPhase, from start: Int64, _ seconds: Int64, attempt: Int? = nil, provider: PublicKey? = nil
  ) -> JobPicture.Deadline {
    let length = seconds.multipliedReportingOverflow(by: 1_000)
    let end = start.addingReportingOverflow(length.partialValue)
    return JobPicture.Deadline(
      phase: phase, attempt: attempt, provider: provider,
      at: length.overflow || end.overflow ? .max : end.partialValue)
  }

  private func deadlines(of attempt: JobPicture.Attempt) -> [JobPicture.Deadline] {
    guard let visibleAt = attempt.visibleAt else {
      if attempt.isPublishLapsed { return [] }
      return [deadline(.publish, from: attempt.startedAt, order.deadlines.publish, attempt: attempt.number)]
    }
    guard !attempt.isAnswerLapsed, let id = attempt.request?.id else { return [] }
    let isAnswered = answers.contains { provider, said in
      isHopeful(provider) && said.values.contains { $0.fact.request == id }
    }
    if isAnswered { return [] }
    return [deadline(.answer, from: visibleAt, order.deadlines.answer, attempt: attempt.number)]
  }

  private func deadlines(of pair: JobPicture.Pair) -> [JobPicture.Deadline] {
    // A provider that is asked again has the time for an answer, as at first.
    guard !pair.isSpent, !pair.isAskedAgain, let last = pair.signs?.upperBound else { return [] }
    if pair.result != nil {
      guard pair.owes, picture.taken?.provider == pair.provider else { return [] }
      return payment(pair)
    }
    switch pair.payment {
    case .asked where pair.isUnpayable:
      // The only possible decision is to deny it. A better bill, or the result, is awaited.
      return pair.isBarren ? [] : [deadline(.result, from: last, order.deadlines.result, provider: pair.provider)]
    case .asked: return payment(pair)
    case .approved, .paid:
      let start = max(pair.paidAt ?? .min, pair.intentAt ?? .min, last)
      return [deadline(.delivery, from: start, order.deadlines.delivery, provider: pair.provider)]
    case .denied, nil:
      return [deadline(.result, from: last, order.deadlines.result, provider: pair.provider)]
    }
  }

  private func payment(_ pair: JobPicture.Pair) -> [JobPicture.Deadline] {
    if pair.payment == .approved, let intentAt = pair.intentAt {
      return [deadline(.delivery, from: intentAt, order.deadlines.delivery, provider: pair.provider)]
    }
    guard let billAt = pair.billAt else { return [] }
    // A bill that cannot be approved waits for something better, not for a decision.
    let (decision, result) = (order.deadlines.decision, order.deadlines.result)
    let seconds = pair.isBeyondApproval ? min(decision, result) : decision
    return [deadline(.decision, from: billAt, seconds, provider: pair.provider)]
  }
}
