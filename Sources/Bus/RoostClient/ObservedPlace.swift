// How an observation continues after a lost connection. Pure.
//
//   stored ── the end of what is stored ──▶ live
//
// Live events arrive in the order of their seq: the last one says where to continue. Stored events arrive newest first,
// so that no seq says which ones are still missing. A client that lost its connection among them sends the request
// again, and skips the events that it already has. For that it remembers the seqs of stored events, up to a limit, and
// forgets them at the end of the stored events.

/// The position of an observer: how it continues after an interruption, and which events it already has.
struct ObservedPlace: Sendable {
  /// The next `afterSeq`; nil until all stored events have arrived.
  private(set) var resumeSeq: Int64?
  private var isEndTold = false
  private var given: Set<Int64> = []

  /// The maximum number of stored events whose seqs are remembered (8 MiB of them). When a longer answer is
  /// interrupted, events after these may be returned twice.
  static let rememberedMaximum = 1 << 20

  init(after seq: Int64?) { resumeSeq = seq }

  /// Records an item; false for one that was returned before.
  mutating func isNew(_ item: ObservedItem) -> Bool {
    switch item {
    case .event(let event): isNew(seq: event.seq)
    case .storedEnd(let seq): isNewEnd(seq: seq)
    }
  }

  /// Records an event with this seq; false for one that was returned before.
  mutating func isNew(seq: Int64?) -> Bool {
    guard let seq else { return true }
    if let last = resumeSeq {
      // A lower seq is not a repetition: a relay that counts has just sent an event that was stored before.
      resumeSeq = max(last, seq)
      return true
    }
    guard !given.contains(seq) else { return false }
    if given.count < Self.rememberedMaximum { given.insert(seq) }
    return true
  }

  /// Records the end of the stored events; false if it was returned before.
  mutating func isNewEnd(seq: Int64) -> Bool {
    defer { isEndTold = true }
    resumeSeq = max(resumeSeq ?? seq, seq)
    given = []
    return !isEndTold
  }
}
