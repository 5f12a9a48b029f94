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
    guard wantKeys.count < PlanWant.countMaximum else {
      throw Refusal(.full, "\(wantKeys.count) wishes are under way already", outcome: .notStarted)
    }
    var relays: [RelayURL] = []
    for relay in wanted.relays ?? [] { relays.append(try url(relay)) }
    listWishCount += 1
    let manner = FetchManner(
      isDeep: wanted.depth != .newest, isBackfill: wanted.urgency == .backfill, isAlone: true)
    let interest = Interest(
      own: "want:\(listWishCount)", filters, named: relays, isExclusive: wanted.exclusiveRelays ?? false,
      isLive: false, manner: manner)
    let (number, follower) = try followers.add(request, of: interest.key)
    let end = now.advanced(milliseconds: UInt64(wanted.seconds ?? PlanWant.secondsMaximum) * 1_000)
    let timer = LoopTimer()
    timer.set(at: end) { follower.changed() }
    wantKeys.insert(interest.key)
    request.accept()
    await settled()
    begin(interest)
    update()
    defer {
      timer.cancel()
      wantKeys.remove(interest.key)
      followers.remove(number)
      self.end(interest.key)
      update()
    }
    func outcome(_ progress: ObserveProgress) -> PlanWantResult.End? {
      // Before the relays of people are chosen, and while some of them are still to be visited, others may follow.
      let isChosen = !directory.isSelectionDue && directory.book.isRead && !directory.awaitVisits(interest.filters)
      if progress.isComplete, isChosen { return .complete }
      if let most = wanted.eventMaximum, progress.relays.reduce(0, { $0 + $1.events }) >= UInt64(most) {
        return .events
      }
      return now >= end ? .time : nil
    }
    let nothing = ObserveProgress(isObserved: true, isComplete: false, relays: [])
    var result = PlanWantResult(end: .time, relays: [])
    try await follower.run { progress in
      guard let end = outcome(progress) else { return false }
      result = PlanWantResult(end: end, relays: progress.relays)
      return true
    } _: {
      wishes.progress(of: interest.key) ?? nothing
    }
    return result
  }
}
