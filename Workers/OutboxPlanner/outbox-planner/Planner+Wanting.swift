import Addresses
import Bus
import Clocks
import Contracts
import EventLoop
import Frames
import Nostr
import OutboxRouting
import WorkerKit

// plan.want: what another worker or a client wants drained, once.

extension Planner {
  func want(
    _ request: BusRequest, _ wanted: PlanWant, _ filters: [Filter]
  ) async throws(Refusal) -> PlanWantResult? {
    guard wants.count < PlanWant.countMaximum else {
      throw Refusal(.full, "\(wants.count) wishes are under way already", outcome: .notStarted)
    }
    var relays: [RelayURL] = []
    for relay in wanted.relays ?? [] {
      let url = try url(relay)
      if directory.isHome(url) {
        throw Refusal(.ownRelay, "\(url) is not asked: \(OwnAddresses.reason)", outcome: .notStarted)
      }
      relays.append(url)
    }
    // What strangers name is left out where it may not be asked, and is no error of the caller's.
    let foreign = try (wanted.foreignRelays ?? []).map { relay throws(Refusal) in try url(relay) }
    listWishCount += 1
    let manner = FetchManner(
      isDeep: wanted.depth != .newest, isBackfill: wanted.urgency == .backfill, isAlone: true)
    let interest = Interest(
      own: "want:\(listWishCount)", filters, named: relays, foreign: foreign,
      isExclusive: wanted.exclusiveRelays ?? false,
      isLive: false, manner: manner)
    let (number, follower) = try followers.add(request, of: interest.key)
    let end = now.advanced(milliseconds: UInt64(wanted.seconds ?? PlanWant.secondsMaximum) * 1_000)
    let timer = LoopTimer()
    timer.set(at: end) { follower.changed() }
    wants[interest.key] = WishTally()
    request.accept()
    await settled()
    begin(interest, trace: RequestTrace(rawValue: request.trace))
    update()
    defer {
      timer.cancel()
      wants[interest.key] = nil
      followers.remove(number)
      self.end(interest.key)
      update()
    }
    var result = PlanWantResult(end: .time, relays: [])
    try await follower.run { progress in
      result.relays = progress.relays
      result.events = progress.relays.reduce(0) { $0 + $1.events }
      if progress.isComplete, isChosen(interest) {
        result.end = .complete
      } else if let most = wanted.eventMaximum, result.events >= UInt64(most) {
        result.end = .events
      } else {
        return now >= end
      }
      return true
    } _: {
      wantProgress(interest.key)
    }
    return result
  }

  /// The progress of a wish, with the relays that it no longer asks.
  private func wantProgress(_ key: String) -> ObserveProgress {
    let present = wishes.progress(of: key)
    if let present { wants[key]?.note(present) }
    return ObserveProgress(
      isObserved: true, isComplete: present?.isComplete ?? false, relays: wants[key]?.relays ?? [])
  }

  /// Notes how far the wishes are, before visits end that are over.
  func noteWants() {
    for key in wants.keys {
      if let progress = wishes.progress(of: key) { wants[key]?.note(progress) }
    }
  }

  /// Whether no further relays will be asked for a wish by what is under way: lists of the people in it that are looked
  /// for, a choice of relays, visits.
  private func isChosen(_ interest: Interest) -> Bool {
    guard !interest.isExclusive, directory.autopilot else { return true }
    let areListsHere = directory.book.isRead && lookUps.isEmpty && !isLookUpDue && now >= arrivalEnd
    return areListsHere && !directory.isSelectionDue && !directory.awaitVisits(interest.filters)
  }
}
