internal import Nostr

/// The last NOTICE messages of a relay. Work that fails reports those that came after it was sent: they may be the
/// reason.
///
/// A NOTICE names no subscription, so it ends nothing: otherwise a greeting or an advertisement would end a request
/// that is going well.
struct RecentNotices: Sendable {
  /// A position in the order of all NOTICE messages.
  struct Mark: Sendable { fileprivate let count: Int }

  private var count = 0
  /// As received: to cut a text costs more than everything else that is done with a message, and most texts of a flood
  /// are never reported.
  private var latest: [RelayReason] = []

  /// The position after everything received so far.
  var mark: Mark { Mark(count: count) }

  /// A NOTICE came.
  mutating func note(_ reason: RelayReason, _ limits: SessionLimits) {
    count += 1
    latest.append(reason)
    if latest.count > limits.keptNoticeMaximum { latest.removeFirst() }
  }

  /// The last messages after that position, each cut and on one line.
  func since(_ mark: Mark, _ limits: SessionLimits) -> [String] {
    latest.suffix(count - mark.count).map { reason in
      String(reason.text.prefix(limits.keptNoticeLengthMaximum).map { $0.isNewline ? " " : $0 })
    }
  }
}

extension RelaySession {
  /// The text to add to the failure of work that was sent after that position: `; it said meanwhile: "bad filter"`.
  func said(since mark: RecentNotices.Mark?) -> String {
    guard let mark else { return "" }
    let words = notices.since(mark, limits)
    return words.isEmpty ? "" : "; it said meanwhile: " + words.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}

extension WorkFailure {
  /// The same failure, with words added and perhaps another outcome.
  func adding(_ words: String, _ outcome: WorkOutcome? = nil) -> WorkFailure {
    WorkFailure(
      code, message + words, outcome ?? self.outcome, reason: reason, recordCountMaximum: recordCountMaximum,
      retryAfterMilliseconds: retryAfterMilliseconds)
  }
}
