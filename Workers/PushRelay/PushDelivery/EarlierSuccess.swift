internal import Clocks

// What a process knows about a platform that accepted a push before the process began, with the same settings. The
// shell keeps this fact, but not for which tokens. Without it, the first devices after a start would decide for all:
// five invalid tokens would slow all pushes down to one a second. The states are:
//
//     earlier success     refused tokens, and the platform's objections to single pushes, say nothing about the
//                         platform, as if a push had succeeded since the start
//     ──▶ none            a push succeeds: from then on, tokens with a success are known, and only they count
//     ──▶ in doubt        no push has succeeded, and devices of `ownerMaximum` owners were refused, or the first
//                         refusal is `longestMilliseconds` old: perhaps a project or a topic was removed at the
//                         platform. Then all refusals count, as after a change of settings: one push a second is tried,
//                         until one succeeds
//
// A fault that no token can cause is believed immediately, as always: objections to the relay's own key
// (`PushReason.isOurs`), a platform that reports trouble, and one that does not answer. Pushes continue in every case,
// at least one a second.
//
// Rejected: writing down each token with a success, because that is a write for each push; and believing the earlier
// success forever, because a small relay whose topic was removed would give up wake after wake, and be shown as ready.

/// That a platform accepted a push before this process began, and which owners were refused since, while no push
/// succeeded.
struct EarlierSuccess: Sendable {
  /// The number of owners with refused devices after which it is doubted: more than one address can register in an
  /// hour.
  static let ownerMaximum = 128
  /// How long refusals may continue, in milliseconds, until it is doubted.
  static let longestMilliseconds: UInt64 = 600_000

  private var owners: Set<PushOwner> = []
  private var firstRefusal: Instant?

  /// A device was refused.
  mutating func refused(_ owner: PushOwner, at instant: Instant) {
    if firstRefusal == nil { firstRefusal = instant }
    if owners.count < Self.ownerMaximum { owners.insert(owner) }
  }

  /// Whether it counts as much as a push that succeeded since the start.
  func isBelieved(at instant: Instant) -> Bool {
    guard owners.count < Self.ownerMaximum, let firstRefusal else { return owners.isEmpty }
    return instant.milliseconds(since: firstRefusal) < Self.longestMilliseconds
  }
}
