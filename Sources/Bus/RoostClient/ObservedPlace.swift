// How an observation goes on after a lost connection. Pure.
//
//   stored ── the end of what is stored ──▶ live
//
// Live events come in the order of their seq: the last one says where to go on. Stored ones come newest first, so that
// no number says what is still missing: whoever was cut off among them asks again, and what he has already is passed
// over when it comes again. For that the numbers of stored events are remembered, up to a bound, and forgotten at the
// end of what is stored.

/// Where an observer is: what it says when it has to ask again, and what it was given before.
struct ObservedPlace: Sendable {
  /// What to say as `afterSeq`; nil until all that was stored has been given.
  private(set) var resumeSeq: Int64?
  private var isEndTold = false
  private var given: Set<Int64> = []

  /// Most stored events whose numbers are remembered (8 MiB of them). Of a longer answer that is cut off, what comes
  /// behind these may be given twice.
  static let rememberedMaximum = 1 << 20

  init(after seq: Int64?) { resumeSeq = seq }

  /// Takes note of an item; false for one that was given before.
  mutating func isNew(_ item: ObservedItem) -> Bool {
    switch item {
    case .event(let event):
      guard let seq = event.seq else { return true }
      if let last = resumeSeq {
        // One of a lower seq is no repetition: a relay that counts has just sent what was stored before.
        resumeSeq = max(last, seq)
        return true
      }
      guard !given.contains(seq) else { return false }
      if given.count < Self.rememberedMaximum { given.insert(seq) }
      return true
    case .storedEnd(let seq):
      defer { isEndTold = true }
      resumeSeq = max(resumeSeq ?? seq, seq)
      given = []
      return !isEndTold
    }
  }
}
