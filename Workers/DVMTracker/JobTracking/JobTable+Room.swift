internal import Contracts
internal import Cryptography
internal import Nostr

// What is kept of everything that is sent. Keys cost nothing, so there can always be more of them than places. So
// coming first does not secure a place. Named providers always have theirs. The others are ranked by what they have
// sent: results first, then bills that could be approved, then everything else. Among equals the one with the earlier
// date stays, then the one with the lower key. So the order of arrival does not matter.

/// How much a provider's place in a job is worth.
struct ProviderStanding: Comparable, Sendable {
  /// The best that a provider has sent.
  enum Rank: Int, Sendable, Comparable {
    /// Something that does not count.
    case noise
    /// Progress, a partial result, an error, a bill that cannot be approved, or something that is still encrypted.
    case word
    /// A bill in order.
    case bill
    /// A result.
    case result

    static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }

    init(_ answer: JobAnswerFact) {
      if !answer.counts {
        self = .noise
      } else if answer.isResult, answer.sealed == nil {
        self = .result
      } else {
        self = answer.bill?.isInOrder == true ? .bill : .word
      }
    }
  }

  var rank: Rank
  /// The date of the first of these, but not before the request that it answers, seconds since 1970.
  var date: Int64
  var provider: PublicKey

  /// The standing of a provider that has sent these answers; nil if there are no answers.
  init?(_ said: [JobAnswerFact], of provider: PublicKey, requests: [EventID: Int64]) {
    guard let rank = said.map(Rank.init).max() else { return nil }
    let dates = said.filter { Rank($0) == rank }.map { max($0.createdAt, requests[$0.request] ?? .min) }
    (self.rank, self.date, self.provider) = (rank, dates.min() ?? .max, provider)
  }

  /// Whether the left one makes room for the right one.
  static func < (left: ProviderStanding, right: ProviderStanding) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.date != right.date { return left.date > right.date }
    return right.provider < left.provider
  }
}

extension JobTable {
  /// Whether an answer can be kept; one that is worth less makes room for it.
  mutating func makeRoom(for answer: JobAnswerFact, _ id: JobID, _ record: JobRecord) -> Bool {
    let onTheWay = answersOnTheWay(id)
    if let endedAt = record.picture.endedAt {
      let late = record.facts.filter { fact in
        if case .answered = fact.what { fact.at > endedAt } else { false }
      }
      return late.count + onTheWay.count < limits.lateMaximum
    }
    let gone = Set((queued.dropped + (outstanding?.batch.dropped ?? [])).map(\.event))
    let kept = record.answers.filter { !gone.contains($0.event) }
    var all = kept + onTheWay
    if !all.contains(where: { $0.provider == answer.provider }) {
      switch place(for: answer, among: all, id, record) {
      case .free: break
      case .insteadOf(let displaced):
        drop(all.filter { $0.provider == displaced }, of: id)
        all.removeAll { $0.provider == displaced }
      case .none: return false
      }
    }
    let said = all.filter { $0.provider == answer.provider }
    let resultCount = said.count(where: \.isResult)
    let isFirst = answer.isResult ? resultCount == 0 : answer.bill != nil && !said.contains { $0.bill != nil }
    let isWithinBytes = all.reduce(answer.byteCount) { $0 + $1.byteCount } <= limits.answerByteCountMaximum
    guard isWithinBytes || isFirst else { return false }
    if answer.isResult { return resultCount < limits.resultMaximum }
    let feedback = said.filter { !$0.isResult }
    guard feedback.count >= limits.feedbackMaximum else { return true }
    let written = Set(kept.map(\.event))
    let spare = feedback.filter { $0.bill == nil && written.contains($0.event) }
    guard let oldest = spare.min(by: JobAnswerFact.isOlder) else { return false }
    queued.dropped.append((id, oldest.event))
    return true
  }

  private enum Place {
    case free
    case insteadOf(PublicKey)
    case none
  }

  /// A place for a provider that has sent nothing before.
  private func place(
    for answer: JobAnswerFact, among all: [JobAnswerFact], _ id: JobID, _ record: JobRecord
  ) -> Place {
    let named = Set(record.order.providers)
    let said = Dictionary(grouping: all, by: \.provider)
    guard !named.contains(answer.provider), named.union(said.keys).count >= limits.providerMaximum else {
      return .free
    }
    var requests: [EventID: Int64] = [:]
    for request in record.picture.requests { requests[request.id] = request.createdAt }
    let others = said.filter { !named.contains($0.key) && !isInvolvedInPayment($0.key, id, record) }
    let standings = others.compactMap { ProviderStanding($0.value, of: $0.key, requests: requests) }
    guard let least = standings.min(),
      let next = ProviderStanding([answer], of: answer.provider, requests: requests), least < next
    else { return .none }
    return .insteadOf(least.provider)
  }

  /// Whether a payment to a provider was approved or made: then its bills stay.
  private func isInvolvedInPayment(_ provider: PublicKey, _ id: JobID, _ record: JobRecord) -> Bool {
    if let pair = record.picture.pairs[provider], pair.intent != nil || pair.paidAt != nil { return true }
    return hasPending(id) { what in
      switch what {
      case .approved(let intent): intent.provider == provider
      case .paid(let payee, _, _): payee == provider
      default: false
      }
    }
  }

  /// Answers that are not on disk yet.
  private func answersOnTheWay(_ id: JobID) -> [JobAnswerFact] {
    let gone = Set(queued.dropped.map(\.event))
    return (queued.entries + (outstanding?.batch.entries ?? [])).compactMap { entry in
      guard entry.job == id, case .answered(let answer) = entry.fact.what else { return nil }
      return gone.contains(answer.event) ? nil : answer
    }
  }

  private mutating func drop(_ answers: [JobAnswerFact], of id: JobID) { drop(Set(answers.map(\.event)), of: id) }

  /// Forgets answers and receipts: those that wait for the disk are not written; the next batch deletes the others.
  mutating func drop(_ events: Set<EventID>, of id: JobID) {
    guard !events.isEmpty else { return }
    let count = queued.entries.count
    queued.entries.removeAll { $0.job == id && $0.fact.isEvent(among: events) }
    records[id]?.pendingCount -= count - queued.entries.count
    records[id]?.droppedCount += events.count
    for event in events { queued.dropped.append((id, event)) }
  }
}
