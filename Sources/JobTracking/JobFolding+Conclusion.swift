internal import Contracts
internal import Cryptography
internal import Nostr

// Which result is taken, and what follows for the job.

extension JobFolding {
  // MARK: Choosing

  /// When a result counts as made: as its author says, and not before what it answers.
  private func date(_ result: JobAnswerFact) -> Int64 { max(result.createdAt, requestTimes[result.request] ?? .min) }

  private func isEarlier(_ left: JobAnswerFact, _ right: JobAnswerFact) -> Bool {
    let (leftDate, rightDate) = (date(left), date(right))
    return leftDate == rightDate ? left.event < right.event : leftDate < rightDate
  }

  mutating func choose() {
    let results = picture.pairs.values.compactMap(\.result)
    guard !results.isEmpty else { return }
    let paid = Set(picture.pairs.values.filter { $0.paidAt != nil }.map(\.provider))
    var groups: [[UInt8]: [JobAnswerFact]] = [:]
    for result in results { groups[Self.substance(result), default: []].append(result) }
    let agreed = groups.values.filter { $0.count >= order.agreement }
    let firsts = agreed.compactMap { group in
      group.filter { paid.contains($0.provider) }.min(by: isEarlier) ?? group.min(by: isEarlier)
    }
    let chosen = firsts.filter { paid.contains($0.provider) }.min(by: isEarlier) ?? firsts.min(by: isEarlier)
    guard let chosen else { return }
    picture.taken = chosen
    let differing = results.count - (groups[Self.substance(chosen)]?.count ?? 0)
    if differing > 0 { picture.diagnostics[JobPicture.contradictionWord] = differing }
  }

  /// What two results are compared by: their text without the blanks around it.
  private static func substance(_ result: JobAnswerFact) -> [UInt8] {
    let bytes = Array((result.content ?? "").utf8)
    guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 }) else {
      return []
    }
    return Array(bytes[first...last])
  }

  // MARK: Concluding

  private mutating func become(_ state: Job.State, _ reason: String? = nil) {
    (picture.state, picture.reason) = (state, reason)
  }

  /// Says how far a job is that has not ended, or to which end it has come.
  mutating func conclude() {
    if let taken = picture.taken, let pair = picture.pairs[taken.provider] {
      guard pair.owes else { return become(.settled, settlement(pair)) }
      return isTotalLapsed ? become(.settled, "its provider was not paid in time") : become(.delivered, demand(pair))
    }
    if isTotalLapsed { return become(.expired, "\(Self.span(order.deadlines.total)) were over") }
    if isAgreementLapsed { return become(.failed, disagreement) }
    guard picture.feeds.count == order.dependencies.count else {
      return become(.waiting, "it waits for the result of another job")
    }
    guard let current = picture.attempts.last else {
      picture.nextAttempt = 0
      return become(.drafted)
    }
    if let problem = dead(current) { return become(problem.state, problem.reason) }
    if isSpent(current) { return next(after: current) }
    let pairs = picture.pairs.values.filter { !$0.isSpent }
    picture.isCollecting = order.windowSeconds > 0 && !isWindowLapsed
    if pairs.contains(where: { $0.state == .processing || $0.state == .partial || $0.state == .delivered }) {
      become(.processing)
    } else if let asking = pairs.filter({ $0.state == .paymentRequired }).min(by: { $0.provider < $1.provider }) {
      become(.paymentRequired, demand(asking))
    } else {
      become(current.visibleAt == nil ? .drafted : .published, current.problem)
    }
  }

  private func settlement(_ pair: JobPicture.Pair) -> String? {
    switch pair.payment {
    case .denied: "its payment was denied"
    case .approved where pair.intentAt != nil: "its payment was approved, and no proof of it was shown"
    default: nil
    }
  }

  private func demand(_ pair: JobPicture.Pair) -> String {
    guard let amount = pair.bill?.amount else { return "its provider wants to be paid" }
    return "its provider wants \(amount) millisatoshi"
  }

  private var disagreement: String {
    let count = picture.pairs.values.filter { $0.result != nil }.count
    return "\(count) providers gave results, and no \(order.agreement) of them the same one"
  }

  // MARK: Attempts

  /// Why an attempt ends the whole job.
  private func dead(_ attempt: JobPicture.Attempt) -> (state: Job.State, reason: String)? {
    if attempt.isUndone {
      return hasNext(after: attempt) ? nil : (.failed, attempt.problem ?? "its request cannot be made")
    }
    guard attempt.visibleAt == nil else { return nil }
    if attempt.isUnpublished { return (.failed, attempt.problem ?? "no relay has taken its request") }
    guard attempt.isPublishLapsed else { return nil }
    return (
      .expired,
      "no relay has taken its request within \(Self.span(order.deadlines.publish))"
        + (attempt.problem.map { ": \($0)" } ?? "")
    )
  }

  private func hasNext(after attempt: JobPicture.Attempt) -> Bool { attempt.number + 1 < order.rounds.count }

  /// Whether nobody who was asked by it will bring a result.
  private func isSpent(_ attempt: JobPicture.Attempt) -> Bool {
    if attempt.isUndone { return true }
    guard let id = attempt.request?.id, attempt.visibleAt != nil else { return false }
    let heard = answers.filter { $0.value.values.contains { $0.fact.request == id } }.keys
    // Results that no other agrees with are waited with for others, up to a deadline.
    let isHopeful = (Array(heard) + attempt.providers).contains { picture.pairs[$0]?.isSpent == false }
    if attempt.providers.isEmpty {
      return attempt.isAnswerLapsed && !isHopeful
    }
    guard order.agreement > 1 else { return !isHopeful }
    return attempt.providers.allSatisfy { picture.pairs[$0]?.isSpent == true || picture.pairs[$0]?.result != nil }
  }

  private mutating func next(after attempt: JobPicture.Attempt) {
    if hasNext(after: attempt) {
      picture.nextAttempt = attempt.number + 1
      return become(.published, attempt.problem)
    }
    let pairs = picture.pairs.values.sorted { $0.provider < $1.provider }
    if order.agreement > 1, pairs.contains(where: { $0.result != nil }) { return become(.failed, disagreement) }
    if pairs.contains(where: \.isUndelivered) { return become(.expired, "it was paid for, and not delivered in time") }
    if let failed = pairs.first(where: { $0.state == .error }) {
      return become(.failed, "its provider cannot do it" + (failed.message.map { ": \($0)" } ?? ""))
    }
    if let unpaid = pairs.first(where: { $0.payment == .denied }) { return become(.failed, denial(unpaid)) }
    if pairs.contains(where: { $0.signs != nil }) {
      return become(.expired, "its provider has sent no result within \(Self.span(order.deadlines.result))")
    }
    become(.expired, "nobody has answered within \(Self.span(order.deadlines.answer))")
  }

  private func denial(_ pair: JobPicture.Pair) -> String {
    if let denied = denials[pair.provider] {
      return denied.isAutomatic ? "its provider wants to be paid, and nothing is to be" : "its payment was denied"
    }
    return "nobody has decided about its payment within \(Self.span(order.deadlines.decision))"
  }

  /// `10 minutes`
  static func span(_ seconds: Int64) -> String {
    guard seconds > 0 else { return "0 seconds" }
    for (unit, name) in [(Int64(86_400), "day"), (3_600, "hour"), (60, "minute")] where seconds % unit == 0 {
      let count = seconds / unit
      return "\(count) \(name)\(count == 1 ? "" : "s")"
    }
    return "\(seconds) second\(seconds == 1 ? "" : "s")"
  }
}
