internal import Clocks

// What a process knows of a platform that let a push through before it began, with the same settings (the shell keeps
// that; of which tokens it was is not kept). Without it, whoever is the first after a start counts for all: five tokens
// that are none slow everybody down to one push a second. So:
//
//     earlier success     tokens that are refused, and what the platform has against single pushes, say nothing of it,
//                         as if a push had gone through since the start
//     ──▶ none            one goes through: from then on those are known that one went through to, and they count
//     ──▶ in doubt        nothing has gone through, and devices of `ownerMaximum` owners were refused, or the first
//                         refusal is `longestMilliseconds` old: a project or a topic that was removed at the platform's
//                         side, perhaps. Then everybody counts, as after a change of settings: one push a second is
//                         tried, until one goes through
//
// What cannot be a token's fault is believed at once, as always: what is said of the relay's own key
// (`PushReason.isOurs`), a platform that is in trouble, and one that does not answer. Pushes go on in every case, one a
// second at the least.
//
// Rejected: tokens that went through, each in a row; that is a write for each push. To believe the earlier success for
// good: a small relay whose topic was removed would give up wake after wake, and be shown as ready.

/// That a platform let a push through before this process began, and who was refused since, while nothing went through.
struct EarlierSuccess: Sendable {
  /// Owners whose devices were refused, after which it is doubted: more than one address registers in an hour.
  static let ownerMaximum = 128
  /// How long refusals may go on, in milliseconds, until it is doubted.
  static let longestMilliseconds: UInt64 = 600_000

  private var owners: Set<PushOwner> = []
  private var firstRefusal: Instant?

  /// A device was refused.
  mutating func refused(_ owner: PushOwner, at instant: Instant) {
    if firstRefusal == nil { firstRefusal = instant }
    if owners.count < Self.ownerMaximum { owners.insert(owner) }
  }

  /// Whether it says as much as a push that went through since the start.
  func isBelieved(at instant: Instant) -> Bool {
    guard owners.count < Self.ownerMaximum, let firstRefusal else { return owners.isEmpty }
    return instant.milliseconds(since: firstRefusal) < Self.longestMilliseconds
  }
}
