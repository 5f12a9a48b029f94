internal import Clocks
internal import DequeModule

// A push that is not answered holds its place among those under way for the fifteen seconds that are waited for it. Who
// registers endpoints at hosts of his own, as many as he likes, could hold all places of Web Push in that way, and
// everybody else's pushes would wait for one. So a service has to show that it answers:
//
//     slow ──▶ quick     a push went through in time
//     quick ──▶ slow     a push took longer, whatever came of it
//
// Each is slow at first. The slow ones have half of the places together, and take turns for those; the other half is
// there for services that answer. Whoever wants to hold a place of that half has to take a push in time before it.
//
// Rejected: to wait for less long; services that are honest and slow would never be reached. To count refusals: anybody
// can have a good service refuse.

extension DeliveryQueue {
  /// Whether a provider is one of those that have a part of the share. APNs and FCM, which nobody chooses, never are.
  func isSlow(_ provider: PushProvider) -> Bool {
    guard provider.platform == .webPush else { return false }
    return lanes[provider]?.isSlow == true || shares[.webPush]?.witnesses.isKnownGood(provider) != true
  }

  /// The lane whose turn it is: of the slow ones while they have room, else of the others.
  mutating func nextProvider(of platform: PushPlatform) -> PushProvider? {
    let hasRoom = (shares[platform]?.slowInFlightCount ?? 0) < limits.webSlowInFlightMaximum
    if hasRoom, let provider = shares[platform]?.slowRing.popFirst() { return provider }
    while let provider = shares[platform]?.ring.popFirst() {
      if hasRoom || !isSlow(provider) { return provider }
      // It has become slow since it was put there.
      shares[platform]?.slowRing.append(provider)
    }
    return nil
  }

  /// A push has ended: what it says of how long its provider takes.
  mutating func noteTime(
    of attempt: DeviceQueue.Attempt, _ verdict: PushVerdict, _ provider: PushProvider, at instant: Instant
  ) {
    guard provider.platform == .webPush else { return }
    if instant.milliseconds(since: attempt.began) >= limits.webSlowMilliseconds {
      lanes[provider]?.isSlow = true
    } else if verdict == .delivered {
      lanes[provider]?.isSlow = false
      takeOutOfSlow(provider)
    }
  }

  /// One that waits among the slow ones need not any longer.
  private mutating func takeOutOfSlow(_ provider: PushProvider) {
    guard lanes[provider]?.isInRing == true, let place = shares[.webPush]?.slowRing.firstIndex(of: provider) else {
      return
    }
    shares[.webPush]?.slowRing.remove(at: place)
    shares[.webPush]?.ring.append(provider)
  }
}
