internal import Nostr

/// What a relay said to people lately: told to those whose work came to nothing after it, since it may be the reason.
///
/// NOTICE names no subscription. So it ends nothing by itself: a greeting or an advertisement would then end a request
/// that goes well.
struct RecentNotices: Sendable {
  /// A place in the order of all NOTICE messages.
  struct Mark: Sendable { fileprivate let count: Int }

  private var count = 0
  /// As they came: cutting a text costs more than all else that is done with a message, and most of a flood is never
  /// told.
  private var latest: [RelayReason] = []

  /// The place behind all that came until now.
  var mark: Mark { Mark(count: count) }

  /// A NOTICE came.
  mutating func note(_ reason: RelayReason, _ limits: SessionLimits) {
    count += 1
    latest.append(reason)
    if latest.count > limits.keptNoticeMaximum { latest.removeFirst() }
  }

  /// The last ones that came after that place, each a line and cut.
  func since(_ mark: Mark, _ limits: SessionLimits) -> [String] {
    latest.suffix(count - mark.count).map { reason in
      String(reason.text.prefix(limits.keptNoticeLengthMaximum).map { $0.isNewline ? " " : $0 })
    }
  }
}

extension RelaySession {
  /// What to add to the failure of work that was sent after that place: `; it said meanwhile: "bad filter"`.
  func said(since mark: RecentNotices.Mark?) -> String {
    guard let mark else { return "" }
    let words = notices.since(mark, limits)
    return words.isEmpty ? "" : "; it said meanwhile: " + words.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}

extension WorkFailure {
  /// The same failure, with more to say or another outcome.
  func adding(_ words: String, _ outcome: WorkOutcome? = nil) -> WorkFailure {
    WorkFailure(
      code, message + words, outcome ?? self.outcome, reason: reason, retryAfterMilliseconds: retryAfterMilliseconds)
  }
}
