import Bus
import Contracts
import Cryptography
import EventLoop
import Feeds
import Frames
import Logging
import Nostr
import WorkerKit

/// Serves `people.feed` and `people.inbox`.
@EventLoopActor
final class FeedService {
  private let worker: Worker
  private let log: Logger
  private let opener: ListOpener
  private let network: FeedNetwork
  private var runs: [UInt64: FeedRun] = [:]
  private var callers: [Endpoint: Int] = [:]
  private var lastNumber: UInt64 = 0

  init(_ worker: Worker, _ log: Logger) {
    (self.worker, self.log) = (worker, log)
    opener = ListOpener(worker.bus, log)
    network = FeedNetwork(worker, log)
  }

  /// Starts to serve.
  func start() {
    opener.onUnlocked = { [unowned self] in for run in runs.values { run.accountsUnlocked() } }
    worker.serve(PeopleMethod.feed) { [unowned self] (request, wanted) throws(Refusal) in
      try await feed(request, wanted)
    }
    worker.serve(PeopleMethod.inbox) { [unowned self] (request, wanted) throws(Refusal) in
      try await inbox(request, wanted)
    }
  }

  /// The signer's accounts have changed. Feeds of an account that is left end, and are begun again without relays.
  func accountsAre(_ accounts: [SignerAccount]) {
    let before = opener.left
    opener.accountsAre(accounts)
    let new = opener.left.subtracting(before)
    for run in runs.values where new.contains(run.account) { run.end(isStopping: true) }
  }

  /// Ends everything: callers ask the next process, after the last seq that they have.
  func drain() {
    for run in runs.values { run.end(isStopping: true) }
    network.drain()
  }

  /// How many feeds and inboxes are open.
  var count: Int { runs.count }

  private func feed(_ request: BusRequest, _ wanted: PeopleFeed) async throws(Refusal) -> Nothing? {
    let account = try await opener.key(of: wanted.account)
    let source =
      try wanted.set.map { text throws(Refusal) in try PeopleSource(set: text, of: account) } ?? .follows(of: account)
    let subject = FeedCourse.Subject.people(source, kinds: wanted.kinds ?? PeopleFeed.defaultKinds)
    try await run(
      request, subject, of: account, limit: wanted.limit, after: wanted.afterSeq, wanted.policy,
      wanted.pages == true ? .pages : .events)
    return nil
  }

  private func inbox(_ request: BusRequest, _ wanted: PeopleInbox) async throws(Refusal) -> Nothing? {
    let account = try await opener.key(of: wanted.account)
    try await run(
      request, .inbox(only: wanted.only.map(Set.init)), of: account, limit: wanted.limit, after: wanted.afterSeq,
      wanted.policy, .items)
    return nil
  }

  private func run(
    _ request: BusRequest, _ subject: FeedCourse.Subject, of account: PublicKey, limit: Int?, after seq: Int64?,
    _ policy: ObservePolicy?, _ form: FeedRun.Form
  ) async throws(Refusal) {
    guard runs.count < PeopleFeed.countMaximum, callers[request.caller, default: 0] < PeopleFeed.callerMaximum else {
      throw Refusal(
        .full,
        "\(runs.count) feeds are open; \(PeopleFeed.callerMaximum) of a caller, \(PeopleFeed.countMaximum) in all",
        outcome: .notStarted)
    }
    callers[request.caller, default: 0] += 1
    lastNumber += 1
    let number = lastNumber
    defer {
      runs[number] = nil
      let left = callers[request.caller, default: 1] - 1
      callers[request.caller] = left > 0 ? left : nil
    }
    let isLeft = await opener.isLeft(account)
    // What is committed from here on is not missed, and what is older is in the first page.
    let position: Int64
    if let seq {
      position = seq
    } else {
      position = try await worker.bus.request(StoreMethod.status, NoArguments()).seq
    }
    let course = FeedCourse(of: account, subject, after: position)
    let run = FeedRun(
      number, request, worker, opener, policy == .cacheOnly || isLeft ? nil : network, course, of: account,
      limit: seq == nil ? limit ?? PeopleFeed.limitDefault : nil, form, log)
    runs[number] = run
    try await run.run()
  }
}
