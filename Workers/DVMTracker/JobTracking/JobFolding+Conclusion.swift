internal import Contracts
internal import Cryptography
internal import Frames
internal import Nostr

// Which result is taken, and what follows for the job.

extension JobFolding {
  // MARK: Choosing

  /// The date of a result: as its author says, but not before the request that it answers.
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

  /// What results are compared by: their text without the blanks around it.
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

  /// Sets the state of a job that has not ended, or the end to which it has come.
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
      picture.nextAttempt = JobPicture.Attempt.Next(number: 0, providers: order.rounds[0])
      return become(.drafted)
    }
    if let problem = dead(current) { return become(problem.state, problem.reason) }
    if isSpent(current) { return next(after: current) }
    picture.isCollecting = order.windowSeconds > 0 && !isWindowLapsed
    progress(current)
  }

  /// Sets the state by the providers from which something may still come. A decision about money comes before a further
  /// demand, so that nothing is paid twice.
  private mutating func progress(_ current: JobPicture.Attempt) {
    let pairs = picture.pairs.values.filter { isHopeful($0.provider) }
    let due = pairs.filter { $0.payment == .approved && $0.result == nil }.min { $0.provider < $1.provider }
    if pairs.contains(where: { $0.payment == .paid && $0.result == nil }) {
      become(.processing, "it is paid, and waits for the result" + furtherDemand(pairs))
    } else if pairs.contains(where: { $0.state == .processing || $0.state == .partial || $0.state == .delivered }) {
      become(.processing, due.map { demand($0) + furtherDemand(pairs) })
    } else if let due {
      become(.paymentRequired, demand(due) + furtherDemand(pairs))
    } else if let asking = pairs.filter({ $0.state == .paymentRequired }).min(by: { $0.provider < $1.provider }) {
      become(.paymentRequired, demand(asking))
    } else {
      become(current.visibleAt == nil ? .drafted : .published, current.problem)
    }
  }

  private func settlement(_ pair: JobPicture.Pair) -> String? {
    switch pair.payment {
    case .denied: denial(pair)
    case .approved where pair.intentAt != nil: "its payment was approved, and no proof of it was shown"
    default: nil
    }
  }

  private static func unzapped(_ problem: String) -> String { "its zap cannot be made: \(problem)" }

  private func demand(_ pair: JobPicture.Pair) -> String {
    if pair.payment == .approved, let intent = pair.intent {
      return "approved, to be paid: \(Amount.satoshis(intent.amount))"
    }
    let wish = "its provider wants " + (pair.bill?.amount.map { Amount.satoshis($0) } ?? "to be paid")
    if pair.isBeyondApproval { return "\(wish), which cannot be approved: \(Self.obstacle(pair))" }
    let isForSomebody = order.paymentMode == .auto && !order.isPaidUnasked(pair, picture)
    if isForSomebody, pair.wasDenied { return wish + " after it was denied a payment: a person has to approve that" }
    return isForSomebody ? wish + " before its result, and was not named: a person has to approve that" : wish
  }

  /// What another provider asks for while a payment is open: the job's own rule approves one payment at a time.
  private func furtherDemand(_ pairs: [JobPicture.Pair]) -> String {
    let asking = pairs.filter { $0.payment == .asked && !$0.isUnpayable }
    guard order.paymentMode == .auto, let next = asking.min(by: { $0.provider < $1.provider }) else { return "" }
    let wish = next.bill?.amount.map { Amount.satoshis($0) } ?? "to be paid"
    return "; another provider wants \(wish): meanwhile a person has to approve that"
  }

  /// Why the demand of a provider cannot be approved.
  private static func obstacle(_ pair: JobPicture.Pair) -> String {
    pair.excess ?? pair.bill?.problem ?? "it does not say how much"
  }

  private var disagreement: String {
    let count = picture.pairs.values.filter { $0.result != nil }.count
    return "\(count) providers gave results, and no \(order.agreement) of them the same one"
  }

  // MARK: Attempts

  /// Why an attempt ends the whole job; nil if it does not.
  private func dead(_ attempt: JobPicture.Attempt) -> (state: Job.State, reason: String)? {
    if attempt.isUndone {
      return following(attempt) != nil ? nil : (.failed, attempt.problem ?? "its request cannot be made")
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

  /// The attempt that follows one that has come to nothing: a new request to the providers that fell silent, as long as
  /// the order has retries, and then the first request to the next provider. A provider is not asked again if it has
  /// said that it cannot do the job, wants money that it does not get, or was paid.
  private func following(_ attempt: JobPicture.Attempt) -> JobPicture.Attempt.Next? {
    let count = order.roundAttempts
    let round = attempt.number / count
    let number = attempt.number + 1
    if number / count == round, !attempt.isUndone {
      let silent = attempt.providers.filter { picture.pairs[$0]?.mayBeAskedAgain == true }
      let isOpen =
        attempt.providers.isEmpty
        && heard(attempt).allSatisfy { provider in
          picture.pairs[provider].map { $0.mayBeAskedAgain || $0.isBarren } ?? false
        }
      if isOpen || !silent.isEmpty { return JobPicture.Attempt.Next(number: number, providers: silent) }
    }
    guard round + 1 < order.rounds.count else { return nil }
    return JobPicture.Attempt.Next(number: (round + 1) * count, providers: order.rounds[round + 1])
  }

  /// The providers that have answered an attempt, or an earlier request of its round, which counts as well.
  private func heard(_ attempt: JobPicture.Attempt) -> [PublicKey] {
    let round = attempt.number / order.roundAttempts
    let ids = Set(
      picture.attempts.filter { $0.number / order.roundAttempts == round }.compactMap { $0.request?.id })
    return Array(answers.filter { $0.value.values.contains { ids.contains($0.fact.request) } }.keys)
  }

  /// Whether none of the providers that it asked will bring a result.
  private func isSpent(_ attempt: JobPicture.Attempt) -> Bool {
    if attempt.isUndone { return true }
    guard attempt.request != nil, attempt.visibleAt != nil else { return false }
    // Results without enough others that agree wait for others, up to a deadline.
    let isAwaited = (heard(attempt) + attempt.providers).contains { isHopeful($0) }
    if attempt.providers.isEmpty {
      return attempt.isAnswerLapsed && !isAwaited
    }
    guard order.agreement > 1 else { return !isAwaited }
    return attempt.providers.allSatisfy { picture.pairs[$0]?.isSpent == true || picture.pairs[$0]?.result != nil }
  }

  /// Whether anything is still expected of a provider.
  func isHopeful(_ provider: PublicKey) -> Bool {
    picture.pairs[provider].map { !$0.isSpent && !$0.isBarren } ?? false
  }

  private mutating func next(after attempt: JobPicture.Attempt) {
    if let next = following(attempt) {
      picture.nextAttempt = next
      return become(.published, attempt.problem)
    }
    let pairs = picture.pairs.values.sorted { $0.provider < $1.provider }
    if order.agreement > 1, pairs.contains(where: { $0.result != nil }) { return become(.failed, disagreement) }
    let undelivered = pairs.filter(\.isUndelivered)
    if undelivered.contains(where: { $0.payment == .paid }) {
      return become(.expired, "it was paid for, and not delivered in time")
    }
    if !undelivered.isEmpty {
      let what = "its payment was approved, no proof of it was shown, and nothing was delivered in time"
      return become(.expired, what)
    }
    if let failed = pairs.first(where: { $0.state == .error }) {
      return become(.failed, "its provider cannot do it" + (failed.message.map { ": " + Self.quoted($0) } ?? ""))
    }
    if let unpaid = pairs.first(where: { $0.payment == .denied }) { return become(.failed, denial(unpaid)) }
    if let unpayable = pairs.first(where: \.isUnpayable) {
      return become(.expired, "its provider wants to be paid, which cannot be approved: \(Self.obstacle(unpayable))")
    }
    if pairs.contains(where: { $0.signs != nil }) {
      return become(.expired, "its provider has sent no result within \(Self.span(order.deadlines.result))")
    }
    let count = picture.requests.count
    become(
      .expired,
      "no provider has answered within \(Self.span(order.deadlines.answer))"
        + (order.retries > 0 && count > 1 ? ", in \(count) attempts" : ""))
  }

  private func denial(_ pair: JobPicture.Pair) -> String {
    if let problem = pair.zapProblem { return Self.unzapped(problem) }
    if let denied = denials[pair.provider] {
      return denied.isAutomatic ? "its provider wants to be paid, and nothing is to be" : "its payment was denied"
    }
    if pair.isBeyondApproval { return "what its provider wants cannot be approved: \(Self.obstacle(pair))" }
    return "its payment was neither approved nor denied within \(Self.span(order.deadlines.decision))"
  }

  /// Most characters of a stranger's words in a reason; the provider's message has all of them.
  private static let quotedCharacterMaximum = 200

  /// A stranger's words within a sentence of ours: in quotation marks that do not occur in them, in one line, and cut.
  static func quoted(_ words: String) -> String {
    var line = ""
    for scalar in words.unicodeScalars.prefix(quotedCharacterMaximum) {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: line += " "
      case .format, .surrogate, .privateUse, .unassigned: break
      default: line.unicodeScalars.append(scalar == "\"" ? "'" : scalar)
      }
    }
    return "\"\(line)\(words.unicodeScalars.count > quotedCharacterMaximum ? "…" : "")\""
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

extension JobPicture.Pair {
  /// Whether a new request may bring what the last one did not: the provider is silent, and no payment to it is open or
  /// decided.
  fileprivate var mayBeAskedAgain: Bool { state == .silent && payment == nil }
}
