internal import Clocks
internal import DequeModule

// A push without an answer stays in flight until its timeout, for fifteen seconds. A client that registers endpoints at
// any number of its own hosts could occupy all Web Push places in this way, and delay the pushes of all other clients.
// So a service must prove that it answers:
//
//     slow ──▶ quick     a push went through in time
//     quick ──▶ slow     a push took longer, whatever came of it
//
// Each service is slow at first. The slow services share half of the places and take turns for them; the other half is
// reserved for services that answer. A service gets a place of that half only after it has accepted a push in time.
//
// Rejected: a shorter timeout, because honest but slow services would never be reached; counting refusals, because any
// client can make a good service refuse.

extension DeliveryQueue {
  /// Whether a provider is limited to the slow half of the places. APNs and FCM never are, because clients cannot
  /// choose their hosts.
  func isSlow(_ provider: PushProvider) -> Bool {
    guard provider.platform == .webPush else { return false }
    return lanes[provider]?.isSlow == true || shares[.webPush]?.witnesses.isKnownGood(provider) != true
  }

  /// The lane whose turn it is: a slow one while the slow half has room, else one of the others.
  mutating func nextProvider(of platform: PushPlatform) -> PushProvider? {
    let hasRoom = (shares[platform]?.slowInFlightCount ?? 0) < limits.webSlowInFlightMaximum
    if hasRoom, let provider = shares[platform]?.slowRing.popFirst() { return provider }
    while let provider = shares[platform]?.ring.popFirst() {
      if hasRoom || !isSlow(provider) { return provider }
      // It has become slow since it joined this ring.
      shares[platform]?.slowRing.append(provider)
    }
    return nil
  }

  /// A push has ended: its duration decides whether its provider is slow.
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

  /// Moves a provider that is no longer slow out of the ring of slow ones.
  private mutating func takeOutOfSlow(_ provider: PushProvider) {
    guard lanes[provider]?.isInRing == true, let place = shares[.webPush]?.slowRing.firstIndex(of: provider) else {
      return
    }
    shares[.webPush]?.slowRing.remove(at: place)
    shares[.webPush]?.ring.append(provider)
  }
}
